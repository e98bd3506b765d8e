"""Training: one loop for every model; the best epoch is selected on the dev split only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ...errors import PluginError, UsageError
from ...formulas.chunks import at_once
from ...formulas.deception import deception_penalty
from ...progress import Progress
from ...protocols import Model
from ...request.spec import Training
from ...results.observations import Epoch, TrainingRecord
from ...types import Batch, TaskData, Trace
from ..evaluation_mode import evaluating
from ..measuring.attribution import Named, trace_of
from ..measuring.freed_memory import keeping
from ..measuring.metric_calls import answer_of, attention_evidence
from ..measuring.splits import Split, batches, shuffled
from .checkpoints import Checkpoint, TrainingHistory, TrainingState, learned_state, load_learned
from .estimate import TrainingEstimate
from .frozen_states import FrozenStates, frozen_states
from .optimizer import PlainAdam
from .precision import Precision

Objective = Callable[[Model, Batch], Tensor]
Trainer = Callable[..., TrainingRecord]  # called as `train` is
NARROW = 2**13  # columns of a batch: with wider ones, pieces of memory that is kept fill gigabytes


def train(
    model: Model,
    data: TaskData,
    training: Training,
    *,
    seed: int,
    followed: Sequence[Named] = (),
    device: torch.device,
    progress: Progress,
    label: str,
    objective: Objective | None = None,
    keep: Literal["best", "last"] = "best",
    checkpoint: Checkpoint | None = None,
) -> TrainingRecord:
    """Train a model in place and leave it with the weights that were best on dev, or the last ones.

    Best is the highest dev accuracy and, among equals, the lowest dev loss. With deception or an objective,
    which accuracy does not show, it is the lowest dev loss: with the penalty, or that of the objective.
    Without an objective the loss is `loss`. With one no epoch is spared by patience: such a value may stay
    on a plateau for long. Frozen parameters stay as they are. With a checkpoint, training that was
    interrupted continues.
    """
    if not data.train and not training.epochs:
        model.eval()
        return TrainingRecord(course=(), best_epoch=0)
    precision = Precision.of(training.precision, device, cast("nn.Module", model))
    split = Split(model, data.train, device)
    dev_split = Split(model, data.dev, device)
    dev = [batch for _, batch in batches(dev_split)]
    known, known_dev = (
        None
        if objective
        else frozen_states(model, some, device, progress, label, kept=checkpoint is not None)
        for some in (split, dev_split)
    )
    class_weights = _class_weights(split.labels, len(data.label_names), training, device)
    optimizer = _optimizer(model, training)
    generator = torch.Generator().manual_seed(seed)
    state = TrainingState(model, optimizer, precision.scaler, generator, device)
    history = checkpoint.resume(state, [named.label for named in followed]) if checkpoint else None
    if history is None:
        untrained = _assess(model, dev, 0, None, training, followed, seed, known_dev, objective)
        history = TrainingHistory([untrained], untrained, _copy(model))
    done = len(history.course) - 1

    def goal(model: Model, batch: Batch) -> Tensor:
        if objective is not None:
            return objective(model, batch)
        return loss(model, batch, training.entropy, class_weights, training.deception, known)

    def merit(epoch: Epoch) -> tuple[float, ...]:  # higher is better
        by_loss = objective is not None or training.deception
        return (-epoch.dev_loss,) if by_loss else (epoch.dev_accuracy, -epoch.dev_loss)

    note = f"; resumed after epoch {done}" if done else ""
    estimate = TrainingEstimate(progress, label, (training.epochs - done) * len(split))
    narrow = training.batch_size * int(split.lengths.max()) <= NARROW
    with progress.stage(label, training.epochs * len(split)) as step, keeping() if narrow else nullcontext():
        step(done * len(split), note.removeprefix("; "))
        for epoch in range(done + 1, training.epochs + 1):
            model.train()
            losses: list[Tensor] = []
            seen = 0
            for batch in shuffled(split, training.batch_size, generator):
                _set_rate(optimizer, training, (epoch - 1 + seen / len(split)) / training.epochs)
                seen += len(batch)
                optimizer.zero_grad(set_to_none=True)
                with precision.passing():
                    value = goal(model, batch)
                precision.step(value, optimizer, training.clip)
                losses.append(value.detach())
                step(len(batch), f"epoch {epoch} of {training.epochs}{note}")
                estimate.add(len(batch))
            train_loss = float(torch.stack(losses).mean())
            now = _assess(model, dev, epoch, train_loss, training, followed, seed, known_dev, objective)
            if not math.isfinite(now.loss or 0.0):
                if checkpoint:
                    checkpoint.remove()
                if len(history.course) == 1:  # the best weights are the untrained ones
                    load_learned(model, history.best_state)
                    _refuse_impossible_losses(model, split, training.batch_size, goal)
                raise UsageError(
                    f"Training diverged in epoch {epoch}: the loss is {now.loss}. "
                    "Lower the learning rate (--train learning_rate=...), or clip gradients (--train clip=1)."
                )
            history.course.append(now)
            if keep == "last" or merit(now) > merit(history.best):
                history.best, history.best_state = now, _copy(model)
            note = f"; loss {now.loss:.3f}, dev accuracy {now.dev_accuracy:.3f}"
            step(0, f"epoch {epoch} of {training.epochs}{note}")
            waited = epoch - history.best.epoch
            if objective is None and training.patience and waited >= training.patience:
                break
            if checkpoint and epoch < training.epochs:
                checkpoint.write(state, history)
    load_learned(model, history.best_state)
    model.eval()
    return TrainingRecord(course=tuple(history.course), best_epoch=history.best.epoch)


def loss(
    model: Model,
    batch: Batch,
    entropy: float = 0.0,
    class_weights: Tensor | None = None,
    deception: float = 0.0,
    known: FrozenStates | None = None,
) -> Tensor:
    """Cross-entropy, or its expectation over single units for a hard projection, and the penalties.

    λ·Ent(a) for an entropy of λ, −λ·log(1 − Σ a_i over the rationale) for a deception of λ. Hidden states
    that are known are not computed.
    """
    expected = "projection" in model.provides and model.projection.trains_by_expectation
    trace = known.trace(model, batch, embedded=expected) if known else trace_of(model, batch)
    if expected:
        value = _expected_cross_entropy(model, trace, class_weights)
    else:
        value = F.cross_entropy(trace.logits, batch.labels, class_weights)
    if entropy:
        value = value + entropy * attention_entropy(trace.attention).mean()
    if deception:
        value = value + deception * deception_penalty(trace.attention, batch.rationale).mean()
    return value


def _expected_cross_entropy(model: Model, trace: Trace, class_weights: Tensor | None) -> Tensor:
    """Σ_j a_j · CE(g(x_j), y), the classifier seeing one unit at a time."""
    a = trace.attention  # [B, L]
    columns = torch.arange(a.shape[1], device=a.device)

    def logits_of(some: Tensor) -> Tensor:  # [B, k, C]
        single = (some[:, None] == columns).to(a.dtype).expand(len(a), -1, -1)  # [B, k, L]
        return model.reattend(trace, single)

    # All at once they need memory of the square of a text's length, unless the gradient recomputes them.
    parts = columns.split(at_once(a.numel()))
    found = [logits_of(*parts)] if len(parts) == 1 else [_recomputed(logits_of, some) for some in parts]
    logits = torch.cat(found, dim=1)  # [B, L, C]
    labels = trace.batch.labels[:, None].expand_as(a)  # [B, L]
    each = F.cross_entropy(logits.transpose(1, 2), labels, class_weights, reduction="none")  # [B, L]
    return (a * each.masked_fill(~trace.batch.mask, 0.0)).sum(1).mean()


def _recomputed(function: Callable[[Tensor], Tensor], argument: Tensor) -> Tensor:
    """The value of a function whose intermediate tensors are recomputed for the gradient, not stored."""
    value: Tensor = checkpoint(function, argument, use_reentrant=False)
    return value


def attention_entropy(attention: Tensor) -> Tensor:
    """−Σ a log a in nats over the last dimension, 0·log 0 = 0."""
    return torch.special.entr(attention.clamp_min(torch.finfo(attention.dtype).tiny)).sum(-1)


def _refuse_impossible_losses(model: Model, split: Split, batch_size: int, goal: Objective) -> None:
    """Refuse a model whose loss is not finite before it is trained: no learning rate would help."""
    for batch in shuffled(split, batch_size, torch.Generator().manual_seed(0)):
        found = float(goal(model, batch).detach())
        if not math.isfinite(found):
            raise PluginError(
                f"The model has a loss of {found} before any training: it, or its projection, "
                "returns numbers that are not finite."
            )


def _assess(
    model: Model,
    dev: Sequence[Batch],
    epoch: int,
    train_loss: float | None,
    training: Training,
    followed: Sequence[Named],
    seed: int,
    known: FrozenStates | None = None,
    objective: Objective | None = None,
) -> Epoch:
    """Loss, that of the objective or with the penalty of deception, accuracy and followed metrics on dev."""
    total_loss, correct, count = 0.0, 0.0, sum(len(batch) for batch in dev)
    values: dict[str, list[Tensor]] = {named.label: [] for named in followed}
    with evaluating(model):
        for batch in dev:
            trace = known.trace(model, batch, embedded=bool(followed)) if known else trace_of(model, batch)
            total_loss += float(F.cross_entropy(trace.logits, batch.labels, reduction="sum"))
            if training.deception:
                penalties = deception_penalty(trace.attention, batch.rationale)  # [B]
                total_loss += training.deception * float(penalties.sum())
            correct += float((trace.predicted == batch.labels).sum())
            for named in followed:
                values[named.label].append(answer_of(named, attention_evidence(model, trace, seed))[0])
        if objective is not None:
            with torch.random.fork_rng():
                torch.manual_seed(seed)  # what an objective draws is the same after every epoch
                total_loss = sum(float(objective(model, batch)) * len(batch) for batch in dev)
    means = {
        named.label: dict(
            zip(
                (measure.name for measure in named.component.measures),
                torch.cat(values[named.label]).nanmean(0).tolist(),
                strict=True,
            )
        )
        for named in followed
    }
    return Epoch(
        epoch=epoch,
        loss=train_loss,
        dev_loss=total_loss / count,
        dev_accuracy=correct / count,
        followed=means,
    )


def _optimizer(model: Model, training: Training) -> torch.optim.Optimizer:
    """Adam (amsgrad) with weight decay on everything but the attention parameters."""
    free = {id(parameter) for parameter in model.attention_parameters()}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trained if id(p) in free], "weight_decay": 0.0},
        {
            "params": [p for p in trained if id(p) not in free],
            "weight_decay": training.weight_decay,
        },
    ]
    return PlainAdam(
        [group for group in groups if group["params"]], lr=training.learning_rate, amsgrad=True, fused=True
    )


def _set_rate(optimizer: torch.optim.Optimizer, training: Training, done: float) -> None:
    """Set the learning rate for the share of training that is done.

    It rises in a straight line during the warm-up, and falls with (1 + cos π·done) / 2 if the schedule is a
    cosine.
    """
    risen = min(1.0, done / training.warmup) if training.warmup else 1.0
    left = (1 + math.cos(math.pi * done)) / 2 if training.schedule == "cosine" else 1.0
    for group in optimizer.param_groups:
        group["lr"] = training.learning_rate * risen * left


def _class_weights(labels: Tensor, classes: int, training: Training, device: torch.device) -> Tensor | None:
    """[C] weights inverse to the frequency of each label in train, or None."""
    if training.class_weights == "none":
        return None
    counts = torch.bincount(labels, minlength=classes).clamp_min(1)
    return (len(labels) / (classes * counts.float())).to(device)


def _copy(model: Model) -> dict[str, Any]:
    return {name: tensor.detach().clone() for name, tensor in learned_state(model).items()}
