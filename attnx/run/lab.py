"""Studies: questions that take more than one trained model to answer.

A study is given a `Lab`, in which it trains variants of a model, and returns `Finding`s: values for
every seed, of every example or of the whole split, which are summarised as those of a metric are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from ..data.loading import Source, load_data
from ..host.catalog import Catalog
from ..progress import Progress
from ..protocols import Model
from ..report.observations import Measurement
from ..report.records import Finding as FindingRow
from ..report.records import StudyReport
from ..report.statistics import summarise
from ..request.plan import Part, Plan
from ..request.resolve import find_part, require_capabilities, resolve
from ..request.spec import Choice, RunSpec, digest
from ..store.home import check_writable, home
from ..store.identity import plugins_used, weights_name
from ..store.runs import write_study
from ..store.weights import Weights, tensors_hash
from ..types import Batch, Direction, TaskData
from .attribution import Named, trace_of
from .batching import batches, evaluating
from .evaluation import build, choose_device, data_used, environment, obtain
from .measuring import observe
from .training import Objective, train

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One measure in one setting of a study."""

    setting: str
    measure: str
    direction: Direction
    values: Array  # [S, N] for every seed and example, or [S, 1] for every seed
    published: float | None = None
    source: str = ""  # where the published value stands


class Study(Protocol):
    """A question about a task and a model that takes more than one trained model to answer."""

    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, lab: Lab, /) -> list[Finding]:
        """The findings, in the order a reader wants them."""
        ...


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a model gives for every example of a split, in their order."""

    probabilities: Tensor  # [N, C]
    attention: Tensor  # [N, L], 0 off the mask
    mask: Tensor  # [N, L]
    labels: Tensor  # [N]

    @property
    def correct(self) -> Tensor:
        return (self.probabilities.argmax(1) == self.labels).double()  # [N]


@dataclass
class Lab:
    """A place to train variants of one model on one task."""

    plan: Plan
    catalog: Catalog
    data: TaskData
    device: torch.device
    progress: Progress
    study: Part
    asked: RunSpec  # as the user put it, no default written out
    used: list[Part] = field(default_factory=list)  # what took part beside the plan's own parts

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.plan.spec.seeds

    def variant(self, **changes: Any) -> Plan:
        """The plan with some fields of its spec changed, such as projection="uniform".

        What the user did not say is decided anew: another model brings its own training settings.
        """
        plan = resolve(RunSpec.model_validate({**self.asked.model_dump(), **changes}), self.catalog)
        self.used += (plan.task, plan.model, plan.projection)
        return plan

    def within(self, study: str) -> Lab:
        """The same lab as another study has it: what it trains, and finds trained, is that study's."""
        return replace(self, study=find_part(self.catalog, "study", Choice.parse(study)))

    def model(self, seed: int, plan: Plan | None = None) -> Model:
        """A model trained as the plan says; its weights are cached as those of any run."""
        model, _ = obtain(plan or self.plan, self.data, seed, (), self.device, self.progress)
        return model

    def untrained(self, seed: int, plan: Plan | None = None) -> Model:
        """A model as it is before training."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return build(plan or self.plan, self.data, self.device)

    def train(
        self,
        model: Model,
        seed: int,
        name: str,
        *,
        objective: Objective | None = None,
        keep: Literal["best", "last"] = "best",
        plan: Plan | None = None,
        beside: Sequence[Model] = (),
    ) -> Model:
        """Train a model of one's own making.

        It is trained anew when there are other weights in it to start from, or in the models
        `beside` that its training depends on. All else that tells it from others, such as a setting
        of the objective, must be in its `name`.
        """
        plan = plan or self.plan
        used = plugins_used([self.study])[0]
        base = weights_name(plan, self.data, seed, self.device)
        start = [tensors_hash(m.state_dict()) for m in (model, *beside)]
        key = digest(base, self.study.choice.name, used.code, name, *start)
        cached = Weights().find(key)
        if cached is not None:
            model.load_state_dict(cached[0])
            return model.eval()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            record = train(
                model,
                self.data,
                plan.training,
                seed=seed,
                device=self.device,
                progress=self.progress,
                label=f"seed {seed}: {name}",
                objective=objective,
                keep=keep,
            )
        Weights().write(key, model.state_dict(), record.model_dump(mode="json"))
        return model

    def test(self, model: Model) -> Batch:
        """The test split as the model reads it."""
        return model.encode(self.data.test).to(self.device)

    def outputs(self, model: Model) -> Outputs:
        """Probabilities and attention on the test split."""
        encoded = self.test(model)
        attention = torch.zeros(encoded.mask.shape, device=self.device)
        probabilities = torch.zeros(len(encoded), len(self.data.label_names), device=self.device)
        with evaluating(model):
            for rows, batch in batches(encoded):
                trace = trace_of(model, batch)
                attention[rows, : trace.attention.shape[1]] = trace.attention
                probabilities[rows] = trace.probabilities
        return Outputs(probabilities.cpu(), attention.cpu(), encoded.mask.cpu(), encoded.labels.cpu())

    def measure(
        self,
        model: Model,
        seed: int,
        metrics: Sequence[str],
        *,
        explanations: Sequence[str] = ("attention",),
        references: Sequence[str] = (),
    ) -> tuple[Measurement, ...]:
        """What these metrics say of a model, each of every explanation with every reference."""
        return observe(
            model,
            self.test(model),
            explanations=tuple(self._named("importance", name) for name in explanations),
            references=tuple(self._named("importance", name) for name in references),
            metrics=tuple(self._named("metric", name) for name in metrics),
            seed=seed,
            progress=self.progress,
            label=f"seed {seed}: {', '.join(metrics)}",
        ).measurements

    def _named(self, kind: Literal["importance", "metric"], text: str) -> Named:
        part = find_part(self.catalog, kind, Choice.parse(text))
        self.used.append(part)
        return Named(text, part.make())


def carry_out_study(
    choice: Choice,
    spec: RunSpec,
    catalog: Catalog,
    source: Source,
    progress: Progress,
    out: Path | None = None,
) -> tuple[StudyReport, Path]:
    """Carry out a study and keep its report; an unwritable folder is refused before any training."""
    root = out or home() / "studies"
    check_writable(root, "--out")
    check_writable(Weights().root, "ATTNX_HOME")
    report = run_study(choice, spec, catalog, source, progress)
    return report, write_study(report, root)


def run_study(
    choice: Choice, spec: RunSpec, catalog: Catalog, source: Source, progress: Progress
) -> StudyReport:
    """Carry out a study on the task and model of a spec."""
    started = time.perf_counter()
    plan = resolve(spec, catalog)
    part = find_part(catalog, "study", choice)
    require_capabilities(part, plan, catalog)
    device = choose_device(spec.device)
    data = load_data(plan.task.make(), source, spec.limit)
    lab = Lab(plan, catalog, data, device, progress, part, spec)
    with source.in_use():
        findings = part.make()(lab)
    return StudyReport(
        study=part.choice,
        labels={p.kind: p.label for p in (plan.task, plan.model, plan.projection)},
        spec=plan.spec.model_copy(update={"metrics": (), "references": ()}),  # the study knows its own
        data=data_used(data),
        plugins=plugins_used([plan.task, plan.model, plan.projection, part, *lab.used]),
        environment=environment(device),
        findings=tuple(_row(finding) for finding in findings),
        seconds=round(time.perf_counter() - started, 3),
    )


def _row(finding: Finding) -> FindingRow:
    found = summarise(np.asarray(finding.values, dtype=float)[:, :, None])  # of one column
    return FindingRow(
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
