"""Evaluations with a trainer of the test's own, and one for tests in which nothing may be trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnx.host.catalog import Catalog
from attnx.progress import Progress
from attnx.request.arguments import Arguments
from attnx.request.parsing import validated
from attnx.request.resolve import resolve
from attnx.request.spec import Limit
from attnx.results.observations import TrainingRecord
from attnx.results.report import Report
from attnx.run.evaluation import carry_out
from attnx.run.training.loop import Trainer
from attnx.store.runs import Runs


def never(*_: Any, **__: Any) -> TrainingRecord:
    """A trainer that must not be called."""
    raise AssertionError("a model is trained")


def evaluate_with(
    trainer: Trainer,
    *,
    metrics: Any,
    limit: str | None = None,
    out: Path | None = None,
    fresh: bool = False,
    progress: bool = False,
    **fields: Any,
) -> Report:
    """What `attnx.evaluate` does, with another trainer."""
    asked = Arguments(Catalog.installed())
    spec = validated(
        metrics=asked.choices("metric", metrics), limit=Limit.parse(limit) if limit else Limit(), **fields
    )
    outcome = carry_out(
        resolve(spec, asked.catalog, asked.objects),
        runs=Runs(out) if out else None,
        fresh=fresh,
        progress=Progress("auto" if progress else "off"),
        trainer=trainer,
    )
    return outcome.report
