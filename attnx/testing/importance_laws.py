"""The laws of importance methods, tested on the toy model."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from ..protocols import ImportanceMethod
from ..run.evaluation_mode import evaluating
from ..run.measuring.attribution import Named, attribute, trace_of
from ..types import Batch, Example
from .laws import law, require
from .model_laws import by_unit, close
from .toy import MarkedToyModel, ToyModel, toy_data


def _values(method: ImportanceMethod, examples: Sequence[Example], model: ToyModel) -> tuple[Batch, Tensor]:
    batch = model.encode(examples)
    with evaluating(model):
        trace = trace_of(model, batch)
        return batch, attribute(Named("method", method), model, trace, trace.predicted, seed=0).values


@law("importance")
def importance_shape(method: ImportanceMethod) -> None:
    """There is one finite score per unit, and the score is 0 at special and padding positions."""
    batch, values = _values(method, toy_data().test, ToyModel())
    require(
        values.shape == batch.mask.shape,
        f"the scores have shape {tuple(values.shape)}, not {tuple(batch.mask.shape)}",
    )
    require(bool((values[~batch.mask] == 0).all()), "a score at a special or padding position is not 0")
    require(bool(values.isfinite().all()), "a score is not finite")


@law("importance")
def importance_batches(method: ImportanceMethod) -> None:
    """Scores are independent of padding, order and batch composition."""
    examples, model = toy_data().test, ToyModel()
    batch, values = _values(method, examples, model)
    other_batch, others = _values(method, examples[::-1], model)
    for row, example in enumerate(examples):
        alone_batch, alone = _values(method, [example], model)
        mine = by_unit(batch, values, row)
        require(close(mine, by_unit(alone_batch, alone, 0)), f"example {example.id} alone gets other scores")
        back = len(examples) - 1 - row
        require(close(mine, by_unit(other_batch, others, back)), "the order of a batch changes scores")


@law("importance")
def importance_special(method: ImportanceMethod) -> None:
    """A score belongs to its unit: it is the same if the model has special columns, such as [CLS]."""
    examples = toy_data().test
    plain_batch, plain = _values(method, examples, ToyModel())
    batch, values = _values(method, examples, MarkedToyModel())
    require(bool((values[~batch.mask] == 0).all()), "a score at a special or padding position is not 0")
    for row, example in enumerate(examples):
        require(
            close(by_unit(plain_batch, plain, row), by_unit(batch, values, row)),
            f"the units of example {example.id} get other scores if the model has special columns",
        )


class _Failing(ToyModel):
    """Runs once, then fails."""

    calls = 0

    def run(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.calls += 1
        if self.calls > 1:
            raise RuntimeError("this model fails on purpose")
        return super().run(*args, **kwargs)


@law("importance")
def model_untouched(method: ImportanceMethod) -> None:
    """The model keeps its mode and gets no hooks or gradients, even when it fails."""
    for model in (ToyModel(), _Failing()):
        batch = model.encode(toy_data().test)
        with evaluating(model):
            trace = trace_of(model, batch)
            try:
                attribute(Named("method", method), model, trace, trace.predicted, seed=0)
            except RuntimeError as error:
                require("on purpose" in str(error), f"it fails with {error}")
            _require_untouched(model)  # inside: on leaving, the mode is restored in any case


def _require_untouched(model: nn.Module) -> None:
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    left = any(getattr(module, name) for module in model.modules() for name in hooks)
    require(not left, "a hook was left on the model")
    require(not any(module.training for module in model.modules()), "the model was left in training mode")
    require(all(p.grad is None for p in model.parameters()), "a gradient was left on a parameter")
    require(
        not any(p.requires_grad for p in model.parameters()), "a parameter was left with requires_grad = True"
    )
