"""`eraser`: the benchmark's own counting, by loops over spans and scikit-learn."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, f1_score, precision_recall_curve
from test_plausibility import evidence, spans

from attnx.plugin import Corpus
from attnx_plausibility.eraser import Eraser
from attnx_plausibility.options import EraserOptions

NAMES = [measure.name for measure in Eraser.measures]


def count(batches, **options):
    """The conclusion of a split of several batches, each a list of (row, marks)."""
    metric = Eraser(EraserOptions(**options))
    lengths = [len(row) for batch in batches for row, _ in batch]
    corpus = Corpus(unit_counts=torch.tensor(lengths))
    kept = [metric.keep(evidence(*zip(*batch, strict=True)), corpus) for batch in batches]
    whole = tuple(torch.cat(parts) for parts in zip(*kept, strict=True))
    return dict(zip(NAMES, metric.conclude(whole, corpus).values.tolist(), strict=True))


def eraser(examples, overlap=0.5, share=None):
    """Macro scores as the benchmark's script takes them, one example at a time."""
    examples = [(row, marks) for row, marks in examples if any(marks)]
    share = share or np.mean([sum(marks) / len(marks) for _, marks in examples])
    areas, f1, precisions, recalls = [], [], [], []
    for row, marks in examples:
        precision, recall, _ = precision_recall_curve(marks, row)
        areas.append(auc(recall, precision))
        size = min(len(row), max(1, int(share * len(row) + 0.5 + 1e-9)))
        best = sorted(range(len(row)), key=lambda place: -row[place])[:size]
        chosen = [place in best for place in range(len(row))]
        f1.append(f1_score(marks, chosen))
        predicted, gold = spans(chosen), spans(marks)
        hits = sum(max(len(p & g) / len(p | g) for g in gold) >= overlap for p in predicted)
        precisions.append(hits / len(predicted))
        recalls.append(hits / len(gold))
    p, r = np.mean(precisions), np.mean(recalls)
    return {
        "auprc": np.mean(areas),
        "token-f1": np.mean(f1),
        "iou-f1": 2 * p * r / (p + r) if p + r else 0.0,
        "share": share,
    }


examples = st.lists(
    st.lists(
        st.tuples(st.integers(-1000, 1000), st.booleans()),
        min_size=1,
        max_size=14,
        unique_by=lambda pair: pair[0],
    ).map(lambda pairs: tuple(zip(*pairs, strict=True))),
    min_size=1,
    max_size=6,
)


@settings(max_examples=80)
@given(st.lists(examples, min_size=1, max_size=3), st.sampled_from([0.0, 0.2, 0.5]))
def test_a_split_is_counted_as_the_benchmark_counts_it(batches, fraction):
    found = count(batches, fraction=fraction)
    together = [example for batch in batches for example in batch]
    if any(any(marks) for _, marks in together):
        assert found == pytest.approx(eraser(together, share=fraction or None), abs=1e-12)
    else:
        assert np.isnan([found["auprc"], found["token-f1"], found["iou-f1"]]).all()


def test_f1_of_means_is_not_the_mean_of_f1():
    # one span of two found, and all of one span chosen as two: precision 1 and 1/2, recall 1/2 and 1
    batch = [
        ([9, 0, 8, 0, 0, 0], [True, False, False, True, False, False]),
        ([9, 8, 0, 0, 0, 0], [True, True, False, False, False, False]),
    ]
    found = count([batch])
    assert found["iou-f1"] == pytest.approx(2 * 0.75 * 0.75 / 1.5)
    assert found["share"] == pytest.approx(1 / 3)


def test_straight_lines_favour_equal_scores_so_the_area_has_no_direction():
    found = count([[([0.1] * 4, [True, False, False, False])]])
    assert found["auprc"] == 0.625
    assert next(measure for measure in Eraser.measures if measure.name == "auprc").direction == "none"


def test_examples_without_marks_or_with_a_score_that_is_not_finite_are_left_out():
    good = ([3.0, 1.0, 2.0], [True, False, False])
    others = [([3.0, 1.0], [False, False]), ([1.0, 2.0], None), ([float("nan"), 1.0], [True, False])]
    assert count([[good], others]) == count([[good]])
    assert all(np.isnan(value) for value in count([others[:2]]).values())


def test_a_half_is_rounded_up_in_double_precision():
    """(1 + 3 · 5/11) / 4 of eleven units is six and a half."""
    from attnx_plausibility.plausibility import share_of

    assert share_of(torch.tensor([11]), (1 + 3 * 5 / 11) / 4).tolist() == [7]
