"""The laws of devices: a component gives the same results on an accelerator as on the CPU."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

from ..protocols import AttentionProjection, DeletingModel, ImportanceMethod, InfluencingModel, Metric, Model
from ..run.evaluation_mode import evaluating
from ..run.measuring.attribution import Named, attribute, trace_of
from ..types import TaskData
from .laws import law, require
from .metric_laws import conclude, is_split_metric, toy_split, values_of
from .model_laws import ModelOnTask, close
from .pretend_device import CPU, pretend_device
from .projection_laws import project, toy_scores
from .toy import ToyModel, toy_data

T = TypeVar("T")


def _copy_on(device: torch.device, component: T) -> T:
    """Copy a component, onto the device if it has tensors of its own."""
    copy = deepcopy(component)
    return copy.to(device) if isinstance(copy, nn.Module) else copy


def _require_same(here: dict[str, Tensor], there: dict[str, Tensor]) -> None:
    for name, expected in here.items():
        found = there[name].detach().cpu().nan_to_num(-99)
        same = close(found.double(), expected.detach().nan_to_num(-99).double())
        require(same, f"{name} on an accelerator differ from those on the CPU")


@law("projection")
def projection_device(projection: AttentionProjection) -> None:
    """Attention is the same on an accelerator as on the CPU."""
    scores, mask = toy_scores()
    here = project(deepcopy(projection), scores, mask)
    with pretend_device() as device:
        there = project(_copy_on(device, projection), scores.to(device), mask.to(device))
        require(there.device == device, "attention is on the CPU when scores are on an accelerator")
        _require_same({"weights": here}, {"weights": there})


@law("model")
def model_device(on: ModelOnTask) -> None:
    """The model runs and gives gradients on an accelerator, with the same results as on the CPU."""
    here = _revealed(deepcopy(on.model), on.data, CPU)
    with pretend_device() as device:
        there = _revealed(_copy_on(device, on.model), on.data, device)
        for name, values in there.items():
            require(values.device == device, f"{name} are on the CPU when the model is on an accelerator")
        _require_same(here, there)


def _revealed(model: Model, data: TaskData, device: torch.device) -> dict[str, Tensor]:
    """Collect the output of every method of a model."""
    batch = model.encode(data.test).to(device)
    with evaluating(model):
        trace = trace_of(model, batch)
        found = {"logits": trace.logits}
        if "attention" in model.provides:
            found["attention weights"] = trace.attention
        if "reattend" in model.provides:
            found["logits of reattend"] = model.reattend(trace, trace.attention[:, None].expand(-1, 2, -1))
        if "decode" in model.provides:
            found["logits of decode"] = model.decode(batch, trace.hidden)[2]
        if "fast-deletion" in model.provides:
            logits = cast("DeletingModel", model).without_each(trace)
            several = batch.mask & (batch.mask.sum(1, keepdim=True) > 1)
            found["logits of without_each"] = logits.masked_fill(~several[..., None], 0.0)
        if "fast-influence" in model.provides:
            influence = cast("InfluencingModel", model).influence(trace)
            both = batch.mask[:, None] & batch.mask[..., None]
            found["numbers of influence"] = influence.masked_fill(~both, 0.0)
    if "gradient" in model.provides:
        logits = trace_of(model, batch).logits
        nn.functional.cross_entropy(logits, batch.labels).backward()
        for name, parameter in model.named_parameters():  # type: ignore[attr-defined]
            if parameter.grad is not None:
                found[f"gradients of {name}"] = parameter.grad
    return found


@law("importance")
def importance_device(method: ImportanceMethod) -> None:
    """Values are the same on an accelerator as on the CPU."""
    here = _importance(method, CPU)
    with pretend_device() as device:
        _require_same({"values": here}, {"values": _importance(method, device)})


def _importance(method: ImportanceMethod, device: torch.device) -> Tensor:
    model = ToyModel().to(device)
    batch = model.encode(toy_data().test).to(device)
    with evaluating(model):
        trace = trace_of(model, batch)
        return attribute(Named("method", method), model, trace, trace.predicted, seed=0).values


@law("metric")
def metric_device(metric: Metric) -> None:
    """Values are the same on an accelerator as on the CPU."""
    here = _measured(metric, CPU)
    with pretend_device() as device:
        _require_same({"values": here}, {"values": _measured(metric, device)})


def _measured(metric: Metric, device: torch.device) -> Tensor:
    if is_split_metric(metric):
        return conclude(metric, [toy_split()], device=device).values
    return values_of(metric, toy_data().test, device=device)
