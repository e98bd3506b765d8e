"""The Python entry of reproductions, and what the command line calls: the name of an experiment in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.experiment import ExperimentPlan, find_experiment, plan_experiment
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..results.reproduction import Reproduction


def reproduce(
    experiment: str,
    *,
    size: str = "small",
    seeds: Sequence[int] | str | None = None,
    executor: str = "local",
    workers: int = 0,
    scheduler: str = "",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> Reproduction:
    """Run a table or figure of a paper: what was published, what is measured, and which claims hold.

    Args:
        experiment: its name; `attnx reproduce --list` lists them, `attnx.experiment(name)` shows one.
        size: "small", a reduction that takes minutes, or "paper".
        seeds: training seeds, as for `evaluate`; by default those of the size.
        executor, workers, scheduler: where it is computed, as for `sweep`.
        data_dir, progress: as for `evaluate`.
        out: the folder of the results; by default `reproductions` in ATTNX_HOME.
    """
    catalog = installed_here()
    found = find_experiment(catalog.registry.experiments, experiment)
    return reproduce_plan(
        plan_experiment(experiment, found, size, seeds),
        catalog,
        executor=executor,
        workers=workers,
        scheduler=scheduler,
        data_dir=data_dir,
        out=out,
        progress=Progress("auto" if progress else "off"),
    )[0]


def reproduce_plan(
    asked: ExperimentPlan,
    catalog: Catalog,
    *,
    executor: str = "local",
    workers: int = 0,
    scheduler: str = "",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[Reproduction, Path]:
    """Run what is asked, and say in which folder page, Markdown and JSON are."""
    from ..disk import check_writable
    from ..run.reproduction import carry_out_reproduction
    from ..run.workers.executors import workers_of
    from ..store.home import home
    from ..store.reproductions import write_reproduction

    shown = progress or Progress()
    root = Path(out) if out else home() / "reproductions"
    check_writable(root, "--out")
    found = carry_out_reproduction(
        asked,
        catalog,
        find_source(catalog, data_dir, shown),
        workers_of(executor, workers, scheduler),
        progress=shown,
    )
    return found, write_reproduction(found, root)
