"""Cases of a metric as data: scores in, value out, in a YAML file next to the metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import CheckFailed, DataError, UsageError
from ..formulas.randomness import Randomness
from ..protocols import JointMetric, Metric, SplitMetric
from ..registry.plain_yaml import load_yaml
from ..run.evaluation_mode import evaluating
from ..run.measuring.attribution import Named, trace_of
from ..run.measuring.metric_calls import answer_of, joint_answers
from ..types import Corpus, Evidence, Example, Importance, JointEvidence
from .laws import require
from .toy import WORDS, ToyModel, toy_data

Value = float | Literal["undefined"]


class MetricCase(BaseModel):
    """One example with its scores, and what a metric must give for it.

    The example is one of `attnx.testing.ToyModel`, whose words are one, two, three, four and five.

    Attributes:
        scores: the explanation: one number per unit.
        value: the expected value of a metric with one measure; "undefined" for NaN.
        values: the expected values of a metric with several measures, by the name of the measure.
        units: the words of the example; by default one, two, three, four, five, one, ...
        reference: the scores to compare with, for a metric that needs a reference.
        rationale: which units are known to be important, for a metric that needs it.
        label: the label of the example, 0 or 1.
        options: options of the metric in this case.
        within: how far a value may be from the expected one.
        name: what the case is called when it fails; by default its number.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    scores: tuple[float, ...] = Field(min_length=1)
    value: Value | None = None
    values: dict[str, Value] = {}
    units: tuple[str, ...] = ()
    reference: tuple[float, ...] = ()
    rationale: tuple[bool, ...] = ()
    label: int = Field(0, ge=0, le=1)
    options: dict[str, Any] = {}
    within: float = Field(1e-5, ge=0)
    name: str = ""

    def model_post_init(self, _context: Any) -> None:
        """Refuse lists of different lengths, words that the toy model does not know, and a missing value."""
        for what in ("units", "reference", "rationale"):
            found = getattr(self, what)
            if found and len(found) != len(self.scores):
                raise ValueError(f"{what} has {len(found)} entries, scores {len(self.scores)}")
        unknown = [word for word in self.units if word not in WORDS[1:]]
        if unknown:
            raise ValueError(f"the unit '{unknown[0]}' is not one of {', '.join(WORDS[1:])}")
        if (self.value is None) == (not self.values):
            raise ValueError("give either value or values")

    @property
    def example(self) -> Example:
        """The example that is explained."""
        units = self.units or tuple(WORDS[1 + place % 5] for place in range(len(self.scores)))
        return Example("case", units, self.label, rationale=self.rationale or None)


def read_cases(file: str | Path) -> tuple[MetricCase, ...]:
    """Read the cases of a metric from a YAML file: a list, one entry per case.

    Args:
        file: the path of the file.

    Returns:
        The cases in their order.

    Raises:
        DataError: the file cannot be read, or a case is wrong.
    """
    try:
        found = load_yaml(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read the cases of '{file}': {' '.join(str(error).split())}") from error
    if not isinstance(found, list) or not found:
        raise DataError(f"'{file}' must be a list of cases, e.g. '- {{scores: [1, 0], value: 1}}'.")
    cases = []
    for number, entry in enumerate(found, 1):
        try:
            cases.append(MetricCase.model_validate(entry))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            message = f"{where}: {first['msg']}" if where else first["msg"]
            raise DataError(f"Case {number} of '{file}': {message.removeprefix('Value error, ')}.") from error
    return tuple(cases)


def assert_cases(
    make: Callable[[dict[str, Any]], Metric | JointMetric | SplitMetric], file: str | Path
) -> None:
    """Assert that a metric gives the value of every case; for the tests of a plugin.

    `attnx check` runs the cases of a file that is next to the metric's module and has its name:
    top_share.yaml for top_share.py.

    Args:
        make: makes the metric with the options of a case.
        file: the YAML file.

    Raises:
        CheckFailed: a value differs; the message has every one.
        DataError: the file cannot be read, or a case is wrong.
        UsageError: the metric measures a whole split, so one example has no value.
    """
    failed = list(failing_cases(make, read_cases(file)))
    if failed:
        raise CheckFailed("; ".join(failed))


def check_cases(make: Callable[[dict[str, Any]], Any], file: Path) -> None:
    """Raise `Broken` with every case of a file that a metric fails."""
    failed = list(failing_cases(make, read_cases(file)))
    require(not failed, "; ".join(failed))


def failing_cases(make: Callable[[dict[str, Any]], Any], cases: tuple[MetricCase, ...]) -> Iterator[str]:
    """One line per value that differs."""
    for number, case in enumerate(cases, 1):
        metric = make(case.options)
        if metric.whole_split:
            raise UsageError(
                f"{type(metric).__name__} measures a whole split: cases are for metrics of single examples."
            )
        names, title = [measure.name for measure in metric.measures], f"case {case.name or number}"
        wanted: dict[str, Value | None] = {**case.values} or {names[0]: case.value}
        if (len(names) > 1 and not case.values) or not wanted.keys() <= set(names):
            yield f"{title}: give values of {', '.join(names)}"
            continue
        found = dict(zip(names, _measured(metric, case), strict=True))
        for name, value in wanted.items():
            if not _equal(found[name], value, case.within):
                yield f"{title}: {name} is {found[name]:.6g}, not {value}"


def _equal(found: float, wanted: Value | None, within: float) -> bool:
    if wanted == "undefined" or math.isnan(found):
        return wanted == "undefined" and math.isnan(found)
    return wanted is not None and abs(found - wanted) <= within


def _measured(metric: Metric | JointMetric, case: MetricCase) -> list[float]:
    """The values of a metric on one example of the toy model."""
    model = ToyModel()
    batch = model.encode([case.example])
    with evaluating(model):
        trace = trace_of(model, batch)
        given = Importance("case", torch.tensor([case.scores]), trace.predicted)
        compared = (
            Importance("reference", torch.tensor([case.reference]), trace.predicted)
            if case.reference
            else None
        )
        if metric.joint:
            corpus = Corpus(torch.tensor([len(case.scores)]), toy_data().train)
            joint = JointEvidence(trace, {"case": given}, model, Randomness(0), corpus)
            values = joint_answers(Named("metric", metric), joint)["case"]
        else:
            evidence = Evidence(trace, given, compared, model, Randomness(0))
            values = answer_of(Named("metric", metric), evidence)[0]
    return [float(value) for value in values[0]]
