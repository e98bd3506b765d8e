"""Adam without torch's compiler gives the numbers of torch's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnx.run.training.adam import Adam


def trained(optimiser: type[torch.optim.Adam], steps: int, **options: Any) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    layer = torch.nn.Linear(5, 3)
    adam = optimiser(layer.parameters(), lr=0.1, amsgrad=True, weight_decay=0.1, **options)
    for step in range(steps):
        adam.zero_grad(set_to_none=True)
        layer(torch.randn(4, 5)).square().sum().backward()
        adam.step()
        if step == 1:  # as when training resumes
            adam.load_state_dict(adam.state_dict())
    return layer.state_dict()


@pytest.mark.parametrize("fused", [True, False])
def test_every_weight_is_that_of_torch(fused: bool) -> None:
    ours, theirs = (trained(kind, 6, fused=fused) for kind in (Adam, torch.optim.Adam))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert not torch.equal(ours["weight"], trained(Adam, 5, fused=fused)["weight"])


def test_its_state_is_that_of_torch() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    theirs = torch.optim.Adam([weight], amsgrad=True, fused=True)
    weight.grad = torch.ones(2)
    theirs.step()
    ours = Adam([weight], amsgrad=True, fused=True)
    ours.load_state_dict(theirs.state_dict())
    assert str(ours.state_dict()) == str(theirs.state_dict())


def test_a_step_leaves_no_graph_and_gradients_on() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    ours = Adam([weight], fused=True)
    weight.sum().backward()
    ours.step()
    assert weight.is_leaf
    assert torch.is_grad_enabled()
