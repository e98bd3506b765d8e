"""`attnx.study`: a question that takes several trained models to answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.objects import Objects
from ..request.parsing import read_seeds, validated
from ..request.resolve import find_part, resolve
from ..request.spec import Choice, Limit, RunSpec
from .setup import computed, find_source, installed_here

if TYPE_CHECKING:
    from ..results.study import StudyReport
    from .arguments import LimitLike, ModelLike, ProjectionLike, SeedsLike, StudyLike, TaskLike, TrainingLike


def study(
    name: StudyLike,
    task: TaskLike | None = None,
    model: ModelLike | None = None,
    *,
    projection: ProjectionLike | None = None,
    training: TrainingLike | None = None,
    seeds: SeedsLike = (0,),
    limit: LimitLike | None = None,
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> StudyReport:
    """Carry out a study, e.g. "adversarial-model:divergences=0.01+0.1", on a task and a model.

    A study trains and measures several models to answer one question. Task, model and projection are names,
    objects or classes, as for `attnx.evaluate`.

    Args:
        name: the study with its options, as `attnx list studies` shows it, or an object or class.
        task: labelled examples; by default the task that the registry names.
        model: what is trained; by default the model that the task recommends.
        projection: the function from scores to attention; by default that of the model.
        training: training settings, e.g. {"epochs": 20, "learning_rate": 0.01}.
        seeds: training seeds: [0, 1, 2], range(3) or "0-2".
        limit: the largest number of examples of each split, e.g. 500 or "train=500,test=200".
        device: "auto" uses a GPU if there is one.
        data_dir: a folder with datasets of your own.
        out: the folder of studies; by default `studies` in ATTNX_HOME.
        progress: whether progress is shown on stderr.

    Returns:
        What was found in every setting, with intervals, next to the published values if there are any.

    Raises:
        UsageError: a name or an option is wrong, or the parts do not fit together.
        PluginError: a component fails or breaks its contract.
        DataError: data is missing or unusable.
        MachineError: the disk is full or memory runs out.
    """
    asked = Arguments(installed_here())
    (chosen,) = asked.choices("study", name)
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        training=dict(training or {}),
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        device=device,
    )
    shown = Progress("auto" if progress else "off")
    return computed(
        lambda: study_spec(
            chosen, spec, asked.catalog, asked.objects, data_dir=data_dir, out=out, progress=shown
        )[0]
    )


def study_spec(
    name: Choice,
    spec: RunSpec,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[StudyReport, Path | None]:
    """Carry out a study on what a spec asks for; with the folder of its report, if it is stored."""
    find_part(catalog, "study", name, objects)
    resolve(spec, catalog, objects)

    from ..run.study import carry_out_study

    shown = progress or Progress()
    source = find_source(catalog, data_dir, shown)
    return carry_out_study(name, spec, catalog, source, shown, Path(out) if out else None, objects)
