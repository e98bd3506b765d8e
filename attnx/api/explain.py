"""`attnx.explain`: which units of a text, or of an example, a prediction depends on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ..errors import UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.adapters import adapted
from ..request.arguments import Arguments
from ..request.objects import Given, Objects
from ..request.parsing import validated
from ..request.spec import Choice, Limit, RunSpec
from .load import load_run, model_of_spec
from .setup import installed_here

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from ..data.unit_groups import UnitsOfText
    from ..results.explanation import Explanation, Explanations
    from ..results.report import Report
    from ..run.loaded_run import Run
    from .arguments import (
        ImportancesLike,
        LimitLike,
        MetricsLike,
        ModelLike,
        ProjectionLike,
        RunLike,
        TaskLike,
        TrainingLike,
    )

    class _Settings(TypedDict, total=False):
        query: str | Sequence[str] | None
        target: str
        versus: str | None
        metrics: MetricsLike
        seed: int | None
        units: UnitsOfText
        answer: str | None
        answer_length: int
        task: TaskLike | None
        projection: ProjectionLike | None
        training: TrainingLike | None
        limit: LimitLike | None
        device: str | None
        data_dir: str | Path | None
        out: str | Path | None
        progress: bool


OWN_TEXTS = "own texts"  # the name of what stands in the place of a task


@overload
def explain(
    model: RunLike | ModelLike | None,
    texts: str,
    methods: ImportancesLike = (),
    **settings: Unpack[_Settings],
) -> Explanation: ...
@overload
def explain(
    model: RunLike | ModelLike | None,
    texts: list[str] | tuple[str, ...],
    methods: ImportancesLike = (),
    **settings: Unpack[_Settings],
) -> Explanations: ...
@overload
def explain(
    model: RunLike | ModelLike | None = None,
    texts: str | Sequence[str] | None = None,
    methods: ImportancesLike = (),
    *,
    example: str | Sequence[str] | None = None,
    **settings: Unpack[_Settings],
) -> Explanation | Explanations: ...
def explain(
    model: RunLike | ModelLike | None = None,
    texts: str | Sequence[str] | None = None,
    methods: ImportancesLike = (),
    *,
    example: str | Sequence[str] | None = None,
    query: str | Sequence[str] | None = None,
    target: str = "predicted",
    versus: str | None = None,
    metrics: MetricsLike = (),
    seed: int | None = None,
    units: UnitsOfText = "words",
    answer: str | None = None,
    answer_length: int = 20,
    task: TaskLike | None = None,
    projection: ProjectionLike | None = None,
    training: TrainingLike | None = None,
    limit: LimitLike | None = None,
    device: str | None = None,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> Explanation | Explanations:
    """Explain texts, or examples of a task: scores of every unit, and what removing units changes.

    A stored run is explained by its name, as in `attnx.explain("3f2a", "a dull film")`. A classifier that is
    complete, such as a function from texts to probabilities or a scikit-learn pipeline, needs no task:
    `attnx.explain(pipeline, texts, "lime")`. Its classes are called "0", "1", ... if it does not name them.
    Any other model is given with its task, and trained first if no weights are stored.

    With `versus` the scores explain a contrast, why `target` and not `versus`. A method that is linear in the
    output (integrated gradients, LIME, SHAP, ablation, ...) gives s(target) − s(versus), where s(c) are its
    scores for class c: exactly its scores for p(target) − p(versus), or for the difference of the two logits
    with of=logit. Any other method that reads the class (the size of a gradient, normalised leave-one-out)
    explains q = (1 + p(target) − p(versus)) / 2, which is p(target) if there are only two classes; metrics
    test that output too. Attention has no class: its scores are the same, and the result says so.

    Args:
        model: a stored run (its name, the first characters of it, its folder, a report, or what `attnx.load`
            gave); a trained model, a function or a classifier; or, together with `task`, the name or class of
            a model, by default the one that the task recommends.
        texts: one text, or a list of texts, for tasks whose units are words.
        methods: importance methods, one or several; by default attention, if the model has it, and the
            methods of the run.
        example: the id of an example of the task, or a list of ids, instead of texts.
        query: the question about the text, for tasks that have one; for several texts one for all, or a list.
        target: the class that is explained: its name, "predicted", "gold" for the label of an example, or
            "all" for every class.
        versus: the class that `target` is contrasted with.
        metrics: metrics of each text, such as "comprehensiveness"; "all" is every metric of single texts that
            applies. Each value comes with the mean over ten sets of random scores.
        seed: the training seed of the model; by default the run's first, or 0.
        units: what is scored and removed: "words", "sentences" or "paragraphs"; the last two for a model that
            reads texts as they are written.
        answer: for a language model, explain an answer in words instead of a class: "generated" for the
            model's own (at each step the most probable piece), or the words of an answer. It is explained as
            a whole and piece by piece; `versus` is then another answer that it is contrasted with, each piece
            with the piece at the same place of the other answer if it has another one there.
        answer_length: the most pieces of a generated answer.
        task: without a run, the task that the model is trained on.
        projection: without a run, the projection of the model.
        training: without a run, training settings, e.g. {"epochs": 20}.
        limit: without a run, the largest number of examples of each split.
        device: where the model runs, e.g. "cpu"; by default that of the run, or a GPU if there is one.
        data_dir: a folder with datasets of your own.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        progress: whether progress is shown on stderr.

    Returns:
        For one text or example an `Explanation`: the prediction, the scores of each method, metrics, and what
        removing the highest units changes. For a list `Explanations`, one for each in the same order.

    Raises:
        UsageError: the model is missing or unknown, or is a run that `task` and the like would change; texts
            and examples are both given or both missing; or a name is unknown.
        PluginError: a component fails or breaks its contract.
        DataError: the data of the task is missing or unusable.
    """
    asked = Arguments(installed_here())
    described: dict[str, Any] = {
        "task": asked.choice("task", task),
        "projection": asked.choice("projection", projection),
        "training": dict(training) if training else None,
        "limit": None if limit is None else Limit.parse(str(limit)),
    }
    given = {name: value for name, value in described.items() if value is not None}
    run = model if _is_run(model, asked.catalog, described=bool(given)) else None
    if run is None and model is not None:
        given["model"] = asked.choice("model", model)
    shown = Progress("auto" if progress else "off")
    loaded = explained_model(
        run,
        validated(**given, seeds=(seed or 0,), device=device or "auto") if given else None,
        asked.catalog,
        asked.objects,
        device=device,
        data_dir=data_dir,
        out=out,
        progress=shown,
    )
    return loaded.explain(
        texts,
        methods,
        example=example,
        query=query,
        target=target,
        versus=versus,
        metrics=metrics,
        seed=seed,
        units=units,
        answer=answer,
        answer_length=answer_length,
    )


def explained_model(
    run: Any,
    spec: RunSpec | None,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    device: str | None = None,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Give the model to explain: that of a run, or that of a spec, with a task or without one."""
    if run is not None:
        if spec is not None:
            fixed = ", ".join(sorted(spec.model_fields_set - {"seeds", "device"}))
            raise UsageError(
                f"A run already fixes its {fixed}: give a run (--run), or a task and a model "
                "(--task, --model)."
            )
        if isinstance(run, str | Path):
            return load_run(run, catalog, out=out, data_dir=data_dir, device=device, progress=progress)
        return _loaded(run, catalog, out=out, data_dir=data_dir, progress=progress)
    if spec is None or (spec.task is None and spec.model is None):
        raise UsageError(
            "Specify a model: a run that 'attnx runs' lists (--run), or a task and a model (--task, --model)."
        )
    if spec.task is not None:
        return model_of_spec(spec, catalog, objects, data_dir=data_dir, progress=progress)
    return _without_task(spec, catalog, objects or {}, progress)


def _is_run(model: Any, catalog: Catalog, *, described: bool) -> bool:
    """Whether this is a stored run: a path, a result, or a name that no model has."""
    if isinstance(model, Path):
        return True
    if isinstance(model, str):
        name = Choice.parse(model).name
        known = ("model", name) in catalog.components or name in catalog.registry.models
        return not (described or known)
    if model is None:
        return False
    from ..results.report import Report
    from ..run.loaded_run import Run

    return isinstance(model, Report | Run)


def _loaded(
    run: Run | Report,
    catalog: Catalog,
    *,
    out: str | Path | None,
    data_dir: str | Path | None,
    progress: Progress | None,
) -> Run:
    from ..run.loaded_run import Run

    if isinstance(run, Run):
        return run
    name = run.folder or run.fingerprint
    if not name:
        raise UsageError("This report is not stored, so its model is gone: give the model itself.")
    return load_run(name, catalog, out=out, data_dir=data_dir, progress=progress)


def _without_task(spec: RunSpec, catalog: Catalog, objects: Objects, progress: Progress | None) -> Run:
    """A complete classifier: texts are split into words as those that a caller has in memory."""
    splitter = adapted(catalog, "task", (["a"], ["a"]), {})
    if splitter is None:
        raise UsageError("No installed plugin splits texts into words: name a task with --task.")

    from ..run.given_texts import UnlabelledTexts

    given: Objects = {**objects, ("task", OWN_TEXTS): Given(UnlabelledTexts(splitter.thing))}
    named = spec.model_copy(update={"task": Choice(name=OWN_TEXTS)})
    run = model_of_spec(named, catalog, given, progress=progress)
    if run.plan is not None and run.plan.trains:
        pretrained = "own-classes" in run.plan.model.provides
        as_it_is = ", or use it as it is with --train epochs=0" if pretrained else ""
        raise UsageError(
            f"Model '{run.plan.model.label}' would be trained first: name its task with --task{as_it_is}."
        )
    return run
