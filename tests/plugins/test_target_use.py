"""How scores depend on the explained class is what each method declares."""

from __future__ import annotations

import pytest
import torch
from explained_models import explain
from torch import Tensor, nn

from attnx.host.catalog import Catalog
from attnx.plugin import Choice, ImportanceMethod
from attnx.request.resolve import find_part
from attnx.testing import ToyModel, toy_data

CATALOG = Catalog.installed()
EXAMPLES = toy_data().test
METHODS = [one.name for one in CATALOG.of_kind("importance") if not one.demanding]
LINEAR = {
    "alti-logit",
    "attention-gradient",
    "attention-x-gradient",
    "attn-lrp",
    "deeplift",
    "feature-ablation",
    "gradient-shap",
    "input-x-gradient",
    "integrated-gradients",
    "kernel-shap",
    "lime",
    "owen",
    "shapley-sampling",
}
OF_LOGITS = {"alti-logit", "attn-lrp", "deeplift"}  # they explain logits, never probabilities
WITH_OPTIONS = ["gradient:reduce=signed,normalise=false", "loo:signed=true,normalise=false"]
NOT_LINEAR = [
    "gradient:reduce=signed",  # divided by a sum that depends on the class
    "gradient:reduce=signed,normalise=false,of=loss",
    "input-x-gradient:absolute=true",
    "lime:regression=lasso,penalty=0.01",
    "loo:signed=true",
    "loo:normalise=false,signed=false",
]


class Difference(ToyModel):
    """Three classes; the logit of the third is that of the first minus that of the second."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Parameter(torch.tensor([[0.3, -1.0], [-0.7, 0.4], [1.0, -1.4]]))


def made(name: str) -> ImportanceMethod:
    method: ImportanceMethod = find_part(CATALOG, "importance", Choice.parse(name)).make()
    return method


def scores(name: str, of: int) -> Tensor:
    target = torch.full((len(EXAMPLES),), of)
    return explain(Difference(), EXAMPLES, made(name), target)[1]


def test_the_declared_methods_are_those_that_can_be_linear() -> None:
    assert {name for name in METHODS if made(name).target_use == "linear"} == LINEAR
    assert {made(name).target_use for name in WITH_OPTIONS} == {"linear"}
    assert {made(name).target_use for name in NOT_LINEAR} == {"read"}


@pytest.mark.parametrize("name", [name for name in METHODS if made(name).target_use == "ignored"])
def test_a_method_that_ignores_the_class_gives_the_same_scores_for_all(name: str) -> None:
    first, *others = [scores(name, of) for of in range(3)]
    assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("name", [name for name in METHODS if made(name).target_use != "ignored"])
def test_a_method_that_reads_the_class_gives_other_scores(name: str) -> None:
    assert not torch.allclose(scores(name, 0), scores(name, 1))


@pytest.mark.parametrize("name", sorted(LINEAR - OF_LOGITS) + WITH_OPTIONS)
def test_the_scores_of_all_probabilities_sum_to_zero(name: str) -> None:
    """Probabilities sum to 1, and a constant has no scores; only a linear method keeps that."""
    total = sum(scores(name, of).double() for of in range(3))
    assert isinstance(total, Tensor)
    torch.testing.assert_close(total, torch.zeros_like(total), atol=2e-6, rtol=0)


@pytest.mark.parametrize("name", sorted(LINEAR - OF_LOGITS))
def test_the_scores_of_a_difference_of_logits_are_the_difference_of_scores(name: str) -> None:
    first, second, difference = (scores(f"{name}:of=logit", of) for of in range(3))
    torch.testing.assert_close(first - second, difference, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", sorted(OF_LOGITS))
def test_a_method_of_logits_alone_explains_a_difference_of_logits_too(name: str) -> None:
    first, second, difference = (scores(name, of) for of in range(3))
    torch.testing.assert_close(first - second, difference, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_where_a_size_or_a_share_is_taken_the_sum_is_not_zero(name: str) -> None:
    total = sum(scores(name, of).double() for of in range(3))
    assert isinstance(total, Tensor)
    assert total.abs().max() > 1e-3


def test_signed_leave_one_out_has_the_size_of_the_unsigned_and_the_sign_of_the_change() -> None:
    signed = scores("loo:signed=true,normalise=false", 1)
    assert torch.equal(signed.abs(), scores("loo:normalise=false,signed=false", 1))
    ablated = scores("loo:signed=true,normalise=false,variant=mask", 1)
    torch.testing.assert_close(ablated, scores("feature-ablation", 1), atol=1e-6, rtol=0)
    assert (signed < 0).any()
    assert (signed > 0).any()
