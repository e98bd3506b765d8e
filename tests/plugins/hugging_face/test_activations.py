"""A linear map and the GELU after it in one step give what they give one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from architectures import MODELS, save_tiny
from tiny_checkpoints import data, save
from torch import Tensor, nn

from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_transformers import activations
from attnx_transformers.activations import Activations

# By architecture: how many maps of a model of two layers a GELU follows.
FOUND = {"bert": 2, "distilbert": 2, "roberta": 2, "electra": 3, "gpt2": 0, "llama": 0, "albert": 0}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", FOUND)
def test_a_classifier_answers_as_with_two_steps(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(name, "hf-classifier", tmp_path)
    model = MODELS["hf-classifier"][2](tmp_path).eval()
    assert len(model.network.activations.pairs) == FOUND[name]
    batch = model.encode(data().test)
    steps: list[int] = []
    own = activations.gelu_product

    def counted(*given: Any) -> Tensor:
        steps.append(1)
        return own(*given)

    monkeypatch.setattr(activations, "gelu_product", counted)
    with evaluating(model):
        one = trace_of(model, batch).logits
        assert len(steps) == FOUND[name]
        model.network.activations = Activations()
        two = trace_of(model, batch).logits
    assert len(steps) == FOUND[name]
    torch.testing.assert_close(one, two, atol=2e-5, rtol=2e-4)


def test_passes_with_gradients_take_two_steps(tmp_path: Path) -> None:
    save("classifier", tmp_path)
    model = MODELS["hf-classifier"][2](tmp_path).eval().requires_grad_(False)
    batch = model.encode(data().test)

    def slopes() -> Tensor:
        vectors = model.embed(batch).requires_grad_()
        return torch.autograd.grad(model.run(batch, vectors).logits[:, 0].sum(), vectors)[0]

    assert model.network.activations.pairs
    found = slopes()
    model.network.activations = Activations()
    assert torch.equal(found, slopes())
    assert float(found.abs().max()) > 0


class Toy(nn.Module):
    """Two linear maps with something between them."""

    def __init__(self, gelu: nn.Module, between: Callable[[Tensor, nn.Module], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.up, self.gelu, self.down = nn.Linear(6, 8), gelu, nn.Linear(8, 6)
        self.between = between

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.down(self.between(self.up(x), self.gelu)),)


def plain(up: Tensor, gelu: nn.Module) -> Tensor:
    return gelu(up)  # type: ignore[no-any-return]


TOYS: dict[str, tuple[nn.Module, Callable[[Tensor, nn.Module], Tensor], bool]] = {
    "a GELU": (nn.GELU(), plain, True),
    "by tanh": (nn.GELU(approximate="tanh"), plain, False),
    "something else": (nn.ReLU(), plain, False),
    "the map is read twice": (nn.GELU(), lambda up, gelu: up + gelu(up), False),
    "something comes before": (nn.GELU(), lambda up, gelu: gelu(2 * up), False),
    "used once without a map": (nn.GELU(), lambda up, gelu: gelu(up) + gelu(-up), False),
}


@pytest.mark.parametrize("between", TOYS)
def test_only_a_gelu_that_alone_reads_the_map_is_computed_with_it(between: str) -> None:
    gelu, way, together = TOYS[between]
    toy = Toy(gelu, way)
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    found = Activations.of(toy, lambda: toy(x))
    assert bool(found.pairs) == together
    with torch.no_grad(), found.in_one_step():
        one = toy(x)[0]
    torch.testing.assert_close(one, toy(x)[0].detach())
    assert "forward" not in toy.up.__dict__
    assert "forward" not in toy.gelu.__dict__
