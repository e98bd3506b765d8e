"""`attnx.planted`: which explanations find a trigger that the model is known to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.objects import Objects
from ..request.parsing import read_seeds, validated
from ..request.planted import plan_planted
from ..request.spec import Limit, RunSpec
from .setup import computed, find_source, installed_here

if TYPE_CHECKING:
    from ..results.planting.report import PlantedReport
    from .arguments import (
        ImportancesLike,
        LimitLike,
        ModelLike,
        ProjectionLike,
        SampleLike,
        SeedsLike,
        TaskLike,
        TrainingLike,
    )


def planted(
    task: TaskLike | None = None,
    model: ModelLike | None = None,
    *,
    kind: Literal["single", "paired", "ordered"] = "single",
    share: float = 0.3,
    words: Sequence[str] = (),
    triggers: int = 1,
    removal: bool = True,
    projection: ProjectionLike | None = None,
    explanations: ImportancesLike = (),
    training: TrainingLike | None = None,
    seeds: SeedsLike = (0,),
    limit: LimitLike | None = None,
    sample: SampleLike = "auto",
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> PlantedReport:
    """Plant a shortcut in texts, train the model on them, and see which explanations find it.

    Trigger words that decide the label are put into a share of the training texts. The model is trained
    and checked on held-out texts: it must answer as the trigger says, answer as another label's trigger
    says once that takes its place, and answer differently without it. Only then is it known what a right
    explanation shows, and every explanation is scored by how often the trigger words have its highest
    scores. If the model does not use the trigger, the report has no rows and its `sentence` says why.

    Args:
        task: labelled texts: a name ("csv:file=reviews.csv"), a DataFrame, two lists (texts, labels), or
            anything else that `evaluate` takes; by default rotten-tomatoes.
        model: what is trained and explained: a name, a class, or a module of your own (`attnx.wrap`); a
            trained module is copied and trained further.
        kind: "single": a word decides; "paired": two words decide, and only together; "ordered": of two
            words, the one that comes first decides.
        share: the share of training texts in which the trigger decides the label.
        words: trigger words of your own, in the order of the labels: one for each, two each for "paired".
        triggers: how many triggers are drawn and tested one after the other, each with its own models.
        removal: whether the removal test of `evaluate` is shown next to it, which costs much more.
        projection: the function from scores to attention; by default that of the model.
        explanations: importance methods to test; by default those of the registry that the model supports.
        training: settings such as {"epochs": 20, "learning_rate": 0.01}.
        seeds: training seeds, e.g. [0, 1, 2], range(3) or "0-2".
        limit: the largest number of examples of each split, e.g. 500 or "train=500,test=200".
        sample: on how many test texts the removal test is measured; "all", or "auto" for as many as a
            budget allows.
        device: "auto" takes a GPU if there is one.
        data_dir: a folder with datasets of your own.
        out: the folder in which the report and its runs are stored; by default `planted` and `runs` in
            ATTNX_HOME. With a Python object in it, the test is stored only if this is given.
        progress: show progress on stderr.

    Returns:
        The report: how the models were verified, how often each explanation finds the trigger with its
        interval, the share and grade of the removal test next to it, and example texts.

    Raises:
        UsageError: a name or an option is wrong, or the parts do not fit together.
        PluginError: a component fails or breaks its contract.
        DataError: data is missing, or too small to plant a trigger in.
        MachineError: the disk is full or memory runs out.
    """
    asked = Arguments(installed_here())
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        explanations=asked.choices("importance", explanations),
        training=dict(training or {}),
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        sample=sample,
        device=device,
    )
    given = [words] if isinstance(words, str) else list(words)
    settings = {"kind": kind, "share": share, "words": tuple(given)}
    shown = Progress("auto" if progress else "off")
    return computed(
        lambda: planted_spec(
            spec,
            settings,
            asked.catalog,
            asked.objects,
            triggers=triggers,
            removal=removal,
            data_dir=data_dir,
            out=out,
            progress=shown,
        )[0]
    )


def planted_spec(
    spec: RunSpec,
    settings: Mapping[str, Any],
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    triggers: int = 1,
    removal: bool = True,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[PlantedReport, Path | None]:
    """Plant triggers in what a spec asks for; with the folder of the report, if it is stored."""
    if objects:
        from ..run.fine_tuning import as_trainable

        objects = as_trainable(objects)
    plan = plan_planted(spec, settings, triggers, catalog, objects, removal=removal)

    from ..run.planted import carry_out_planted

    shown = progress or Progress()
    source = find_source(catalog, data_dir, shown)
    return carry_out_planted(plan, source, shown, catalog, Path(out) if out else None)
