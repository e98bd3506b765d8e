"""Whatever a plugin's component does, a run ends in a report of possible numbers, or names the component."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from fuzzing import fuzzed
from hypothesis import strategies as st
from torch import Tensor

import attnx
from attnx.errors import AttnxError, PluginError
from attnx.plugin import Evidence, Measure, Trace
from attnx.testing import ToyModel, toy_data

seeds = st.integers(0, 2**32)
RAISED: list[Callable[[], BaseException]] = [
    lambda: ValueError("a\nb"),
    lambda: KeyError("x"),
    lambda: RecursionError("deep"),
    lambda: SystemExit(0),
    lambda: SystemExit("leaving"),
    lambda: KeyboardInterrupt(),
    lambda: StopIteration(),
    lambda: AssertionError(),
    lambda: RuntimeError("\x1b[31m" + "x" * 10_000),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    lambda: MemoryError(),
    lambda: GeneratorExit(),
]
raised = st.sampled_from(range(len(RAISED)))


def changed(tensor: Tensor, seed: int) -> Any:
    """A tensor that is not what it should be: another shape, type, or values; or no tensor."""
    random_ = random.Random(seed)
    whole = tensor.detach().clone().double()
    flat = whole.flatten()
    if flat.numel():
        flat[random_.randrange(flat.numel())] = random_.choice(
            [math.nan, math.inf, -math.inf, -1.0, 2.0, 1e300, 0.0, 1e-320]
        )
    return random_.choice(
        [
            lambda: flat.view_as(whole),
            lambda: flat.view_as(whole).float(),
            lambda: whole.long(),
            lambda: whole.bool(),
            lambda: whole.half(),
            lambda: whole.to(torch.complex64),
            lambda: whole[:1],
            lambda: whole[..., :1],
            lambda: whole[..., None],
            lambda: whole.T,
            lambda: whole.flatten(),
            lambda: whole.sum(),
            lambda: torch.empty(0),
            lambda: whole.numpy(),
            lambda: whole.tolist(),
            lambda: None,
            lambda: (whole, whole),
            lambda: whole.to_sparse(),
            lambda: "text",
            lambda: whole.requires_grad_() * 2,
        ]
    )()


class Toy(attnx.plugin.Task):
    """The toy task, changed."""

    provides = ("words", "rationale")

    def __init__(self, change: Callable[[attnx.plugin.TaskData], Any] = lambda data: data) -> None:
        self.change = change

    def load(self, source: Any) -> attnx.plugin.TaskData:
        return self.change(toy_data())  # type: ignore[no-any-return]


class Odd(attnx.plugin.Metric):
    """Something at random."""

    family = "shape"
    measures = (Measure("odd", "none", (0, 1)),)

    def __init__(self, answer: Callable[[Tensor], Any]) -> None:
        self.answer = answer

    def __call__(self, evidence: Evidence) -> Tensor:
        return self.answer(torch.full((len(evidence.trace.logits), 1), 0.5))  # type: ignore[no-any-return]


class OddModel(ToyModel):
    """A toy model whose outputs are changed."""

    def __init__(self, field: str, change: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.field, self.change = field, change

    def run(self, *args: Any, **kwargs: Any) -> Trace:
        trace = super().run(*args, **kwargs)
        return replace(trace, **{self.field: self.change(getattr(trace, self.field))})


def ends_well(blames: str, **asked: Any) -> None:
    """A report whose numbers can be, or one line that names the component; an interrupt stays one."""
    asked = {"task": Toy(), "model": ToyModel(), "metrics": ["nnz"], "progress": False, **asked}
    report, refused = None, None
    try:
        report = attnx.evaluate(**asked)
    except (KeyboardInterrupt, MemoryError):  # which the command line says in its own words
        return
    except AttnxError as error:
        refused = error
    if report is None:
        assert isinstance(refused, PluginError), repr(refused)
        assert blames in str(refused)
        assert len(str(refused)) < 2000
        return
    fields = json.loads(report.to_json(), parse_constant=pytest.fail)
    assert 0 <= fields["quality"][0]["accuracy"] <= 1
    for summary in report.summaries:
        if summary.mean is not None and math.isfinite(summary.mean):
            assert summary.measure != "odd" or -0.01 <= summary.mean <= 1.01


def raising(number: int) -> Callable[..., Any]:
    def act(*_: Any, **__: Any) -> Any:
        raise RAISED[number]()

    return act


@fuzzed(8, seeds)
def test_metrics_that_answer_anything(seed: int) -> None:
    ends_well("Odd", metrics=[Odd(lambda values: changed(values, seed))])


@fuzzed(8, seeds)
def test_importances_that_answer_anything(seed: int) -> None:
    def odd_scores(model: Any, trace: Trace, target: Any, random_: Any) -> Any:
        return changed(trace.attention, seed)

    ends_well("odd_scores", explanations=[odd_scores])


@fuzzed(10, st.sampled_from(["logits", "attention", "hidden", "context"]), seeds)
def test_models_that_answer_anything(field: str, seed: int) -> None:
    ends_well("OddModel", model=OddModel(field, lambda values: changed(values, seed)))


@fuzzed(12, st.sampled_from(["metric", "importance", "model", "task"]), raised)
def test_components_that_raise_anything(kind: str, number: int) -> None:
    act = raising(number)
    if kind == "metric":
        ends_well("Odd", metrics=[Odd(act)])
    elif kind == "importance":
        ends_well("<lambda>", explanations=[lambda model, trace, target, random_: act()])
    elif kind == "model":
        ends_well("OddModel", model=OddModel("logits", act))
    else:
        ends_well("Toy", task=Toy(act))


ODD_EXAMPLES: list[Callable[[attnx.plugin.Example], Any]] = [
    lambda e: replace(e, label=-1),
    lambda e: replace(e, label=99),
    lambda e: replace(e, label=0.5),
    lambda e: replace(e, label=None),
    lambda e: replace(e, id="same"),
    lambda e: replace(e, id=7),
    lambda e: replace(e, units=()),
    lambda e: replace(e, units=None),
    lambda e: replace(e, units=(1, 2, 3)),
    lambda e: replace(e, rationale=(True,)),
    lambda e: replace(e, rationale=(2, "x", None)),
    lambda e: replace(e, units=("\x1b[31m", "<script>", "\ud800")),
    lambda e: None,
    lambda e: "text",
]


@fuzzed(
    14, st.sampled_from(range(len(ODD_EXAMPLES))), st.sampled_from(["train", "dev", "test"]), st.booleans()
)
def test_tasks_that_give_anything(number: int, split: str, all_of_them: bool) -> None:
    def change(data: attnx.plugin.TaskData) -> Any:
        examples = getattr(data, split)
        kept = () if all_of_them else examples[1:]
        odd = [ODD_EXAMPLES[number](one) for one in (examples if all_of_them else examples[:1])]
        return replace(data, **{split: (*odd, *kept)})

    ends_well("", task=Toy(change))


@fuzzed(8, st.sampled_from([None, [], "text", 7, {"train": []}, object()]))
def test_tasks_that_give_no_data(given: Any) -> None:
    ends_well("Toy", task=Toy(lambda data: given))


@fuzzed(4, seeds, examples=((46,), (2_905_712_394,)))  # not a number in training alone
def test_projections_that_answer_anything(seed: int) -> None:
    class OddProjection(attnx.plugin.AttentionProjection):
        """Something at random."""

        def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
            return changed(scores.softmax(-1), seed)  # type: ignore[no-any-return]

    ends_well(
        "",
        task="sdc-text:train=8,dev=4,test=4",
        model="fcam",
        projection=OddProjection(),
        training={"epochs": 1},
    )
