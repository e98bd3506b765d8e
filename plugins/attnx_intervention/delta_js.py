import math

import torch

from attnx.formulas import js_divergence
from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .bins import by_bin, centres
from .ranking import top_and_other
from .reattending import probabilities_under, without

ROUNDING = 1e-12  # nats: outputs that differ only in their last bits differ by less


class DeltaJs(Metric):
    """How much more the output changes without the top unit than without a random one.

    ΔJS = JS(p, q_{i*}) − JS(p, q_r) in nats, where i* is the explanation's top unit (a word, an image
    patch, ...), r is drawn uniformly from the others, and q_i is the output when a_i is set to 0 and
    attention is renormalised, with hidden states unchanged. The range is −ln 2 to ln 2; higher is better.
    Also reported: whether ΔJS is negative, and the difference of the weights a_{i*} − a_r. Undefined for
    examples with one unit. Costs two passes of the decoder.
    """

    needs = ("reattend",)
    family = "intervention"
    sees = "attention layer"
    cost = "no pass through the encoder: only attention is changed"
    cannot = "whether the top unit matters to the encoder, which is not run again"
    measures = (
        Measure("delta-js", "up", (-math.log(2), math.log(2))),
        Measure("negative", "down", (0, 1)),
        Measure("weight-gap", "none", (-1, 1)),
    )
    axis = Axis("mean ΔJS", "a_i* − a_r", centres(-1, 1))

    def __call__(self, evidence: Evidence) -> WithCurve:
        a = evidence.trace.attention
        pair = top_and_other(evidence)  # [B, 2]
        removed = torch.nn.functional.one_hot(pair, a.shape[1]).bool()  # [B, 2, L]
        p = evidence.trace.logits.double().softmax(-1)[:, None]  # [B, 1, C]
        js = js_divergence(p, probabilities_under(evidence, without(evidence, removed)))  # [B, 2]
        delta = js[:, 0] - js[:, 1]
        weight = a.double().gather(1, pair)  # [B, 2]
        values = torch.stack([delta, (delta < -ROUNDING).double(), weight[:, 0] - weight[:, 1]], dim=1)
        values = values.masked_fill(delta.isnan()[:, None], torch.nan)
        return WithCurve(values, by_bin(values[:, 0], values[:, 2], self.axis.points))
