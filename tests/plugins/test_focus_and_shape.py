"""Focus and shape metrics against closed forms, scipy and brute force."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnx.formulas import Randomness
from attnx.plugin import Evidence, Example, Importance
from attnx.testing import ToyModel
from attnx_sdc.focus import Focus
from attnx_sdc.options import FocusOptions
from attnx_shape.entropy import Entropy
from attnx_shape.mass import Mass
from attnx_shape.nnz import Nnz
from attnx_shape.options import EntropyOptions, MassOptions, NnzOptions
from attnx_shape.simplex_distance import SimplexDistance


def evidence(rows, rationales=None, logits=None, labels=None):
    """Evidence whose explanation is the given rows, padded to the longest."""
    rationales = rationales or [None] * len(rows)
    labels = labels or [0] * len(rows)
    examples = [
        Example(f"e{i}", ("one",) * len(row), labels[i], rationale=rationales[i])
        for i, row in enumerate(rows)
    ]
    model = ToyModel()
    batch = model.encode(examples)
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
    if logits is not None:
        trace = dataclasses.replace(trace, logits=torch.tensor(logits, dtype=torch.float32))
    values = torch.zeros(batch.mask.shape, dtype=torch.float64)
    for i, row in enumerate(rows):
        values[i, : len(row)] = torch.tensor(row, dtype=torch.float64)
    return Evidence(trace, Importance("given", values, trace.predicted), None, model, Randomness(0))


weights = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12)


@settings(max_examples=60)
@given(st.lists(weights, min_size=1, max_size=5))
def test_shape_metrics_equal_their_definitions(rows):
    seen = evidence(rows)
    nnz = Nnz(NnzOptions())(seen)
    entropy = Entropy(EntropyOptions())(seen)
    distance = SimplexDistance()(seen)
    for i, row in enumerate(rows):
        if sum(row) == 0:
            assert nnz[i].isnan()
            assert entropy[i].isnan()
            assert distance[i].isnan()
            continue
        a = np.array(row) / sum(row)
        corners = np.eye(len(a))
        assert nnz[i] == (a > 0.01).sum()
        assert float(entropy[i]) == pytest.approx(stats.entropy(a), abs=1e-9)
        assert float(distance[i]) == pytest.approx(np.linalg.norm(a - corners, axis=1).min(), abs=1e-7)


def test_uniform_weights_have_the_largest_entropy_and_one_hot_the_least():
    seen = evidence([[0.25] * 4, [0, 1.0, 0]])
    assert Entropy(EntropyOptions())(seen).tolist() == pytest.approx([math.log(4), 0])
    assert Entropy(EntropyOptions(unit="bits"))(seen).tolist() == pytest.approx([2, 0])
    assert SimplexDistance()(seen).tolist() == pytest.approx([math.sqrt(3) / 2, 0])


@pytest.mark.parametrize("small", [1e-4, 1e-9, 1e-20, 1e-30])
def test_distance_from_a_corner_so_near_that_single_precision_cancels(small):
    seen = evidence([[1.0, small], [small / 2, 1.0, small / 2]])
    single = dataclasses.replace(seen.explanation, values=seen.explanation.values.float())
    found = SimplexDistance()(dataclasses.replace(seen, explanation=single))
    # (1 − s, s) is √2 s away, (s/2, 1 − s, s/2) √(1 + 1/2) s; s = small / (1 + small)
    s = small / (1 + small)
    assert found.tolist() == pytest.approx([math.sqrt(2) * s, math.sqrt(1.5) * s], rel=1e-6, abs=0)


def test_nnz_counts_or_gives_the_fraction_of_real_units():
    seen = evidence([[0.5, 0.495, 0.005], [1.0]])
    assert Nnz(NnzOptions())(seen).tolist() == [2, 1]
    assert Nnz(NnzOptions(fraction=True))(seen).tolist() == pytest.approx([2 / 3, 1])
    assert Nnz(NnzOptions(threshold=0.001))(seen).tolist() == [3, 1]


def test_sign_of_an_importance_does_not_matter_to_its_shape():
    assert Entropy(EntropyOptions())(evidence([[-0.5, 0.5]])).tolist() == pytest.approx([math.log(2)])


def test_four_crossings_of_focus_and_prediction():
    rows = [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]]
    right_wrong = [[5.0, -5.0], [-5.0, 5.0], [5.0, -5.0], [-5.0, 5.0]]
    values = Focus(FocusOptions())(evidence(rows, [(True, False)] * 4, right_wrong, [0] * 4)).values
    ft, crossings = values[:, 0], values[:, 1:]
    assert ft.tolist() == [1, 1, 0, 0]
    assert crossings.argmax(1).tolist() == [0, 2, 1, 3]  # FTPT, FTPF, FFPT, FFPF
    assert crossings.sum(1).tolist() == [1] * 4


def test_scores_keep_their_sign_in_focus_and_in_its_curve():
    rationales = [(True, False, False)] * 2
    found = Focus(FocusOptions(points=5))(evidence([[3.0, -1.0, 1.0], [-3.0, 1.0, -1.0]], rationales))
    assert found.values[:, 0].tolist() == [1, 0]
    assert found.curve.tolist() == [[1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]  # .75 of the weight, and none of it


def test_no_direction_of_focus_prefers_a_wrong_explanation():
    rows, negated = [[0.9, 0.1]] * 2, [[-0.9, -0.1]] * 2
    answers = [[5.0, -5.0], [-5.0, 5.0]]  # one right, one wrong
    right, wrong = (
        Focus(FocusOptions())(evidence(scores, [(True, False)] * 2, answers)).values.mean(0)
        for scores in (rows, negated)
    )
    for column, measure in enumerate(Focus.measures):
        gain = float(right[column] - wrong[column])
        assert {"up": gain, "down": -gain, "none": 0.0}[measure.direction] >= 0


def test_ties_at_the_top_earn_their_share():
    rows = [[0.25] * 4, [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]
    rationales = [(False, True, False, False), (True, False, False), (True, False, False)]
    values = Focus(FocusOptions())(evidence(rows, rationales)).values
    assert values[:, 0].tolist() == pytest.approx([0.25, 0.5, 0])


def test_example_without_a_known_focus_is_undefined_and_harms_no_other():
    seen = evidence([[0.9, 0.1], [0.9, 0.1], [1.0]], [(True, False), None, (False,)])
    values = Focus(FocusOptions())(seen).values
    assert values[0, 0] == 1
    assert values[1:].isnan().all()


def test_curve_is_the_share_of_examples_above_each_threshold():
    rows = [[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]]
    seen = evidence(rows, [(True, False)] * 3)
    focus = Focus(FocusOptions(points=11))
    curve = focus(seen)[1].mean(0).numpy()
    foreground = np.array([0.8, 0.3, 0.5])
    assert curve == pytest.approx([(foreground > t).mean() for t in focus.axis.points])
    assert (np.diff(curve) <= 0).all()


def test_curve_is_of_shares_whatever_the_scale_of_the_scores():
    focus = Focus(FocusOptions(points=11))
    curves = [focus(evidence([row], [(False, True)]))[1] for row in ([0.2, 0.8], [20.0, 80.0], [-2.0, -8.0])]
    assert torch.equal(curves[0], curves[1])
    assert curves[0].sum() == 8  # above 0, 0.1, ..., 0.7
    assert curves[2].isnan().all()  # no unit has any weight


def test_example_without_a_focus_is_left_out_of_the_curve_too():
    seen = evidence([[0.9, 0.1], [0.9, 0.1]], [(True, False), (False, False)])
    values, curve = Focus(FocusOptions(points=3))(seen)
    assert values[1].isnan().all()
    assert curve[1].isnan().all()
    assert curve[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("row", "mass", "units"),
    [
        ([0.25, 0.25, 0.25, 0.25], 0.8, 4),
        ([0.2] * 5, 0.8, 4),  # exactly 80 %
        ([0.9, 0.05, 0.05], 0.8, 1),
        ([0.5, -0.4, 0.1], 0.8, 2),  # sizes count
        ([0.5, 0.3, 0.2], 1.0, 3),
    ],
)
def test_mass_counts_the_units_that_hold_most_of_the_weight(row, mass, units):
    found = Mass(MassOptions(mass=mass))(evidence([row, [*row, 0.0]]))
    assert found[:, 0].tolist() == [units, units]  # a unit without weight changes nothing
    assert found[0, 1].item() == pytest.approx(units / len(row))


def test_mass_is_undefined_where_nothing_has_weight():
    assert Mass(MassOptions())(evidence([[0.0, 0.0]])).isnan().all()
