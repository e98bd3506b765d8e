"""The pretend accelerator refuses what a real one refuses, and allows what it allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnx.testing import pretend_device

Case = Callable[[Tensor, Tensor], Any]


@pytest.fixture
def device() -> Iterator[torch.device]:
    with pretend_device() as device:
        yield device


@pytest.fixture
def pair(device: torch.device) -> tuple[Tensor, Tensor]:
    """The same numbers on the accelerator and on the CPU."""
    here = torch.arange(6.0).reshape(2, 3)
    return here.to(device), here


REFUSED: dict[str, Case] = {
    "sum": lambda there, here: there + here,
    "product": lambda there, here: there @ here.T,
    "mask": lambda there, here: there.masked_fill(here > 1, 0.0),
    "choice": lambda there, here: torch.where(here > 1, there, 0.0),
    "gather": lambda there, here: there.gather(1, here.long().clamp_max(1)),
    "concatenation": lambda there, here: torch.cat([there, here]),
    "in place": lambda there, here: here.add_(there),
    "index of a CPU tensor": lambda there, here: here[there[:, 0].long().clamp_max(1)],
    "layer": lambda there, here: nn.functional.linear(here, there),
    "loss": lambda there, here: nn.functional.cross_entropy(there, here[:, 0].long().clamp_max(2)),
    "generator": lambda there, here: torch.rand(2, device=there.device, generator=torch.Generator()),
    "generator in place": lambda there, here: there.uniform_(generator=torch.Generator()),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_devices_do_not_mix(case: Case, pair: tuple[Tensor, Tensor]) -> None:
    with pytest.raises(RuntimeError, match=r"same device|type for generator"):
        case(*pair)


@pytest.mark.parametrize("read", [Tensor.numpy, np.asarray, np.sort])
def test_numpy_cannot_read_what_is_elsewhere(read: Any, pair: tuple[Tensor, Tensor]) -> None:
    with pytest.raises(TypeError, match="to numpy"):
        read(pair[0])


ALLOWED: dict[str, Case] = {
    "a number without dimensions": lambda there, here: there * here[1, 2],
    "an index on the CPU": lambda there, here: there[torch.tensor([1, 0])],
    "a mask on the CPU": lambda there, here: there[here > 2],
    "a copy": lambda there, here: torch.zeros_like(there).copy_(here),
    "made like it": lambda there, here: torch.full_like(there, 2.0) + there.new_tensor([1.0, 2.0, 3.0]),
    "made there": lambda there, here: there + torch.ones(3, device=there.device),
    "one-hot": lambda there, here: nn.functional.one_hot(there.long(), 6) + there[..., None],
    "quantile": lambda there, here: there.quantile(0.5, dim=1),
    "turned in place": lambda there, here: there.clone().transpose_(0, 1) @ torch.ones_like(there),
    "to another": lambda there, here: there + here.to(there),
    "to another type": lambda there, here: there.to(torch.float64) + here.to(there.device, torch.float64),
}


@pytest.mark.parametrize("case", ALLOWED.values(), ids=ALLOWED.keys())
def test_what_torch_allows_gives_what_the_cpu_gives(case: Case, pair: tuple[Tensor, Tensor]) -> None:
    there, here = pair
    found = case(there, here)
    assert found.device == there.device
    assert found.is_cuda
    assert torch.equal(found.cpu(), case(here, here))


def test_a_tensor_says_where_it_is(pair: tuple[Tensor, Tensor]) -> None:
    there, here = pair
    assert (there.device, here.device) == (torch.device("cuda", 0), torch.device("cpu"))
    assert there.tolist() == there.cpu().tolist() == here.tolist()
    assert float(there[1, 2]) == 5.0


def test_a_device_without_numbers_stays_what_it_is(pair: tuple[Tensor, Tensor]) -> None:
    with torch.device("meta"):  # libraries build a module there before its weights are read
        assert nn.Linear(2, 3).weight.is_meta
    assert torch.empty_like(pair[0], device="meta").is_meta


def test_gradients_cross_from_one_device_to_the_other(pair: tuple[Tensor, Tensor]) -> None:
    there, here = pair[0].requires_grad_(), pair[1].requires_grad_()
    (there.cpu() * 2 + here.to(there.device).cpu() * 3).sum().backward()
    assert there.grad is not None
    assert here.grad is not None
    assert there.grad.device == there.device
    assert torch.equal(there.grad.cpu(), torch.full((2, 3), 2.0))
    assert torch.equal(here.grad, torch.full((2, 3), 3.0))


def test_a_layer_is_trained_there_as_it_is_here(pair: tuple[Tensor, Tensor]) -> None:
    weights = []
    for x in pair:
        torch.manual_seed(0)
        layer = nn.LSTM(3, 4).to(x.device)
        optimizer = torch.optim.Adam(layer.parameters(), fused=True)
        for _ in range(3):
            optimizer.zero_grad()
            layer(x[:, None])[0].square().sum().backward()
            optimizer.step()
        assert layer.weight_ih_l0.device == x.device
        weights.append(layer.weight_ih_l0.detach().cpu())
    assert torch.equal(*weights)


def test_inference_mode_works(pair: tuple[Tensor, Tensor]) -> None:
    there, here = pair
    with torch.inference_mode():
        found = there.clone().mul_(2).softmax(-1).transpose(0, 1).contiguous()
        assert torch.equal(found.cpu(), (here * 2).softmax(-1).T)


def test_it_ends_with_its_context() -> None:
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    with pytest.raises(ZeroDivisionError), pretend_device():
        raise ZeroDivisionError
    assert torch.__future__.get_overwrite_module_params_on_conversion() == before
    with pytest.raises((RuntimeError, AssertionError)):
        torch.zeros(1, device="cuda")


@pytest.mark.parametrize("gradients", [True, False])
def test_kernels_run_in_the_gradient_mode_of_their_caller(gradients: bool, device: torch.device) -> None:
    """An LSTM rounds differently with gradients on, on processors without AVX-512 visibly so."""
    torch.manual_seed(0)
    layer = nn.LSTM(8, 16, bidirectional=True)
    here = torch.randn(20, 4, 8)
    with torch.set_grad_enabled(gradients):
        expected = layer(here)[0]
        found = layer.to(device)(here.to(device))[0]
        assert torch.equal(found.detach().cpu(), expected.detach())


def test_no_kernel_turns_gradients_on(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[bool] = []
    module = import_module("attnx.testing.pretend_device")
    wrapped = module._outer

    def noted(value: Any, known: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        return wrapped(value, known)

    monkeypatch.setattr(module, "_outer", noted)
    with torch.no_grad():
        assert (torch.ones(3).to(device) + 1).tolist() == [2.0, 2.0, 2.0]
    assert modes
    assert not any(modes)
