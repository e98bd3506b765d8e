"""The optimizer is torch's Adam to the last bit."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

from attnx.run.training.optimizer import PlainAdam


def trained(
    kind: type[torch.optim.Adam], steps: int, **options: object
) -> tuple[nn.Module, torch.optim.Adam]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    groups = [
        {"params": list(model[0].parameters()), "weight_decay": 0.1},
        {"params": list(model[2].parameters()), "weight_decay": 0.0},
    ]
    optimizer = kind(groups, lr=0.05, amsgrad=True, **options)
    for _ in range(steps):
        step(model, optimizer)
    return model, optimizer


def step(model: nn.Module, optimizer: torch.optim.Adam) -> None:
    optimizer.zero_grad()
    model(torch.ones(3, 5)).square().sum().backward()
    optimizer.step()


@pytest.mark.parametrize("fused", [False, True])
def test_every_step_is_that_of_torch(fused: bool) -> None:
    ours, theirs = (trained(kind, 5, fused=fused)[0] for kind in (PlainAdam, torch.optim.Adam))
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine, other)
        assert mine.requires_grad


def test_a_state_that_is_loaded_goes_on_as_before() -> None:
    model, optimizer = trained(PlainAdam, 3, fused=True)
    other, again = trained(PlainAdam, 0, fused=True)
    other.load_state_dict(model.state_dict())
    again.load_state_dict(deepcopy(optimizer.state_dict()))
    for pair in ((model, optimizer), (other, again)):
        step(*pair)
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_step_is_not_followed_by_gradients() -> None:
    model, optimizer = trained(PlainAdam, 1, fused=True)
    assert torch.is_grad_enabled()
    assert all(value.grad_fn is None for state in optimizer.state.values() for value in state.values())
    assert all(parameter.is_leaf for parameter in model.parameters())
