"""Plausibility against scikit-learn and against loops over spans."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from attnx.formulas import Randomness
from attnx.plugin import Evidence, Example, Importance, UsageError
from attnx.request.spec import validate_options
from attnx.testing import ToyModel, assert_conforms
from attnx_plausibility.options import PlausibilityOptions
from attnx_plausibility.plausibility import Plausibility
from attnx_plausibility.spans import span_f1

AVERAGE_PRECISION, TOKEN_F1, IOU_F1 = range(3)


def evidence(rows, rationales, seed=0):
    """Evidence whose explanation is the given rows, padded to the longest."""
    examples = [
        Example(f"e{i}", ("one",) * len(row), 0, rationale=marks if marks is None else tuple(marks))
        for i, (row, marks) in enumerate(zip(rows, rationales, strict=True))
    ]
    model = ToyModel()
    batch = model.encode(examples)
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
    values = torch.zeros(batch.mask.shape, dtype=torch.float64)
    for i, row in enumerate(rows):
        values[i, : len(row)] = torch.tensor(row, dtype=torch.float64)
    return Evidence(trace, Importance("given", values, trace.predicted), None, model, Randomness(seed))


def measure(rows, rationales, seed=0, **options):
    return Plausibility(PlausibilityOptions(**options))(evidence(rows, rationales, seed)).numpy()


def spans(marks):
    """The runs of a row as sets of positions, by a loop."""
    found, current = [], set()
    for place, marked in enumerate([*marks, False]):
        if marked:
            current.add(place)
        elif current:
            found.append(current)
            current = set()
    return found


def eraser_iou_f1(chosen, marked, overlap=0.5):
    """F1 of one example as ERASER counts it: every predicted span whose best IoU is large enough."""
    predicted, gold = spans(chosen), spans(marked)
    hits = sum(max((len(p & g) / len(p | g) for g in gold), default=0) >= overlap for p in predicted)
    precision, recall = hits / len(predicted), hits / len(gold)
    return 2 * precision * recall / (precision + recall) if hits else 0.0


distinct = st.lists(
    st.tuples(st.integers(-1000, 1000), st.booleans()),
    min_size=1,
    max_size=14,
    unique_by=lambda pair: pair[0],
)
tied = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, -0.0, 0.25, 0.5]), st.booleans()), min_size=1, max_size=14
)


@settings(max_examples=80)
@given(st.lists(st.one_of(distinct, tied), min_size=1, max_size=5))
def test_average_precision_is_scikit_learns_ties_and_padding_included(batch):
    rows = [[score for score, _ in pairs] for pairs in batch]
    marks = [[marked for _, marked in pairs] for pairs in batch]
    values = measure(rows, marks)
    for row, marked, found in zip(rows, marks, values, strict=True):
        if any(marked):
            assert found[AVERAGE_PRECISION] == pytest.approx(average_precision_score(marked, row), abs=1e-12)
        else:
            assert np.isnan(found).all()


@settings(max_examples=80)
@given(st.lists(distinct, min_size=1, max_size=5), st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]))
def test_f1_of_units_and_spans_equals_a_loop_over_the_chosen(batch, fraction):
    rows = [[score for score, _ in pairs] for pairs in batch]
    marks = [[marked for _, marked in pairs] for pairs in batch]
    values = measure(rows, marks, fraction=fraction)
    for row, marked, found in zip(rows, marks, values, strict=True):
        if not any(marked):
            continue
        size = max(1, int(fraction * len(row) + 0.5)) if fraction else sum(marked)
        best = sorted(range(len(row)), key=lambda place: -row[place])[:size]
        chosen = [place in best for place in range(len(row))]
        assert found[TOKEN_F1] == pytest.approx(f1_score(marked, chosen), abs=1e-12)
        assert found[IOU_F1] == pytest.approx(eraser_iou_f1(chosen, marked), abs=1e-12)


@pytest.mark.parametrize("overlap", [0.5, 0.55, 0.6, 2 / 3, 0.75, 1.0])
def test_span_f1_equals_a_loop_for_every_pair_of_selections(overlap):
    rows = list(itertools.product([False, True], repeat=7))
    chosen, marked = (torch.tensor(side) for side in zip(*itertools.product(rows, rows), strict=True))
    found = span_f1(chosen, marked, overlap).numpy()
    for a, b, value in zip(chosen.tolist(), marked.tolist(), found, strict=True):
        if any(a) and any(b):
            assert value == pytest.approx(eraser_iou_f1(a, b, overlap), abs=1e-12)


def test_long_spans_are_judged_by_an_overlap_that_is_met_exactly():
    marked = torch.tensor([[True] * 20])
    for size, matches in ((10, 0.0), (11, 1.0), (12, 1.0)):
        chosen = torch.arange(20)[None] < size
        assert span_f1(chosen, marked, 0.55).tolist() == [matches]


def test_a_perfect_explanation_scores_one_and_the_worst_scores_none():
    marks = [(True, True, False, False, True, False, False)]
    assert measure([[0.9, 0.8, 0.1, 0.1, 0.7, 0.2, 0.0]], marks).tolist() == [[1, 1, 1]]
    worst = measure([[0.0, 0.1, 0.9, 0.8, 0.2, 0.7, 0.6]], marks)[0]
    assert worst[TOKEN_F1] == worst[IOU_F1] == 0
    assert 0 < worst[AVERAGE_PRECISION] < 0.5


def test_a_span_that_is_half_found_matches_and_one_that_is_less_does_not():
    half = measure([[5, 4, 0, 0, 0, 0]], [(True,) * 4 + (False,) * 2], fraction=1 / 3)[0]
    assert half[IOU_F1] == 1
    less = measure([[5, 0, 0, 0, 0, 0]], [(True,) * 3 + (False,) * 3], fraction=1 / 6)[0]
    assert less[IOU_F1] == 0


def test_scores_keep_their_sign():
    marks = [(True, False, False)]
    assert measure([[-0.9, 0.1, 0.2]], marks)[0, TOKEN_F1] == 0
    assert measure([[0.9, -0.1, -0.2]], marks)[0].tolist() == [1, 1, 1]


def test_undefined_where_nothing_is_marked_or_known_or_a_score_is_not_finite():
    rows = [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [float("nan"), 0.4], [float("inf"), 0.4]]
    marks = [(True, False), None, (False, False), (True, False), (True, False)]
    values = measure(rows, marks)
    assert values[0].tolist() == [1, 1, 1]
    assert np.isnan(values[1:]).all()


def test_everything_marked_is_one_for_any_scores_as_scikit_learn_has_it():
    assert measure([[0.1, 0.7, 0.2]], [(True,) * 3]).tolist() == [[1, 1, 1]]
    assert average_precision_score([1, 1, 1], [0.1, 0.7, 0.2]) == 1


def test_equal_scores_choose_by_chance_and_not_from_the_beginning():
    rows, marks = [[0.1] * 10] * 400, [[True] * 2 + [False] * 8] * 400
    values = measure(rows, marks)
    assert values[:, TOKEN_F1].mean() == pytest.approx(0.2, abs=0.05)  # chance is k/n
    assert values[:, AVERAGE_PRECISION] == pytest.approx(0.2)
    again, other = measure(rows, marks), measure(rows, marks, seed=1)
    assert (again == values).all()
    assert (other != values).any()


def test_a_fraction_is_a_share_of_the_units_of_each_example():
    rows = [list(range(20)), list(range(4))]
    marks = [[place >= 10 for place in range(20)], [place == 3 for place in range(4)]]
    values = measure(rows, marks, fraction=0.1)
    assert values[:, TOKEN_F1].tolist() == pytest.approx([2 * 2 / 12, 1])  # 2 units, and 1 of 4


@pytest.mark.parametrize("options", [{"fraction": 0.3}, {"overlap": 1.0}])
def test_it_passes_the_conformance_tests_of_metrics(options):
    assert_conforms("metric", Plausibility(PlausibilityOptions(**options)))


@pytest.mark.parametrize(("option", "value"), [("fraction", "1.5"), ("overlap", "0.4"), ("overlap", "2")])
def test_an_option_that_makes_no_sense_is_refused_by_name(option, value):
    with pytest.raises(UsageError, match=f"option '{option}' of metric 'plausibility'"):
        validate_options(PlausibilityOptions, {option: value}, "metric 'plausibility'")
