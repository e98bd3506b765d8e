"""Plans an audit of metrics from the cases of the registry, before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..host.catalog import Catalog
from ..registry.schema import AuditCases
from .plan import Plan
from .resolve import resolve
from .spec import RunSpec


@dataclass(frozen=True)
class AuditPlan:
    """Every model on every task, honest and deceptive, with all explanations and metrics to test."""

    cases: AuditCases
    own: str  # the explanation by which honest, deceptive and randomised models are compared
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    device: str
    plans: Mapping[tuple[str, str], Mapping[str, Plan]]  # by task and model: honest, deceived


def plan_audit(
    metrics: Sequence[str], tasks: Sequence[str], seeds: Sequence[int], device: str, catalog: Catalog
) -> AuditPlan:
    """Resolve an audit of these metrics, or of all that apply."""
    cases = catalog.registry.audit_cases
    if cases is None:
        raise UsageError(
            "The registry has no section 'audit_cases', so no case with a known answer is available."
        )
    own = catalog.registry.defaults.explanations[0]
    asked = {"explanations": (*cases.explanations, own), "seeds": tuple(seeds), "device": device}
    plans = {}
    chosen = tuple(tasks) or cases.tasks
    for task in chosen:
        for model in cases.models:
            spec = {**asked, "task": task, "model": model}
            spec["metrics"] = tuple(metrics) or _applicable(spec, catalog)
            weights = {"honest": 0.0, "deceived": cases.deception}
            plans[task, model] = {
                kind: resolve(RunSpec.model_validate({**spec, "training": {"deception": weight}}), catalog)
                for kind, weight in weights.items()
            }
    return AuditPlan(cases, own, chosen, tuple(seeds), device, plans)


def _applicable(spec: Mapping[str, object], catalog: Catalog) -> tuple[str, ...]:
    """Every metric that applies to a task and a model, whatever it costs."""
    plan = resolve(RunSpec.model_validate(spec), catalog)
    provided = {*plan.task.provides, *plan.model.provides, "reference"}
    return tuple(c.name for c in catalog.of_kind("metric") if provided.issuperset(c.needs))
