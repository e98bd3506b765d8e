"""A report computed from a plan: data, training, measuring, summaries, verdicts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..data.loading import Source
from ..progress import Progress
from ..request.keep_levels import Keep
from ..request.plan import Plan
from ..results.caution import Caution
from ..results.example_collection import gather
from ..results.judgement.cautions import cautions, explained_output, no_attention, notices_of
from ..results.judgement.constant_answer import useless_model
from ..results.judgement.families import evidence_by_family
from ..results.judgement.predicates import UNCHANGED
from ..results.judgement.records import UnitName
from ..results.judgement.verdict import About, judge
from ..results.observations import SeedResult
from ..results.provenance import ComponentUsed, Provenance, SampleUsed
from ..results.report import Report
from ..results.summaries import costs, curves, quality, summaries
from ..store.identity import plugins_used
from ..store.weights import Weights, tensors_hash
from ..types import DrawingData, TaskData
from .data_cache import data_cache
from .device import choose_device, environment
from .device_memory import fitting
from .disk_space import check_run_space
from .explained_classes import explained_class
from .global_state import import_components, standard_state
from .measuring.attribution import Named
from .measuring.drawing_data import collect_drawing_data
from .measuring.kept_importances import with_kept_scores
from .measuring.measurement import check_classes
from .measuring.parameter_reset import reset_similarity
from .measuring.sample import (
    SEED,
    Array,
    draw_sample,
    expensive_metrics,
    observe_with_sample,
    units_at_once,
)
from .measuring.score_keeper import ScoreKeeper
from .measuring.splits import Split, donors_of
from .measuring.time_estimate import announce_duration
from .plugin_errors import errors_of
from .training.loop import Trainer, train
from .training.models import TrainedModels

if TYPE_CHECKING:
    from ..protocols import NoticedModel
    from .workers.shared_run import RunWorkers


@standard_state()
def compute_report(
    plan: Plan,
    name: str,
    source: Source,
    weights: Weights,
    progress: Progress,
    keep: Keep = "all",
    into: Path | None = None,
    run_workers: RunWorkers | None = None,
    trainer: Trainer = train,
    reuse: bool = True,
) -> Report:
    """Load data, train or load models, measure and summarise: one report for all seeds.

    Importances that are kept from earlier runs are read if `reuse`.
    """
    if run_workers:
        run_workers.start(plan)
    device = choose_device(plan.spec.device)
    import_components(plan.parts)
    clock = _Clock()
    with clock("data"), errors_of(plan.task.title):
        data = data_cache.load(plan, source)
    explained = explained_class(plan.spec.target, plan.spec.versus, data.label_names)
    tests = plan.tests.map(Named.of)
    tested = (*tests.explanations, *tests.references, *tests.alternatives)
    for named in tested:
        named.component.check(data.test)
    models = TrainedModels(data, device, weights, progress, trainer)
    followed = followed_metrics(plan)
    own = [plan.own] if plan.own and "attention" in plan.model.provides else []
    shown = tuple(dict.fromkeys([*own, *(named.label for named in tested)]))
    deletes = "deletion" in {*plan.task.provides, *plan.model.provides}
    # A metric without a name that is followed in training makes that training nameless too.
    unnamed = {part.label for part in plan.tests.metrics if part.component is None}
    nameable = not any(named.label in unnamed for named in followed)
    if into is not None:
        columns = sum(len(named.component.measures) for named in tests.metrics) * len(tests.explanations)
        check_run_space(into, data, keep, seeds=len(plan.spec.seeds), methods=len(shown), measures=columns)
    rows: Array | None = None
    results: list[SeedResult] = []
    if run_workers:
        with clock("training"), errors_of(plan.model.title):
            run_workers.train(plan, models)
    reset: dict[str, float] = {}
    hashes: dict[int, str] = {}
    names: dict[int, str] = {}
    drawn: dict[str, Mapping[str, DrawingData]] = {}
    for seed in plan.spec.seeds:
        with clock("training"), errors_of(plan.model.title):
            model, record = models.trained(plan, seed, followed, stored=nameable)
        hashes[seed] = tensors_hash(model.state_dict())
        if nameable and plan.names_weights:
            names[seed] = models.name(plan, seed)
        with clock("measuring"), errors_of(plan.model.title):
            split = Split(model, data.test, device, donors_of(data), explained)
            kept = tests
            if reuse and explained.versus is None:  # outputs of a contrast are not those of the model
                kept = with_kept_scores(tests, plan, data, weights=hashes[seed], seed=seed, device=device)
            check_classes(model, split, data.label_names, plan.model.title)
            if not results:  # all seeds have models of the same size, and are measured on the same sample
                rows = draw_sample(tests, data.test, plan.spec.sample, units_at_once(model))
                fits = fitting(model, device, seed=seed, title=plan.model.title)
                computing = run_workers.workers.workers.computing if run_workers else 1
                announce_duration(
                    tests, model, split, rows, len(plan.spec.seeds), progress, fits, workers=computing
                )
            observation = observe_with_sample(
                model,
                split,
                kept,
                rows,
                seed=seed,
                progress=progress,
                label=f"seed {seed}: measuring",
                title=plan.model.title,
                keeper=ScoreKeeper(shown, deletes) if keep == "all" else None,
                measure_split=run_workers.measure_split(plan, models, seed, name)
                if run_workers
                else fitting(model, device, seed=seed, title=plan.model.title),
            )
        results.append(SeedResult(seed, record, observation))
        if len(results) == 1 and any(named.component.joint for named in tests.metrics):
            with clock("measuring"), errors_of(plan.model.title):
                reset = reset_similarity(model, split, tests.explanations, seed)
        if keep == "all" and len(results) == 1:
            with clock("drawings"):
                drawn = collect_drawing_data(model, data, plan.drawings, device)
    with clock("summary"):
        unit = _unit_name(plan)
        asked = [part.label for part in plan.tests.explanations]
        baselines = [part.label for part in plan.tests.baselines]
        found = summaries(results, asked, baselines, data.label_names)
        useless = useless_model(results, data)
        cost = costs(results)
        about = About(
            own=plan.own,
            random=plan.chance,
            unit=unit,
            inversions=plan.inversions,
            useless=useless,
            passes={one.method: one.passes for one in cost},
            signed=signed_methods(results),
            classless=[one.label for one in tested if one.component.target_use == "ignored"],
            repairs=plan.repairs,
            marked=any(example.rationale is not None for example in data.test),
            unchanged={name: similar for name, similar in reset.items() if similar >= UNCHANGED},
        )
        judged = judge(results, asked, about)
        evidence = evidence_by_family(
            results, asked, own=plan.own, random=plan.chance, inversions=plan.inversions, unit=unit
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
        else SampleUsed(examples=len(rows), of=len(data.test), seed=SEED, metrics=expensive_metrics(tests)),
        verdicts=judged.verdicts,
        ranking=judged.ranking,
        reset=reset,
        evidence=evidence,
        summaries=found,
        curves=curves(results, asked, plan.own),
        costs=cost,
        warnings=(
            *_without_attention(plan),
            *explained_output(plan.spec, about.classless, found),
            *notices_of("data", data.notices),
            *notices_of(
                "model", cast("NoticedModel", model).notices if "notices" in plan.model.provides else ()
            ),
            *cautions(results, found, data, useless, plan.model.provides, unit),
        ),
        seconds={stage: round(seconds, 3) for stage, seconds in clock.seconds.items()},
    )
    return report.with_examples(gather(results, data, asked, drawn) if keep != "none" else None)


def signed_methods(results: Sequence[SeedResult]) -> dict[str, bool]:
    """Which importance methods gave some unit a negative score."""
    found: dict[str, bool] = {}
    for result in results:
        for name, traits in result.observation.traits.items():
            found[name] = found.get(name, False) or traits.signed
    return found


def followed_metrics(plan: Plan) -> list[Named]:
    """The metrics of a plan that are also measured on dev after every epoch."""
    metrics = map(Named.of, plan.tests.metrics)
    return [m for m in metrics if not m.component.whole_split and m.component.follows_training]


def _without_attention(plan: Plan) -> list[Caution]:
    """A warning that something else is tested, if the model has no attention weights."""
    if "attention" in plan.model.provides:
        return []
    return [no_attention(plan.model.label, [part.label for part in plan.tests.explanations])]


def components_used(plan: Plan) -> tuple[ComponentUsed, ...]:
    """The importance methods and metrics of a plan, each label with the name of its component."""
    methods = {part.label: part for part in plan.tests.methods}
    return (
        *(
            ComponentUsed(kind="importance", label=label, name=part.choice.name)
            for label, part in methods.items()
        ),
        *(
            ComponentUsed(kind="metric", label=part.label, name=part.choice.name)
            for part in plan.tests.metrics
        ),
    )


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


def _unit_name(plan: Plan) -> UnitName:
    """What a reader calls a unit of the task."""
    names: dict[str, UnitName] = {"sentences": "sentence", "paragraphs": "paragraph", "words": "word"}
    return next((name for word, name in names.items() if word in plan.task.provides), "unit")
