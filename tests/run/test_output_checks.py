"""Impossible outputs and faults of components end a run with the component's name, and exit code 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import attnx
from attnx.plugin import Evidence, Example, Measure, PluginError, Trace
from attnx.testing import ToyModel, toy_data


class Toy(attnx.plugin.Task):
    """The toy task."""

    provides = ("words", "rationale")

    def __init__(self, change: Callable[[Example], Example] = lambda example: example) -> None:
        self.change = change

    def load(self, source: Any) -> attnx.plugin.TaskData:
        data = toy_data()
        return replace(data, test=tuple(self.change(example) for example in data.test))


class Changed(ToyModel):
    """A toy model whose trace is changed."""

    def __init__(self, **changes: Callable[[Trace], Tensor]) -> None:
        super().__init__()
        self.changes = changes

    def run(self, *args: Any, **kwargs: Any) -> Trace:
        trace = super().run(*args, **kwargs)
        return replace(trace, **{name: change(trace) for name, change in self.changes.items()})


class Constant(attnx.plugin.Metric):
    """The same number always."""

    family = "shape"
    measures = (Measure("constant", "none", (0, 1)),)

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, evidence: Evidence) -> Tensor:
        return torch.full_like(evidence.trace.logits[:, 0], self.value)


def run(task: Any = None, model: Any = None, **asked: Any) -> attnx.Report:
    asked = {"metrics": ["nnz"], "progress": False, **asked}
    return attnx.evaluate(task or Toy(), model or ToyModel(), **asked)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"attention": lambda t: 2 * t.attention},
            "attention that sums to 2, not to 1, for example",
        ),
        ({"attention": lambda t: 0 * t.attention}, "returned attention that sums to 0"),
        (
            {"attention": lambda t: t.attention.nan_to_num() + (~t.batch.mask).float()},
            "special or padding position",
        ),
        ({"attention": lambda t: 3 * t.attention - 2 * t.attention.flip(1)}, "model 'Changed' returned"),
        ({"attention": lambda t: t.attention * torch.nan}, "returned attention that is not finite"),
        ({"logits": lambda t: t.logits * torch.nan}, "returned logits that are not finite for example"),
        ({"logits": lambda t: t.logits / 0}, "returned logits that are not finite"),
        (
            {"logits": lambda t: t.logits[:, :1]},
            "a task of 2 labels (no, yes), returned logits of shape",
        ),
        ({"logits": lambda t: t.logits[:, [0, 1, 1]]}, "returned logits of shape (1, 3), not (1, 2)"),
    ],
)
def test_a_model_that_breaks_its_contract_is_named(changes: Any, said: str) -> None:
    with pytest.raises(PluginError) as refused:
        run(model=Changed(**changes))
    assert said in str(refused.value)


@pytest.mark.parametrize("value", [1.5, -0.5, float("inf")])
def test_a_value_outside_declared_bounds_is_refused(value: float) -> None:
    with pytest.raises(PluginError, match=r"'Constant' returned .* for 'constant', outside the bounds"):
        run(metrics=[Constant(value)])


def test_what_is_undefined_is_counted_and_what_is_on_the_bound_passes() -> None:
    assert run(metrics=[Constant(float("nan"))]).select("constant").undefined == 6
    assert run(metrics=[Constant(1.0)]).select("constant").mean == 1.0


def test_a_score_off_the_mask_is_refused() -> None:
    def everywhere(model: Any, trace: Trace, target: Any, random: Any) -> Tensor:
        return torch.ones_like(trace.attention)

    with pytest.raises(PluginError, match="returned a non-zero score at a special or padding position"):
        run(explanations=[everywhere])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: replace(e, label=2), "has label 2, but labels are 0 to 1"),
        (lambda e: replace(e, id="same"), "'same' of test occurs twice"),
        (lambda e: replace(e, rationale=(True,)), "has 1 entries in its rationale, but 3 units"),
    ],
)
def test_examples_that_cannot_be_are_refused(change: Any, said: str) -> None:
    with pytest.raises(PluginError) as refused:
        run(Toy(change))
    assert said in str(refused.value)


def test_an_exception_names_component_and_place() -> None:
    def broken(model: Any, trace: Trace, target: Any, random: Any) -> Tensor:
        return trace.nothing  # type: ignore[no-any-return,attr-defined]

    class Fails(Constant):
        def __call__(self, evidence: Evidence) -> Tensor:
            raise ValueError("on\npurpose")

    class Stuck(ToyModel):
        def run(self, *args: Any, **kwargs: Any) -> Trace:
            raise KeyError("stuck")

    for asked, said in (
        ({"explanations": [broken]}, "importance 'broken' failed: AttributeError"),
        ({"metrics": [Fails(1)]}, "metric 'Fails' failed: ValueError: on purpose"),
        ({"model": Stuck()}, "model 'Stuck' failed: KeyError"),
    ):
        with pytest.raises(PluginError) as refused:
            run(**asked)  # type: ignore[arg-type]
        assert said in str(refused.value)
        assert "test_output_checks.py:" in str(refused.value)
        assert refused.value.__cause__ is not None


def test_the_command_line_names_plugin_and_version(
    install: Callable[..., Any], cli: Callable[..., tuple[int, str, str]]
) -> None:
    metric = (
        "from attnx.plugin import Measure, Metric\nclass Bad(Metric):\n    'Fails.'\n    family = 'shape'\n"
        "    measures = (Measure('bad', 'none', (0, 1)),)\n    def __call__(self, evidence):\n        1 / 0\n"
    )
    card = "@hookimpl\ndef attnx_metrics():\n    return [Card('bad', 'faulty_plugin.it:Bad')]\n"
    install("faulty", card, it=metric)
    asked = (
        "evaluate",
        "--task",
        "sdc-text:train=24,dev=12,test=12",
        "--train",
        "epochs=1",
        "--metric",
        "bad",
    )
    code, _, err = cli(*asked)
    assert code == 3
    line = err.splitlines()[-1]
    assert line.startswith(
        "error: metric 'bad' of plugin faulty (attnx-faulty 1.2) failed: ZeroDivisionError"
    )
    assert "it.py:7" in line
    assert "Traceback" not in err


def test_a_projection_that_gives_no_numbers_in_training_is_not_a_matter_of_the_learning_rate() -> None:
    class NoNumbers(attnx.plugin.AttentionProjection):
        """Softmax, but not numbers while a model is trained."""

        def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
            weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
            return weights * torch.nan if torch.is_grad_enabled() else weights

    with pytest.raises(PluginError, match="a loss of nan before any training"):
        attnx.evaluate(
            "sdc-text:train=8,dev=4,test=4",
            "fcam",
            projection=NoNumbers(),
            metrics="nnz",
            training={"epochs": 1},
            progress=False,
        )
