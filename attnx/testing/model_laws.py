"""The laws of models, tested on the sample of a task that they can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from ..protocols import FrozenModel, Model
from ..run.evaluation_mode import evaluating
from ..types import Batch, Example, TaskData, Trace
from .laws import law, require

TOLERANCE = 1e-4


@dataclass(frozen=True)
class ModelOnTask:
    """A model built on a task's sample."""

    model: Model
    data: TaskData

    def trace(self, examples: Sequence[Example] | None = None) -> Trace:
        """Run the model on these examples, or on the test split."""
        batch = self.model.encode(examples or self.data.test)
        with evaluating(self.model):
            return self.model.run(batch, self.model.embed(batch))


def close(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal up to rounding."""
    return a.shape == b.shape and torch.allclose(a, b, atol=TOLERANCE, rtol=TOLERANCE)


def by_unit(batch: Batch, values: Tensor, row: int) -> Tensor:
    """Sort the values of one example by its units."""
    columns = batch.unit_index[row]
    kept = columns >= 0
    return values[row][kept][columns[kept].argsort()]


@law("model")
def model_attention(on: ModelOnTask) -> None:
    """Attention is not negative, sums to 1 over the mask, and is 0 elsewhere."""
    if "attention" not in on.model.provides:
        require(
            "reattend" not in on.model.provides,
            "it provides reattend but not attention",
        )
        return
    trace = on.trace()
    a, mask = trace.attention, trace.batch.mask
    require(bool((a[~mask] == 0).all()), "attention outside the mask is not 0")
    sums = a.sum(1)
    require(
        bool((a >= 0).all()) and close(sums, torch.ones_like(sums)),
        "attention is negative or does not sum to 1",
    )


@law("model")
def model_padding(on: ModelOnTask) -> None:
    """Results are independent of padding and batch composition."""
    together = on.trace()
    for row, example in enumerate(on.data.test):
        alone = on.trace([example])
        mine, by_itself = (
            by_unit(trace.batch, trace.attention, at) for trace, at in ((together, row), (alone, 0))
        )
        shown = "attention" in on.model.provides
        same = close(together.logits[row], alone.logits[0]) and (not shown or close(mine, by_itself))
        require(same, f"example {example.id} alone gives another result than in a batch")


@law("model")
def model_order(on: ModelOnTask) -> None:
    """Results are independent of the order of the batch."""
    logits = on.trace().logits
    backwards = on.trace(on.data.test[::-1]).logits.flip(0)
    require(close(logits, backwards), "a batch in reverse order gives other logits")


@law("model")
def reattend_own(on: ModelOnTask) -> None:
    """`reattend(trace, trace.attention)` returns `trace.logits`."""
    if "reattend" not in on.model.provides:
        return
    trace = on.trace()
    with torch.no_grad():
        again = on.model.reattend(trace, trace.attention)
    require(close(again, trace.logits), "reattend(trace, trace.attention) differs from trace.logits")


@law("model")
def reattend_several(on: ModelOnTask) -> None:
    """`reattend` with several attentions [B, K, L] returns what K single calls return."""
    if "reattend" not in on.model.provides:
        return
    trace = on.trace()
    mask = trace.batch.mask.to(trace.attention)
    uniform = mask / mask.sum(1, keepdim=True).clamp_min(1)
    several = torch.stack([trace.attention, uniform], dim=1)  # [B, 2, L]
    with torch.no_grad():
        together = on.model.reattend(trace, several)  # [B, 2, C]
        alone = torch.stack([on.model.reattend(trace, several[:, k]) for k in range(2)], dim=1)
    require(close(together, alone), "reattend of [B, K, L] differs from K calls of [B, L]")


@law("model")
def held_attention(on: ModelOnTask) -> None:
    """`run` with `attention=a` uses a and gives the logits of `reattend(trace, a)`."""
    if "reattend" not in on.model.provides:
        return
    trace = on.trace()
    mask = trace.batch.mask.to(trace.attention)
    uniform = mask / mask.sum(1, keepdim=True).clamp_min(1)
    with torch.no_grad():
        held = on.model.run(trace.batch, trace.embeddings, attention=uniform)
        expected = on.model.reattend(trace, uniform)
    require(close(held.attention, uniform), "run(attention=a) reports another attention")
    require(close(held.logits, expected), "run(attention=a) differs from reattend(trace, a)")


@law("model")
def linear_decoder(on: ModelOnTask) -> None:
    """Logits are linear in attention, if the model provides linear-decoder."""
    if "linear-decoder" not in on.model.provides:
        return
    trace = on.trace()
    mask = trace.batch.mask
    units = torch.eye(mask.shape[1]).to(trace.attention).expand(len(mask), -1, -1)  # [B, L, L]
    several = torch.rand(len(mask), 4, mask.shape[1]).masked_fill(~mask[:, None], 0.0)
    several = several / several.sum(-1, keepdim=True).clamp_min(1e-9)  # [B, 4, L]
    with torch.no_grad():
        alone = on.model.reattend(trace, units).masked_fill(~mask[..., None], 0.0)  # [B, L, C]
        mixed = on.model.reattend(trace, several)  # [B, 4, C]
    require(close(mixed, several @ alone), "logits of mixed attention differ from the mixture of logits")


@law("model")
def decode_own(on: ModelOnTask) -> None:
    """`decode(batch, trace.hidden)` returns `trace.attention` and `trace.logits`."""
    if "decode" not in on.model.provides:
        return
    trace = on.trace()
    with torch.no_grad():
        _, attention, logits = on.model.decode(trace.batch, trace.hidden)
    require(
        close(attention, trace.attention) and close(logits, trace.logits), "decode(hidden) differs from run"
    )


@law("model")
def frozen_own(on: ModelOnTask) -> None:
    """`frozen_states(batch)` returns `trace.hidden`, and no parameter that is trained takes part."""
    if "frozen-states" not in on.model.provides:
        return
    trace = on.trace()
    hidden = cast("FrozenModel", on.model).frozen_states(trace.batch)
    require(not hidden.requires_grad, "frozen_states depends on parameters that are trained")
    used = torch.arange(hidden.shape[1], device=hidden.device) < trace.batch.lengths[:, None]
    require(close(hidden[used], trace.hidden[used]), "frozen_states differs from the hidden states of run")


@law("model")
def differentiable(on: ModelOnTask) -> None:
    """Logits can be differentiated with respect to the embeddings, and padding has no gradient."""
    if "gradient" not in on.model.provides:
        return
    batch = on.model.encode(on.data.test)
    embeddings = on.model.embed(batch).detach().requires_grad_()
    on.model.eval()
    logits = on.model.run(batch, embeddings).logits
    (gradient,) = torch.autograd.grad(logits.sum(), embeddings)
    require(bool(gradient.isfinite().all()), "a gradient with respect to the embeddings is not finite")
    require(
        bool((gradient[~batch.mask & (batch.unit_index < 0)] == 0).all()) or _special(batch),
        "padding has a gradient",
    )


def _special(batch: Batch) -> bool:
    """Whether some column is neither a unit nor padding: then it may well have a gradient."""
    return bool((batch.lengths != batch.mask.sum(1)).any())


@law("model")
def state(on: ModelOnTask) -> None:
    """Saving and loading the state_dict restores the model."""
    before = on.trace().logits
    saved: dict[str, Any] = {name: tensor.clone() for name, tensor in on.model.state_dict().items()}
    with torch.no_grad():
        for parameter in on.model.parameters():
            parameter.add_(1.0)
    on.model.load_state_dict(saved)
    require(close(before, on.trace().logits), "loading the saved state does not restore the model")
