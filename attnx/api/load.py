"""Opening what is there: a finished run, a model by name, the examples of a task."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.resolve import find_part, resolve
from ..request.spec import Choice, Limit, RunSpec

if TYPE_CHECKING:
    from ..data.access import Source
    from ..run.loaded_run import Run
    from ..types import TaskData


def load(
    run: str | Path,
    *,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    progress: bool = True,
) -> Run:
    """A finished run by its name, the beginning of it, or its folder: to read, to predict, to explain.

    Its model comes from the weights that are kept, or is trained again, which is told.

    Args:
        run: as `attnx runs` names it; the first characters are enough where no other run has them.
        out: the folder of runs; by default `runs` in ATTNX_HOME.
        data_dir: a folder with datasets of your own.
        progress: show progress where a model is trained again.
    """
    catalog = Catalog.installed()
    for text in catalog.warnings:
        warnings.warn(text, stacklevel=2)
    shown = Progress("auto" if progress else "off")
    return load_run(run, catalog, out=out, data_dir=data_dir, progress=shown)


def load_run(
    run: str | Path,
    catalog: Catalog,
    *,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """A finished run with what makes its model again."""
    from ..store.runs import Runs

    folder, report = Runs(Path(out) if out else None).open(str(run))

    from ..run.loaded_run import Run

    shown = progress or Progress()
    fields = {"explanations", "references", "metrics"}  # those of the report need not be installed any more
    asked = RunSpec.model_validate(report.spec.model_dump(exclude=fields))
    try:
        plan = resolve(asked, catalog)
    except UsageError:
        if not report.fingerprint.startswith("object-"):
            raise
        plan = None
    return Run(plan, catalog, _source(catalog, data_dir, shown), shown, report, folder)


def model_of_spec(spec: RunSpec, catalog: Catalog, *, data_dir: str | Path | None = None) -> Run:
    """The model that a spec asks for, as of a run that was never measured."""
    plan = resolve(spec, catalog)

    from ..run.loaded_run import Run

    shown = Progress()
    return Run(plan, catalog, _source(catalog, data_dir, shown), shown)


def task_data(
    task: Choice, catalog: Catalog, limit: Limit, *, data_dir: str | Path | None = None
) -> TaskData:
    """The examples of a task."""
    part = find_part(catalog, "task", task)

    from ..data.loading import load_data

    return load_data(part.make(), _source(catalog, data_dir, Progress()), limit)


def _source(catalog: Catalog, data_dir: str | Path | None, progress: Progress) -> Source:
    from ..data.access import Source
    from ..store.home import home

    local = Path(data_dir) if data_dir else None
    return Source.configured(catalog.registry.datasets, home() / "data", local, progress)
