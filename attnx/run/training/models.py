"""Where models are made: found among the weights that are kept, or trained and kept."""

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
from .loop import Objective, train


@dataclass(frozen=True)
class TrainedModels:
    """Data, a device, the weights that are kept, and where progress is told."""

    data: TaskData
    device: torch.device
    weights: Weights
    progress: Progress

    def untrained(self, plan: Plan, seed: int) -> Model:
        """The plan's model as it is before training."""
        with seeded(seed):
            return self._build(plan)

    def name(self, plan: Plan, seed: int) -> str:
        """The name of the plan's trained weights; none where its model is an object of the caller's."""
        return weights_name(plan.as_trained, self.data, seed, self.device) if plan.names_weights else ""

    def trained(
        self, plan: Plan, seed: int, followed: Sequence[Named] = (), *, kept: bool = True
    ) -> tuple[Model, TrainingRecord]:
        """The plan's model: given ready, found, or trained now; not `kept`, it is neither found nor kept."""
        ready = plan.model.make()
        if not isinstance(ready, type):
            return ready.to(self.device), TrainingRecord(course=(), best_epoch=0)
        key = self.name(plan, seed) if kept else ""
        as_trained = plan.as_trained
        with seeded(seed):
            model = self._build(as_trained)
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
        """Give a model the weights of that name, by training where there are none that fit.

        A training that was cut off goes on after its last epoch. Without a name nothing is looked for, or
        kept. So many `models` in all, this one and those to come, must find room.
        """
        known = self.find(model, key, [named.label for named in followed]) if key else None
        checkpoint = Checkpoint(self.weights.checkpoints, key) if key else None
        if known is not None:
            if checkpoint:  # whoever trained them was killed before it could
                checkpoint.remove()
            model.eval()
            return known
        if key:
            check_weights_space(self.weights, model, models)
        record = train(
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
        """Load the weights of that name; None, and the model as it was, where none are that fit."""
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
        wanted = record.following(followed)
        if wanted is not None:
            model.load_state_dict(state)
        return wanted


class _NoProjection(AttentionProjection):
    """What a model is built with that does not provide "projection"."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:  # noqa: ARG002
        raise PluginError("a model that uses a projection must have 'projection' among what it provides")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's randomness from this seed on, and as it was afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
