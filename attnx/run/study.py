"""A study from request to report."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from ..data.loading import Source
from ..disk import check_space, check_writable
from ..errors import PluginError, UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.objects import Objects
from ..request.resolve import find_part, require_capabilities, resolve
from ..request.spec import Choice, RunSpec
from ..results.judgement.cautions import few_seeds
from ..results.statistics import summarise
from ..results.study import StudyReport, StudyRow
from ..store.home import home
from ..store.identity import plugins_used
from ..store.runs import write_study
from ..store.weights import Weights
from ..types import Finding
from .computation import data_used
from .device import choose_device, environment
from .disk_space import PAGES
from .evaluation import not_stored
from .global_state import import_components, standard_state
from .lab import Lab
from .plugin_errors import errors_of
from .training.loop import Trainer, train

ROUNDING = 1e-6  # by which a value may leave the bounds of its measure


def carry_out_study(
    choice: Choice,
    spec: RunSpec,
    catalog: Catalog,
    source: Source,
    progress: Progress,
    out: Path | None = None,
    objects: Objects | None = None,
) -> tuple[StudyReport, Path | None]:
    """Carry out a study and store its report; a folder that cannot be written is refused at the start.

    A study with a Python object in it is not stored, because an object has no stable name.
    """
    root, weights = out or home() / "studies", Weights()
    check_writable(root, "--out")
    check_writable(weights.root, "ATTNX_HOME")
    check_space(root, PAGES, "the report", "--out")
    report, _ = run_study(choice, spec, catalog, source, progress, weights, objects)
    try:
        return report, None if objects else write_study(report, root, catalog)
    except Exception as error:  # the results are not lost, whatever prevents that they are stored
        raise not_stored(report, root, error) from error


@standard_state()
def run_study(
    choice: Choice,
    spec: RunSpec,
    catalog: Catalog,
    source: Source,
    progress: Progress,
    weights: Weights | None = None,
    objects: Objects | None = None,
    trainer: Trainer = train,
) -> tuple[StudyReport, tuple[Finding, ...]]:
    """Carry out a study on the task and model of a spec: its report, and the values behind it."""
    started = time.perf_counter()
    plan = resolve(spec, catalog, objects)
    part = find_part(catalog, "study", choice, objects)
    if plan.model.component is None and not isinstance(plan.model.given, type):
        raise UsageError(
            f"A study trains variants, and model '{plan.model.label}' is trained already: give its class."
        )
    require_capabilities(part, plan, catalog)
    device = choose_device(spec.device)
    import_components([*plan.trained, part])
    lab = Lab(spec, plan, part, catalog, device, source, weights or Weights(), progress, objects, trainer)
    with errors_of(part.title):
        findings = tuple(part.make()(lab))
        rows = tuple(_row(finding) for finding in findings)
    report = StudyReport(
        study=part.choice,
        labels={p.kind: p.label for p in plan.trained},
        spec=plan.spec.model_copy(update={"metrics": (), "references": ()}),  # the study knows its own
        data=data_used(lab.data),
        plugins=plugins_used([*plan.trained, part, *lab.parts_used]),
        environment=environment(device),
        findings=rows,
        warnings=few_seeds(len(plan.spec.seeds)),
        seconds=round(time.perf_counter() - started, 3),
    )
    return report, findings


def _row(finding: Finding) -> StudyRow:
    values = np.asarray(finding.values, dtype=float)[:, :, None]  # of one column
    low, high = (np.array([bound]) for bound in finding.bounds)
    if (values < low - ROUNDING).any() or (values > high + ROUNDING).any():
        raise PluginError(
            f"finding '{finding.measure}' of '{finding.setting}' has values outside its bounds "
            f"[{finding.bounds[0]:g}, {finding.bounds[1]:g}]"
        )
    found = summarise(values, bounds=(low, high))
    return StudyRow(
        setting=finding.setting,
        measure=finding.measure,
        direction=finding.direction,
        mean=found.mean[0],
        sd=found.sd[0],
        low=found.low[0],
        high=found.high[0],
        n=found.n[0],
        undefined=found.undefined[0],
        seeds=tuple(found.seeds[:, 0]),
        published=finding.published,
        source=finding.source,
    )
