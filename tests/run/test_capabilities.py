"""What a model cannot do is not asked of it, and what needs it is refused in the word to declare."""

from typing import Any

import pytest
import torch
from torch import Tensor

import attnx
from attnx.plugin import Batch, Trace, UsageError
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx.testing.checking import law_results
from attnx.testing.model_laws import ModelOnTask


class Toy(attnx.plugin.Task):
    """The toy task."""

    provides = ("words",)

    def load(self, source: Any) -> attnx.plugin.TaskData:
        return toy_data()

    def sample(self) -> attnx.plugin.TaskData:
        return toy_data()


class ReadOnly(ToyModel):
    """A model whose attention can be read and not replaced."""

    provides = ("attention", "gradient", "deletion")

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_own"] = self.projection
        del self.projection

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        assert attention is None, "attention cannot be held"
        scores = embeddings @ self.scorer
        a = self._own(scores, batch.mask)
        return Trace.of(batch, embeddings, self._classify(embeddings, a), attention=a)

    def decode(self, *args: Any) -> Any:
        raise AssertionError("not provided")

    reattend = decode


class BlackBox(ReadOnly):
    """A model that shows embeddings and logits alone."""

    provides = ("gradient", "deletion")

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        trace = super().run(batch, embeddings, attention=attention)
        return Trace.of(batch, embeddings, trace.logits)


def run(model: Any, **asked: Any) -> attnx.Report:
    return attnx.evaluate(Toy(), model, progress=False, **asked)


def test_attention_that_can_only_be_read_gets_every_test_of_explanations() -> None:
    report = run(
        ReadOnly(), metrics=["kendall", "comprehensiveness", "sufficiency", "entropy"], references=["loo"]
    )
    assert {s.explanation for s in report.summaries} == {"attention"}
    assert {s.metric for s in report.summaries} == {
        "kendall",
        "comprehensiveness",
        "sufficiency",
        "entropy",
    }
    assert "projection" not in report.labels
    full = run(ToyModel(), metrics=["comprehensiveness"])
    assert report.select("aopc", metric="comprehensiveness") == full.select("aopc")


def test_what_replaces_attention_is_left_out_by_default_and_refused_by_name() -> None:
    assert not {"permutation", "delta-js"} & {s.metric for s in run(ReadOnly()).summaries}
    for asked, word in (
        ({"metrics": ["permutation"]}, "attention weights that can be replaced ('reattend')"),
        ({"explanations": ["gradient:attention=fixed"]}, "('reattend')"),
        ({"explanations": ["loo-hidden"]}, "('reattend')"),
        ({"explanations": ["gradient-hidden"]}, "('hidden')"),
    ):
        with pytest.raises(UsageError) as refused:
            run(ReadOnly(), **asked)
        assert word in str(refused.value)
        assert "If your model can, add '" in str(refused.value)


def test_a_black_box_is_explained_by_its_gradient_and_says_so() -> None:
    report = run(BlackBox(), metrics=["comprehensiveness"])
    assert {s.explanation for s in report.summaries} == {"gradient"}
    (caution,) = [warning for warning in report.warnings if warning.kind == "no-attention"]
    assert caution.about == ("BlackBox", "gradient")
    with pytest.raises(UsageError, match="needs attention weights that can be read"):
        run(BlackBox(), explanations=["attention"])


def test_without_gradients_too_it_is_explained_by_leaving_out() -> None:
    class Darker(BlackBox):
        provides = ("deletion",)

    assert {s.explanation for s in run(Darker(), metrics=["sufficiency"]).summaries} == {"loo"}


def test_a_model_that_makes_its_attention_itself_takes_no_projection() -> None:
    with pytest.raises(UsageError, match="has no projection to choose"):
        run(ReadOnly, projection="sparsemax")


@pytest.mark.parametrize("model", [ReadOnly, BlackBox])
def test_laws_ask_only_for_what_is_provided(model: type[ToyModel]) -> None:
    assert_conforms("model", model())  # type: ignore[call-arg]


def test_attention_that_can_be_replaced_must_be_readable() -> None:
    class Odd(ToyModel):
        provides = ("reattend",)

    broken = {r.law for r in law_results("model", ModelOnTask(Odd(), toy_data()), "Odd") if r.failure}
    assert broken == {"model-attention"}


def test_a_trace_leaves_unknown_what_it_is_not_given() -> None:
    model = ToyModel()
    batch = model.encode(toy_data().test)
    trace = Trace.of(batch, model.embed(batch), torch.zeros(len(batch), 2))
    assert trace.attention[batch.mask].isnan().all()
    assert (trace.attention[~batch.mask] == 0).all()
    assert trace.take(torch.tensor([0])).hidden.shape[1] == 3
