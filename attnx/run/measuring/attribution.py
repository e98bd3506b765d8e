"""One forward pass through a model, and the scores that an importance method gives for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from ...formulas.layer_states import LayerStates
from ...formulas.randomness import Randomness
from ...formulas.ranking import settled
from ...host.cards import TargetUse
from ...protocols import ImportanceMethod, Model
from ...request.plan import Part
from ...types import Batch, Importance, Trace
from .output_checks import check_tensor


class KeptScores(Protocol):
    """Scores of one method for one model that were computed earlier, by batch."""

    def find(self, label: str, trace: Trace, target: Tensor) -> Importance | None:
        """The scores of a batch, if they are kept."""
        ...

    def outputs(self) -> int:
        """How many outputs for parts of the batch are known before the scores are computed."""
        ...

    def keep(self, trace: Trace, scores: Importance, before: int) -> None:
        """Keep the scores of a batch, and the outputs that came to be known after the first `before`."""
        ...


@dataclass(frozen=True, slots=True)
class Named:
    """A component that is ready to use, with its label in the report."""

    label: str
    component: Any
    provider: str = ""  # its plugin with the version; empty for an object that the caller made
    kept: KeptScores | None = None  # of an importance method whose scores are kept from run to run

    @classmethod
    def of(cls, part: Part) -> Named:
        """Make the component of a plan's part."""
        return cls(part.label, part.make(), part.provider)

    def title(self, kind: str) -> str:
        """The component as error messages call it."""
        return f"{kind} '{self.label}'" + (f" of plugin {self.provider}" if self.provider else "")


def trace_of(model: Model, batch: Batch) -> Trace:
    """One forward pass."""
    return model.run(batch, model.embed(batch))


def attribute(named: Named, model: Model, trace: Trace, target: Tensor, seed: int = 0) -> Importance:
    """The scores of one importance method, kept ones where there are some."""
    if named.kept is None:
        return _computed(named, model, trace, target, seed)
    found = named.kept.find(named.label, trace, target)
    if found is None:
        before = named.kept.outputs()
        found = _computed(named, model, trace, target, seed)
        named.kept.keep(trace, found, before)
    return replace(found, signed=named.component.signed)


def _computed(named: Named, model: Model, trace: Trace, target: Tensor, seed: int) -> Importance:
    """Compute the scores of one importance method; gradients are on only if it declares to need them."""
    method: ImportanceMethod = named.component
    random = Randomness(seed).to(f"importance {named.label}")
    started = time.perf_counter()
    with torch.set_grad_enabled("gradient" in method.needs), counted_passes(model) as passes:
        values = method(model, trace, target, random)
    seconds = time.perf_counter() - started
    check_tensor(values, tuple(trace.attention.shape), f"importance '{named.label}' returned values")
    values = settled(values.detach(), trace.batch.mask.to(values.device))
    device = trace.attention.device
    return Importance(
        named.label,
        values.to(device),
        target,
        seconds,
        passes.count,
        on_cpu=values.device != device,
        signed=method.signed,
    )


@dataclass(frozen=True, slots=True)
class AgainExplaining:
    """A method that explains again: another input, class or model. Nothing of it is kept from run to run."""

    named: Named
    seed: int

    @property
    def target_use(self) -> TargetUse:
        """How scores depend on the explained class."""
        found: TargetUse = self.named.component.target_use
        return found

    def __call__(self, model: Model, trace: Trace, target: Tensor, /) -> Tensor:
        """The scores [B, L]."""
        return _computed(self.named, model, trace, target, self.seed).values


def explainer_of(named: Named | None, seed: int) -> AgainExplaining | None:
    """The method of an explanation, if it computes its scores."""
    return AgainExplaining(named, seed) if named and named.component.computed else None


# How many examples a call of each method sends through the model.
_PASSES: dict[str, Callable[..., int]] = {
    "run": lambda _, embeddings, **__: len(embeddings),
    "layers": lambda _, embeddings: len(embeddings),
    "one_layer": lambda _, embeddings, *__: len(embeddings),
    "layer_states": lambda _, embeddings: len(embeddings),
    "decode": lambda _, hidden: len(hidden),
    "reattend": lambda _, attention: attention[..., 0].numel(),
    "influence": lambda trace: len(trace.batch),
    "without_each": lambda trace: int(trace.batch.mask.sum()),
    "logits_of": lambda batches: sum(map(len, batches)),
    "gradients_at": lambda trace, points, _: len(trace.batch) * points.count,
    "replaced": lambda _, rows, *__: len(rows),
}


@dataclass
class _Passes:
    watch: Callable[[int, int], None] | None = None  # told the rows and columns of every pass
    count: int = 0
    depth: int = 0  # a method of the model may call another: only the outer one counts


@contextmanager
def counted_passes(model: Model, watch: Callable[[int, int], None] | None = None) -> Iterator[_Passes]:
    """Count the examples that are sent through a model, without changing its class or its results."""
    passes = _Passes(watch)
    names = [name for name in _PASSES if hasattr(model, name)]
    before = {name: vars(model)[name] for name in names if name in vars(model)}
    for name in names:
        vars(model)[name] = _counted(getattr(model, name), _PASSES[name], passes)
    try:
        yield passes
    finally:
        for name in names:
            del vars(model)[name]
        vars(model).update(before)


def _counted(method: Callable[..., Any], size: Callable[..., int], passes: _Passes) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        rows = 0 if passes.depth else size(*args, **kwargs)
        passes.count += rows
        passes.depth += 1
        try:
            result = method(*args, **kwargs)
        finally:
            passes.depth -= 1
        if isinstance(result, LayerStates):
            result = _counted_layers(result, passes)
        if rows and passes.watch is not None:
            given = args[0] if isinstance(args[0], Sequence) else args[:1]
            batches: list[Batch] = [one if isinstance(one, Batch) else one.batch for one in given]
            passes.watch(rows, max(batch.mask.shape[1] for batch in batches))
        return result

    return call


def _counted_layers(states: LayerStates, passes: _Passes) -> LayerStates:
    """Count a row that is run through every layer on its own as one pass, at the bottom layer."""
    bottom, *others = states.layers

    def without_value(rows: Tensor, positions: Tensor) -> Tensor:
        passes.count += len(rows)
        return bottom.without_value(rows, positions)

    return replace(states, layers=(replace(bottom, without_value=without_value), *others))
