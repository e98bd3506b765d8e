"""An evaluation from plan to report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..data.loading import Source
from ..disk import check_writable
from ..errors import NotStored, UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.keep_levels import Keep
from ..request.plan import Part, Plan
from ..request.spec import digest
from ..results.cautions import cautions, no_attention, notices_of
from ..results.constant_answer import useless_model
from ..results.example_collection import gather
from ..results.observations import SeedResult
from ..results.provenance import ComponentUsed, Provenance, SampleUsed
from ..results.report import Caution, Report
from ..results.study import StudyReport
from ..results.summaries import costs, curves, quality, summaries
from ..results.verdict import judge
from ..results.verdict_records import UnitName
from ..store.examples import StoredExamples
from ..store.identity import plugins_used, run_name
from ..store.runs import Runs
from ..store.weights import Weights, tensors_hash
from ..types import DrawingData, TaskData
from .data_cache import data_cache
from .device import choose_device, environment
from .disk_space import check_run_space
from .global_state import import_components, standard_state
from .measuring.attribution import Named
from .measuring.drawing_data import look
from .measuring.measurement import check_classes
from .measuring.sample import SEED, Measuring, draw_sample
from .measuring.score_keeper import ScoreKeeper
from .measuring.splits import Split
from .measuring.time_estimate import announce_duration
from .plugin_errors import errors_of
from .training.models import TrainedModels

if TYPE_CHECKING:
    from ..protocols import NoticedModel
    from .workers.shared_run import RunWorkers


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, and the folder it is kept in when it is kept."""

    report: Report
    folder: Path | None
    stored: bool  # found on disk rather than computed


def carry_out(
    plan: Plan,
    *,
    runs: Runs | None = None,
    weights: Weights | None = None,
    source: Source | None = None,
    fresh: bool = False,
    keep: Keep = "all",
    progress: Progress | None = None,
    run_workers: RunWorkers | None = None,
    catalog: Catalog | None = None,
) -> Outcome:
    """Return the stored run of a plan, or compute and store it, alone or with a run_workers."""
    given, runs, weights = runs, runs or Runs(), weights or Weights()
    source, progress = source or Source(), progress or Progress()
    if not plan.repeatable:
        if run_workers:
            raise UsageError("Workers know components by name: measure an object of your own without them.")
        return _carry_out_once(plan, given, source, weights, progress, keep, catalog)
    name = run_name(plan, source, choose_device(plan.spec.device))
    found = None if fresh else runs.find(name, keep)
    if found is not None:
        return Outcome(found, runs.folder(name), stored=True)
    check_writable(runs.root, "--out")
    check_writable(weights.root, "ATTNX_HOME")
    if run_workers and fresh:
        run_workers.forget(name)
    report = run(plan, name, source, weights, progress, keep, runs.root, run_workers)
    outcome = _stored(report, runs, keep, catalog)
    if run_workers:
        run_workers.forget(name)
    return outcome


def _carry_out_once(
    plan: Plan,
    runs: Runs | None,
    source: Source,
    weights: Weights,
    progress: Progress,
    keep: Keep,
    catalog: Catalog | None,
) -> Outcome:
    """Compute a run with an object in it, which no name can say; it is stored where a folder is given.

    It is then called by what it found, and is never taken for the answer to another request.
    """
    if runs is None:
        return Outcome(run(plan, "", source, weights, progress, keep), None, stored=False)
    check_writable(runs.root, "--out")
    report = run(plan, "", source, weights, progress, keep, runs.root)
    found = report.without_times().model_dump_json()
    named = report.model_copy(update={"fingerprint": f"object-{digest(found)}"})
    return _stored(named, runs, keep, catalog)


def _stored(report: Report, runs: Runs, keep: Keep, catalog: Catalog | None) -> Outcome:
    try:
        folder = runs.write(report, report.examples() if keep != "none" else None, catalog)
    except OSError as error:  # what is computed is not lost with the place to keep it
        raise not_stored(report, runs.root, error, page=runs.find(report.fingerprint) is not None) from error
    return Outcome(report.with_examples(StoredExamples(folder)), folder, stored=False)


def not_stored(report: Report | StudyReport, root: Path, error: OSError, page: bool = False) -> NotStored:
    """That a finished report, or its page alone, could not be stored, and why."""
    what = "kept, but its page is not," if page else "finished but not kept"
    return NotStored(f"The report is {what} in '{root}': {error.strerror or error}.", report)


@standard_state()
def run(
    plan: Plan,
    name: str,
    source: Source,
    weights: Weights,
    progress: Progress,
    keep: Keep = "all",
    into: Path | None = None,
    run_workers: RunWorkers | None = None,
) -> Report:
    """Load, train or fetch, measure and summarise: one report for all seeds, to go into a folder."""
    device = choose_device(plan.spec.device)
    import_components(plan.parts)
    clock = _Clock()
    with clock("data"), errors_of(plan.task.title):
        data = data_cache.load(plan, source)
    explanations, references = _named(plan.explanations), _named(plan.references)
    for named in (*explanations, *references):
        named.component.check(data.test)
    models = TrainedModels(data, device, weights, progress)
    metrics = _named(plan.metrics)
    followed = followed_metrics(plan)
    own = [plan.own] if plan.own and "attention" in plan.model.provides else []
    shown = tuple(dict.fromkeys([*own, *(named.label for named in (*explanations, *references))]))
    deletes = "deletion" in {*plan.task.provides, *plan.model.provides}
    # An object has no name by which a course of training could be known again.
    unnamed = {part.label for part in plan.metrics if part.component is None}
    nameable = not any(named.label in unnamed for named in followed)
    measuring = Measuring(explanations, references, metrics, _named(plan.baselines))
    if into is not None:
        columns = sum(len(named.component.measures) for named in metrics) * len(explanations)
        check_run_space(into, data, keep, seeds=len(plan.spec.seeds), methods=len(shown), measures=columns)
    rows = draw_sample(measuring, data.test, plan.spec.sample)
    results: list[SeedResult] = []
    if run_workers:
        with clock("training"), errors_of(plan.model.title):
            run_workers.train(plan, models)
    hashes: dict[int, str] = {}
    names: dict[int, str] = {}
    drawn: dict[str, Mapping[str, DrawingData]] = {}
    for seed in plan.spec.seeds:
        with clock("training"), errors_of(plan.model.title):
            model, record = models.trained(plan, seed, followed, kept=nameable)
        hashes[seed] = tensors_hash(model.state_dict())
        if nameable and plan.names_weights:
            names[seed] = models.name(plan, seed)
        with clock("measuring"), errors_of(plan.model.title):
            split = Split(model, data.test, device)
            check_classes(model, split, data.label_names, plan.model.title)
            if not results:
                announce_duration(measuring, model, split, rows, len(plan.spec.seeds), progress)
            observation = measuring.observe(
                model,
                split,
                rows,
                seed=seed,
                progress=progress,
                label=f"seed {seed}: measuring",
                title=plan.model.title,
                keeper=ScoreKeeper(shown, deletes) if keep == "all" else None,
                measurer=run_workers.measurer(plan, models, seed, name) if run_workers else None,
            )
        results.append(SeedResult(seed, record, observation))
        if keep == "all" and len(results) == 1:
            with clock("drawings"):
                drawn = look(model, data, plan.drawings, device)
    with clock("summary"):
        unit: UnitName = "word" if "words" in plan.task.provides else "unit"
        asked = [part.label for part in plan.explanations]
        baselines = [part.label for part in plan.baselines]
        found = summaries(results, asked, baselines, data.label_names)
        useless = useless_model(results, data)
        verdicts = judge(
            results,
            asked,
            own=plan.own,
            random=plan.chance,
            inversions=plan.inversions,
            useless=useless,
            unit=unit,
        )
    report = Report(
        fingerprint=name,
        labels={part.kind: part.label for part in plan.trained},
        unit=unit,
        spec=plan.spec,
        components=components_used(plan),
        provenance=Provenance(
            plugins=plugins_used(plan.parts),
            data=data_used(data),
            weights=hashes,
            weights_folders=names,
        ),
        environment=environment(device, results[0].observation.on_cpu),
        quality=quality(results, data),
        sample=None
        if rows is None
        else SampleUsed(examples=len(rows), of=len(data.test), seed=SEED, metrics=measuring.dear),
        verdicts=verdicts,
        summaries=found,
        curves=curves(results, asked, plan.own),
        costs=costs(results),
        warnings=(
            *_without_attention(plan),
            *notices_of("data", data.notices),
            *notices_of(
                "model", cast("NoticedModel", model).notices if "notices" in plan.model.provides else ()
            ),
            *cautions(results, found, data, useless, plan.model.provides, unit),
        ),
        seconds={stage: round(seconds, 3) for stage, seconds in clock.seconds.items()},
    )
    return report.with_examples(gather(results, data, asked, drawn) if keep != "none" else None)


def followed_metrics(plan: Plan) -> list[Named]:
    """The metrics of a plan that are also measured on dev after every epoch."""
    metrics = _named(plan.metrics)
    return [m for m in metrics if not m.component.whole_split and m.component.follows_training]


def _without_attention(plan: Plan) -> list[Caution]:
    """That something else than attention is tested, because there is none to read."""
    if "attention" in plan.model.provides:
        return []
    return [no_attention(plan.model.label, [part.label for part in plan.explanations])]


def components_used(plan: Plan) -> tuple[ComponentUsed, ...]:
    """The importance methods and metrics of a plan, each label with the name of its component."""
    methods = {part.label: part for part in (*plan.explanations, *plan.baselines, *plan.references)}
    return (
        *(
            ComponentUsed(kind="importance", label=label, name=part.choice.name)
            for label, part in methods.items()
        ),
        *(ComponentUsed(kind="metric", label=part.label, name=part.choice.name) for part in plan.metrics),
    )


def _named(parts: Sequence[Part]) -> tuple[Named, ...]:
    return tuple(Named(part.label, part.make(), part.provider) for part in parts)


def data_used(data: TaskData) -> dict[str, str]:
    """Where the data came from, its exact content, and its size."""
    sizes = {split: str(len(getattr(data, split))) for split in ("train", "dev", "test")}
    return {**data.provenance, "fingerprint": data.fingerprint, **sizes}


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: str) -> _Clock:
        self._stage = stage
        return self

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *exc: Any) -> None:
        spent = time.perf_counter() - self._started
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + spent
