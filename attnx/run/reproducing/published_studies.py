"""One study of a paper's table as a job, with the values behind its report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...disk import write_file
from ...host.catalog import Catalog
from ...host.plugin_files import use_files, used_files
from ...progress import Progress
from ...request.spec import Choice, RunSpec
from ...store.home import home
from ...store.runs import write_study
from ..study import run_study
from ..workers.executors import one_thread
from ..workers.jobs import source_of

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class StudyJob:
    """A study on one task and model."""

    study: str
    spec: str  # as JSON
    data_dir: str | None
    without: tuple[str, ...]  # plugins that are switched off
    files: tuple[str, ...] = field(default_factory=used_files)  # plugins that are files
    line: str = ""  # file that always has the last line of its progress; empty: none


class _LastLine(Progress):
    """Leaves its last line in a file, where the process that waits for this one finds it."""

    def __init__(self, path: Path) -> None:
        super().__init__("off")
        self.path, self.mode = path, "plain"

    def say(self, text: str) -> None:
        """Write a line in place of the one before."""
        with suppress(OSError):  # the study goes on whether anyone can read it or not
            write_file(self.path, text)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The results of a study."""

    values: dict[tuple[str, str], Array]  # [S, N] by setting and measure
    examples: str  # the task that they are from
    data: dict[str, str]
    folder: str  # of its report


def run_study_job(job: StudyJob) -> StudyResult:
    """Carry out a study, as a worker does; its report and its weights are stored."""
    with one_thread():
        use_files(job.files)
        catalog = Catalog.installed(job.without)
        progress = _LastLine(Path(job.line)) if job.line else Progress("off")
        source = source_of(Path(job.data_dir) if job.data_dir else None, catalog)
        spec = RunSpec.model_validate_json(job.spec).model_copy(update={"metrics": (), "references": ()})
        report, findings = run_study(Choice.parse(job.study), spec, catalog, source, progress)
    return StudyResult(
        values={(f.setting, f.measure): np.asarray(f.values, dtype=float) for f in findings},
        examples=f"{report.labels['task']} {spec.limit.model_dump_json()}",
        data=report.data,
        folder=write_study(report, home() / "studies", catalog).name,
    )
