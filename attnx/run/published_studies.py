"""One study of a paper's table as a unit of work, with the values that its report is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.access import Source
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.spec import Choice, RunSpec
from ..store.home import home
from ..store.runs import write_study
from .study import run_study
from .workers.executors import compute_with_one_thread

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """A study of one task and model."""

    study: str
    spec: str  # as JSON
    data_dir: str | None
    without: tuple[str, ...]  # plugins that are switched off


@dataclass(frozen=True, slots=True)
class StudyFound:
    """What a study gave."""

    values: dict[tuple[str, str], Array]  # [S, N] by setting and measure
    examples: str  # which task they are of
    data: dict[str, str]
    folder: str  # of its report


def carry_out_study_unit(unit: StudyUnit) -> StudyFound:
    """Carry out a study, as a worker does; its report and its weights are kept."""
    compute_with_one_thread()
    catalog, quiet = Catalog.installed(unit.without), Progress("off")
    folder = Path(unit.data_dir) if unit.data_dir else None
    source = Source.configured(catalog.registry.datasets, home() / "data", folder, quiet)
    spec = RunSpec.model_validate_json(unit.spec).model_copy(update={"metrics": (), "references": ()})
    report, findings = run_study(Choice.parse(unit.study), spec, catalog, source, quiet)
    return StudyFound(
        values={(f.setting, f.measure): np.asarray(f.values, dtype=float) for f in findings},
        examples=f"{report.labels['task']} {spec.limit.model_dump_json()}",
        data=report.data,
        folder=write_study(report, home() / "studies", catalog).name,
    )
