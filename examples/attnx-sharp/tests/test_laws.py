"""The conformance tests of attnx on the components of this plugin."""

import pytest
import torch
from attnx_sharp.options import PowerOptions
from attnx_sharp.power import Power
from attnx_sharp.top_share import TopShare

from attnx.testing import assert_conforms


@pytest.mark.parametrize("exponent", [0.5, 2.0, 5.0])
def test_power_is_a_projection(exponent):
    assert_conforms("projection", Power(PowerOptions(exponent=exponent)))


def test_power_of_one_is_softmax():
    scores = torch.tensor([[1.0, 2.0, 3.0]])
    mask = torch.ones_like(scores, dtype=torch.bool)
    a = Power(PowerOptions(exponent=1.0))(scores, mask)
    assert torch.allclose(a, scores.softmax(-1))


def test_top_share_is_a_metric():
    assert_conforms("metric", TopShare())
