"""`attnx.study`: a question that takes more than one trained model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import NotStored
from ..host.catalog import Catalog
from ..progress import Progress
from ..request.arguments import Arguments
from ..request.objects import Objects
from ..request.parsing import read_seeds, validated
from ..request.resolve import find_part, resolve
from ..request.spec import Choice, Limit, RunSpec
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..results.study import StudyReport


def study(
    name: Any,
    task: Any = None,
    model: Any = None,
    *,
    projection: Any = None,
    training: dict[str, Any] | None = None,
    seeds: Sequence[int] | str = (0,),
    limit: int | str | None = None,
    device: str = "auto",
    data_dir: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> StudyReport:
    """Carry out a study, such as "adversarial-model:divergences=0.01+0.1", on a task and a model.

    Args:
        name: the study with its options; `attnx list studies` lists them. Or an object, as for `evaluate`.
        out: the folder of studies; by default `studies` in ATTNX_HOME.
        task, model, projection, training, seeds, limit, device, data_dir, progress: as for `evaluate`.
    """
    asked = Arguments(installed_here())
    (chosen,) = asked.choices("study", name)
    spec = validated(
        task=asked.choice("task", task),
        model=asked.choice("model", model),
        projection=asked.choice("projection", projection),
        training=training or {},
        seeds=read_seeds(seeds),
        limit=Limit() if limit is None else Limit.parse(str(limit)),
        device=device,
    )
    shown = Progress("auto" if progress else "off")
    try:
        return study_spec(
            chosen, spec, asked.catalog, asked.objects, data_dir=data_dir, out=out, progress=shown
        )[0]
    except NotStored as lost:
        warnings.warn(str(lost), stacklevel=2)
        return cast("StudyReport", lost.report)


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
    """Carry out a study on what a spec asks for, and say which folder its report is in, if it is kept."""
    find_part(catalog, "study", name, objects)
    resolve(spec, catalog, objects)

    from ..run.study import carry_out_study

    shown = progress or Progress()
    source = find_source(catalog, data_dir, shown)
    return carry_out_study(name, spec, catalog, source, shown, Path(out) if out else None, objects)
