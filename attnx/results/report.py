"""The report of a run: what was asked, what it was computed with, what was found and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from ..errors import CheckFailed, DataError, UsageError
from ..request.spec import RunSpec
from .caution import Caution
from .formatting import Interval, Number, format_number, interval_of, measure_name, with_arrow
from .judgement.records import FamilyEvidence, Heading, Ranked, Ranking, UnitName, Verdict
from .provenance import ComponentUsed, Provenance, Record, SampleUsed
from .result import Result
from .selection import NoSuchRow, arguments_of

if TYPE_CHECKING:
    from .examples import Examples


def _named(labels: dict[str, str]) -> dict[str, str]:
    if not {"task", "model"} <= labels.keys():
        raise ValueError("task and model are not named")
    return labels


class Summary(Record):
    """One measure of one metric for one explanation in one group of examples, over all seeds."""

    metric: str
    measure: str
    family: str
    explanation: str | None  # None: of the model itself, whatever the explanation
    reference: str | None
    yardstick: bool = False  # agreement of two references with each other, for comparison
    predicted: str | None = None  # only the examples with this predicted label; None: all examples
    mean: Number  # over seeds, of the mean over examples
    sd: Number  # over examples
    n: int  # examples with a value, over all seeds
    undefined: int  # examples without one
    low: Number  # 95 % interval of the mean over seeds and examples; with one seed over examples alone
    high: Number
    direction: Literal["up", "down", "none"]
    baselines: dict[str, Number]  # the mean of the same measure for other explanations
    seeds: tuple[Number, ...]  # the mean of each seed

    @property
    def group(self) -> str:
        """The examples that it covers: "all", or "predicted=LABEL"."""
        return "all" if self.predicted is None else f"predicted={self.predicted}"

    @property
    def title(self) -> str:
        """Metric and measure with an arrow to the better side."""
        return with_arrow(measure_name(self.metric, self.measure), self.direction)

    @property
    def interval(self) -> Interval | None:
        """The ends of the interval; None where there is none."""
        return interval_of(self.low, self.high)

    @property
    def shown(self) -> str:
        """The mean with its interval as tables show them."""
        return f"{format_number(self.mean)} {self.interval or ''}".rstrip()


class Curve(Record):
    """A line in a figure, for one seed."""

    # Drawn by a metric; followed on dev over the epochs of training; or of the removal test, by how many
    # units are removed or kept: of every ranked explanation, of random orders, and of the best order found.
    kind: Literal["metric", "training", "removal"]
    name: str  # what the line shows; of a training curve the measure, of the removal test the question
    metric: str  # "training" for the accuracy and the loss on dev
    explanation: str | None
    reference: str | None
    seed: int
    axis: str
    x: tuple[float, ...]
    y: tuple[Number, ...]


class Quality(Record):
    """How good the trained model of one seed is on the test split."""

    seed: int
    accuracy: float
    f1: float  # macro-averaged
    roc_auc: Number  # binary tasks only
    majority: float  # accuracy of always predicting the most frequent test label
    epochs: int  # trained
    best_epoch: int  # the one used, chosen on dev; 0: the untrained model, or one that was not trained here
    dev_accuracy: Number  # of that epoch; None for a model that was not trained here


class MethodCost(Record):
    """What one importance method costs."""

    method: str
    passes: float  # examples sent through the model for one explanation
    examples: int  # that were explained, over all seeds
    seconds: float  # for all of them together
    reused: int = 0  # examples whose scores were kept from an earlier run; seconds are those of then

    @property
    def milliseconds(self) -> float | None:
        """The time for one explanation; None where nothing was explained."""
        return 1000 * self.seconds / self.examples if self.examples else None


class Report(Result):
    """Everything one run found."""

    file_stem: ClassVar[str] = "report"

    fingerprint: str
    labels: Annotated[
        dict[str, str], AfterValidator(_named)
    ]  # task, model and projection as they were asked for
    unit: UnitName  # what attention is spread over: words, or the units of a task that is not text
    spec: RunSpec
    components: tuple[ComponentUsed, ...]  # the importance methods and metrics, by label
    provenance: Provenance
    environment: dict[str, str]
    quality: Annotated[tuple[Quality, ...], Field(min_length=1)]  # of every seed
    sample: SampleUsed | None  # None: everything was measured on the whole test split
    verdicts: tuple[Verdict, ...]  # one for every explanation and heading
    ranking: Annotated[
        tuple[Ranked, ...], AfterValidator(Ranking)
    ] = ()  # every explanation of the run, the most faithful first
    reset: dict[str, float] = {}  # rank correlation of scores before and after parameters are reset
    evidence: tuple[FamilyEvidence, ...] = ()  # what every family of metrics shows; it decides nothing
    summaries: tuple[Summary, ...]
    curves: tuple[Curve, ...]
    costs: tuple[MethodCost, ...]
    warnings: tuple[Caution, ...]
    seconds: dict[str, float]
    _examples: Any = PrivateAttr(default=None)  # the stored examples, or what reads them when asked for

    def examples(self) -> Examples:
        """The stored examples of the test split, with every prediction, score and measure."""
        found: Examples | Callable[[], Examples] | None = self._examples
        if found is None:
            raise UsageError("This run stored no examples: evaluate again with keep='all' (--keep all).")
        return found() if callable(found) else found

    def __eq__(self, other: object) -> bool:
        """Whether the same was found, wherever the examples are."""
        return isinstance(other, Report) and self.__dict__ == other.__dict__

    def with_examples(self, examples: Examples | Callable[[], Examples] | None) -> Report:
        """The same report with its examples, or with what reads them."""
        report = self.model_copy()
        report._examples = examples
        return report

    def records(self) -> list[dict[str, Any]]:
        """The summaries, one row each; the mean of every baseline has a column."""
        return [
            {
                **summary.model_dump(exclude={"baselines", "predicted"}),
                "group": summary.group,
                **{f"baseline_{name}": summary.baselines.get(name) for name in self.baseline_names},
            }
            for summary in self.summaries
        ]

    def without_times(self) -> Report:
        """The same report without what depends on the clock: equal for the same run on any machine."""
        costs = tuple(cost.model_copy(update={"seconds": 0.0, "reused": 0}) for cost in self.costs)
        return self.model_copy(update={"seconds": {}, "costs": costs})

    def component_name(self, label: str) -> str:
        """The component behind a label of this report: "kendall" for "kendall:variant=c"."""
        return next((used.name for used in self.components if used.label == label), label)

    def kept_examples(self) -> Examples | None:
        """The stored examples; None where none were stored."""
        if self._examples is None:
            return None
        try:
            return self.examples()
        except DataError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise  # they are there and damaged

    @property
    def reused(self) -> str:
        """A sentence about the scores that were kept from earlier runs; empty where none were."""
        said = [
            f"{cost.method} ({'all' if cost.reused == cost.examples else cost.reused} of {cost.examples})"
            for cost in self.costs
            if cost.reused
        ]
        if not said:
            return ""
        return f"Scores kept from an earlier run, with the times of then: {', '.join(said)}"

    @property
    def baseline_names(self) -> list[str]:
        """The baselines of this report, in order."""
        return sorted({name for summary in self.summaries for name in summary.baselines})

    def verdict(self, explanation: str | None = None, heading: Heading = "faithfulness") -> Verdict:
        """The verdict on an explanation, by default the first; print it to read it in words."""
        found = [v for v in self.verdicts if v.heading == heading]
        chosen = [v for v in found if explanation in (None, v.explanation)]
        if not chosen:
            known = (
                ", ".join(repr(v.explanation) for v in found) or "none: no metric of this run has a verdict"
            )
            raise NoSuchRow(
                f"No verdict on the {heading} of {explanation!r} in this report; there is {known}."
            )
        return chosen[0]

    def require(self, *requirements: str) -> None:
        """Refuse a report that does not meet its requirements, e.g. "faithfulness>=0.5".

        Args:
            requirements: the least share or grade, of every explanation or of one: "faithfulness>=good",
                "attention/faithfulness>=0.5".

        Raises:
            CheckFailed: one is not met; the message says which, and what was found.
            UsageError: one cannot be read.
        """
        from .requirements import Requirement, check_requirements

        missed = check_requirements(self, tuple(map(Requirement.parse, requirements)))
        if missed:
            raise CheckFailed("; ".join(missed))

    def select(
        self,
        measure: str,
        *,
        metric: str | None = None,
        explanation: str | None = None,
        reference: str | None = None,
        group: str = "all",
    ) -> Summary:
        """The one summary of that measure; an error lists what there is when there is none, or several.

        Args:
            measure: the name of the measure, such as "tau" or "aopc"; `report.summaries` has them all.
            metric: its metric, where several have a measure of that name.
            explanation: the importance method under test; by default the first of the report.
            reference: the importance method it is compared with.
            group: "all", or the examples of one predicted label, e.g. "predicted=positive".
        """
        explanation = explanation or next((s.explanation for s in self.summaries if s.explanation), None)
        found = [
            s
            for s in self.summaries
            if s.measure == measure
            and metric in (None, s.metric)
            and s.explanation in (explanation, None)
            and (s.reference, s.group) == (reference, group)
        ]
        if len(found) == 1:
            return found[0]
        near = found or [s for s in self.summaries if s.measure == measure] or list(self.summaries)
        raise NoSuchRow(
            f"{len(found) or 'No'} summaries of {measure!r} for these arguments; choose one of: "
            + "; ".join(dict.fromkeys(arguments_of(s) for s in near if s.group in (group, "all")))
        )

    def __repr__(self) -> str:
        names = " · ".join(self.labels.values())
        said = "; ".join(
            f"{v.explanation}, {v.heading}: {v.grade}" for v in self.verdicts if v.share is not None
        )
        return f"<Report {self.fingerprint or 'not stored'}: {names}; {said or 'no verdict'}>"
