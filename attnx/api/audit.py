"""`attnx.audit`: metrics tested where the right answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..host.catalog import Catalog
from ..progress import Progress
from ..request.parsing import read_seeds
from .setup import find_source, installed_here

if TYPE_CHECKING:
    from ..results.audit import AuditReport
    from .arguments import Names, SeedsLike


def audit(
    metrics: Names = (),
    *,
    tasks: Names = (),
    seeds: SeedsLike = (0, 1, 2),
    device: str = "auto",
    progress: bool = True,
) -> AuditReport:
    """Test metrics where the right answer is known: how often do they prefer the wrong explanation?

    Args:
        metrics: metrics with their options, one or several; by default all that can be audited.
        tasks: tasks whose deciding units are known; by default those that the registry names.
        seeds: training seeds: [0, 1, 2], range(3) or "0-2".
        device: "auto" uses a GPU if there is one.
        progress: whether progress is shown on stderr.

    Returns:
        For every metric how often it ordered two explanations correctly, with intervals.

    Raises:
        UsageError: a name is unknown, or a metric cannot be audited.
        PluginError: a component fails or breaks its contract.
    """
    named = [metrics] if isinstance(metrics, str) else list(metrics)
    chosen = [tasks] if isinstance(tasks, str) else list(tasks)
    numbers = read_seeds(seeds)
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
    """Audit these metrics, or all; what is impossible is rejected before anything heavy is imported."""
    from ..request.audit import plan_audit

    plan = plan_audit(metrics, tasks, seeds, device, catalog)

    from ..run.audit import carry_out_audit

    shown = progress or Progress()
    return carry_out_audit(plan, find_source(catalog, None, shown), shown)
