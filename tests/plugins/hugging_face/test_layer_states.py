"""Methods that read the states of layers, against slow loops over stock models of transformers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from test_models import make
from tiny_checkpoints import SENTENCES, data
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from attnx.plugin import ImportanceMethod, UsageError
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing.model_laws import by_unit
from attnx_transformers.layer_methods.alti import Alti
from attnx_transformers.layer_methods.alti_logit import AltiLogit
from attnx_transformers.layer_methods.attention_flow import AttentionFlow, maximum_flow
from attnx_transformers.layer_methods.attention_lrp import AttentionLrp
from attnx_transformers.layer_methods.value_zeroing import ValueZeroing
from attnx_transformers.options import (
    AltiLogitOptions,
    AttentionFlowOptions,
    AttentionLrpOptions,
    LayerOptions,
)

POST, PRE = ["classifier", "roberta"], ["decoder-classifier", "language-model", "llama"]


@dataclass
class Slow:
    """One sentence in a stock model: its layers, one by one."""

    model: Any
    kind: str
    vectors: Tensor  # [1, T, E]
    column: list[int]

    @property
    def blocks(self) -> Any:
        body = self.model.base_model
        return {"roberta": lambda: body.encoder.layer, "classifier": lambda: body.encoder.layer,
                "llama": lambda: body.layers}.get(self.kind, lambda: body.h)()  # fmt: skip

    def run(self, *hooks: Any) -> Any:
        handles = [module.register_forward_hook(hook) for module, hook in hooks]
        with torch.no_grad():
            output = self.model(inputs_embeds=self.vectors, output_attentions=True)
        for handle in handles:
            handle.remove()
        return output

    def parts(self, block: Any) -> tuple[nn.Module, int, nn.Module, Any]:
        """The map to values, how many of its last outputs they are, W_O, the norm before attention."""
        if self.kind in POST:
            own = block.attention
            return own.self.value, own.self.value.out_features, own.output.dense, None
        if self.kind == "llama":
            own = block.self_attn
            return own.v_proj, own.v_proj.out_features, own.o_proj, block.input_layernorm
        width = block.attn.c_proj.weight.shape[0]
        return block.attn.c_attn, width, block.attn.c_proj, block.ln_1

    @property
    def query(self) -> int:
        return 0 if self.kind in POST else -1

    def by_word(self, scores: Any) -> list[float]:
        return [
            sum(float(s) for s, c in zip(scores, self.column, strict=True) if c == column)
            for column in sorted(set(self.column))
        ]


def slow(kind: str, folder: Path, model: Any, example: Any) -> Slow:
    auto = AutoModelForCausalLM if kind in ("language-model", "llama") else AutoModelForSequenceClassification
    stock = auto.from_pretrained(folder, attn_implementation="eager").eval()
    batch = model.encode([example])
    embeddings = model.embed(batch)
    packing = model.network.packing(batch, embeddings)
    return Slow(stock, kind, packing.pack(embeddings).detach(), packing.column[0].tolist())


def put_down(into: list[Any], what: int | None = None) -> Any:
    """A hook that notes what a module gives, or the first thing that it reads."""

    def hook(module: Any, args: Any, output: Any) -> None:
        into.append(args[0] if what == 0 else output[0] if isinstance(output, tuple) else output)

    return hook


def value_zeroing(of: Slow) -> Any:
    size = of.vectors.shape[1]
    joined = np.eye(size)
    for block in of.blocks:
        values, width, *_ = of.parts(block)
        own: list[Tensor] = []
        of.run((block, put_down(own)))
        changes = np.zeros((size, size))
        for j in range(size):
            seen: list[Tensor] = []

            def zero(_: Any, __: Any, output: Tensor, j: int = j, width: int = width) -> Tensor:
                output = output.clone()
                output[:, j, -width:] = 0
                return output

            of.run((values, zero), (block, put_down(seen)))
            changes[:, j] = 1 - F.cosine_similarity(seen[0][0].double(), own[0][0].double(), dim=-1).numpy()
        changes[changes < 1e-6] = 0
        joined = changes / changes.sum(1, keepdims=True) @ joined
    return joined[of.query]


def transformed(of: Slow, block: Any, attention: Tensor) -> tuple[Any, Any, Any]:
    """T_i(x_j) [T, T, H] by loops, without residual and with it, and y [T, H]."""
    values, width, mixes, norm = of.parts(block)
    x_seen: list[Tensor] = []
    attended: list[Tensor] = []
    of.run((block, put_down(x_seen, 0)), (mixes, put_down(attended)))
    x, attn = x_seen[0][0], attended[0].reshape(x_seen[0][0].shape)
    read = x if norm is None else norm(x).detach()
    weight = values.weight.detach()
    v = read @ (weight.T if isinstance(values, nn.Linear) else weight)[:, -width:]  # no bias
    heads = attention.shape[0]
    depth = mixes.weight.shape[0 if not isinstance(mixes, nn.Linear) else 1] // heads
    v = v.view(len(x), -1, depth).repeat_interleave(heads * depth // width, 1)  # [T, M, D]
    into = mixes.weight.detach() if not isinstance(mixes, nn.Linear) else mixes.weight.detach().T
    size = len(x)
    alone = np.zeros((size, size, x.shape[-1]))
    for i in range(size):
        for j in range(size):
            for m in range(heads):
                alone[i, j] += (attention[m, i, j] * (v[j, m] @ into[m * depth : (m + 1) * depth])).numpy()
    whole = alone.copy()
    for i in range(size):
        whole[i, i] += x[i].numpy()
    u = (x + attn).detach()
    if norm is not None:
        return alone, whole, u.numpy()
    layer_norm = block.attention.output.LayerNorm
    for i in range(size):
        deviation = float(((u[i] - u[i].mean()) ** 2).mean() + layer_norm.eps) ** 0.5
        for j in range(size):
            t = whole[i, j]
            whole[i, j] = (t - t.mean()) / deviation * layer_norm.weight.detach().numpy()
    return alone, whole, layer_norm(u).detach().numpy()


def mixing(whole: Any, y: Any) -> Any:
    near = np.abs(y).sum(-1)[:, None] - np.abs(y[:, None] - whole).sum(-1)
    near = np.maximum(near, 0)
    return near / near.sum(1, keepdims=True)


def alti(of: Slow) -> Any:
    joined = np.eye(of.vectors.shape[1])
    attentions = of.run().attentions
    for block, attention in zip(of.blocks, attentions, strict=True):
        _, whole, y = transformed(of, block, attention[0])
        joined = mixing(whole, y) @ joined
    return joined[of.query]


def alti_logit(of: Slow, row: Tensor) -> Any:
    """What each position adds to the logit row·norm(x)."""
    norm = of.model.base_model.norm if of.kind == "llama" else of.model.base_model.ln_f
    seen: list[Tensor] = []
    first: list[Tensor] = []
    attentions = of.run((norm, put_down(seen, 0)), (of.blocks[0], put_down(first, 0))).attentions
    last = seen[0][0, -1]
    centres = of.kind != "llama"
    spread = (last - last.mean() if centres else last).pow(2).mean()
    scale = float(spread + (norm.eps if centres else norm.variance_epsilon)) ** -0.5 * norm.weight.detach()

    def on_logit(vector: Any) -> float:
        t = torch.as_tensor(vector, dtype=torch.float64)
        t = t - t.mean() if centres else t
        return float((t * scale.double()) @ row.double())

    size = of.vectors.shape[1]
    total, joined = np.zeros(size), np.eye(size)
    total[-1] += on_logit(first[0][0, -1])
    for block, attention in zip(of.blocks, attentions, strict=True):
        alone, whole, y = transformed(of, block, attention[0])
        total += np.array([on_logit(alone[-1, j]) for j in range(size)]) @ joined
        joined = mixing(whole, y) @ joined
    return total


def scores(model: Any, method: ImportanceMethod, target: int | None = None) -> list[list[float]]:
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        chosen = trace.predicted if target is None else torch.full_like(trace.predicted, target)
        values = attribute(Named("it", method), model, trace, chosen).values
    return [by_unit(trace.batch, values, row).tolist() for row in range(len(SENTENCES))]


def words_of(of: Slow, model: Any, example: Any, by_position: Any) -> list[float]:
    """The scores of the words, from those of all positions: special pieces and the template have none."""
    batch = model.encode([example])
    found = np.zeros(batch.mask.shape[1])
    for place, column in enumerate(of.column):
        found[column] += by_position[place]
    return found[batch.mask[0].numpy()].tolist()


SOME = (0, 2, 4)  # sentences with words in pieces, and one of a single word


@pytest.mark.parametrize("kind", [*POST, *PRE])
def test_value_zeroing_is_a_loop_over_passes_without_one_value(kind: str, saved: Any) -> None:
    model = make(kind, saved(kind))
    found = scores(model, ValueZeroing(LayerOptions()))
    for row in SOME:
        example = data().test[row]
        of = slow(kind, saved(kind), model, example)
        expected = words_of(of, model, example, value_zeroing(of))
        np.testing.assert_allclose(found[row], expected, atol=2e-4)


@pytest.mark.parametrize("kind", [*POST, *PRE])
def test_alti_is_a_loop_over_vectors(kind: str, saved: Any) -> None:
    model = make(kind, saved(kind))
    found = scores(model, Alti(LayerOptions()))
    for row in SOME:
        example = data().test[row]
        of = slow(kind, saved(kind), model, example)
        np.testing.assert_allclose(found[row], words_of(of, model, example, alti(of)), atol=1e-4)


@pytest.mark.parametrize("kind", PRE)
def test_alti_logit_is_a_loop_over_vectors(kind: str, saved: Any) -> None:
    model: Any = make(kind, saved(kind))
    found = scores(model, AltiLogit(AltiLogitOptions()), target=1)
    for row in SOME:
        example = data().test[row]
        of = slow(kind, saved(kind), model, example)
        head = of.model.score.weight if kind == "decoder-classifier" else of.model.lm_head.weight
        number = int(model.order[1] if kind == "decoder-classifier" else model.answers.ids[1][0])
        expected = words_of(of, model, example, alti_logit(of, head[number].detach()))
        np.testing.assert_allclose(found[row], expected, atol=1e-4, rtol=1e-3)


def test_alti_logit_is_refused_where_layers_normalise_afterwards(saved: Any) -> None:
    with pytest.raises(UsageError, match=r"normalises before its layers.*use alti"):
        scores(make("classifier", saved("classifier")), AltiLogit(AltiLogitOptions()))


@pytest.mark.parametrize("kind", ["encoder", "classifier", "llama"])
def test_states_of_a_layer_do_not_depend_on_the_batch(kind: str, saved: Any) -> None:
    model = make(kind, saved(kind))
    for method in (ValueZeroing(LayerOptions()), Alti(LayerOptions()), AttentionLrp(AttentionLrpOptions())):
        together = scores(model, method)
        for row in SOME:
            with evaluating(model):
                trace = trace_of(model, model.encode([data().test[row]]))
                alone = attribute(Named("it", method), model, trace, trace.predicted).values
            np.testing.assert_allclose(
                together[row], by_unit(trace.batch, alone, 0).numpy(), atol=1e-4, rtol=1e-2
            )


def test_layers_that_share_their_weights_are_refused_in_one_line(saved: Any) -> None:
    with pytest.raises(UsageError, match="cannot be run one by one"):
        scores(make("albert", saved("albert")), Alti(LayerOptions()))


@pytest.mark.parametrize("kind", ["classifier", "llama"])
def test_value_zeroing_counts_a_pass_for_every_position(kind: str, saved: Any) -> None:
    model = make(kind, saved(kind))
    with evaluating(model):
        trace = trace_of(model, model.encode(data().test))
        found = attribute(Named("it", ValueZeroing(LayerOptions())), model, trace, trace.predicted)
        packing = model.network.packing(trace.batch, trace.embeddings)  # type: ignore[attr-defined]
    assert found.passes == len(SENTENCES) + int(packing.used.sum())


# Attention flow.


def by_linear_program(pipes: list[Any], source: Any, ends: Any) -> float:
    """The maximum flow as a linear program over the flow through every pipe."""
    size, layers = len(source), len(pipes)
    into, cost = layers * size * size, np.zeros(layers * size * size + size)
    cost[into:] = -1  # what leaves the source
    bounds = [(0, pipes[level][i, j]) for level in range(layers) for i in range(size) for j in range(size)]
    bounds += [(0, s) for s in source]
    kept, level_of = [], lambda level, i, j: (level * size + i) * size + j
    for level in range(layers, -1, -1):  # what flows into a position flows out of it
        for i in range(size):
            row = np.zeros(len(cost))
            if level == layers:
                row[into + i] = 1
            else:
                row[[level_of(level, k, i) for k in range(size)]] = 1
            if level > 0:
                row[[level_of(level - 1, i, k) for k in range(size)]] -= 1
            elif ends[i]:
                continue
            kept.append(row)
    found = linprog(cost, A_eq=np.stack(kept), b_eq=np.zeros(len(kept)), bounds=bounds)
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(6))
def test_the_maximum_flow_is_that_of_a_linear_program(seed: int) -> None:
    random = np.random.default_rng(seed)
    size, layers = 4, 3
    pipes = [random.dirichlet(np.full(size, 0.4), size) for _ in range(layers)]
    source = random.dirichlet(np.ones(size)) if seed % 2 else np.eye(size)[0]
    ends = np.arange(size) == seed % size
    ends |= np.arange(size) == (seed + seed % 2) % size
    expected = by_linear_program(pipes, source, ends)
    assert maximum_flow(pipes, source, ends) == pytest.approx(expected, abs=1e-5)


def test_the_flow_through_one_layer_is_the_weight() -> None:
    weights = np.array([[0.7, 0.3], [0.2, 0.8]])
    assert maximum_flow([weights], np.array([1.0, 0.0]), np.array([False, True])) == pytest.approx(0.3)


def test_attention_flow_joins_the_pieces_of_a_word(saved: Any) -> None:
    model: Any = make("classifier", saved("classifier"))
    found = scores(model, AttentionFlow(AttentionFlowOptions()))
    example = data().test[2]
    of = slow("classifier", saved("classifier"), model, example)
    size = of.vectors.shape[1]
    pipes = [0.5 * a[0].mean(0).double().numpy() + 0.5 * np.eye(size) for a in of.run().attentions]
    batch = model.encode([example])
    for place, column in enumerate(batch.mask[0].nonzero()[:, 0].tolist()):
        ends = np.array([own == column for own in of.column])
        expected = by_linear_program(pipes, np.eye(size)[0], ends)
        assert found[2][place] == pytest.approx(expected, abs=1e-4)


def test_all_pieces_of_a_text_take_what_flows(saved: Any) -> None:
    """A text of one word with its special pieces: no more than 1 leaves the source."""
    model: Any = make("classifier", saved("classifier"))
    found = scores(model, AttentionFlow(AttentionFlowOptions()))
    assert all(0 <= score <= 1 for row in found for score in row)


@pytest.mark.parametrize("method", [Alti(LayerOptions()), ValueZeroing(LayerOptions())])
def test_shares_of_all_positions_add_up_to_one(method: ImportanceMethod, saved: Any) -> None:
    model: Any = make("decoder-classifier", saved("decoder-classifier"))  # no special pieces
    for row in scores(model, method):
        assert sum(row) == pytest.approx(1, abs=1e-4)


def test_a_contrast_of_relevance_is_the_difference_of_the_classes(saved: Any) -> None:
    model = make("classifier", saved("classifier"))
    method = AttentionLrp(AttentionLrpOptions())
    one, other = (np.concatenate(scores(model, method, target)) for target in (0, 1))
    assert method.target_use == "linear"
    assert not np.allclose(one, other)
    assert np.allclose(
        np.abs(one), np.concatenate(scores(model, AttentionLrp(AttentionLrpOptions(absolute=True)), 0))
    )
