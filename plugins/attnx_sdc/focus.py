import torch
from torch import Tensor

from attnx.formulas import shares
from attnx.plugin import Axis, Evidence, Measure, Metric, WithCurve

from .options import FocusOptions


class Focus(Metric):
    """Whether the explanation's top unit is one that decides the label.

    `ft` (focus true) is 1 if the unit (word, image patch, ...) with the highest score is in the
    rationale; higher is better. `ftpt`, `ffpt`, `ftpf` and `ffpf` combine true or false focus with a true
    or false prediction. If several units tie at the top, `ft` is the share of them that decide the label,
    so uniform scores get the chance level. The curve is the share of examples in which a deciding unit
    has more than t of the weight max(v_i, 0) / Σ_k max(v_k, 0). Scores keep their sign: a unit with a
    negative score has no weight. `ftpf` has no better direction, because a right explanation of a wrong
    prediction raises it. Undefined if the deciding units are unknown.
    """

    needs = ("rationale",)
    family = "ground-truth"
    sees = "rationale"
    cost = "nothing: no pass through the model"
    cannot = "whether the model uses the deciding unit: it may predict correctly from others"
    follows_training = True
    measures = (
        Measure("ft", "up", (0, 1)),
        Measure("ftpt", "up", (0, 1)),
        Measure("ffpt", "down", (0, 1)),
        Measure("ftpf", "none", (0, 1)),
        Measure("ffpf", "down", (0, 1)),
    )

    axis: Axis

    def __init__(self, options: FocusOptions) -> None:
        thresholds = torch.linspace(0, 1, options.points, dtype=torch.float64).tolist()
        self.axis = Axis("foreground weight above t", "t", tuple(thresholds))

    def __call__(self, evidence: Evidence) -> WithCurve:
        trace = evidence.trace
        ft = _focus_true(evidence)  # [B]
        pt = (trace.predicted == trace.batch.labels).to(ft)  # [B]
        values = torch.stack([ft, ft * pt, (1 - ft) * pt, ft * (1 - pt), (1 - ft) * (1 - pt)], dim=1)
        weight = shares(evidence.explanation.values.clamp_min(0))  # [B, L], as attention has them
        on = trace.batch.rationale.masked_fill(~trace.batch.mask, 0)
        largest = torch.where(on == 1, weight, 0.0).amax(1)  # [B] weight of the best deciding unit
        above = largest[:, None] > weight.new_tensor(self.axis.points)  # [B, T]
        undefined = ft.isnan() | weight.isnan().any(1)
        return WithCurve(values, above.double().masked_fill(undefined[:, None], torch.nan))


def _focus_true(evidence: Evidence) -> Tensor:
    """[B] the share of top units that decide the label; NaN where no unit is known to."""
    mask = evidence.trace.batch.mask
    values = evidence.explanation.values.masked_fill(~mask, -torch.inf)  # [B, L]
    top = (values == values.amax(1, keepdim=True)) & mask  # [B, L]
    on = evidence.trace.batch.rationale.masked_fill(~mask, 0)  # [B, L], NaN where not known
    ft = (top * on).sum(1) / top.sum(1)  # 0 · NaN is NaN: an unknown rationale stays unknown
    return ft.masked_fill((on == 0).all(1), torch.nan)
