"""The dear tests, run on a random sample of the test split where the whole of it would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...progress import Progress
from ...protocols import Model
from ...request.spec import Sample
from ...results.observations import Observation
from ...types import Example, Passes
from .attribution import Named
from .measurement import Measurer, observe, pairings
from .score_keeper import ScoreKeeper
from .splits import Split

BUDGET: Final = 40_000_000  # units sent through the model for one seed
LEAST: Final = 100  # examples: fewer tell nothing, whatever they cost
SEED: Final = 0  # the sample is the run's, not a training seed's

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is measured, and on which examples what is dear."""

    explanations: tuple[Named, ...]
    references: tuple[Named, ...]
    metrics: tuple[Named, ...]
    baselines: tuple[Named, ...]

    @property
    def dear(self) -> tuple[str, ...]:
        """The metrics that send examples through the model, by themselves or by what they read."""
        explained = any(named.component.passes for named in self.explanations)
        compared = any(named.component.passes for named in self.references)
        return tuple(
            metric.label
            for metric in self.metrics
            if metric.component.passes
            or (explained and metric.component.reads_explanation)
            or (compared and "reference" in metric.component.needs)
        )

    def parted(self, dear: bool) -> Measuring:
        """The dear metrics, or the others, with what they read."""
        metrics = tuple(metric for metric in self.metrics if (metric.label in self.dear) == dear)
        read = [name for _, *names in pairings(self.explanations, self.references, metrics, self.baselines)
                for name in names]  # fmt: skip
        explanations, references, baselines = (
            tuple(named for named in role if named.label in read)
            for role in (self.explanations, self.references, self.baselines)
        )
        return Measuring(explanations, references, metrics, baselines)

    def units_sent(self, counts: Array) -> Array:
        """[N] how many units go through the model for an example of so many units [N], about."""
        found = pairings(self.explanations, self.references, self.metrics, self.baselines)
        asked = {(metric.label, explanation): metric.component.passes for metric, explanation, _ in found}
        methods = {named.label: named.component.passes for named in (*self.explanations, *self.references)}
        return counts * sum((_passes(each, counts) for each in (*asked.values(), *methods.values())), 0.0)

    def observe(
        self,
        model: Model,
        split: Split,
        rows: Array | None,
        *,
        seed: int,
        progress: Progress,
        label: str,
        keeper: ScoreKeeper | None = None,
        title: str = "the model",
        measurer: Measurer | None = None,
    ) -> Observation:
        """Everything on all examples, or the dear tests on the examples in `rows` alone."""

        def watch(what: Measuring, split: Split, label: str, keeper: ScoreKeeper | None) -> Observation:
            return observe(
                model,
                split,
                explanations=what.explanations,
                references=what.references,
                metrics=what.metrics,
                baselines=what.baselines,
                seed=seed,
                progress=progress,
                label=label,
                keeper=keeper,
                title=title,
                measurer=measurer,
            )

        if rows is None:
            return watch(self, split, label, keeper)
        light, dear = self.parted(dear=False), self.parted(dear=True)
        at_hand = {"attention", *(named.label for named in (*light.explanations, *light.references))}
        chosen = split.among(rows.tolist())
        whole = watch(light, split, label, keeper and keeper.of(at_hand))
        rest = keeper and keeper.of({*keeper.methods} - at_hand)
        sample = watch(dear, chosen, f"{label} a sample", rest)
        return whole.joined(sample, rows, [metric.label for metric in self.metrics])


def draw_sample(measuring: Measuring, examples: Sequence[Example], asked: Sample) -> Array | None:
    """The examples of the dear tests, in their order; None for all of them."""
    if asked == "all" or not measuring.dear:
        return None
    size = _affordable(measuring, examples) if asked == "auto" else asked
    if size >= len(examples):
        return None
    return np.sort(np.random.default_rng(SEED).permutation(len(examples))[:size])


def _affordable(measuring: Measuring, examples: Sequence[Example]) -> int:
    counts = np.array([len(example.units) for example in examples], dtype=float)
    sent = measuring.parted(dear=True).units_sent(counts).mean()
    return max(LEAST, int(BUDGET / max(1.0, sent)))


def _passes(declared: Passes, counts: Array) -> Array | float:
    return counts if declared == "units" else declared
