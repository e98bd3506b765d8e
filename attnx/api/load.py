"""`attnx.load`: a stored run, to read, to predict and to explain; and what else is opened by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.objects import Objects
from ..request.resolve import find_part, resolve
from ..request.spec import Choice, Limit, RunSpec
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..run.loaded_run import Run
    from ..types import TaskData


def load(
    run: str | Path,
    *,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    progress: bool = True,
) -> Run:
    """Load a stored run: read its report and examples, predict and explain with its model.

    The model comes from the stored weights. If they were deleted, it is trained again, with a warning.

    Args:
        run: the name of the run as `attnx runs` lists it, the first characters of it, or its folder.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        data_dir: a folder with datasets of your own.
        progress: whether progress is shown when the model is trained again.

    Returns:
        The run, with its `report`, its `examples`, and `predict` and `explain`.

    Raises:
        UsageError: there is no such run, or several begin with these characters.
        PluginError: a plugin that the run used is missing or broken.
    """
    shown = Progress("auto" if progress else "off")
    return load_run(run, installed_here(), out=out, data_dir=data_dir, progress=shown)


def load_run(
    run: str | Path,
    catalog: Catalog,
    *,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> Run:
    """Load a stored run with what is needed to make its model again, on its own device or another."""
    from ..store.runs import Runs

    folder, report = Runs(Path(out) if out else None).open(str(run))

    from ..run.loaded_run import Run

    shown = progress or Progress()
    fields = {"explanations", "references", "metrics"}  # those of the report need not be installed any more
    asked = RunSpec.model_validate(report.spec.model_dump(exclude=fields))
    try:
        plan = resolve(asked if device is None else asked.model_copy(update={"device": device}), catalog)
    except UsageError:
        if not report.fingerprint.startswith("object-"):
            raise
        plan = None
    return Run(plan, catalog, find_source(catalog, data_dir, shown), shown, report, folder)


def model_of_spec(
    spec: RunSpec,
    catalog: Catalog,
    objects: Objects | None = None,
    *,
    data_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Give the model that a spec asks for, like that of a run that was never measured."""
    plan = resolve(spec, catalog, objects)

    from ..run.loaded_run import Run

    shown = progress or Progress()
    return Run(plan, catalog, find_source(catalog, data_dir, shown), shown, objects=objects or {})


def task_data(
    task: Choice, catalog: Catalog, limit: Limit, *, data_dir: str | Path | None = None
) -> TaskData:
    """Load the examples of a task."""
    part = find_part(catalog, "task", task)

    from ..data.loading import load_data

    return load_data(part.make(), find_source(catalog, data_dir, Progress()), limit)
