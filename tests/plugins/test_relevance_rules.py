"""The rules of `attn-lrp`: relevance propagated message by message, and what must be conserved."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from attnx_transformers.layer_methods.relevance_rules import RelevanceRules, passing

T, H, D = 4, 6, 10


class Layer(nn.Module):
    """One head of attention, a normalisation, a gated feed-forward layer, and the mean of the positions."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.q, self.k, self.v, self.o = (nn.Linear(H, H) for _ in range(4))
        self.norm = nn.LayerNorm(H)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)
        self.gate, self.up, self.down = nn.Linear(H, D), nn.Linear(H, D), nn.Linear(D, H)
        self.head = nn.Linear(H, 3)
        self.double().requires_grad_(False)

    def forward(self, x: Tensor, eager: bool) -> Tensor:
        q, k, v = self.q(x), self.k(x), self.v(x)
        if eager:
            a = torch.softmax(torch.matmul(q, k.mT) * H**-0.5, -1) @ v
        else:
            a = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
        x = x + self.o(a)
        y = self.norm(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return self.head(x.mean(0))


def linear(module: nn.Linear, x: Tensor, z: Tensor, r: Tensor) -> Tensor:
    """R_i = Σ_j x_i w_ji / z_j · R_j: the bias keeps its share."""
    return x * ((r / z) @ module.weight)


def by_messages(net: Layer, x: Tensor, target: int, fixed: bool) -> Tensor:
    """[T, H] the relevance of every input, propagated downwards from the logit, rule by rule."""
    q, k, v = net.q(x), net.k(x), net.v(x)
    scores = q @ k.T * H**-0.5
    s = scores.softmax(-1)
    a = s @ v
    o = net.o(a)
    u = x + o
    y = net.norm(u)
    g, w = net.gate(y), net.up(y)
    f = F.silu(g) * w
    d = net.down(f)
    h = u + d
    z = net.head(h.mean(0))
    r_mean = linear(net.head, h.mean(0), z, z * F.one_hot(torch.tensor(target), 3))
    r_h = h / h.sum(0) * r_mean  # the mean is linear
    r_u, r_d = r_h * u / h, r_h * d / h  # a sum shares by what each adds
    r_f = linear(net.down, f, d, r_d)
    r_y = linear(net.gate, y, g, r_f / 2) + linear(net.up, y, w, r_f / 2)  # half to each factor
    centred = u - u.mean(-1, keepdim=True)
    scale = net.norm.weight / (centred.pow(2).mean(-1, keepdim=True) + net.norm.eps).sqrt()
    share = r_y / y * scale  # the constant scale: y = scale ⊙ (u − mean u) + bias
    r_u = r_u + u * (share - share.mean(-1, keepdim=True))
    r_x, r_o = r_u * x / u, r_u * o / u
    r_a = linear(net.o, a, o, r_o)
    part = 1.0 if fixed else 0.5
    r_v = v * (s.T @ (r_a / a)) * part
    r_x = r_x + linear(net.v, x, v, r_v)
    if fixed:
        return r_x
    r_s = s * ((r_a / a) @ v.T) * 0.5
    r_scores = scores * (r_s - s * r_s.sum(-1, keepdim=True))  # the rule of softmax
    r_q = q * ((r_scores / scores) @ k) * H**-0.5 * 0.5
    r_k = k * ((r_scores / scores).T @ q) * H**-0.5 * 0.5
    return r_x + linear(net.q, x, q, r_q) + linear(net.k, x, k, r_k)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradient_times_input_under_the_rules_is_relevance_by_messages(
    seed: int, fixed: bool, eager: bool
) -> None:
    net = Layer(seed)
    x = torch.randn(T, H, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    leaf = x.clone().requires_grad_()
    with RelevanceRules(net, fixed=fixed):  # type: ignore[arg-type]
        logits = net(leaf, eager)
    torch.testing.assert_close(logits.detach(), net(x, eager))  # the rules change no output
    (gradient,) = torch.autograd.grad(logits[1], leaf)
    torch.testing.assert_close(gradient * x, by_messages(net, x, 1, fixed), rtol=1e-6, atol=1e-9)


def llama() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=20, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.4,
    )  # fmt: skip
    return LlamaForCausalLM(config).double().eval().requires_grad_(False)


def gpt2() -> Any:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=20, n_embd=16, n_layer=2, n_head=4, n_positions=16)
    return GPT2LMHeadModel(config).double().eval().requires_grad_(False)


def relevance(model: Any, x: Tensor, fixed: bool) -> tuple[Tensor, Tensor]:
    leaf = x.clone().requires_grad_()
    with RelevanceRules(model, fixed=fixed):
        logit = model(inputs_embeds=leaf, use_cache=False).logits[0, -1, 3]
    (gradient,) = torch.autograd.grad(logit, leaf)
    return (gradient * x).sum(), logit.detach()


def test_a_network_without_biases_conserves_relevance_if_attention_is_fixed() -> None:
    model, x = llama(), torch.randn(1, 7, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    total, logit = relevance(model, x, fixed=True)
    torch.testing.assert_close(total, logit, rtol=1e-5, atol=1e-5)  # its norm works in single precision
    torch.testing.assert_close(logit, model(inputs_embeds=x, use_cache=False).logits[0, -1, 3])
    plain = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs_embeds=plain, use_cache=False).logits[0, -1, 3], plain)
    assert abs(float((gradient * x).sum() - logit)) > 0.01  # the gradient itself does not


def test_biases_take_up_a_part() -> None:
    model, x = gpt2(), torch.randn(1, 7, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    total, logit = relevance(model, x, fixed=True)
    assert abs(float(total - logit)) > 1e-6


def test_the_model_is_as_it_was_afterwards_even_if_it_fails() -> None:
    model, x = gpt2(), torch.randn(1, 3, 16, dtype=torch.float64)
    before = model(inputs_embeds=x).logits
    with pytest.raises(RuntimeError, match="on purpose"), RelevanceRules(model):
        raise RuntimeError("on purpose")
    assert not any("forward" in vars(module) for module in model.modules())
    torch.testing.assert_close(model(inputs_embeds=x).logits, before, rtol=0, atol=0)


def test_a_share_of_the_gradient_passes() -> None:
    x = torch.tensor([2.0, -3.0], requires_grad=True)
    for share in (0.0, 0.25, 0.5, 1.0):
        y = passing(x, share)
        assert y.tolist() == x.tolist()
        if share:
            (gradient,) = torch.autograd.grad(y.sum(), x)
            assert gradient.tolist() == [share, share]
        else:
            assert not y.requires_grad
