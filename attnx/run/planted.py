"""The test with a planted trigger: models are trained, checked to use it, and their explanations compared."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..data.loading import Source
from ..disk import check_writable
from ..errors import DataError
from ..host.catalog import Catalog
from ..progress import Progress
from ..protocols import Model
from ..request.plan import Plan
from ..request.planted import PlantedPlan
from ..results.caution import Caution
from ..results.judgement.cautions import few_seeds
from ..results.planting.checks import Array, check_of
from ..results.planting.recovery import Trial, chance_of_trials, recovery_rows, shown_examples
from ..results.planting.report import PlantedReport, PlantedTrigger, TriggerCheck
from ..store.home import home
from ..store.identity import plugins_used
from ..store.planted import write_planted
from ..store.runs import Runs
from ..store.weights import Weights
from ..types import Example, TaskData
from .computation import data_used
from .data_cache import load_data_of
from .device import choose_device, environment
from .evaluation import carry_out, not_stored
from .evaluation_mode import evaluating
from .global_state import import_components, standard_state
from .measuring.attribution import trace_of
from .measuring.splits import Split, batches
from .plugin_errors import errors_of
from .training.loop import Trainer, train
from .training.models import TrainedModels


def carry_out_planted(
    plan: PlantedPlan,
    source: Source,
    progress: Progress,
    catalog: Catalog,
    out: Path | None = None,
    trainer: Trainer = train,
) -> tuple[PlantedReport, Path | None]:
    """Carry out the test and store its report; one with a Python object in it only if a folder is given."""
    root = out or home() / "planted"
    repeatable = all(one.repeatable for one in plan.plans)
    if out or repeatable:
        check_writable(root, "--out")
    report = run_planted(plan, source, progress, catalog, out, trainer)
    if not out and not repeatable:
        return report, None
    try:
        return report, write_planted(report, (one.spec for one in plan.plans), root)
    except Exception as error:  # the results are not lost, whatever prevents that they are stored
        raise not_stored(report, root, error) from error


@standard_state()
def run_planted(
    plan: PlantedPlan,
    source: Source,
    progress: Progress,
    catalog: Catalog,
    out: Path | None = None,
    trainer: Trainer = train,
) -> PlantedReport:
    """Train and check the models of every trigger, and measure the explanations of those that use it."""
    started = time.perf_counter()
    trials = []
    for number, one in enumerate(plan.plans):
        if len(plan.plans) > 1:
            progress.say(f"trigger {number + 1} of {len(plan.plans)}")
        trials.append(_tried(number, one, source, progress, catalog, out, trainer))
    first = plan.plans[0]
    used = [trial for trial in trials if trial.report is not None]
    settings: Any = first.task.options
    return PlantedReport(
        task=plan.task,
        model=first.model.label,
        kind=settings.kind,
        share=settings.share,
        seeds=first.spec.seeds,
        triggers=tuple(trial.trigger for trial in trials),
        checks=tuple(check for trial in trials for check in trial.checks),
        chance=chance_of_trials(used) if used else None,
        rows=recovery_rows(used),
        examples=tuple(shown_examples(used[0])) if used else (),
        data=data_used(trials[0].data),
        plugins=plugins_used(first.parts),
        environment=environment(choose_device(first.spec.device)),
        warnings=_warnings(trials, len(first.spec.seeds)),
        seconds=round(time.perf_counter() - started, 1),
    )


class _Remembered:
    """Trains each model once, even if its weights have no name under which they could be stored."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._known: dict[int, tuple[dict[str, torch.Tensor], Any]] = {}

    def __call__(self, model: Any, data: TaskData, training: Any, *, seed: int, **how: Any) -> Any:
        if seed in self._known:
            state, record = self._known[seed]
            model.load_state_dict(state)
            model.eval()
            return record
        record = self._trainer(model, data, training, seed=seed, **how)
        if how.get("checkpoint") is None:
            copied = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
            self._known[seed] = (copied, record)
        return record


def _tried(
    number: int,
    plan: Plan,
    source: Source,
    progress: Progress,
    catalog: Catalog,
    out: Path | None,
    trainer: Trainer,
) -> Trial:
    """Train and check the models of one trigger, and evaluate the explanations of those that use it."""
    import_components(plan.parts)
    with errors_of(plan.task.title):
        data = load_data_of(plan, source)
    device, weights, remembered = choose_device(plan.spec.device), Weights(), _Remembered(trainer)
    models = TrainedModels(data, device, weights, progress, remembered)
    checks, counted = [], {}
    names = tuple(part.label for part in plan.tests.explanations)
    for seed in plan.spec.seeds:
        with errors_of(plan.model.title):
            model, _ = models.trained(plan, seed)
            check, decides = _checked(number, seed, model, data, device)
        checks.append(check)
        if check.verified:
            counted[seed] = decides
    trigger = PlantedTrigger(number=number, words=_words_of(data), said=data.provenance["planted"])
    if not counted:
        return Trial(data, names, trigger, tuple(checks))
    spec = plan.spec.model_copy(update={"seeds": tuple(counted)})
    outcome = carry_out(
        Plan(**{**vars(plan), "spec": spec}),
        runs=Runs(out / "runs") if out else None,
        weights=weights,
        source=source,
        progress=progress,
        catalog=catalog,
        trainer=remembered,
    )
    named = trigger.model_copy(update={"run": outcome.report.fingerprint if outcome.folder else None})
    return Trial(data, names, named, tuple(checks), counted, outcome.report)


def _checked(
    number: int, seed: int, model: Model, data: TaskData, device: torch.device
) -> tuple[TriggerCheck, Array]:
    """What a model answers with the trigger, without it, and with that of another label."""
    if not data.contrasts:
        raise DataError("The task that plants the trigger gives no versions of its texts without it.")
    versions = {name: [by_id[example.id] for example in data.test] for name, by_id in data.contrasts.items()}
    answers = {
        name: _answers(model, examples, device)
        for name, examples in {"with": list(data.test), **versions}.items()
    }
    labels, own, swapped = (
        np.array([example.label for example in examples])
        for examples in (data.test, versions["without"], versions["swapped"])
    )
    return check_of(number, seed, labels, own, answers, swapped)


def _answers(model: Model, examples: Sequence[Example], device: torch.device) -> Array:
    """[N] the predicted classes."""
    found = np.zeros(len(examples), dtype=int)
    with evaluating(model):
        for rows, batch in batches(Split(model, examples, device)):
            found[rows.numpy()] = trace_of(model, batch).predicted.cpu().numpy()
    return found


def _words_of(data: TaskData) -> dict[str, tuple[str, ...]]:
    """The trigger words of every label, as the test texts have them."""
    found: dict[str, tuple[str, ...]] = {}
    for example in data.test:
        marked = [u for u, decides in zip(example.units, example.rationale or (), strict=True) if decides]
        found.setdefault(data.label_names[example.label], tuple(marked))
    return {name: found[name] for name in data.label_names if name in found}


def _warnings(trials: Sequence[Trial], seeds: int) -> tuple[Caution, ...]:
    """What a reader must know: models that do not use the trigger, and what the intervals cover."""
    said = []
    failed = [check for trial in trials for check in trial.checks if not check.verified]
    total = sum(len(trial.checks) for trial in trials)
    if failed and len(failed) < total:
        said.append(
            Caution(
                kind="notice",
                text=f"{len(failed)} of {total} models do not verifiably use the trigger and are left out: "
                + "; ".join(
                    f"trigger {one.trigger + 1}, seed {one.seed}: {', '.join(one.reasons)}"
                    for one in failed[:3]
                ),
            )
        )
    if len(trials) == 1 and len(failed) < total:
        said += [
            *few_seeds(seeds),
            Caution(
                kind="notice",
                text="Only one trigger: the intervals ignore differences between triggers. Use at least "
                "three, e.g. --triggers 3",
            ),
        ]
    return tuple(said)
