"""Trained models: loaded if their weights are stored, otherwise trained and stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ...errors import PluginError
from ...progress import Progress
from ...protocols import AttentionProjection, Model
from ...request.objects import complete
from ...request.plan import Plan
from ...request.spec import Training
from ...results.observations import TrainingRecord
from ...store.identity import weights_name
from ...store.weights import Weights
from ...types import TaskData
from ..disk_space import check_weights_space
from ..measuring.attribution import Named
from .checkpoints import Checkpoint, shapes
from .loop import Objective, Trainer, train


@dataclass(frozen=True)
class TrainedModels:
    """What training needs: data, a device, stored weights, where progress is shown, and what trains."""

    data: TaskData
    device: torch.device
    weights: Weights
    progress: Progress
    trainer: Trainer = train

    def untrained(self, plan: Plan, seed: int) -> Model:
        """The plan's model before training."""
        with seeded(seed):
            return self._build(plan)

    def name(self, plan: Plan, seed: int) -> str:
        """The name of the plan's trained weights; empty if its model is an object that the caller made."""
        return weights_name(plan.as_trained, self.data, seed, self.device) if plan.names_weights else ""

    def trained(
        self, plan: Plan, seed: int, followed: Sequence[Named] = (), *, stored: bool = True
    ) -> tuple[Model, TrainingRecord]:
        """The plan's model: given, loaded, or trained now; unless `stored`, neither loaded nor saved."""
        ready = plan.model.make()
        if not isinstance(ready, type):
            return ready.to(self.device), TrainingRecord(course=(), best_epoch=0)
        key = self.name(plan, seed) if stored else ""
        as_trained = plan.as_trained
        with seeded(seed):
            model = self._build(as_trained)
            if next(iter(model.parameters()), None) is None:  # nothing to train
                return model.eval(), TrainingRecord(course=(), best_epoch=0)
            record = self.find_or_train(
                model,
                key,
                plan.training,
                seed=seed,
                label="training",
                followed=followed,
                models=max(1, sum(other >= seed for other in plan.spec.seeds)),
            )
        if as_trained is not plan:
            state, model = model.state_dict(), self._build(plan)
            model.load_state_dict(state)
            model.eval()
        return model, record

    def find_or_train(
        self,
        model: Model,
        key: str,
        training: Training,
        *,
        seed: int,
        label: str,
        followed: Sequence[Named] = (),
        objective: Objective | None = None,
        keep: Literal["best", "last"] = "best",
        models: int = 1,
    ) -> TrainingRecord:
        """Give a model the weights of that name, by training it if there are none that fit.

        Interrupted training resumes after its last epoch. Without a name nothing is loaded or saved. There
        must be disk space for so many `models` in all: this one and those that will be trained next.
        """
        known = self.find(model, key, [named.label for named in followed]) if key else None
        checkpoint = Checkpoint(self.weights.checkpoints, key) if key else None
        if known is not None:
            if checkpoint:  # the process that trained them was killed before it could remove it
                checkpoint.remove()
            model.eval()
            return known
        if key:
            check_weights_space(self.weights, model, models)
        record = self.trainer(
            model,
            self.data,
            training,
            seed=seed,
            followed=followed,
            device=self.device,
            progress=self.progress,
            label=f"seed {seed}: {label}",
            objective=objective,
            keep=keep,
            checkpoint=checkpoint,
        )
        if checkpoint and self.weights.keep(key, model.state_dict(), record.model_dump(mode="json")):
            checkpoint.remove()
        return record

    def _build(self, plan: Plan) -> Model:
        projection = plan.projection.make() if plan.projection else _NoProjection()
        built = plan.model.make().build(self.data, projection, plan.model.options)
        model: Model = complete("model", built)
        return model.to(self.device)

    def find(self, model: Model, key: str, followed: Sequence[str] = ()) -> TrainingRecord | None:
        """Load the weights of that name; None, and the model unchanged, if there are none that fit."""
        cached = self.weights.find(key)
        if cached is None:
            return None
        state, known = cached
        try:
            record = TrainingRecord.model_validate(known)
            if shapes(state) != shapes(model.state_dict()):
                raise ValueError("another model's weights")
        except ValueError as error:
            self.weights.warn_damaged(key, error)
            return None
        chosen = record.following(followed)
        if chosen is not None:
            model.load_state_dict(state)
        return chosen


class _NoProjection(AttentionProjection):
    """The projection of a model that does not provide "projection"."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:  # noqa: ARG002
        raise PluginError("a model that uses a projection must declare 'projection' in its provides")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's random numbers, and restore their state afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
