"""A classifier of transformers as it is, of whose many attentions one is read and can be replaced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn

from attnx.formulas import Layers, LayerStates, passes_at_once
from attnx.plugin import Batch, Example, Trace

from .layer_methods.state_reading import states_of
from .network import Network
from .options import Head, LayerReaderOptions, Query
from .packing import Packing, positions_asked
from .reading import Reading, heads_read, layer_read
from .taps import Tap
from .windows import Windows


class LayerReader(nn.Module, ABC):
    """Reads one layer's attention over words by the reduction that its options declare.

    Hidden states are what that layer reads, laid out by word as embeddings are: from them the layer
    and all above it are computed again, under its own attention or another.
    """

    needs: tuple[str, ...] = ("words",)
    # And "attention", "reattend", "hidden", "decode", "layers" where the attention can be read.
    provides: tuple[str, ...] = (
        "gradient",
        "deletion",
        "unseen-words",
        "reads-query",
        "raw-text",
        "notices",
    )

    def __init__(self, network: Network, options: LayerReaderOptions, query: Query) -> None:
        super().__init__()
        self.provides = (*type(self).provides, *options.also_provides)
        self.notices = network.notices
        self.network = network
        self.head, self.query, self.pieces = options.head, query, options.pieces
        self.overlap: int | None = None  # pieces that windows of a long text share; None: texts are cut
        self.layer, self.whole = 0, False
        if network.readable:
            self.layer = layer_read(options.layer, network.stack)
            self.whole = not network.stack.blocks  # a pass cannot begin at a layer, so it begins below all
            config = network.transformer.config
            heads_read(self.head, torch.empty(1, config.num_attention_heads))  # refused now, not in mid-run

    @property
    def reads_last_states(self) -> bool:
        """Whether the logits are a linear map of the normalised states of the last layer alone."""
        return True

    @abstractmethod
    def logits(self, output: Any, used: Tensor) -> Tensor:
        """[B, C] in the order of the task's labels, from what the transformer gives for used positions."""

    def settings(self) -> dict[str, Any]:
        """What else the transformer is called with."""
        return {}

    def encode(self, examples: Sequence[Example]) -> Batch:
        return self.network.encode(examples)

    def embed(self, batch: Batch) -> Tensor:
        return self.network.embed(batch)

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        packing = self.network.packing(batch, embeddings)
        if self.overlap is not None:
            return self._in_windows(batch, embeddings, packing, self.overlap)
        vectors = packing.pack(embeddings)  # [B, T, E]
        if not self.network.readable:
            return Trace.of(batch, embeddings, self._answers(packing, vectors))
        states: list[Tensor] = []
        with ExitStack() as watched:
            if not self.whole:
                watched.enter_context(self.network.stack.watch(self.layer, states))
            passes = [
                self._pass(
                    packing.take(rows),
                    batch.mask[rows],
                    vectors[rows],
                    None if attention is None else attention[rows],
                )
                for rows in packing.passes()
            ]
        a, logits = map(torch.cat, zip(*passes, strict=True))
        hidden = embeddings if self.whole else packing.unpack(torch.cat(states))  # [B, L, S·H]
        return Trace(batch, embeddings, hidden, _scores(a), a, logits)

    def logits_of(self, batches: Sequence[Batch]) -> list[Tensor]:
        """[B, C] of each batch, without reading attention or hidden states."""
        if self.overlap is not None:
            return [self.run(batch, self.embed(batch)).logits for batch in batches]
        return [self._answers(*self.network.packed(batch)) for batch in batches]

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        packing = self._packing_of_states(batch, hidden)
        a, logits = self._from_states(packing, batch.mask, packing.pack(hidden), None)
        return _scores(a), a, logits

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        several = attention if attention.ndim == 3 else attention[:, None]  # [B, K, L]
        packing = self._packing_of_states(trace.batch, trace.hidden)
        states, mask = packing.pack(trace.hidden), trace.batch.mask
        at_once = max(1, passes_at_once(packing.used.shape[1]) // max(1, len(states)))
        everyone = torch.arange(len(states), device=states.device)
        found = []
        for part in several.split(at_once, dim=1):  # [B, k, L]
            k = part.shape[1]
            rows = everyone.repeat_interleave(k)
            _, logits = self._from_states(packing.take(rows), mask[rows], states[rows], part.flatten(0, 1))
            found.append(logits.unflatten(0, (-1, k)))  # [B, k, C]
        logits = torch.cat(found, 1)
        return logits if attention.ndim == 3 else logits[:, 0]

    def layers(self, batch: Batch, embeddings: Tensor) -> Layers:
        packing = self.network.packing(batch, embeddings)
        output, weights, sizes = self.network.watched(packing, packing.pack(embeddings), **self.settings())
        logits = self.logits(output, packing.used)
        return Layers(packing.column, positions_asked(packing.used, self.query), weights, sizes, logits)

    def one_layer(self, batch: Batch, embeddings: Tensor, layer: int, query: str) -> Layers:
        packing = self.network.packing(batch, embeddings)
        asked = positions_asked(packing.used, self.query if query == "own" else cast("Query", query))
        at = layer_read(layer, self.network.stack)
        output, read, weights, sizes = self.network.watched_at(
            at, asked, packing, packing.pack(embeddings), **self.settings()
        )
        return Layers(packing.column, read, weights, sizes, self.logits(output, packing.used))

    @contextmanager
    def reading(self, layer: int, head: Head) -> Iterator[None]:
        """Read another layer and head for a while."""
        before = self.layer, self.head
        self.layer, self.head = layer, head
        try:
            yield
        finally:
            self.layer, self.head = before

    def layer_states(self, batch: Batch, embeddings: Tensor) -> LayerStates:
        packing = self.network.packing(batch, embeddings)
        found = states_of(self.network, packing, packing.pack(embeddings), **self.settings())
        with torch.enable_grad():
            logits = self.logits(found.output, packing.used)
        readout = found.readout(logits) if self.reads_last_states else None
        query = positions_asked(packing.used, self.query)
        return LayerStates(packing.column, query, found.layers, logits.detach(), readout)

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        return ()

    def _packing_of_states(self, batch: Batch, hidden: Tensor) -> Packing:
        size = self.network.size if self.whole else self.network.transformer.config.hidden_size
        return Packing.of(batch, hidden.shape[-1] // size, self.network.left)

    def _from_states(
        self, packing: Packing, mask: Tensor, states: Tensor, attention: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Attention [B, L] and logits [B, C] from states [B, T, H] that the layer reads."""
        if self.whole:
            return self._pass(packing, mask, states, attention)
        below = states.new_zeros(*states.shape[:2], self.network.size)  # looked at by skipped layers alone
        with self.network.stack.begin_at(self.layer, states):
            return self._pass(packing, mask, below, attention)

    def _answers(self, packing: Packing, vectors: Tensor) -> Tensor:
        """[B, C] the logits, without reading attention."""
        parts = ((packing.take(rows), vectors[rows]) for rows in packing.passes())
        with self.network.stack.first.alone() if self.network.readable else nullcontext():
            found = [
                self.logits(self.network(part, some, **self.settings()), part.used) for part, some in parts
            ]
        return torch.cat(found)

    def _in_windows(self, batch: Batch, embeddings: Tensor, packing: Packing, overlap: int) -> Trace:
        """Logits and attention that are means over the windows of each text."""
        windows = Windows.of(packing, batch.mask, self.network.limit, overlap, self.network.left)
        vectors = windows.packing.pack(embeddings[windows.row])  # [W, T, E]
        if not self.network.readable:
            logits = self._answers(windows.packing, vectors)
            return Trace.of(batch, embeddings, windows.mean(logits, len(batch)))
        mask = batch.mask[windows.row]
        passes = [
            self._pass(windows.packing.take(rows), mask[rows], vectors[rows], None)
            for rows in windows.packing.passes()
        ]
        a, logits = (windows.mean(torch.cat(found), len(batch)) for found in zip(*passes, strict=True))
        return Trace(batch, embeddings, embeddings, _scores(a), a, logits)

    def _pass(
        self, packing: Packing, mask: Tensor, vectors: Tensor, attention: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Attention [B, L] and logits [B, C] of one pass, its attention read or replaced."""
        query = positions_asked(packing.used, self.query)
        reading = Reading(packing, mask, query, self.head, self.pieces)
        if attention is None:
            tap = Tap(rows=None if self.query == "mean" else query.argmax(1))
        else:
            tap = Tap(lambda weights: reading.replaced(weights, attention))
        stack = self.network.stack
        only = stack.first.alone(attends=self.query == "first" or self.layer < len(stack) - 1)
        with stack.read({self.layer: tap}), only:
            output = self.network(packing, vectors, **self.settings())
        a = reading.attention(tap.weights) if attention is None else attention
        return a, self.logits(output, packing.used)


def _scores(attention: Tensor) -> Tensor:
    """[B, L] whose softmax is this attention."""
    return attention.clamp_min(torch.finfo(attention.dtype).tiny).log()
