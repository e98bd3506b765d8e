"""Every projection: its published numbers, the laws of the simplex, and its own behaviour."""

import subprocess
import sys
from pkgutil import resolve_name
from typing import Any

import entmax as package
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnx.plugin import UsageError
from attnx.request.spec import Choice, validate_options
from attnx_projections import attnx_projections

CARDS = {card.name: card for card in attnx_projections()}
SMOOTH = """
softmax softmax:temperature=0.3 sparsemax sparsegen:lam=0.5 sparsegen:lam=-3 entmax entmax:alpha=1
entmax:alpha=1.25 entmax:alpha=2 entmax:alpha=1.7,learned=true spherical gumbel-softmax gumbel-softmax:draws=5
""".split()
CASES = [*SMOOTH, "hard", "uniform"]
PEERS = {"sparsemax": package.sparsemax, "entmax": package.entmax15}

every_case = pytest.mark.parametrize("case", CASES)
both_modes = pytest.mark.parametrize("training", [False, True])
thresholded = pytest.mark.parametrize(("case", "peer"), PEERS.items(), ids=PEERS)


def make(case: str, training: bool = False) -> Any:
    """A projection from NAME or NAME:key=value, in evaluation mode by default."""
    choice = Choice.parse(case)
    card = CARDS[choice.name]
    options = [validate_options(resolve_name(card.options), choice.options, case)] if card.options else []
    projection = resolve_name(card.target)(*options)
    return projection.train(training) if isinstance(projection, torch.nn.Module) else projection


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def project(case: str, *scores: float) -> Tensor:
    """Attention over one row in float64, every unit unmasked."""
    return make(case)(vector(*scores), torch.ones(len(scores)).bool()).detach()


def scores_and_mask(rows: int = 6, units: int = 9, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Scores [B, L] with holes anywhere in the mask; the last row has no unit at all."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(rows, units, generator=generator, dtype=torch.float64)
    mask = torch.rand(rows, units, generator=generator) < 0.7
    mask[:, 2] = True
    mask[-1] = False
    return scores, mask


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> bool:
    return torch.allclose(a.detach().double(), b.detach().double(), rtol=0, atol=atol)


@pytest.mark.parametrize(
    ("case", "scores", "expected", "atol"),
    [
        ("sparsemax", (-2, 0, 0.5), (0, 0.25, 0.75), 1e-12),
        ("entmax", (-2, 0, 0.5), (0, 0.3260, 0.6740), 5e-5),
        ("sparsegen:lam=-1", (0.3, 0.2, 0.15, -0.1, 0.05), (0.29, 0.24, 0.215, 0.09, 0.165), 1e-12),
        ("sparsegen:lam=0.5", (0.3, 0.2, 0.15, -0.1, 0.05), (0.5, 0.3, 0.2, 0, 0), 1e-12),
        ("sparsegen:lam=-1e7", (0.3, 0.2, 0.15, -0.1), (0.25, 0.25, 0.25, 0.25), 1e-6),
        ("sparsegen:lam=0.9999999", (0.3, 0.2, 0.15, -0.1), (1, 0, 0, 0), 1e-6),
        ("spherical", (3, 1, 2), (0.643, 0.071, 0.286), 5e-4),
        ("spherical", (-3, 1, 2), (0.643, 0.071, 0.286), 5e-4),
        ("softmax:temperature=2", (0, 2), (1 / (1 + torch.e), torch.e / (1 + torch.e)), 1e-12),
        ("uniform", (5, -1, 0, 2), (0.25, 0.25, 0.25, 0.25), 1e-12),
    ],
)
def test_published_or_limiting_example(case: str, scores: Any, expected: Any, atol: float) -> None:
    assert close(project(case, *scores), vector(*expected), atol)


@every_case
@both_modes
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_attention_is_on_the_simplex_over_the_mask(case: str, training: bool, seed: int) -> None:
    scores, mask = scores_and_mask(seed=seed)
    attention = make(case, training)(scores, mask)
    assert (attention >= 0).all()
    assert (attention[~mask] == 0).all()
    assert close(attention.sum(-1), mask.any(-1), 1e-12)


@every_case
@both_modes
@pytest.mark.parametrize("junk", [torch.nan, torch.inf, -torch.inf, 1e30])
def test_masked_scores_leak_into_neither_value_nor_gradient(case: str, training: bool, junk: float) -> None:
    scores, mask = scores_and_mask()
    found = []
    for off_mask in (0.0, junk):
        torch.manual_seed(0)
        leaf = scores.masked_fill(~mask, off_mask).requires_grad_()
        attention = make(case, training)(leaf, mask)
        torch.sum(attention * torch.arange(9.0) + 0 * leaf.where(mask, 0)).backward()
        found.append((attention, leaf.grad))
    (value, gradient), (junk_value, junk_gradient) = found
    assert close(value, junk_value, 1e-12)
    assert close(gradient, junk_gradient, 1e-12)


@every_case
def test_padding_and_neighbours_change_nothing(case: str) -> None:
    scores, mask = scores_and_mask()
    longer = torch.cat([scores, torch.full((6, 40), 9.0)], 1), torch.cat([mask, torch.zeros(6, 40).bool()], 1)
    alone = torch.cat([make(case)(scores[i : i + 1], mask[i : i + 1]) for i in range(6)])
    assert close(make(case)(*longer)[:, :9], alone, 1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if "draws" not in case])
def test_permuting_units_permutes_attention(case: str) -> None:
    scores, mask = scores_and_mask()
    order = [4, 1, 7, 0, 8, 2, 6, 3, 5]
    assert close(make(case)(scores[:, order], mask[:, order]), make(case)(scores, mask)[:, order], 1e-12)


@every_case
def test_leading_dimensions_are_free(case: str) -> None:
    scores, mask = scores_and_mask()
    attention = make(case)(scores, mask)
    assert close(make(case)(scores.view(2, 3, 9), mask.view(2, 3, 9)), attention.view(2, 3, 9), 1e-12)
    assert close(make(case)(scores[0], mask[0]), attention[0], 1e-12)
    assert project(case, -7.0).tolist() == [1.0]


@every_case
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_type_is_kept_and_half_precision_is_computed_in_float32(case: str, dtype: torch.dtype) -> None:
    scores, mask = scores_and_mask()
    attention = make(case)(scores.to(dtype), mask)
    full = make(case)(scores.to(dtype).to(torch.promote_types(dtype, torch.float32)), mask)
    assert attention.dtype == dtype
    assert torch.equal(attention, full.to(dtype))


@pytest.mark.parametrize("case", SMOOTH)
def test_gradient_is_that_of_finite_differences(case: str) -> None:
    scores, mask = scores_and_mask(rows=3, units=5)
    projection = make(case)
    assert torch.autograd.gradcheck(lambda z: projection(z, mask), scores.requires_grad_())


@thresholded
@settings(deadline=None)
@given(
    units=st.lists(st.tuples(st.floats(-8, 8), st.floats(-1, 1)), min_size=1, max_size=12),
    scale=st.sampled_from([0.01, 1.0, 1e3]),
)
def test_value_and_gradient_equal_the_entmax_packages(case: str, peer: Any, units: Any, scale: float) -> None:
    scores, upstream = torch.tensor(units, dtype=torch.float64).T
    leaf, peer_leaf = ((scale * scores).requires_grad_() for _ in range(2))
    mask = torch.ones(len(units)).bool()
    attention, expected = make(case)(leaf, mask), peer(peer_leaf, -1)
    assert close(attention, expected)
    single = leaf.detach().float()
    assert close(make(case)(single, mask), peer(single.double(), -1))
    for p in (attention, expected):  # a unit at the threshold has two gradients
        assume(not ((p > 0) & (p < 1e-9)).any())
    attention.backward(upstream)
    expected.backward(upstream)
    assert close(leaf.grad, peer_leaf.grad)


@thresholded
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("units", [2, 180, 2000])
def test_float32_sums_to_one_at_any_range_of_scores(case: str, peer: Any, scale: float, units: int) -> None:
    scores = 1e4 + scale * torch.randn(50, units, generator=torch.Generator().manual_seed(units))
    for z in (scores, scores.div(scale).round().mul(scale), -scores.abs()):  # the second with ties
        attention = make(case)(z, torch.ones_like(z).bool())
        assert close(attention.sum(-1), torch.ones(50), 2e-6)
        assert close(attention, peer(z.double(), -1))


@thresholded
def test_ties_share_equally_and_a_broken_row_spoils_no_other(case: str, peer: Any) -> None:
    assert close(project(case, 3, 3, 3, -40), vector(1, 1, 1, 0) / 3, 1e-12)
    scores, mask = scores_and_mask()
    whole = make(case)(scores, mask)
    scores[0, 2] = torch.nan
    attention = make(case)(scores, mask)
    assert attention[0].isnan().any()
    assert close(attention[1:], whole[1:], 1e-12)


@pytest.mark.parametrize("lam", [-4.0, -0.5, 0.0, 0.4, 0.8])
def test_sparsegen_is_the_best_point_of_the_simplex(lam: float) -> None:
    steps = torch.cartesian_prod(torch.arange(201), torch.arange(201))
    grid = torch.cat([steps, 200 - steps.sum(1, keepdim=True)], 1)[steps.sum(1) <= 200].double() / 200
    for z in torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64):
        p = project(f"sparsegen:lam={lam}", *z.tolist())
        cost, costs = ((q - z).square().sum(-1) - lam * q.square().sum(-1) for q in (p, grid))
        assert cost <= costs.min() + 1e-12
        assert close(grid[costs.argmin()], p, 1 / 200)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("sparsegen:lam=1", "Bad value '1' for option 'lam' of sparsegen:lam=1: Input should be less than 1"),
        ("sparsegen:lam=-inf", "finite"),
        ("entmax:alpha=0.9", "greater than or equal to 1"),
        ("entmax:alpha=1,learned=true", "must start above 1"),
        ("softmax:temperature=0", "greater than 0"),
    ],
)
def test_option_out_of_range_is_refused(case: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make(case)


def test_entmax_runs_from_softmax_to_sparsemax() -> None:
    scores, mask = scores_and_mask()
    for alpha, same in (("1", "softmax"), ("1.5", "entmax"), ("2", "sparsemax")):
        expected = make(same)(scores, mask)
        assert torch.equal(make(f"entmax:alpha={alpha}")(scores, mask), expected)
        assert close(make(f"entmax:alpha={float(alpha) + 1e-7}")(scores, mask), expected)  # by bisection


@pytest.mark.parametrize("alpha", [1.01, 1.25, 1.7, 2.5])
def test_entmax_of_any_alpha_meets_its_optimality_condition(alpha: float) -> None:
    z = scores_and_mask()[0][0]
    p = project(f"entmax:alpha={alpha}", *z.tolist())
    levels = (alpha - 1) * z - p ** (alpha - 1)  # the threshold on the support, below it elsewhere
    assert close(levels[p > 0], levels.max().expand(int((p > 0).sum())))
    assert close(make(f"entmax:alpha={alpha}")(z.float(), torch.ones(9).bool()), p, 2e-7)


def test_learned_alpha_starts_as_given_and_follows_its_gradient() -> None:
    scores, mask = scores_and_mask(rows=3, units=5)
    projection = make("entmax:alpha=1.3,learned=true").double()
    assert projection.alpha.item() == pytest.approx(1.3, abs=1e-6)
    assert close(projection(scores, mask), make("entmax:alpha=1.3")(scores, mask))
    theta = projection.theta.detach().clone().requires_grad_()
    call = torch.func.functional_call
    assert torch.autograd.gradcheck(lambda t: call(projection, {"theta": t}, (scores, mask)), theta)
    assert not list(make("entmax:alpha=1.3").parameters())


def test_spherical_ignores_sign_and_scale_and_is_uniform_on_zeros() -> None:
    for factor in (1e-30, -1.0, 1e30):
        row = factor * torch.tensor([3.0, -1.0, 2.0])
        assert close(make("spherical")(row, torch.ones(3).bool()), vector(9, 1, 4) / 14)
    zeros = torch.zeros(4, requires_grad=True)
    attention = make("spherical")(zeros, torch.tensor([True, True, False, True]))
    assert close(attention, vector(1, 1, 0, 1) / 3)
    assert torch.autograd.grad(attention[0], zeros)[0].isfinite().all()


def test_hard_is_softmax_in_training_and_the_first_best_unit_in_evaluation() -> None:
    scores, mask = scores_and_mask()
    assert torch.equal(make("hard", training=True)(scores, mask), make("softmax")(scores, mask))
    assert project("hard", 1, 4, 4, 2).tolist() == [0, 1, 0, 0]
    assert [name for name in CARDS if make(name).trains_by_expectation] == ["hard"]


def test_gumbel_noise_is_drawn_in_training_only_and_by_torchs_seed() -> None:
    scores, mask = scores_and_mask()
    gumbel = make("gumbel-softmax", training=True)
    torch.manual_seed(3)
    first, second = gumbel(scores, mask), gumbel(scores, mask)
    torch.manual_seed(3)
    assert torch.equal(gumbel(scores, mask), first)
    assert not close(first, second, 0.01)
    assert torch.equal(gumbel.eval()(scores, mask), make("softmax:temperature=0.8")(scores, mask))


def test_gumbel_average_is_that_of_training_noise_and_does_not_touch_torchs_seed() -> None:
    scores, mask = vector(0, 1, -1, 2), torch.tensor([True, True, True, False])
    torch.manual_seed(0)
    drawn = make("gumbel-softmax", training=True)(scores.expand(100_000, 4), mask.expand(100_000, 4)).mean(0)
    state = torch.get_rng_state()
    averaged = make("gumbel-softmax:draws=2000")(scores, mask)
    assert close(averaged, drawn, 0.01)
    assert not close(make("gumbel-softmax")(scores, mask), drawn, 0.01)
    assert torch.equal(averaged, make("gumbel-softmax:draws=2000")(scores, mask))
    assert torch.equal(torch.get_rng_state(), state)


def test_gumbel_average_favours_no_column_much() -> None:
    attention = project("gumbel-softmax:draws=256", *[0.0] * 40)
    assert close(attention * 40, torch.ones(40), 0.35)  # independent draws: 0.4 and more


def test_options_import_no_torch() -> None:
    program = "import sys, attnx_projections.options; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
