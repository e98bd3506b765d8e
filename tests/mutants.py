"""For every law a component that breaks it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from correct_components import Gradients, OnRationale, ToyTask, WeightByLength, Weights
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import WithCurve
from attnx.testing import ToyModel
from attnx.testing.toy import ToySoftmax
from attnx.types import Batch, Conclusion, Corpus, Evidence, TaskData, Trace


def mutant(correct: type, **methods: Any) -> Any:
    """A component of that class with some methods or declarations of its own."""
    return type(f"Mutant{correct.__name__}", (correct,), methods)()


softmax, weight_on_rationale, weight_by_length = ToySoftmax(), OnRationale(), WeightByLength()
run, decode, classify = ToyModel.run, ToyModel.decode, ToyModel._classify


def projecting(f: Callable[[Tensor, Tensor], Tensor]) -> Any:
    return mutant(ToySoftmax, __call__=lambda _, z, mask: f(z, mask))


def running(f: Callable[[Any, Batch, Tensor, Tensor | None], Trace], **methods: Any) -> Any:
    return mutant(
        ToyModel, run=lambda model, batch, x, attention=None: f(model, batch, x, attention), **methods
    )


def altered(alter: Callable[[TaskData], TaskData]) -> Any:
    return mutant(ToyTask, sample=lambda _: alter(ToyTask().sample()))


def first(data: TaskData, **changes: Any) -> TaskData:
    """Data whose first example is changed."""
    return replace(data, train=(replace(data.train[0], **changes), *data.train[1:]))


def weighing(f: Callable[[Any, Trace], Tensor], needs: tuple[str, ...] = ()) -> Any:
    return mutant(Weights, needs=needs, __call__=lambda _, model, trace, target, random: f(model, trace))


def measuring(f: Callable[[Tensor, Batch], Tensor]) -> Any:
    return mutant(
        OnRationale, axis=None, __call__=lambda _, e: f(weight_on_rationale(e).values, e.trace.batch)
    )


def drawing(f: Callable[[Tensor, Tensor], Any], **declared: Any) -> Any:
    return mutant(OnRationale, __call__=lambda _, e: f(*weight_on_rationale(e)), **declared)


def keeping(f: Callable[[Tensor, Batch], Tensor]) -> Any:
    """Keeps something else in place of the top weights [B]."""

    def keep(_: Any, e: Evidence, corpus: Corpus) -> tuple[Tensor, ...]:
        top, units = weight_by_length.keep(e, corpus)
        return f(top, e.trace.batch), units

    return mutant(WeightByLength, keep=keep)


def concluding(f: Callable[[Conclusion, Tensor], Conclusion]) -> Any:
    """Concludes something else from the verdict and the top weights [N]."""
    return mutant(
        WeightByLength, conclude=lambda _, kept, corpus: f(weight_by_length.conclude(kept, corpus), kept[0])
    )


def half_attention(model: ToyModel, batch: Batch, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    scores, a, _ = decode(model, batch, hidden)
    return scores, a / 2, model._classify(hidden, a / 2)


def count_rows(model: ToyModel, hidden: Tensor, attention: Tensor) -> Tensor:
    logits = classify(model, hidden, attention)
    return logits + torch.arange(len(logits)).reshape(-1, *[1] * (logits.ndim - 1))


def hidden_of(model: ToyModel, batch: Batch) -> Tensor:
    return run(model, batch, model.embed(batch)).hidden


def double_hidden(model: ToyModel, batch: Batch, x: Tensor, attention: Tensor | None) -> Trace:
    trace = run(model, batch, x, attention=attention)
    return replace(trace, hidden=2 * trace.hidden)


def add_padding(model: ToyModel, batch: Batch, x: Tensor, attention: Tensor | None) -> Trace:
    """Padding has the zero vector, so only its gradient gives it away."""
    trace = run(model, batch, x, attention=attention)
    return replace(trace, logits=trace.logits + (x.sum(-1) * ~batch.mask).sum(1, keepdim=True))


def leave_hook(model: Any, trace: Trace) -> Tensor:
    """Its hook is removed only when all goes well."""
    hook = model.register_forward_hook(lambda *_: None)
    values = Gradients()(model, trace, trace.predicted, Randomness(0))
    hook.remove()
    return values


def leave_inner_hook(model: Any, trace: Trace) -> Tensor:
    model.add_module("inner", torch.nn.Identity().eval())
    model.inner.register_forward_pre_hook(lambda *_: None)
    return trace.attention


def leave_gradient(model: Any, trace: Trace) -> Tensor:
    model.requires_grad_(True)
    model.run(trace.batch, model.embed(trace.batch)).logits.sum().backward()
    model.requires_grad_(False)
    return trace.attention


def by_column(_: Any, trace: Trace) -> Tensor:
    """Takes the number of a column for the place of its unit."""
    mask = trace.batch.mask
    place = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return (1 / (1.0 + place)).masked_fill(~mask, 0.0)


def mean_of_first_columns(_: Any, e: Evidence) -> Tensor:
    """Takes the first three columns for the first three units."""
    return e.explanation.values[:, :3].sum(1) / 3


def keep_first_column(_: Any, e: Evidence, corpus: Corpus) -> tuple[Tensor, ...]:
    """Takes the first column for the first unit."""
    return e.explanation.values[:, 0], e.trace.batch.mask.sum(1)


# Law -> what it says -> the mutant it says it of.
MUTANTS: dict[str, dict[str, Any]] = {
    "simplex": {
        "attention sums to": projecting(lambda z, mask: z.sigmoid() * mask),
        "outside the mask": projecting(lambda z, mask: z.softmax(-1)),
        "negative": projecting(lambda z, mask: 2 * softmax(z, mask) - mask / mask.sum(1, keepdim=True)),
        "became": projecting(lambda z, mask: softmax(z, mask)[:, None]),
    },
    "empty-row": {"became": projecting(lambda z, mask: z.masked_fill(~mask, -1e9).softmax(-1))},
    "no-columns": {
        "became (6, 1)": projecting(lambda z, mask: softmax(z, mask) if z.shape[1] else z.new_ones(6, 1))
    },
    "masked-scores": {
        "a score outside": projecting(lambda z, mask: softmax(z / z.abs().amax(1, keepdim=True), mask))
    },
    "projection-padding": {"more columns": projecting(lambda z, mask: softmax(z / z.shape[1], mask))},
    "projection-rows": {"a row alone": projecting(lambda z, mask: softmax(z / z[mask].abs().max(), mask))},
    "projection-device": {
        "same device": projecting(lambda z, mask: softmax(z + torch.zeros(z.shape[1]), mask)),
        "is on the CPU": projecting(lambda z, mask: softmax(z.cpu(), mask.cpu())),
        "weights on an accelerator differ": projecting(lambda z, mask: softmax(z * (1 + z.is_cuda), mask)),
    },
    "finite-gradient": {"not finite": projecting(lambda z, mask: softmax(z, mask).sqrt().square())},
    "model-attention": {
        "does not sum to 1": mutant(ToyModel, decode=half_attention),
        "outside the mask": ToyModel(projecting(lambda z, mask: z.softmax(-1))),
    },
    "model-padding": {
        "alone gives another": mutant(ToyModel, _classify=lambda m, h, a: classify(m, h, a) / h.shape[1])
    },
    "model-order": {"reverse order": mutant(ToyModel, _classify=count_rows)},
    "reattend-own": {
        "differs from trace.logits": mutant(ToyModel, reattend=lambda m, trace, a: trace.logits * 0)
    },
    "reattend-several": {
        "differs from K calls": mutant(
            ToyModel, reattend=lambda m, t, a: classify(m, t.hidden, a.flip(1) if a.ndim == 3 else a)
        )
    },
    "held-attention": {
        "reports another": running(lambda m, batch, x, a: run(m, batch, x)),
        "differs from reattend": running(
            lambda m, batch, x, a: replace(run(m, batch, x, attention=a), logits=run(m, batch, x).logits)
        ),
    },
    "linear-decoder": {
        "differ from the mixture": mutant(ToyModel, _classify=lambda m, h, a: classify(m, h, a).tanh())
    },
    "decode-own": {
        "differs from run": running(double_hidden, reattend=lambda m, t, a: classify(m, t.hidden / 2, a))
    },
    "frozen-own": {
        "differs from the hidden": mutant(
            ToyModel,
            provides=(*ToyModel.provides, "frozen-states"),
            frozen_states=lambda m, batch: 2 * hidden_of(m, batch).detach(),
        ),
        "parameters that are trained": mutant(
            ToyModel,
            provides=(*ToyModel.provides, "frozen-states"),
            frozen_states=lambda m, batch: hidden_of(m, batch) + 0 * next(m.parameters()).sum(),
        ),
    },
    "differentiable": {
        "raised RuntimeError": running(lambda m, batch, x, a: run(m, batch, x.detach(), attention=a)),
        "not finite": ToyModel(projecting(lambda z, mask: softmax(z, mask).sqrt().square())),
        "padding has a gradient": running(add_padding),
    },
    "model-device": {
        "same device": mutant(ToyModel, _classify=count_rows),
        "logits of reattend are on the CPU": mutant(
            ToyModel, reattend=lambda m, trace, a: classify(m, trace.hidden, a).cpu()
        ),
        "logits of reattend on an accelerator": mutant(
            ToyModel, reattend=lambda m, trace, a: classify(m, trace.hidden, a) * (1 + a.is_cuda)
        ),
    },
    "state": {"does not restore": mutant(ToyModel, load_state_dict=lambda model, state: None)},
    "sample": {
        "test split is empty": altered(lambda data: replace(data, test=())),
        "train has labels [0, 1]": altered(lambda data: replace(data, label_names=("no", "yes", "never"))),
    },
    "labels": {
        "has label 2": altered(lambda data: first(data, label=2)),
        "has label -1": altered(lambda data: first(data, label=-1)),
    },
    "unique-ids": {"an id occurs twice": altered(lambda data: replace(data, dev=data.train))},
    "one-per-unit": {
        "rationale does not": altered(lambda data: first(data, rationale=(True,))),
        "rows does not": altered(lambda data: first(data, rows=(1,))),
    },
    "provided": {
        "has no rationale": altered(lambda data: first(data, rationale=None)),
        "has no query": mutant(ToyTask, provides=("query",)),
        "declares features": mutant(ToyTask, provides=("features",)),
    },
    "repeatable": {"differ": altered(lambda data: first(data, query=(str(random.getrandbits(64)),)))},
    "importance-shape": {
        "special or padding position": weighing(lambda model, trace: torch.ones_like(trace.attention)),
        "not finite": weighing(lambda model, trace: trace.attention.masked_fill(trace.batch.mask, torch.inf)),
        "values of shape": weighing(lambda model, trace: trace.attention[:, 1:]),
    },
    "importance-batches": {
        "alone gets other scores": weighing(lambda model, trace: trace.attention / trace.attention.max())
    },
    "importance-special": {"get other scores if the model": weighing(by_column)},
    "importance-device": {
        "same device": weighing(lambda model, trace: trace.attention * torch.ones(trace.attention.shape[1])),
        "to numpy": weighing(lambda model, trace: torch.from_numpy(trace.attention.numpy())),
        "values on an accelerator differ": weighing(
            lambda model, trace: trace.attention * (1 + trace.attention.is_cuda)
        ),
    },
    "model-untouched": {
        "a hook": weighing(leave_inner_hook),
        "a hook was left": weighing(leave_hook, needs=("gradient",)),
        "a gradient was left": weighing(leave_gradient, needs=("gradient",)),
        "in training mode": weighing(lambda model, trace: model.train() and trace.attention),
        "requires_grad = True": weighing(lambda model, trace: model.requires_grad_() and trace.attention),
        "it fails with": weighing(lambda model, trace: trace.attention.reshape(-1, 1000)),
    },
    "bounds": {
        "outside (0, 1)": measuring(lambda values, batch: values + 2),
        "top weight is [2.": keeping(lambda top, batch: top + 2),
    },
    "blind": {
        "reads_explanation = False": mutant(OnRationale, reads_explanation=False),
        "declares reads_explanation": mutant(WeightByLength, reads_explanation=False),
    },
    "metric-batches": {
        "alone gives another": measuring(lambda values, batch: values / batch.mask.shape[1]),
        "reverse order": measuring(lambda values, batch: values / torch.arange(1, 1 + len(batch))),
    },
    "metric-special": {
        "gets other values": mutant(OnRationale, needs=(), axis=None, __call__=mean_of_first_columns),
        "special columns gets": mutant(WeightByLength, keep=keep_first_column),
    },
    "metric-device": {
        "same device": measuring(lambda values, batch: values * torch.ones(len(batch))),
        "but found at least two, cuda:0 and cpu": keeping(lambda top, batch: top * torch.ones(len(batch))),
        "values on an accelerator differ": measuring(
            lambda values, batch: values / (1 + batch.inputs.is_cuda)
        ),
    },
    "split-batches": {
        "batches of one": keeping(lambda top, batch: top / batch.mask.shape[1]),
        "reverse order": concluding(lambda verdict, top: replace(verdict, values=top[:1])),
    },
    "split-result": {
        "not (1,)": concluding(lambda verdict, top: replace(verdict, values=top[:2])),
        "the curve 'top weight'": concluding(
            lambda verdict, top: replace(verdict, curves=((verdict.curves[0][0], top),))
        ),
    },
    "undefined": {
        "ordinary split is undefined": keeping(lambda top, batch: top * torch.nan),
        "without a rationale got": measuring(lambda values, batch: values.nan_to_num()),
        "every example is undefined": measuring(lambda values, batch: values + 0 * values.sum()),
    },
    "metric-curve": {
        "a curve of shape (6, 2)": drawing(lambda values, curve: WithCurve(values, curve[:, 1:])),
        "an axis and returned no curve": drawing(lambda values, curve: values),
        "no axis and returned a curve": drawing(WithCurve, axis=None),
    },
}
