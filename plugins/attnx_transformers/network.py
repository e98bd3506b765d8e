"""A transformer that reads words: from examples to positions and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import copy
from typing import Any, Self, TypeVar

import torch
from torch import Tensor, nn

from attnx.formulas import fast_linear
from attnx.plugin import Batch, Example, Source, TaskData, UsageError

from .activations import Activations
from .checkpoints import Checkpoint, quiet
from .first_position import alike
from .language.prompts import Prompt
from .limits import UNLIMITED, most_pieces
from .options import CheckpointOptions
from .packing import Packing, joined, positions_asked
from .stack import WITHOUT_WEIGHTS, Stack
from .taps import Tap, install
from .word_pieces import WordPieces

T = TypeVar("T")

PROBED, SHORT = 7, 4  # positions of a trial
TRIAL = "Is this a trial? It is, of a few words."


class Network(nn.Module):
    """A model of transformers with its tokenizer, run from embeddings of words in pieces.

    Embeddings of a column are those of its pieces end to end, [B, L, S·E].
    """

    def __init__(
        self,
        kind: str,
        data: TaskData,
        options: CheckpointOptions,
        *,
        left: bool | None = None,
        prompt: Callable[[Any], Prompt] | None = None,
        in_windows: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__()
        checkpoint = Checkpoint.find(options, data.source or Source())
        config = checkpoint.load("AutoConfig") if not checkpoint.gguf else None  # these are decoders alone
        if getattr(config, "is_encoder_decoder", False):
            raise UsageError(
                f"checkpoint={options.checkpoint} has an encoder and a decoder, and so no single "
                "attention over a text: choose an encoder or a decoder alone."
            )
        tokenizer = checkpoint.load("AutoTokenizer")
        self._load(checkpoint, kind, options, **settings)
        config = self.transformer.config
        if getattr(config, "pad_token_id", None) is None:
            config.pad_token_id = tokenizer.pad_token_id or 0
        takes = inspect.signature(self.transformer.forward).parameters
        self.takes_types = "token_type_ids" in takes and "token_type_ids" in tokenizer.model_input_names
        self.takes_positions = "position_ids" in takes
        self.takes_mask = "attention_mask" in takes
        # The positions that all others attend to: a classifier has one, the first.
        has_head = self.transformer.base_model is not self.transformer
        self.takes_global = "global_attention_mask" in takes and has_head
        self.limit = most_pieces(self.transformer, tokenizer, options.longest)  # most pieces of a pass
        read = UNLIMITED if in_windows else self.limit
        self.pieces = WordPieces(tokenizer, read, prompt(tokenizer) if prompt is not None else None)
        self.left = bool(left)
        self._check_embeddings(options)
        # One that answers from its last position looks for it at the end of the row, so padding goes first.
        sides = (False, True) if left is None else (left,)
        fitting = [side for side in sides if self._ignores_padding(side)]
        self.left = fitting[0] if fitting else sides[0]
        self.alone = not fitting  # padding changes what it gives: rows are run with others of their length
        if self.alone and self.readable:
            raise UsageError(
                f"checkpoint={options.checkpoint} ({type(self.transformer).__name__}) attends to padding: "
                f"its weights cannot be read. {WITHOUT_WEIGHTS}"
            )
        self._find_activations()

    def _load(self, checkpoint: Checkpoint, kind: str, options: CheckpointOptions, **settings: Any) -> None:
        """Load the transformer; refuse one whose weights are not all there."""
        loaded = checkpoint.load_weights(kind, options, **settings)
        self.transformer: Any = loaded.model
        self.new = loaded.new  # parameters of a head that the checkpoint does not have
        self.notices = (
            (
                f"checkpoint={options.checkpoint} has no classification head: a new one was made, and its "
                "answers mean nothing before it is trained",
            )
            if self.new
            else ()
        )
        self.readable = options.reads_attention
        if self.readable:
            install(self.transformer)
        self._stack: Stack | None = None
        self.activations = Activations()

    @property
    def table(self) -> nn.Module:
        """The table of embeddings."""
        table: nn.Module = self.transformer.get_input_embeddings()
        return table

    @property
    def size(self) -> int:
        """E, the size of an embedding."""
        size: int = self.table.embedding_dim  # type: ignore[assignment]
        return size

    @property
    def stack(self) -> Stack:
        """The layers, found when they are first asked for."""
        if self._stack is None:
            self._stack = self._tried(lambda call: Stack.of(self.transformer, call))
        return self._stack

    def _find_activations(self) -> None:
        """Find the linear maps with their GELU; not in mid-pass, where others may listen."""
        self.activations = self._tried(lambda call: Activations.of(self.transformer, call))

    def _tried(self, find: Callable[[Callable[[], Any]], T]) -> T:
        """What is found by calls of the transformer on a few positions, in evaluation mode."""
        vectors = self._probe()
        used = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
        more = self._more(used, torch.zeros_like(used).long())
        training = self.transformer.training
        self.transformer.eval()
        try:
            with quiet():
                return find(lambda: self._call(vectors, **more))
        finally:
            self.transformer.train(training)

    def _probe(self) -> Tensor:
        """[1, T, E] vectors of a few positions, no two alike."""
        noise = torch.randn(1, PROBED, self.size, generator=torch.Generator().manual_seed(0))
        return noise.to(self.transformer.device, self.transformer.dtype)

    def _call(self, vectors: Tensor, **more: Any) -> Any:
        """The output of the transformer for vectors [B, T, E]."""
        return self.transformer(inputs_embeds=vectors, **more)

    def _check_embeddings(self, options: CheckpointOptions) -> None:
        """Refuse a transformer that cannot be run from embeddings, or gives something else from them."""
        name = f"checkpoint={options.checkpoint} ({type(self.transformer).__name__})"
        try:
            made = self.pieces.tokenizer(TRIAL, truncation=True, max_length=self.pieces.limit)
            kind = made["token_type_ids"] if self.takes_types else [0] * len(made["input_ids"])
            ids, kind = (
                torch.tensor([row], device=self.transformer.device) for row in (made["input_ids"], kind)
            )
            ours = self._answers(lambda more: self._call(self.table(ids), **more), torch.ones_like(ids), kind)
            types = {"token_type_ids": kind} if self.takes_types else {}
            own = self._answers(lambda _: self.transformer(ids, **types), torch.ones_like(ids), kind)
        except Exception as error:  # the code of hundreds of architectures
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise UsageError(f"{name} cannot be run from embeddings: {reason}") from error
        if not alike(ours, own):
            raise UsageError(f"{name} gives another output from embeddings than from the pieces themselves.")

    def _ignores_padding(self, left: bool) -> bool:
        """Whether a row gives the same with padding on that side of it."""
        self.left = left
        vectors = self._probe()
        short = vectors[:, :SHORT]
        padded = torch.zeros_like(vectors)
        used = torch.zeros(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
        at = slice(PROBED - SHORT, None) if left else slice(SHORT)
        padded[:, at], used[:, at] = short, True
        with_it = self._answers(lambda more: self._call(padded, **more), used)
        without = self._answers(lambda more: self._call(short, **more), used[:, at])
        return alike(with_it[:, at] if with_it.shape != without.shape else with_it, without)

    def _answers(
        self, call: Callable[[dict[str, Tensor]], Any], used: Tensor, kind: Tensor | None = None
    ) -> Tensor:
        """What a call of the transformer gives first, in evaluation mode, for used positions [B, T]."""
        more = self._more(used.bool(), torch.zeros_like(used).long() if kind is None else kind)
        training = self.transformer.training
        self.transformer.eval()
        try:
            with quiet(), torch.no_grad():
                found: Tensor = call(more)[0]
        finally:
            self.transformer.train(training)
        return found

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """Moves and conversions, after which weights that two modules share are one again.

        A transformer whose layers are on several devices stays where it is.
        """
        if len(set(getattr(self.transformer, "hf_device_map", {}).values())) > 1:
            return self
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.transformer.tie_weights()
        return self

    def encode(self, examples: Sequence[Example]) -> Batch:
        return self.pieces.encode(examples)

    def after(self, pieces: tuple[int, ...]) -> Self:
        """The same network whose prompts end with some pieces more."""
        other = copy(self)
        other.pieces = self.pieces.followed_by(pieces)
        return other

    def embed(self, batch: Batch) -> Tensor:
        """[B, L, S·E], as many slots as the longest word of the batch has pieces."""
        ids = batch.inputs[..., : _slots(batch)].long()  # [B, L, S]
        vectors: Tensor = self.table(ids.clamp_min(0)).masked_fill((ids < 0)[..., None], 0.0)
        return vectors.flatten(2)

    def packing(self, batch: Batch, embeddings: Tensor) -> Packing:
        """Where the pieces stand of which these are the embeddings."""
        return Packing.of(batch, embeddings.shape[-1] // self.size, self.left)

    def packed(self, batch: Batch) -> tuple[Packing, Tensor]:
        """Where the pieces of a batch stand, and their embeddings [B, T, E] there."""
        packing = Packing.of(batch, _slots(batch), self.left)
        ids = batch.inputs[..., : packing.slots].flatten(1).gather(1, packing.place).long()  # [B, T]
        vectors: Tensor = self.table(ids.clamp_min(0))
        return packing, vectors.masked_fill(~packing.used[..., None], 0.0)

    def forward(self, packing: Packing, vectors: Tensor, **more: Any) -> Any:
        """The output of the transformer for vectors [B, T, E] at positions."""
        if not self.alone:
            return self._once(packing.used, packing.kind, vectors, more)
        found: list[tuple[Tensor, Any]] = []
        lengths = packing.used.sum(1)
        for length in lengths.unique().tolist():
            rows = (lengths == length).nonzero()[:, 0]
            used = packing.used[rows[0]].nonzero()[:, 0]  # the same for all of one length
            part = packing.used[rows][:, used], packing.kind[rows][:, used], vectors[rows][:, used]
            found.append((rows, self._once(*part, more)))
        return joined(found, packing.used)

    def _once(self, used: Tensor, kind: Tensor, vectors: Tensor, more: dict[str, Any]) -> Any:
        with ExitStack() as faster:
            faster.enter_context(quiet())
            faster.enter_context(fast_linear())
            if not torch.is_grad_enabled():
                faster.enter_context(self.activations.in_one_step())
            return self._call(vectors, **self._more(used, kind), **more)

    def _more(self, used: Tensor, kind: Tensor) -> dict[str, Tensor]:
        """What a transformer is given with its input, for used positions [B, T] and their types [B, T]."""
        more = {}
        if self.takes_mask:
            more["attention_mask"] = used.long()
        if self.takes_types:
            more["token_type_ids"] = kind.to(used.device)
        if self.takes_positions and self.left:
            more["position_ids"] = (used.long().cumsum(1) - 1).clamp_min(0)
        if self.takes_global:
            more["global_attention_mask"] = positions_asked(used, "first").long()
        return more

    def watched(
        self, packing: Packing, vectors: Tensor, **more: Any
    ) -> tuple[Any, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The output, and for every layer the weights [B, M, T, T] and the sizes [B, M, T]."""
        taps = {layer: Tap() for layer in range(len(self.stack))}
        with self.stack.read(taps):
            output = self(packing, vectors, **more)
        weights = tuple(tap.weights for tap in taps.values())
        return output, weights, tuple(self.stack.sizes(layer, tap.values) for layer, tap in taps.items())

    def watched_at(
        self, layer: int, query: Tensor, packing: Packing, vectors: Tensor, **more: Any
    ) -> tuple[Any, Tensor, tuple[Tensor], tuple[Tensor]]:
        """The output, the positions asked [B, T], and of one layer the weights [B, M, T, T] and sizes.

        If each row has one such position, only the weights from it are computed: [B, 1] and [B, M, 1, T].
        """
        one = bool(((query > 0).sum(1) == 1).all())
        tap = Tap(rows=query.argmax(1) if one else None)
        with self.stack.read({layer: tap}):
            output = self(packing, vectors, **more)
        asked = query.amax(1, keepdim=True) if one else query
        return output, asked, (tap.weights,), (self.stack.sizes(layer, tap.values),)


def _slots(batch: Batch) -> int:
    """S, the most pieces of a word of a batch."""
    ids = batch.inputs[..., :-1]
    return max(1, int((ids >= 0).sum(-1).max())) if ids.numel() else 1
