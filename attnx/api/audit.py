"""The Python entry of the audit, and what the command line calls: names of metrics in, a report out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.parsing import parse_seeds
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..results.audit import AuditReport


def audit(
    metrics: Any = (),
    *,
    tasks: Any = (),
    seeds: Sequence[int] | str = (0, 1, 2),
    device: str = "auto",
    progress: bool = True,
) -> AuditReport:
    """Hold metrics to cases whose answer is known: how often does each prefer what is wrong?

    Args:
        metrics: names with their options, one or several; by default all that apply.
        tasks: tasks whose deciding units are known; by default those of the registry.
        seeds, device, progress: as for `evaluate`.
    """
    named = [metrics] if isinstance(metrics, str) else list(metrics)
    chosen = [tasks] if isinstance(tasks, str) else list(tasks)
    numbers = parse_seeds(seeds) if isinstance(seeds, str) else tuple(seeds)
    shown = Progress("auto" if progress else "off")
    return audit_metrics(named, installed_here(), tasks=chosen, seeds=numbers, device=device, progress=shown)


def audit_metrics(
    metrics: Sequence[str],
    catalog: Catalog,
    *,
    tasks: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    device: str = "auto",
    progress: Progress | None = None,
) -> AuditReport:
    """Audit these metrics, or all; what cannot be had is refused before anything heavy is imported."""
    from ..request.audit import plan_audit

    plan = plan_audit(metrics, tasks, seeds, device, catalog)

    from ..run.audit import carry_out_audit

    shown = progress or Progress()
    return carry_out_audit(plan, find_source(catalog, None, shown), shown)
