"""What every metric returns for one batch and its explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ...formulas.erasure import logits_of_kept, remembered
from ...formulas.randomness import Randomness
from ...protocols import Metric, Model, SplitMetric
from ...types import Corpus, Evidence, Importance, JointEvidence, Trace
from ..plugin_errors import errors_of
from .attribution import Named, explainer_of
from .explained_scores import Seen
from .metric_calls import answer_of, attention_evidence, joint_answers
from .output_checks import check_bounds

# A metric, the label of the explanation it reads, and that of the reference it compares with.
Pairing = tuple[Named, str | None, str | None]


def evidence_of(
    model: Model,
    trace: Trace,
    seen: Seen,
    seed: int,
    metric: Named,
    explanation: str | None,
    reference: str | None,
    importances: Mapping[str, Importance],
    methods: Mapping[str, Named],
) -> Evidence:
    """What a metric gets to see of one explanation, or of the model with other scores as its attention.

    A metric that does not read the explanation tests the model and its prediction, whatever is explained.
    """
    if metric.component.reads_explanation:
        evidence = attention_evidence(seen.model, seen.trace, seed)
    else:
        if explanation is not None:
            trace = attending(model, trace, importances[explanation].values)
        evidence = attention_evidence(model, trace, seed)
    if explanation is not None:
        # The scores of a contrast are not those of one class, which a method could explain again.
        method = methods.get(explanation) if seen.model is model else None
        evidence = replace(
            evidence, explanation=importances[explanation], explainer=explainer_of(method, seed)
        )
    if reference is not None:
        evidence = replace(evidence, compared=importances[reference])
    return comparable(evidence) if metric.component.family == "agreement" else evidence


def comparable(evidence: Evidence) -> Evidence:
    """Compare sizes where only one of explanation and reference has signs: its absolute values are used."""
    one, other = evidence.explanation, evidence.compared
    if other is None or one.signed == other.signed:
        return evidence
    one, other = (
        replace(scores, values=scores.values.abs()) if scores.signed else scores for scores in (one, other)
    )
    return replace(evidence, explanation=one, compared=other)


def answers_of_batch(
    pairs: Sequence[Pairing],
    model: Model,
    trace: Trace,
    seen: Seen,
    seed: int,
    importances: Mapping[str, Importance],
    corpus: Corpus,
    methods: Mapping[str, Named],
) -> Iterator[tuple[tuple[Tensor, ...], bool]]:
    """What every pairing gives for a batch, and whether it was computed on another device.

    A joint metric is called once, with all explanations that it is paired with. `methods` has those that a
    metric may ask to explain again.
    """

    def evidence_for(pair: Pairing) -> Evidence:
        return evidence_of(model, trace, seen, seed, *pair, importances, methods)

    joint: dict[str, dict[str, Tensor]] = {}
    if remembered() is not None:
        _delete_together([(pair[0], evidence_for(pair)) for pair in pairs if _may_say(pair[0])], seen)
    for pair in pairs:
        metric, explanation, _ = pair
        if metric.component.joint:
            assert explanation is not None, "a joint metric reads explanations"
            if metric.label not in joint:
                tested = [of for other, of, _ in pairs if other is metric and of is not None]
                some = {name: importances[name] for name in tested}
                evidence = JointEvidence(seen.trace, some, seen.model, Randomness(seed), corpus)
                joint[metric.label] = joint_answers(metric, evidence)
            values = joint[metric.label][explanation]
            yield (values.cpu(),), values.device != trace.logits.device
            continue
        yield answer_tensors(metric, evidence_for(pair), corpus)


def _may_say(metric: Named) -> bool:
    """Whether a metric can say which deletions it will ask for."""
    component = metric.component
    return not component.joint and not component.whole_split and component.reads_explanation


def _delete_together(calls: Sequence[tuple[Named, Evidence]], seen: Seen) -> None:
    """Compute the outputs that metrics will ask for without some columns; they are remembered.

    Each metric and explanation by itself asks for a few deletions of every length: passes of a few rows.
    """
    asked = []
    for metric, evidence in calls:
        with errors_of(metric.title("metric")):
            deleted = metric.component.deletes(evidence)
        asked += [] if deleted is None else [deleted]
    if len(asked) > 1:
        batch = seen.trace.batch
        used = torch.arange(batch.mask.shape[1], device=batch.mask.device) < batch.lengths[:, None]  # [B, L]
        kept = used[:, None] & ~torch.cat(asked, 1)  # [B, K, L]
        rows, numbers = (kept & batch.mask[:, None]).any(-1).nonzero(as_tuple=True)
        if len(rows):  # a deletion of everything is not computed
            logits_of_kept(seen.model, batch, rows, kept[rows, numbers])


def answer_tensors(metric: Named, evidence: Evidence, corpus: Corpus) -> tuple[tuple[Tensor, ...], bool]:
    """The tensors that a metric returns for a batch, and whether it computed on another device."""
    component: Metric | SplitMetric = metric.component
    device = evidence.trace.logits.device
    title = metric.title("metric")
    with errors_of(title):
        if component.whole_split:
            tensors = component.keep(evidence, corpus)
            elsewhere = device.type != "cpu"  # where it computes its values
        else:
            tensors = tuple(part.double() for part in answer_of(metric, evidence) if part is not None)
            check_bounds(tensors[0], component.measures, title)
            elsewhere = tensors[0].device != device
    return tuple(tensor.cpu() for tensor in tensors), elsewhere


def attending(model: Model, trace: Trace, attention: Tensor) -> Trace:
    """What the model would have computed with other attention [B, L]."""
    attention = attention.to(trace.attention)
    return replace(trace, attention=attention, logits=model.reattend(trace, attention))
