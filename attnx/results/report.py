"""The report: what was asked, what it was computed with, what came out and how sure it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, PrivateAttr

from ..errors import DataError, UsageError
from ..request.spec import RunSpec
from .formatting import Interval, Number, format_number, interval_of, measure_name, with_arrow
from .provenance import Provenance, Record, SampleUsed
from .selection import NoSuchRow, arguments_of

if TYPE_CHECKING:
    import pandas

    from ..views.figures.figure import ReportFigure
    from .examples import Examples

SCHEMA: Literal[1] = 1
Heading = Literal["faithfulness", "interpretability"]
Status = Literal["supported", "contradicted", "chance", "unknown"]


class Summary(Record):
    """One measure of one metric for one explanation in one group of examples, over all seeds."""

    metric: str
    measure: str
    family: str
    explanation: str | None  # None: of the model itself, whatever the explanation
    reference: str | None
    yardstick: bool = False  # of two references with each other, to compare with
    group: str  # "all", or "predicted=NAME"
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

    name: str
    metric: str
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
    majority: float  # accuracy of always answering the commonest label of train
    epochs: int  # trained
    best_epoch: int  # kept, by the dev split; 0: the untrained model, or one that was given ready
    dev_accuracy: Number  # of the epoch that was kept; None for a model that was given ready


class MethodCost(Record):
    """What one explanation costs; its seconds are among the report's `seconds`."""

    method: str
    passes: float  # examples sent through the model for one explanation
    examples: int  # that were explained, over all seeds


class VerdictRow(Record):
    """One measure of an explanation beside the same of random scores, and what that says."""

    metric: str
    measure: str
    reference: str | None
    sees: str  # what the test can see
    mean: Number
    random: Number  # the same measure of random scores, or the measure's midpoint
    against: Literal["random", "midpoint"] = "random"  # which of the two
    difference: Number  # paired, on the same examples
    low: Number  # interval of the difference, corrected for the number of rows
    high: Number
    share: Number  # of the way from random scores to the best attainable
    n: int
    status: Status
    decides: bool  # False: the audit on known truth does not trust it enough


class Verdict(Record):
    """What the evidence says of one explanation: of one family of it, or of a heading."""

    heading: Heading
    family: str | None  # None: of the heading, which follows its most trusted family
    explanation: str
    status: Status
    reason: str
    rows: tuple[VerdictRow, ...]

    def __str__(self) -> str:
        from .wording import STATUS_IN_WORDS

        of = self.family or self.heading
        return f"{self.explanation}, {of}: {STATUS_IN_WORDS[self.status]}. {self.reason}."


class Report(Record):
    """Everything one run found."""

    schema_: Literal[1] = Field(default=SCHEMA, alias="schema")
    fingerprint: str
    labels: dict[str, str]  # task, model and projection as they were asked for
    spec: RunSpec
    provenance: Provenance
    environment: dict[str, str]
    quality: tuple[Quality, ...]
    sample: SampleUsed | None  # None: everything was measured on the whole test split
    verdicts: tuple[Verdict, ...]
    summaries: tuple[Summary, ...]
    curves: tuple[Curve, ...]
    costs: tuple[MethodCost, ...]
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    _examples: Any = PrivateAttr(default=None)  # what was kept, or what reads it when it is asked for

    def examples(self) -> Examples:
        """The examples of the test split with every prediction, score and measure, as they were kept."""
        found: Examples | Callable[[], Examples] | None = self._examples
        if found is None:
            raise UsageError("This run kept no examples: evaluate again with keep='all' (--keep all).")
        return found() if callable(found) else found

    def __eq__(self, other: object) -> bool:
        """Whether the same was found, wherever the examples are."""
        return isinstance(other, Report) and self.__dict__ == other.__dict__

    def with_examples(self, examples: Examples | Callable[[], Examples] | None) -> Report:
        """The same report with its examples, or with what reads them."""
        report = self.model_copy()
        report._examples = examples
        return report

    def to_json(self) -> str:
        """The report as JSON text, in the layout that docs/report.md describes."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Report:
        """A report read back from its JSON text."""
        return cls.model_validate_json(text)

    def to_frame(self) -> pandas.DataFrame:
        """The summaries as a pandas DataFrame, one row each (needs pandas)."""
        import pandas

        rows = [summary.model_dump() for summary in self.summaries]
        frame = pandas.DataFrame(rows)
        baselines = frame.pop("baselines").apply(pandas.Series)
        return frame.join(baselines.add_prefix("baseline_"))

    def to_markdown(self) -> str:
        """The report as a Markdown page."""
        from ..views.markdown import page

        return page(self)

    def to_html(self) -> str:
        """The report as a page of one file, with a browser of the examples where they were kept."""
        from ..views.page.report import run_page

        return run_page(self, self.kept_examples())

    def figures(self) -> list[ReportFigure]:
        """Every figure that the run has the numbers for; `save("name.svg")` writes one, or a PNG."""
        from ..views.figures.report import drawings

        return drawings(self, self.kept_examples())

    def kept_examples(self) -> Examples | None:
        """The examples as they were kept; None where none were."""
        if self._examples is None:
            return None
        try:
            return self.examples()
        except DataError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise  # they are there and damaged

    def _repr_html_(self) -> str:
        """The verdict and the measures, for a notebook."""
        from ..views.page.report import fragment

        return fragment(self)

    @property
    def baseline_names(self) -> list[str]:
        """The baselines of this report, in order."""
        return sorted({name for summary in self.summaries for name in summary.baselines})

    def verdict(self, explanation: str | None = None, heading: Heading = "faithfulness") -> Verdict:
        """What the evidence says of an explanation, the first by default; print it to read it in words."""
        found = [v for v in self.verdicts if v.family is None and v.heading == heading]
        chosen = [v for v in found if explanation in (None, v.explanation)]
        if not chosen:
            known = (
                ", ".join(repr(v.explanation) for v in found) or "none: no metric of this run has a verdict"
            )
            raise NoSuchRow(
                f"No verdict on the {heading} of {explanation!r} in this report; there is {known}."
            )
        return chosen[0]

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
            explanation: the importance method it is of; by default the first of the report.
            reference: the importance method it is compared with.
            group: "all", or the examples of one class, as "predicted=NAME".
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
            f"{v.explanation}, {v.heading}: {v.status}" for v in self.verdicts if v.family is None
        )
        return f"<Report {self.fingerprint or 'not stored'}: {names}; {said or 'no verdict'}>"

    __str__ = __repr__
