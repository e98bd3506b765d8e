"""What a metric returns for one batch."""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import PluginError
from ...formulas.randomness import Randomness
from ...protocols import JointMetric, Metric, Model
from ...types import Evidence, Importance, JointEvidence, Trace, WithCurve
from ..plugin_errors import errors_of
from .attribution import Named
from .output_checks import check_bounds, check_tensor


def attention_evidence(model: Model, trace: Trace, seed: int) -> Evidence:
    """Evidence about attention itself."""
    importance = Importance("attention", trace.attention, trace.predicted)
    return Evidence(trace, importance, None, model, Randomness(seed))


def answer_of(named: Named, evidence: Evidence) -> tuple[Tensor, Tensor | None]:
    """What a metric returns for a batch: values [B, M], and a curve if it has an axis.

    Undefined (NaN) for an example with a score that is not finite: its units cannot be ranked.
    """
    metric: Metric = named.component
    answer = metric(evidence)
    values, curve = answer if isinstance(answer, WithCurve) else (answer, None)
    rows, columns = len(evidence.trace.batch), len(metric.measures)
    for given, what in ((values, "values"), (curve, "a curve")):
        if what == "values" or curve is not None:
            check_tensor(given, None, f"metric '{named.label}' returned {what}")
    if values.shape != (rows, columns) and not (values.shape == (rows,) and columns == 1):
        raise _misshapen(named, "values", values, (rows, columns))
    points = None if metric.axis is None else (rows, len(metric.axis.points))
    if (curve is None) != (points is None):
        wrong = "an axis and returned no curve" if curve is None else "no axis and returned a curve"
        raise PluginError(f"metric '{named.label}' declares {wrong}")
    if curve is not None and points is not None and curve.shape != points:
        raise _misshapen(named, "a curve", curve, points)
    unread = _without_order(metric, evidence)[:, None].to(values.device)
    values = values.detach().double().reshape(rows, columns).masked_fill(unread, torch.nan)
    return values, None if curve is None else curve.detach().to(values.device).masked_fill(unread, torch.nan)


def joint_answers(named: Named, evidence: JointEvidence) -> dict[str, Tensor]:
    """What a joint metric returns for a batch: values [B, M] of every explanation."""
    metric: JointMetric = named.component
    title = named.title("metric")
    with errors_of(title):
        values = metric(evidence)
        names, rows = list(evidence.explanations), len(evidence.trace.batch)
        check_tensor(values, (len(names), rows, len(metric.measures)), f"{title} returned values")
        check_bounds(values, metric.measures, title)
    return dict(zip(names, values.detach().double(), strict=True))


def _misshapen(named: Named, what: str, found: Tensor, expected: tuple[int, ...]) -> PluginError:
    return PluginError(
        f"metric '{named.label}' returned {what} of shape {tuple(found.shape)}, not {expected}"
    )


def _without_order(metric: Metric, evidence: Evidence) -> Tensor:
    """[B] True where the explanation or the reference is not finite."""
    read = [evidence.explanation] if metric.reads_explanation else []
    read += [evidence.compared] if evidence.compared is not None else []
    nothing = torch.zeros_like(evidence.trace.batch.lengths, dtype=torch.bool)
    return sum((~importance.values.isfinite().all(1) for importance in read), nothing)
