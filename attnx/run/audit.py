"""An audit of metrics: models that are known to use certain units, with right and wrong explanations."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..data.loading import Source
from ..disk import check_writable
from ..errors import DataError
from ..formulas.deception import rationale_mass
from ..progress import Progress
from ..protocols import Model
from ..request.audit import AuditPlan
from ..request.plan import Plan
from ..results.audit import AuditedModel, AuditReport, Case, audit_rows
from ..results.observations import Key, Measurement
from ..store.weights import Weights
from ..types import Example
from .data_cache import load_data_of
from .device import choose_device, environment
from .evaluation_mode import evaluating
from .global_state import import_components, standard_state
from .measuring.attribution import Named, trace_of
from .measuring.measurement import observe
from .measuring.splits import Split, batches, donors_of
from .training.models import TrainedModels

KNOWS = 0.9  # the least accuracy of a model used in the audit, also without other units
LOST = 0.7  # its highest accuracy without the deciding units; guessing between two labels gives 0.5


@standard_state()
def carry_out_audit(plan: AuditPlan, source: Source, progress: Progress) -> AuditReport:
    """Train, verify and measure; models that do not verifiably use the deciding units are left out."""
    started = time.perf_counter()
    weights = Weights()
    check_writable(weights.root, "ATTNX_HOME")
    device = choose_device(plan.device)
    cases: list[Case] = []
    verification: list[AuditedModel] = []
    examples = 0
    for (task, model), plans in plan.plans.items():
        import_components(plans["honest"].parts)
        honest = plans["honest"]
        data = load_data_of(honest, source)
        examples = len(data.test)
        bench = _Bench(TrainedModels(data, device, weights, progress), plans, task, model)
        measurements, checked = bench.measured(plan.seeds)
        verification += checked
        if all(one.verified for one in checked):
            cases.append(Case(measurements))
    if not cases:
        raise DataError(
            "No model of the audit verifiably uses the deciding units: there is nothing to audit with."
        )
    rows, silent = audit_rows(
        cases, plan.cases.ladder, plan.cases.course, plan.own, _metric_names(plan.plans.values())
    )
    return AuditReport(
        tasks=plan.tasks,
        models=plan.cases.models,
        seeds=plan.seeds,
        examples=examples,
        ladder=plan.cases.ladder,
        course=plan.cases.course,
        verification=tuple(verification),
        rows=rows,
        silent=silent,
        environment=environment(device),
        seconds=round(time.perf_counter() - started, 1),
    )


def _metric_names(plans: Iterable[Mapping[str, Plan]]) -> dict[str, str]:
    """The name of every metric by its label."""
    return {part.label: part.choice.name for plan in plans for part in plan["honest"].tests.metrics}


@dataclass(frozen=True)
class _Bench:
    """One model on one task, measured as honest, deceived and randomised copies."""

    models: TrainedModels
    plans: Mapping[str, Plan]  # honest, deceived
    task: str
    model: str

    def measured(
        self, seeds: Sequence[int]
    ) -> tuple[dict[str, list[Mapping[Key, Measurement]]], list[AuditedModel]]:
        """The values of every metric for every explanation, and the checks of what the models use."""
        honest = self.plans["honest"]
        values: dict[str, list[Mapping[Key, Measurement]]] = {"honest": [], "deceived": [], "randomised": []}
        checked = []
        for seed in seeds:
            models = {kind: self.models.trained(plan, seed)[0] for kind, plan in self.plans.items()}
            checked += [self._checked(model, kind, seed) for kind, model in models.items()]
            models["randomised"] = self.models.untrained(honest, seed)
            for kind, model in models.items():
                values[kind].append(self._observed(model, kind, seed))
        return values, checked

    def _observed(self, model: Model, kind: str, seed: int) -> dict[Key, Measurement]:
        plan = self.plans["honest"]
        explanations = tuple(
            part for part in plan.tests.explanations if kind == "honest" or part.label == plan.own
        )
        observation = observe(
            model,
            Split(model, self.models.data.test, self.models.device, donors_of(self.models.data)),
            replace(plan.tests, explanations=explanations, baselines=()).map(Named.of),
            seed=seed,
            progress=self.models.progress,
            label=f"{plan.task.choice.name}, {self.model}, seed {seed}: {kind}",
        )
        return {m.key: m for m in observation.measurements}

    def _checked(self, model: Model, kind: str, seed: int) -> AuditedModel:
        """The accuracy of a model: on whole examples, without the deciding units, without as many others."""
        test = self.models.data.test
        rng = np.random.default_rng(seed)
        accuracy, mass = self._accuracy(model, test)
        deciding, _ = self._accuracy(model, [_without(e, _deciding(e)) for e in test])
        others, _ = self._accuracy(model, [_without(e, _others(e, rng)) for e in test])
        return AuditedModel(
            task=self.task,
            model=self.model,
            kind="deceived" if kind == "deceived" else "honest",
            seed=seed,
            accuracy=accuracy,
            without_deciding=deciding,
            without_others=others,
            attention_on_deciding=mass,
            verified=min(accuracy, others) >= KNOWS and deciding <= LOST,
        )

    def _accuracy(self, model: Model, examples: Sequence[Example]) -> tuple[float, float]:
        """Accuracy, and the mean attention on the deciding units."""
        right, mass = [], []
        with evaluating(model):
            for _, batch in batches(Split(model, examples, self.models.device)):
                trace = trace_of(model, batch)
                right.append((trace.predicted == batch.labels).double())
                mass.append(rationale_mass(trace.attention, batch.rationale).double())
        return float(torch.cat(right).mean()), float(torch.cat(mass).mean())


def _deciding(example: Example) -> Sequence[bool]:
    if example.rationale is None:
        raise DataError(f"Example '{example.id}' has no units that are known to decide: an audit needs them.")
    return example.rationale


def _others(example: Example, rng: np.random.Generator) -> Sequence[bool]:
    """As many other units, chosen at random."""
    deciding = np.array(_deciding(example))
    others = np.flatnonzero(~deciding)
    gone = rng.choice(others, size=min(int(deciding.sum()), len(others)), replace=False)
    return np.isin(np.arange(len(deciding)), gone).tolist()


def _without(example: Example, gone: Sequence[bool]) -> Example:
    """An example without some of its units."""
    return example.keep([place for place, away in enumerate(gone) if not away])
