"""`attnx.explain`: which units of one text, or of one example, a prediction depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.objects import Objects
from ..request.parsing import validated
from ..request.spec import Limit, RunSpec
from .load import load_run, model_of_spec
from .setup import installed_here

if TYPE_CHECKING:
    from ..results.explanation import Explanation
    from ..run.loaded_run import Run
    from .arguments import LimitLike, ModelLike, Names, ProjectionLike, TaskLike, TrainingLike


def explain(
    run: str | Path | Run | None = None,
    text: str | None = None,
    *,
    example: str | None = None,
    query: str | None = None,
    methods: Names = (),
    seed: int | None = None,
    task: TaskLike | None = None,
    model: ModelLike | None = None,
    projection: ProjectionLike | None = None,
    training: TrainingLike | None = None,
    limit: LimitLike | None = None,
    device: str | None = None,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> Explanation:
    """Explain one text, or one example of the task: scores of every unit, and what removing units changes.

    The model is that of a stored run, as in `attnx.explain("3f2a", "a dull film")`, or it is given by
    `task` and `model`; it is trained first if no weights are stored.

    Args:
        run: a stored run: its name, the first characters of it, its folder, or what `attnx.load` gave.
        text: the text to explain, for tasks whose units are words.
        example: the id of an example of the task, instead of a text.
        query: the question about the text, for tasks that have one.
        methods: importance methods, one or several; by default attention and the methods of the run.
        seed: the training seed of the model; by default the run's first, or 0.
        task: without a run, the task that the model is trained on.
        model: without a run, the model; by default the one that the task recommends.
        projection: without a run, the projection of the model.
        training: without a run, training settings, e.g. {"epochs": 20}.
        limit: without a run, the largest number of examples of each split.
        device: where the model runs, e.g. "cpu"; by default that of the run, or a GPU if there is one.
        data_dir: a folder with datasets of your own.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        progress: whether progress is shown when a model is trained.

    Returns:
        The prediction, the scores of each method, and what removing the highest units changes.

    Raises:
        UsageError: neither a run nor a task is given, or both; neither a text nor an example, or both; or a
            name is unknown.
        DataError: the data of the task is missing or unusable.
    """
    asked = Arguments(installed_here())
    described: dict[str, Any] = {
        "task": asked.choice("task", task),
        "model": asked.choice("model", model),
        "projection": asked.choice("projection", projection),
        "training": dict(training) if training else None,
        "limit": None if limit is None else Limit.parse(str(limit)),
    }
    given = {name: value for name, value in described.items() if value is not None}
    spec = validated(**given, seeds=(seed or 0,), device=device or "auto") if given else None
    shown = Progress("auto" if progress else "off")
    loaded = explained_model(
        run, spec, asked.catalog, asked.objects, device=device, data_dir=data_dir, out=out, progress=shown
    )
    several = (methods,) if isinstance(methods, str) else tuple(methods)
    return loaded.explain(text, example=example, query=query, methods=several, seed=seed)


def explained_model(
    run: str | Path | Run | None,
    spec: RunSpec | None,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    device: str | None = None,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Give the model to explain: that of a run, or that of a spec."""
    if run is not None:
        if spec is not None:
            fixed = ", ".join(sorted(spec.model_fields_set - {"seeds", "device"}))
            raise UsageError(
                f"A run already fixes its {fixed}: give a run (--run), or a task and a model "
                "(--task, --model)."
            )
        if isinstance(run, str | Path):
            return load_run(run, catalog, out=out, data_dir=data_dir, device=device, progress=progress)
        return run
    if spec is None or spec.task is None:
        raise UsageError(
            "Specify a model: a run that 'attnx runs' lists (--run), or a task and a model (--task, --model)."
        )
    return model_of_spec(spec, catalog, objects, data_dir=data_dir, progress=progress)
