"""Whether explanations change when the parameters of a model are reset."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnx.formulas import shuffled_copy
from attnx.run.measuring.attribution import Named
from attnx.run.measuring.parameter_reset import reset_similarity
from attnx.run.measuring.splits import Split
from attnx.testing import ToyModel, toy_data
from attnx_audit.position import First
from attnx_baselines.attention import Attention

CPU = torch.device("cpu")


class WithBareParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bare = nn.Parameter(torch.arange(20.0))
        self.layer = nn.Linear(5, 4)


def test_every_parameter_is_shuffled_and_the_model_itself_is_not_touched() -> None:
    module = WithBareParameter()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    other = shuffled_copy(module, 0)
    for name, value in other.state_dict().items():
        assert torch.equal(module.state_dict()[name], before[name])
        assert not torch.equal(value, before[name])
        assert torch.equal(value.flatten().sort().values, before[name].flatten().sort().values)


def test_scores_by_place_stay_the_same_and_attention_changes() -> None:
    torch.manual_seed(0)
    model = ToyModel()
    with torch.no_grad():
        model.vectors.copy_(torch.randn_like(model.vectors))
    split = Split(model, toy_data().test, CPU)
    found = reset_similarity(model, split, [Named("first", First()), Named("attention", Attention())], 0)
    assert found["first"] == pytest.approx(1.0)
    assert found["attention"] < 0.9


def test_a_model_without_parameters_is_not_tested() -> None:
    model = ToyModel()
    split = Split(model, toy_data().test, CPU)
    model.__dict__["_parameters"] = {}
    assert reset_similarity(model, split, [Named("first", First())], 0) == {}
