"""`attnx.sweep`: every cell of a grid evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..progress import Progress
from ..request.parsing import read_seeds
from ..run.workers.executors import workers_of
from .setup import installed_here

if TYPE_CHECKING:
    from ..results.sweep import SweepReport


def sweep(
    task: Any,
    model: Any = (),
    *,
    projection: Any = (),
    explanations: Any = (),
    references: Any = (),
    metrics: Any = (),
    training: Any = ({},),
    seeds: Sequence[int] | str = (0,),
    limit: int | str | None = None,
    device: str = "auto",
    data_dir: str | Path | None = None,
    executor: str = "local",
    workers: int = 0,
    scheduler: str = "",
    progress: bool = True,
) -> SweepReport:
    """Evaluate every cell of a grid: tasks x models x projections x trainings.

    Args:
        task, model, projection, training: one or several; cells are their product, without those that make
            no sense, which `SweepReport.refused` lists with the reason.
        explanations, references, metrics, seeds, limit, device, data_dir, progress: as for `evaluate`, the
            same in every cell.
        executor: "local" for worker processes of this machine, "dask" for a Dask cluster.
        workers: how many; 0 for as many as cores.
        scheduler: address of a Dask scheduler, as "tcp://host:8786"; by default a cluster of its own.
    """
    from ..request.grid import read_grid, sort_out

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanations,
        "references": references,
        "metrics": metrics,
        "training": training,
        "seeds": read_seeds(seeds),
        "device": device,
    }
    catalog = installed_here()
    cells, refused = sort_out(read_grid(asked | ({} if limit is None else {"limit": limit}), None), catalog)

    from ..run.workers.sweep import carry_out_sweep

    return carry_out_sweep(
        cells,
        refused,
        catalog,
        workers_of(executor, workers, scheduler),
        data_dir=Path(data_dir) if data_dir else None,
        progress=Progress("auto" if progress else "off"),
    )
