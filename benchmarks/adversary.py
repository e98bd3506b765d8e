"""Adversarial attention with a BiLSTM: five adversaries, 500 steps, a batch of 32.

JW loop    context as a broadcast product, autograd through the decoder, torch's Adam: the original
           formulation, which reports the adversaries it ends at
exact      two classes and logits linear in attention: by vertices, no search
search     the search for any model, its gradient in closed form, from the same starts as the loop
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from attnx.formulas import Randomness, js_divergence
from attnx.plugin import Evidence, Importance, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx_encoders.bilstm import BiLstm
from attnx_encoders.options import BiLstmOptions
from attnx_intervention.adversarial_attention import AdversarialAttention, allowed_change, random_starts
from attnx_intervention.decoders import logits_of_units
from attnx_intervention.options import AdversarialAttentionOptions
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax

from .peers import random_texts
from .timing import Row, best_of

SIZES = ((20, 300.0, 6.0), (180, 60.0, 25.0))  # units, target of the exact path, of the search
OPTIONS = AdversarialAttentionOptions(mixtures=0)
TINY = ((4, 300.0, 6.0),)
REPEATS = 2
BATCH = 32
ROUNDING = 1e-6  # nats: the loop works in single precision
TOLERANCE = 0.01  # nats, of the mean ε-max JSD: the searches stop at slightly different points


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, best of several, and whether both found the same optimum."""
    measured = []
    for units, exact_target, search_target in TINY if tiny else SIZES:
        model, evidence = _evidence(units, 2 if tiny else BATCH)
        options = OPTIONS.model_copy(update={"steps": 40}) if tiny else OPTIONS
        runs = {
            "exact": partial(_exact, evidence, options),
            "search": partial(_search, evidence, options),
            "peer": partial(jw_loop, model, evidence, options),
        }
        with evaluating(model):
            best = best_of(REPEATS, runs)
        exact, found, expected = (best[name].result for name in runs)
        work, peer = f"adversarial attention, {len(exact)} x {units}", best["peer"].seconds
        no_nearer = bool((exact >= torch.maximum(found, expected) - ROUNDING).all())
        measured.append(Row(f"{work}, exact / JW loop", best["exact"].seconds, peer, exact_target, no_nearer))
        difference = float((found - expected).mean().abs())
        same = difference < TOLERANCE and bool((found >= expected - TOLERANCE).all())
        measured.append(Row(f"{work}, search / JW loop", best["search"].seconds, peer, search_target, same))
    return measured


def _evidence(units: int, count: int) -> tuple[BiLstm, Evidence]:
    """A batch of texts of that length, and a model whose output depends on where it attends."""
    torch.manual_seed(0)
    texts = random_texts(count, units, units)
    data = TaskData(tuple(texts), (), (), ("no", "yes"))
    model = BiLstm.build(data, Softmax(SoftmaxOptions()), BiLstmOptions()).eval()
    with torch.no_grad():
        model.word_vectors.weight.mul_(10.0)
        model.decoder.weight.mul_(20.0)
        model.scorer.v.weight.mul_(10.0)  # type: ignore[union-attr, operator]
    with evaluating(model):
        trace = trace_of(model, model.encode(texts))
    explanation = Importance("attention", trace.attention, trace.predicted)
    return model, Evidence(trace, explanation, None, model, Randomness(0))


def _exact(evidence: Evidence, options: AdversarialAttentionOptions) -> Tensor:
    """[B] ε-max JSD."""
    return AdversarialAttention(options)(evidence)[:, 0]


def _search(evidence: Evidence, options: AdversarialAttentionOptions) -> Tensor:
    """[B] ε-max JSD as far as a search finds it."""
    metric = AdversarialAttention(options)
    return metric._searched(evidence, logits_of_units(evidence))


def jw_loop(model: BiLstm, evidence: Evidence, options: AdversarialAttentionOptions) -> Tensor:
    """[B] ε-max JSD of the adversaries at the last step, from the same starting points."""
    trace, k, epsilon = evidence.trace, options.adversaries, allowed_change(evidence, options)
    outside = ~trace.batch.mask[:, None]
    hidden, a = trace.hidden[:, None], trace.attention[:, None]  # [B, 1, L, H], [B, 1, L]
    before = trace.probabilities[:, None]
    units = trace.batch.mask.sum(1)[:, None, None]
    z = (random_starts(evidence, k) - units.log()).float().requires_grad_()  # [B, K, L]
    optimizer = torch.optim.Adam([z], lr=options.learning_rate, amsgrad=True)

    def attempt() -> tuple[Tensor, Tensor]:
        alpha = z.masked_fill(outside, -torch.inf).softmax(-1)  # [B, K, L]
        context = (alpha[..., None] * hidden).sum(2)  # [B, K, H]
        return alpha, (model.decoder(context).softmax(-1) - before).abs().sum(-1) / 2

    with torch.enable_grad():
        for _ in range(options.steps):
            alpha, moved = attempt()
            mutual = _jsd(alpha[:, :, None], alpha[:, None]).sum((1, 2)) / 2  # each pair once
            loss = 500 * (moved - epsilon).relu().sum() - _jsd(alpha, a).sum() - mutual.sum() / (k * (k - 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        alpha, moved = attempt()
        return js_divergence(alpha.double(), a.double()).masked_fill(moved > epsilon, 0.0).amax(1)


def _jsd(p: Tensor, q: Tensor) -> Tensor:
    m = (p + q) / 2
    p_part = p * ((p + 1e-10).log() - (m + 1e-10).log())
    q_part = q * ((q + 1e-10).log() - (m + 1e-10).log())
    return (p_part + q_part).sum(-1) / 2
