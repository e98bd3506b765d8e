"""The farthest attention that keeps a two-class output: by vertices, against searches and closed forms."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from intervention_models import Make, evidence_of, han, linear_fcam, measure, mlp_fcam, query_bilstm, toy
from scipy.optimize import minimize
from torch import Tensor

from attnx.formulas import Randomness, js_divergence, total_variation
from attnx.host.catalog import Catalog
from attnx.plugin import Batch, Evidence, Example, Importance, PluginError, Trace
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.evaluation_mode import evaluating
from attnx.testing import ToyModel, toy_data
from attnx_intervention import vertices
from attnx_intervention.adversarial_attention import AdversarialAttention, mixtures
from attnx_intervention.decoders import logits_of_units, odds_of_units
from attnx_intervention.options import AdversarialAttentionOptions
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import FcamOptions

TWO_CLASSES = (toy, linear_fcam, han)


def case(attention: Any, worth: Any, mask: Any = None) -> Evidence:
    """A model of two classes whose log-odds are Σ a_i·worth_i, for attention and worth [B, L]."""
    a, s = (torch.as_tensor(np.array(given), dtype=torch.float64) for given in (attention, worth))
    on = torch.ones_like(a, dtype=torch.bool) if mask is None else torch.as_tensor(mask)
    columns = torch.arange(a.shape[1]).expand_as(a)
    examples = tuple(Example(f"e{i}", ("x",) * int(n), 0) for i, n in enumerate(on.sum(1)))
    batch = Batch.collate(
        examples,
        inputs=torch.zeros_like(columns),
        mask=on,
        unit_index=columns.masked_fill(~on, -1),
        lengths=torch.full((len(a),), a.shape[1]),
    )
    hidden = torch.stack([torch.zeros_like(s), s / 2], -1)  # classified by (−c_2, c_2)
    model = ToyModel().double()
    with torch.no_grad():
        trace = Trace(batch, hidden, hidden, s, a, model._classify(hidden, a))
    return Evidence(trace, Importance("given", a, trace.predicted), None, model, Randomness(0))


def max_jsd(evidence: Evidence, epsilon: float = 0.01) -> Tensor:
    """[B] the value, which must be marked exact."""
    values = measure(AdversarialAttention(AdversarialAttentionOptions(epsilon=epsilon)), evidence)
    assert (values[:, 1] == 1).all()
    return values[:, 0]


def adversary(evidence: Evidence, epsilon: float) -> Tensor:
    """[B, L] the attention at that distance."""
    with evaluating(evidence.model):
        odds = odds_of_units(evidence, logits_of_units(evidence))
        now = (evidence.trace.attention * odds).sum(1)
        return mixtures(evidence, odds, now, epsilon, 1)[:, 0]


def jsd(p: np.ndarray, q: np.ndarray) -> float:
    return float(js_divergence(torch.as_tensor(p), torch.as_tensor(q)))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def best_of_searches(a: np.ndarray, s: np.ndarray, epsilon: float, random: np.random.Generator) -> float:
    """The largest divergence that SLSQP finds from many starts."""
    now = sigmoid(s @ a)
    low, high = (np.log(p) - np.log1p(-p) for p in (now - epsilon, now + epsilon))

    def slope(x: np.ndarray) -> np.ndarray:
        return -0.5 * np.log(np.maximum(x, 1e-15) / (x + a) * 2)

    limits = [
        {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        {"type": "ineq", "fun": lambda x: s @ x - low, "jac": lambda x: s},
        {"type": "ineq", "fun": lambda x: high - s @ x, "jac": lambda x: -s},
    ]
    best = 0.0
    for _ in range(60):
        start = random.dirichlet(np.full(len(a), 0.3))
        found = minimize(
            lambda x: -jsd(np.clip(x, 0, 1), a), start, jac=slope, bounds=[(0, 1)] * len(a),
            constraints=limits, method="SLSQP", options={"ftol": 1e-12, "maxiter": 200},
        )  # fmt: skip
        x = np.clip(found.x, 0, 1)
        x /= x.sum()
        if abs(sigmoid(s @ x) - now) <= epsilon * (1 + 1e-6):
            best = max(best, jsd(x, a))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
def test_it_is_the_best_of_many_searches_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, epsilon = int(random.integers(3, 8)), (0.01, 0.05)[seed % 2]
    a, s = random.dirichlet(np.ones(n)), random.normal(0, 2, n)
    assert 2 * epsilon < sigmoid(s @ a) < 1 - 2 * epsilon
    expected = best_of_searches(a, s, epsilon, random)
    assert float(max_jsd(case([a], [s]), epsilon)) == pytest.approx(expected, abs=2e-6)


def test_two_units_move_along_their_edge_until_a_border() -> None:
    a, s, epsilon = np.array([0.3, 0.7]), np.array([2.0, -1.0]), 0.02
    now = sigmoid(s @ a)
    shares = [(math.log(p / (1 - p)) - s[1]) / (s[0] - s[1]) for p in (now - epsilon, now + epsilon)]
    expected = max(jsd(np.array([t, 1 - t]), a) for t in shares)
    assert float(max_jsd(case([a], [s]), epsilon)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("worth", "epsilon"), [([0.7] * 4, 1e-6), ([3.0, -2.0, 5.0, 0.0], 1.0)])
def test_where_nothing_changes_the_output_the_least_unit_gets_all(worth: list[float], epsilon: float) -> None:
    a = np.array([0.4, 0.1, 0.2, 0.3])
    expected = jsd(np.array([0.0, 1.0, 0.0, 0.0]), a)
    assert float(max_jsd(case([a], [worth]), epsilon)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [1.0, 50.0, 1e6])
def test_an_output_near_certainty_has_room_on_one_side_only(scale: float, sign: int) -> None:
    """Any unit that is no less certain may have all attention: here the third, which has least."""
    a, s = np.array([0.5, 0.3, 0.05, 0.15]), sign * np.array([6.0, -1.0, 40.0, 9.0]) * scale
    expected = jsd(np.array([0.0, 0.0, 1.0, 0.0]), a)
    assert float(max_jsd(case([a], [s]))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("make", TWO_CLASSES)
@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_a_search_never_goes_farther(make: Make, epsilon: float) -> None:
    exact = max_jsd(evidence_of(*make()), epsilon)
    model, examples = make()
    model.provides = ("attention", "gradient")
    options = AdversarialAttentionOptions(epsilon=epsilon, mixtures=0)
    found, known = measure(AdversarialAttention(options), evidence_of(model, examples)).unbind(1)
    assert (known == 0).all()
    assert (found <= exact + 1e-6).all()
    assert exact.mean() > 1.01 * found.mean()


@pytest.mark.parametrize("make", TWO_CLASSES)
@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_the_model_itself_keeps_its_output_under_one_or_two_units(make: Make, epsilon: float) -> None:
    evidence = evidence_of(*make())
    found = adversary(evidence, epsilon)
    with evaluating(evidence.model):
        q = evidence.model.reattend(evidence.trace, found.float()).double().softmax(-1)
    moved = total_variation(evidence.trace.logits.double().softmax(-1), q)
    assert (moved <= epsilon + 1e-6).all()
    assert ((found > 0).sum(1) <= 2).all()
    assert (found >= 0).all()
    assert (found[~evidence.trace.batch.mask] == 0).all()
    torch.testing.assert_close(found.sum(1), torch.ones_like(found[:, 0]))
    torch.testing.assert_close(
        js_divergence(found, evidence.trace.attention.double()), max_jsd(evidence, epsilon), atol=1e-6, rtol=0
    )


def by_loop(a: np.ndarray, s: np.ndarray, epsilon: float) -> float:
    """The largest divergence over all vertices, one by one."""
    now = sigmoid(s @ a)
    best = 0.0
    for i in range(len(a)):
        if abs(sigmoid(s[i]) - now) <= epsilon:
            best = max(best, jsd(np.eye(len(a))[i], a))
        for j in range(len(a)):
            for p in (now - epsilon, now + epsilon):
                if 0 < p < 1 and s[i] < math.log(p / (1 - p)) < s[j]:
                    t = (s[j] - math.log(p / (1 - p))) / (s[j] - s[i])
                    best = max(best, jsd(t * np.eye(len(a))[i] + (1 - t) * np.eye(len(a))[j], a))
    return best


examples_of_units = st.lists(
    st.lists(st.tuples(st.floats(0, 10), st.floats(-20, 20)), min_size=1, max_size=7),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=60)
@given(examples_of_units, st.sampled_from([0.001, 0.01, 0.2]), st.randoms(use_true_random=False))
def test_neither_mask_nor_padding_nor_order_matter(
    drawn: list[list[tuple[float, float]]], epsilon: float, random: Any
) -> None:
    width = 1 + max(map(len, drawn))
    a, s = np.zeros((len(drawn), width)), np.full((len(drawn), width), 1e3)  # worth off the mask is no worth
    mask = np.zeros(a.shape, dtype=bool)
    for row, units in enumerate(drawn):
        columns = random.sample(range(width), len(units))
        scores, worth = np.array(units).T
        a[row, columns] = np.exp(scores) / np.exp(scores).sum()
        s[row, columns] = worth
        mask[row, columns] = True
    found = max_jsd(case(a, s, mask), epsilon)
    expected = [by_loop(a[row, on], s[row, on], epsilon) for row, on in enumerate(mask)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 30.0, 1e4]), st.sampled_from([0.01, 0.3]))
def test_no_attention_that_keeps_the_output_is_farther(seed: int, scale: float, epsilon: float) -> None:
    random = np.random.default_rng(seed)
    a, s = random.dirichlet(np.full(6, 0.5)), random.normal(0, scale, 6)
    evidence = case([a], [s])
    found = adversary(evidence, epsilon)[0].numpy()
    now = sigmoid(np.clip(s @ a, -700, 700))
    assert abs(sigmoid(np.clip(s @ found, -700, 700)) - now) <= epsilon + 1e-9
    tried = random.dirichlet(np.full(6, 0.2), 300)
    tried = a + random.uniform(0, 1, (300, 1)) ** 3 * (tried - a)  # some of them stay near
    kept = np.abs(sigmoid(np.clip(tried @ s, -700, 700)) - now) <= epsilon
    distances = js_divergence(torch.as_tensor(tried[kept]), torch.as_tensor(a))
    assert (distances <= max_jsd(evidence, epsilon) + 1e-12).all()


@pytest.mark.parametrize("cells", [1, 3, 10**9])
def test_pairs_are_tried_in_pieces_with_one_result(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    a, s = random.dirichlet(np.ones(15), 8), random.normal(0, 2, (8, 15))
    whole = adversary(case(a, s), 0.01)
    monkeypatch.setattr(vertices, "at_once", lambda _: cells)
    assert torch.equal(adversary(case(a, s), 0.01), whole)


def test_equal_vertices_give_one_of_them() -> None:
    a, s = np.full((1, 6), 1 / 6), np.array([[-1.0, -1.0, -1.0, 2.0, 2.0, 2.0]])
    found = adversary(case(a, s), 0.01)
    assert int((found > 0).sum()) == 2
    assert float(found.sum()) == pytest.approx(1)


def test_a_wrong_declaration_is_the_models_fault() -> None:
    class Bent(ToyModel):
        def _classify(self, hidden: Tensor, attention: Tensor) -> Tensor:
            return super()._classify(hidden, attention).tanh()

    with pytest.raises(PluginError, match="Bent provides 'linear-decoder', but its logits are not linear"):
        max_jsd(evidence_of(Bent(), toy_data().test))


@pytest.mark.parametrize("make", [mlp_fcam, query_bilstm])
def test_other_decoders_and_more_classes_get_a_lower_bound(make: Make) -> None:
    values = measure(AdversarialAttention(AdversarialAttentionOptions(steps=5)), evidence_of(*make()))
    assert (values[:, 1] == 0).all()


@pytest.mark.parametrize("classifier", ["linear", "mlp"])
def test_fcam_is_linear_only_with_a_linear_classifier(classifier: str) -> None:
    spec = RunSpec.model_validate({"task": "sdc-text", "model": f"fcam:classifier={classifier}"})
    model = Fcam.build(
        toy_data(), ToyModel().projection, FcamOptions.model_validate({"classifier": classifier})
    )
    assert ("linear-decoder" in model.provides) == (classifier == "linear")
    assert resolve(spec, Catalog.installed()).model.provides == model.provides
    assert "linear-decoder" not in Fcam.provides
