"""`attnx.reproduce`: a table or figure of a paper, by its name in the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotStored, in_one_line
from ..host.catalog import Catalog
from ..progress import Progress
from ..registry.experiments import DEFAULT_SIZE, SizeName
from ..request.experiment import ExperimentPlan, find_experiment, plan_experiment
from ..run.workers.dask_cluster import Trust
from ..run.workers.executors import ExecutorName, Workers, choose_workers
from .setup import computed, find_source, installed_here

if TYPE_CHECKING:
    from ..results.reproduction import Reproduction
    from .arguments import SeedsLike


def reproduce(
    experiment: str,
    *,
    size: SizeName = DEFAULT_SIZE,
    tasks: Sequence[str] = (),
    rows: Sequence[str] = (),
    seeds: SeedsLike | None = None,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    executor: ExecutorName | None = None,
    scheduler: str = "",
    tls: Mapping[str, str | Path] | None = None,
    insecure: bool = False,
    progress: bool = True,
) -> Reproduction:
    """Run a table or figure of a paper: published and measured values, and which claims hold.

    Page, Markdown and JSON are stored in `Reproduction.folder`.

    Args:
        experiment: its name; `attnx reproduce --list` lists them, `attnx.experiment(name)` shows one.
        size: "standard" decides the claims; "small" is a smoke test of minutes that decides nothing; "paper"
            is the size of the paper.
        tasks: only these tasks of the table; by default all of the size.
        rows: only these rows of the table; by default all of the size.
        seeds: training seeds, as for `evaluate`; by default those of the size.
        data_dir: as for `evaluate`.
        out: the folder of the results; by default `reproductions` in ATTNX_HOME.
        workers: how many worker processes; by default one per core.
        executor: where the work is done, as for `sweep`; by default worker processes.
        scheduler: address of a Dask scheduler, as for `sweep`.
        tls: files of certificates for the scheduler, as for `sweep`.
        insecure: use a scheduler on another machine without TLS.
        progress: show progress on stderr.

    Returns:
        What was measured, next to what was published.

    Raises:
        UsageError: there is no such experiment or size, or an option is wrong.
        PluginError: a component fails or breaks its contract.
        DataError: data is missing or unusable.
        MachineError: the disk is full or memory runs out.
    """
    catalog = installed_here()
    found = find_experiment(catalog.registry.experiments, experiment)
    asked = plan_experiment(experiment, found, size, seeds, tasks=tasks, rows=rows)
    return computed(
        lambda: reproduce_plan(
            asked,
            catalog,
            workers=choose_workers(executor, workers, scheduler, Trust.given(tls, insecure)),
            data_dir=data_dir,
            out=out,
            progress=Progress("auto" if progress else "off"),
        )
    )


def reproduce_plan(
    asked: ExperimentPlan,
    catalog: Catalog,
    *,
    workers: Workers,
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run an experiment that is planned, and store the result: `Reproduction.folder` is where."""
    from ..disk import check_writable
    from ..run.reproducing.reproduction import carry_out_reproduction
    from ..store.home import home
    from ..store.reproductions import write_reproduction

    shown = progress or Progress()
    root = Path(out) if out else home() / "reproductions"
    check_writable(root, "--out")
    source = find_source(catalog, data_dir, shown)
    found = carry_out_reproduction(asked, catalog, source, workers, progress=shown)
    try:
        return found.stored_in(write_reproduction(found, root))
    except Exception as error:  # the runs are stored, and the comparison is not lost
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else in_one_line(error)
        message = f"The reproduction could not be stored in '{root}': {reason.rstrip('.')}."
        raise NotStored(message, found) from error
