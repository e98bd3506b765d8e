"""A torch module as a model: hooks read and replace the outputs of its submodules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..errors import DataError, PluginError, UsageError, did_you_mean
from ..types import Batch, Example, TaskData, Trace

UNKNOWN = ("<unk>", "[UNK]", "<unknown>", "UNK", "<UNK>")  # what people call it
Inputs = Mapping[str, int] | Callable[[list[str]], list[int]]
MASKS, LENGTHS = ("mask", "attention_mask"), ("lengths", "length", "lens")  # names of arguments


@dataclass(frozen=True, slots=True)
class Pieces:
    """Where to find things in a module: names of submodules, or functions that read them after a pass."""

    embeddings: str
    attention: str | Callable[[nn.Module], Tensor] | None
    hidden: str | Callable[[nn.Module], Tensor] | None
    forward: Callable[..., Tensor] | None
    padding: int


@dataclass(frozen=True, slots=True)
class Reader:
    """From words to ids."""

    ids: Callable[[list[str]], list[int]]
    size: int  # ids there are, where that is known

    @classmethod
    def of(
        cls, inputs: Mapping[str, int] | Callable[[list[str]], list[int]], unknown: int | None, padding: int
    ) -> Reader:
        """Read words by a vocabulary, or by a function."""
        if not isinstance(inputs, Mapping):
            return cls(inputs, 0)
        known = dict(inputs)
        other = next((known[name] for name in UNKNOWN if name in known), None) if unknown is None else unknown

        def ids(words: list[str]) -> list[int]:
            found = [known.get(word, other) for word in words]
            if None in found:
                word = words[found.index(None)]
                raise DataError(
                    f"The vocabulary has no word '{word[:40]}': set unknown= to the id of unknown words."
                )
            return [int(number) for number in found if number is not None]

        return cls(ids, max([padding, *known.values(), *([] if other is None else [other])]) + 1)

    @classmethod
    def of_texts(cls, data: TaskData, padding: int) -> Reader:
        """Read words by a vocabulary of the training texts; unknown words have the id after padding."""
        words = sorted({word for example in data.train for word in example.units})
        return cls.of({word: padding + 2 + n for n, word in enumerate(words)}, padding + 1, padding)


class WrappedModel(nn.Module):
    """A torch module as a model, made by `attnx.wrap`.

    Attributes:
        needs: what the task must provide: words.
        provides: what the model can do, in the words of docs/plugins.md.
        cannot: for each other word why the model cannot do it.
    """

    needs: ClassVar[tuple[str, ...]] = ("words",)
    provides: tuple[str, ...] = ()
    cannot: Mapping[str, str] = {}

    def __init__(self, module: nn.Module, pieces: Pieces, reader: Reader) -> None:
        super().__init__()
        self.module = module
        self.pieces = pieces
        self.reader = reader
        for name in (pieces.embeddings, pieces.attention, pieces.hidden):
            if isinstance(name, str):
                self._submodule(name)
        self._call = pieces.forward or _by_signature(module)
        self.padded = pieces.forward is not None or self._call is not _ids_alone

    def extra_repr(self) -> str:
        """Say what the model can do, and why it cannot do the rest."""
        return "\n".join(
            [
                f"provides {', '.join(self.provides)}",
                *(f"not {word}: {why}" for word, why in self.cannot.items()),
            ]
        )

    def lacks(self, word: str) -> str:
        """Say why the model cannot do something, whatever the module is; empty if it may."""
        needed = {"attention": "attention", "reattend": "attention", "hidden": "hidden", "decode": "hidden"}
        piece = getattr(self.pieces, needed[word]) if word in needed else ""
        if piece is None:
            return f"no submodule was named: set {needed[word]}=NAME"
        if word in ("reattend", "decode") and not isinstance(piece, str):
            return "a function can read it but not replace it: name a submodule"
        return ""

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Turn examples into ids of words."""
        return Batch.padded(
            examples, [self._ids(example) for example in examples], padding=self.pieces.padding
        )

    def embed(self, batch: Batch) -> Tensor:
        """Give the vector of every unit [B, L, E]."""
        vectors: Tensor = self._submodule(self.pieces.embeddings)(batch.inputs)
        return vectors  # [B, L, E]

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        """Do a forward pass."""
        return self._assembled(batch, embeddings, attention=attention)

    def decode(self, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute scores, attention and logits from hidden states."""
        trace = self._assembled(batch, self.embed(batch), hidden=hidden)
        return trace.scores, trace.attention, trace.logits

    def reattend(self, trace: Trace, attention: Tensor) -> Tensor:
        """Compute logits for another attention."""
        if attention.ndim == 2:
            return self._assembled(trace.batch, trace.embeddings, attention=attention).logits  # [B, C]
        each = [self.reattend(trace, attention[:, k]) for k in range(attention.shape[1])]
        return torch.stack(each, 1)  # [B, K, C]

    def attention_parameters(self) -> Iterable[nn.Parameter]:
        """Give the parameters that make attention."""
        name = self.pieces.attention
        return self._submodule(name).parameters() if isinstance(name, str) else ()

    def _assembled(self, batch: Batch, embeddings: Tensor, **held: Tensor | None) -> Trace:
        """Do one pass, or one for each length if the module must not get padding."""
        known = {name: value for name, value in held.items() if value is not None}
        lengths = [batch.mask.shape[1]] if self.padded else batch.lengths.unique().tolist()
        parts: list[tuple[Tensor, dict[str, Tensor]]] = []
        for length in lengths:
            rows = torch.arange(len(batch), device=batch.mask.device)
            rows = rows if self.padded else rows[batch.lengths == length]
            some = {name: value[rows, :length] for name, value in known.items()}
            ids, mask = batch.inputs[rows, :length], batch.mask[rows, :length]
            parts.append((rows, self._pass(ids, mask, embeddings[rows, :length], some)))
        order = torch.cat([rows for rows, _ in parts]).argsort()
        width = batch.mask.shape[1]
        seen = {
            name: torch.cat([_widened(part[name], width, name) for _, part in parts])[order]
            for name in parts[0][1]
        }
        weights = seen.get("attention")
        if weights is not None:
            seen["attention"] = weights.masked_fill(~batch.mask, 0.0)
        return Trace.of(batch, embeddings, seen.pop("logits"), **seen)

    def _pass(
        self, ids: Tensor, mask: Tensor, embeddings: Tensor, held: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """Do one pass over rows of a common width: logits, and the outputs of the named submodules."""
        seen: dict[str, Tensor] = {}
        with ExitStack() as hooks:
            hooks.enter_context(_hooked(self._submodule(self.pieces.embeddings), lambda _: embeddings))
            for name in ("attention", "hidden"):
                piece = getattr(self.pieces, name)
                if isinstance(piece, str):
                    noted = _Noted(name, tuple(ids.shape), held.get(name), seen)
                    hooks.enter_context(_hooked(self._submodule(piece), noted))
            logits = self._call(self.module, ids, mask)
        for name in ("attention", "hidden"):
            piece = getattr(self.pieces, name)
            if callable(piece):
                seen[name] = piece(self.module)
        if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(ids):
            found = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise UsageError(
                f"The wrapped module must return logits [B, C] but returns {found}. See forward=."
            )
        return {**seen, "logits": logits}

    def _ids(self, example: Example) -> list[int]:
        ids = list(self.reader.ids(list(example.units)))
        if len(ids) != len(example.units):
            raise PluginError(
                f"inputs= gave {len(ids)} ids for the {len(example.units)} words of example '{example.id}'; "
                "it must give one id per word."
            )
        return ids

    def _submodule(self, name: str) -> nn.Module:
        known = dict(self.module.named_modules(remove_duplicate=False))  # a shared one has several names
        if name not in known or not name:
            names = [other for other in known if other]
            near, there = did_you_mean(name, names), ", ".join(names)
            raise UsageError(f"The module has no submodule '{name}'.{near} It has: {there}.")
        return known[name]


@dataclass
class _Noted:
    """Reads the output of a submodule, and replaces it if another is held."""

    name: str
    shape: tuple[int, ...]  # [B, L]
    held: Tensor | None
    seen: dict[str, Tensor]

    def __call__(self, output: Any) -> Any:
        several = isinstance(output, tuple)
        for place, part in enumerate(output if several else (output,)):
            if isinstance(part, Tensor) and self._fits(part):
                kept = part if self.held is None else self.held.reshape(part.shape)
                self.seen[self.name] = kept.reshape(self.shape) if self.name == "attention" else kept
                return (*output[:place], kept, *output[place + 1 :]) if several else kept
        wanted = "[B, L]" if self.name == "attention" else "[B, L, H]"
        raise UsageError(
            f"The submodule of {self.name}= must return {wanted} but returns {_described(output)}. Name "
            "another one, or pass a function that reads it from the module after a pass."
        )

    def _fits(self, part: Tensor) -> bool:
        """Whether a tensor has the right shape; attention may also be [B, L, 1] or [B, 1, L]."""
        rows, columns = self.shape
        if self.name == "hidden":
            return part.ndim == 3 and tuple(part.shape[:2]) == self.shape
        return tuple(part.shape) in (self.shape, (rows, columns, 1), (rows, 1, columns))


@contextmanager
def _hooked(module: nn.Module, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change the output of a submodule in every pass inside."""
    handle = module.register_forward_hook(lambda _, __, output: change(output))
    try:
        yield
    finally:
        handle.remove()


def _widened(values: Tensor, width: int, name: str) -> Tensor:
    """Fill values by column up with 0 to a common width; logits have no columns."""
    if name == "logits" or values.shape[1] == width:
        return values
    shape = (len(values), width - values.shape[1], *values.shape[2:])
    return torch.cat([values, values.new_zeros(shape)], 1)


def _described(output: Any) -> str:
    parts = output if isinstance(output, tuple) else (output,)
    return ", ".join(str(list(p.shape)) if isinstance(p, Tensor) else type(p).__name__ for p in parts)


def _ids_alone(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:  # noqa: ARG001
    return module(ids)


def _with_mask(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    return module(ids, mask)


def _with_lengths(module: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    return module(ids, mask.sum(1))


def _by_signature(module: nn.Module) -> Callable[[nn.Module, Tensor, Tensor], Tensor]:
    """Find out how a module is called, by the name of its second argument."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    second = positional[1].name if len(positional) > 1 else ""
    if second in MASKS:
        return _with_mask
    if second in LENGTHS:
        return _with_lengths
    if [p for p in positional[1:] if p.default is p.empty]:
        raise UsageError(
            f"The argument '{second}' of its forward is neither a mask nor lengths: say how to call it with "
            "forward=lambda module, ids, mask: ..."
        )
    return _ids_alone
