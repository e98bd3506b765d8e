from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self, cast

import torch
from torch import Tensor, nn

from attnx.formulas import Layers, LayerStates, make_scorer
from attnx.plugin import AttentionProjection, Batch, Example, TaskData, Trace

from .layer_methods.state_reading import states_of
from .network import Network
from .options import HfOptions, Query
from .packing import Packing, positions_asked
from .reading import layer_read


class HfEncoder(nn.Module):
    """A Hugging Face encoder with attention pooling over words on top, which is the tested attention.

    It reads each text as its file has it. h_i is the encoder's state of word i: the mean over its
    pieces, or that of the first; z_i = scorer(h_i), a = projection(z), logits = W Σ a_i h_i + b. A
    query is read after the text, as the encoder reads pairs; the pooling does not attend to it.
    Deleting a word deletes its pieces.
    """

    needs = ("words",)
    provides: tuple[str, ...] = (
        "attention",
        "reattend",
        "projection",
        "gradient",
        "hidden",
        "decode",
        "deletion",
        "linear-decoder",
        "unseen-words",
        "reads-query",
        "raw-text",
        "notices",
    )  # and "layers" where the attention of the layers can be read, "frozen-states" if it is frozen

    def __init__(self, data: TaskData, projection: AttentionProjection, options: HfOptions) -> None:
        super().__init__()
        self.provides = (*type(self).provides, *options.also_provides)
        self.projection = projection
        self.network = Network("AutoModel", data, options, left=False)
        self.notices = self.network.notices
        self.pieces = options.pieces
        self.frozen = options.freeze
        self.network.requires_grad_(not options.freeze)
        hidden = self.network.transformer.config.hidden_size
        self.scorer = make_scorer(options.scorer, hidden, False, options.scorer_layers)
        self.decoder = nn.Linear(hidden, len(data.label_names))

    @classmethod
    def build(cls, data: TaskData, projection: AttentionProjection, options: HfOptions) -> Self:
        return cls(data, projection, options)

    def train(self, mode: bool = True) -> Self:
        """A frozen encoder drops nothing out either; it has many modules, so it is switched once."""
        if not self.frozen:
            return super().train(mode)
        self.training = mode
        for module in self.children():
            if module is not self.network:
                module.train(mode)
        if self.network.training:
            self.network.eval()
        return self

    def encode(self, examples: Sequence[Example]) -> Batch:
        return self.network.encode(examples)

    def embed(self, batch: Batch) -> Tensor:
        return self.network.embed(batch)

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        hidden = self._hidden(batch, embeddings)  # [B, L, H]
        scores: Tensor = self.scorer(hidden)  # [B, L]
        a = self.projection(scores, batch.mask) if attention is None else attention  # [B, L]
        return Trace(batch, embeddings, hidden, scores, a, self._classify(hidden, a))

    def frozen_states(self, batch: Batch) -> Tensor:
        """[B, L, H] of a frozen encoder."""
        return self._hidden(batch, self.embed(batch))

    @property
    def frozen_part(self) -> nn.Module:
        """The module that computes them."""
        return self.network

    @property
    def frozen_settings(self) -> str:
        """What they depend on except weights and inputs."""
        config: str = self.network.transformer.config.to_json_string()
        return f"{self.pieces} {config}"

    def _hidden(self, batch: Batch, embeddings: Tensor) -> Tensor:
        packing = self.network.packing(batch, embeddings)
        vectors = packing.pack(embeddings)  # [B, T, E]
        passes = [self.network(packing.take(rows), vectors[rows]) for rows in packing.passes()]
        states = torch.cat([output.last_hidden_state for output in passes])  # [B, T, H]
        return packing.by_column(states, self.pieces)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores: Tensor = self.scorer(hidden)  # [B, L]
        a = self.projection(scores, batch.mask)  # [B, L]
        return scores, a, self._classify(hidden, a)

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        return self._classify(trace.hidden, attention)

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        """The layers of the encoder; the output is read off words as the pooling attends to them."""
        packing = self.network.packing(batch, embeddings)
        output, weights, sizes = self.network.watched(packing, packing.pack(embeddings))
        query, logits = self._read(batch, packing, output.last_hidden_state)
        return Layers(packing.column, query, weights, sizes, logits)

    def one_layer(self, batch: Batch, embeddings: Tensor, layer: int, query: str) -> Layers:
        """One layer of the encoder."""
        packing = self.network.packing(batch, embeddings)
        vectors = packing.pack(embeddings)
        at = layer_read(layer, self.network.stack)
        if query == "own":
            own = self._read(batch, packing, self.network(packing, vectors).last_hidden_state)[0]
        asked = own if query == "own" else positions_asked(packing.used, cast("Query", query))
        output, read, weights, sizes = self.network.watched_at(at, asked, packing, vectors)
        logits = self._read(batch, packing, output.last_hidden_state)[1]
        return Layers(packing.column, read, weights, sizes, logits)

    def layer_states(self, batch: Batch, embeddings: Tensor) -> LayerStates:
        """The states of the encoder; the output is read off words as the pooling attends to them."""
        packing = self.network.packing(batch, embeddings)
        found = states_of(self.network, packing, packing.pack(embeddings))
        query, logits = self._read(batch, packing, found.output.last_hidden_state)
        return LayerStates(packing.column, query, found.layers, logits)

    def _read(self, batch: Batch, packing: Packing, states: Tensor) -> tuple[Tensor, Tensor]:
        """How much is read at each position [B, T], and the logits, from states [B, T, H]."""
        hidden = packing.by_column(states, self.pieces)
        _, a, logits = self.decode(batch, hidden)
        read = packing.first if self.pieces == "first" else packing.used  # [B, T]
        of_word = a.gather(1, packing.column.clamp_min(0)).masked_fill(~read, 0.0)
        count = packing.by_column(read.to(a), "sum").gather(1, packing.column.clamp_min(0))
        return of_word / count.clamp_min(1), logits

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        learned = self.projection.parameters() if isinstance(self.projection, nn.Module) else ()
        return (*self.scorer.parameters(), *learned)

    def _classify(self, hidden: Tensor, attention: Tensor) -> Tensor:
        """Logits [B, C] under attention [B, L], or [B, K, C] under [B, K, L]."""
        several = attention if attention.ndim == 3 else attention[:, None]  # [B, K, L]
        logits: Tensor = self.decoder(torch.bmm(several, hidden))
        return logits if attention.ndim == 3 else logits[:, 0]
