"""Products by either library are the same product, with the same gradients."""

import pytest
import torch
from torch import nn

from attnx.formulas import fast_linear, gelu_product, product, products


@pytest.mark.parametrize("shape", [(7, 12), (3, 5, 12), (200, 12)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("added", [False, True])
def test_a_product_is_the_product(
    library: str, shape: tuple[int, ...], dtype: torch.dtype, added: bool
) -> None:
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(size, generator=generator, dtype=dtype) for size in (shape, (9, 12)))
    add = torch.randn(*shape[:-1], 9, generator=generator, dtype=dtype) if added else None
    expected = x.double() @ weight.double().T + (0 if add is None else add.double())
    for given in (weight, weight.T.contiguous().T):
        found = product(x, given, add)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        product(x[..., ::2], weight[:, ::2]).double(), x[..., ::2].double() @ weight[:, ::2].double().T,
        atol=1e-5, rtol=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bias", [False, True])
def test_a_product_under_gelu_is_both(library: str, dtype: torch.dtype, bias: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    x, weight, add = (
        torch.randn(size, generator=generator, dtype=dtype) for size in ((3, 5, 12), (9, 12), (9,))
    )
    found = gelu_product(x, weight, add if bias else None)
    product_ = x.double() @ weight.double().T + (add.double() if bias else 0)
    expected = product_ * (1 + (product_ / 2**0.5).erf()) / 2
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
def test_linear_layers_keep_their_outputs_and_gradients(library: str, bias: bool) -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(20, 30, bias=bias), nn.Tanh(), nn.Linear(30, 5, bias=bias))
    layers.requires_grad_(False)
    x = torch.randn(6, 4, 20, requires_grad=True)

    def passed() -> tuple[torch.Tensor, torch.Tensor]:
        y = layers(x)
        return y.detach(), torch.autograd.grad(y.square().sum(), x)[0]

    expected = passed()
    with fast_linear():
        found = passed()
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_layers_that_learn_get_gradients_of_their_weights(library: str) -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(20, 30), torch.randn(6, 20)
    layer(x).square().sum().backward()
    expected = layer.weight.grad.clone()  # type: ignore[union-attr]
    layer.zero_grad()
    with fast_linear():
        layer(x).square().sum().backward()
    torch.testing.assert_close(layer.weight.grad, expected)


def test_results_can_be_changed_in_place(library: str) -> None:
    layer, x = nn.Linear(20, 30), torch.randn(6, 4, 20)
    with fast_linear():
        y = layer(x)
        y /= 2.0
        y.sum().backward()
    torch.testing.assert_close(layer.bias.grad, torch.full((30,), 12.0))


def test_layers_that_learn_keep_the_precision_of_a_mixed_step(library: str) -> None:
    layer, x = nn.Linear(20, 30), torch.randn(6, 20)
    with fast_linear(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16


def test_weights_with_gaps_between_their_rows_are_multiplied_as_others(library: str) -> None:
    torch.manual_seed(0)
    layer, states = nn.Linear(20, 30), torch.randn(8, 5, 20)
    first = states[:, 0]  # rows of 20 numbers, 100 apart
    layer(first).square().sum().backward()
    assert layer.weight.grad is not None
    expected = layer.weight.grad.clone()
    layer.zero_grad()
    with fast_linear():
        layer(first).square().sum().backward()
    torch.testing.assert_close(layer.weight.grad, expected)
    torch.testing.assert_close(product(layer.weight.detach(), first), layer.weight.detach() @ first.T)


def test_only_processors_on_which_it_is_faster_get_the_other_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    products._available.cache_clear()
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    try:
        assert not products._available()
    finally:
        products._available.cache_clear()


def test_an_affine_map_has_the_gradients_of_torch_and_those_of_its_gradients(library: str) -> None:
    torch.manual_seed(0)
    given = [torch.randn(*shape, requires_grad=True) for shape in ((6, 4, 20), (30, 20), (30,))]

    def derivatives(value: torch.Tensor) -> list[torch.Tensor]:
        plain = torch.autograd.grad(value.square().sum(), given, retain_graph=True)
        first = torch.autograd.grad(value.square().sum(), given, create_graph=True)
        second = torch.autograd.grad(torch.stack([one.square().sum() for one in first]).sum(), given)
        return [value, *plain, *first, *second]

    x, weight, bias = given
    found, expected = derivatives(products.affine(*given)), derivatives(x @ weight.mT + bias)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-4)
