"""k-means: scikit-learn from the same centres and from its own, and partitions that are known."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans, kmeans_plusplus
from torch import Tensor

from attnx_information.kmeans import Drawn, Space, kmeans, lloyd, seeds


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def cloud(n: int = 600, d: int = 12, seed: int = 0) -> Tensor:
    return torch.randn(n, d, generator=generator(seed))


def test_from_the_same_centres_scikit_learn_ends_in_the_same_partition() -> None:
    for seed in range(5):
        points = cloud(seed=seed).double()
        ours = lloyd(Space.of(points), points[:20])
        theirs = KMeans(20, init=points[:20].numpy(), n_init=1, tol=0, max_iter=300).fit(points.numpy())
        assert ours.labels.tolist() == theirs.labels_.tolist()
        assert ours.inertia == pytest.approx(theirs.inertia_)
        torch.testing.assert_close(ours.centres, torch.from_numpy(theirs.cluster_centers_))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_inertia_is_within_one_percent_of_scikit_learn(scale: float) -> None:
    points = scale * cloud(1500, 32)
    ours = sum(kmeans(Space.of(points), 60, generator(seed)).inertia for seed in range(6))
    theirs = sum(KMeans(60, n_init=1, random_state=seed).fit(points.numpy()).inertia_ for seed in range(6))
    assert ours < 1.01 * theirs


def potential(points: Tensor, chosen: Tensor) -> float:
    """The sum of squared distances from the nearest of the chosen points."""
    return float(torch.cdist(points, points[chosen]).square().amin(1).sum())


def test_seeds_are_as_good_as_greedy_and_better_than_plain_ones() -> None:
    points = cloud(1500, 4)

    def theirs(trials: int | None) -> float:
        chosen = [
            kmeans_plusplus(points.numpy(), 60, random_state=seed, n_local_trials=trials)[1]
            for seed in range(10)
        ]
        return sum(potential(points, torch.from_numpy(indices)) for indices in chosen)

    ours = sum(potential(points, seeds(Space.of(points), 60, generator(seed))) for seed in range(10))
    assert ours == pytest.approx(theirs(None), rel=0.02)
    assert ours < 0.9 * theirs(1)


def test_candidates_that_are_used_later_have_the_probabilities_of_that_time() -> None:
    space, source = Space.of(cloud(6, 2)), generator()
    early = torch.tensor([4.0, 1.0, 2.0, 0.0, 5.0, 3.0])
    late = torch.tensor([0.5, 1.0, 1.5, 0.0, 0.0, 3.0])
    drawn = Drawn.by(early, 60_000, space, source)
    for distance in (early, late):
        used = drawn.points[drawn.fit(distance)].bincount(minlength=6) / 60_000
        torch.testing.assert_close(used, distance / early.sum(), rtol=0, atol=0.01)
    assert torch.equal(drawn.apart[7], space.distances(drawn.points[7:8])[0])


def test_separate_groups_are_found_whatever_the_seed() -> None:
    truth = torch.arange(400) % 40
    places = 100 * torch.randn(40, 6, generator=generator(1))
    points = places[truth] + 0.1 * cloud(400, 6)
    for seed in range(20):
        found = kmeans(Space.of(points), 40, generator(seed))
        assert len({(a, b) for a, b in zip(truth.tolist(), found.labels.tolist(), strict=True)}) == 40
        assert found.sizes.tolist() == [10] * 40


def test_labels_are_nearest_centres_and_centres_are_means() -> None:
    points = cloud() + 1000.0  # far from the origin, where squares are large
    found = kmeans(Space.of(points), 30, generator())
    assert torch.equal(found.labels, torch.cdist(points.double(), found.centres.double()).argmin(1))
    means = torch.stack([points[found.labels == label].double().mean(0) for label in range(30)])
    torch.testing.assert_close(found.centres.double(), means, rtol=0, atol=1e-3)
    assert found.sizes.tolist() == found.labels.bincount(minlength=30).tolist()
    distances = (points.double() - found.centres.double()[found.labels]).square().sum()
    assert found.inertia == pytest.approx(float(distances), rel=1e-3)


def test_same_seed_same_partition_and_another_seed_another() -> None:
    points = cloud()
    first, again, other = (kmeans(Space.of(points), 30, generator(seed)).labels for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_centre_without_points_restarts_at_the_farthest_point() -> None:
    points = torch.tensor([[0.0], [1.0], [2.0], [50.0]])
    found = lloyd(Space.of(points), torch.tensor([[1.0], [-1e6], [1e6]]))  # all are nearest to the first
    assert found.sizes.min() > 0
    assert found.inertia == pytest.approx(0.5)  # {0, 1} or {1, 2} share a cluster, the others are alone
    assert found.sizes[found.labels[3]] == 1


def test_copies_make_no_clusters_of_their_own() -> None:
    places = cloud(7, 5)
    points = places.repeat(30, 1)
    found = kmeans(Space.of(points), 20, generator())
    assert len(found.centres) == 7
    assert found.sizes.tolist() == [30] * 7
    assert found.inertia == pytest.approx(0.0, abs=1e-6)
    assert len(set(seeds(Space.of(points), 20, generator()).remainder(7).tolist())) == 7


def test_as_many_clusters_as_points() -> None:
    found = kmeans(Space.of(cloud(9)), 9, generator())
    assert sorted(found.labels.tolist()) == list(range(9))


@pytest.mark.parametrize("points", [torch.zeros(5, 3), torch.ones(1, 2)])
def test_points_that_are_all_the_same_are_one_cluster(points: Tensor) -> None:
    found = kmeans(Space.of(points), 3, generator())
    assert found.sizes.tolist() == [len(points)]
    assert found.inertia == 0


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_points_without_distances_end_in_fewer_clusters(value: float) -> None:
    points = cloud(20, 3)
    points[4, 1] = value
    assert len(kmeans(Space.of(points), 5, generator()).labels) == 20


# Points on very different scales.


@pytest.mark.parametrize("far", [1e4, 1e6, 1e10])
def test_an_outlier_leaves_the_other_points_apart(far: float) -> None:
    points = torch.cat([cloud(500, 6), torch.full((1, 6), far)])
    ours = sum(kmeans(Space.of(points), 31, generator(seed)).inertia for seed in range(5))
    alone = points[:-1].double().numpy()
    theirs = sum(KMeans(30, n_init=1, random_state=seed).fit(alone).inertia_ for seed in range(5))
    assert ours == pytest.approx(theirs, rel=0.02)


def test_groups_far_from_each_other_are_parted_as_scikit_learn_parts_them_in_double_precision() -> None:
    points = torch.cat([cloud(300, 4), cloud(300, 4, seed=1) + 1e5])
    starts = torch.cat([points[:15], points[300:315]])
    ours = lloyd(Space.of(points), starts)
    theirs = KMeans(30, init=starts.double().numpy(), n_init=1, tol=0).fit(points.double().numpy())
    assert ours.labels.tolist() == theirs.labels_.tolist()
    assert ours.inertia == pytest.approx(theirs.inertia_)


def test_a_cluster_that_an_outlier_left_is_summed_up_without_what_it_cost_in_digits() -> None:
    points = torch.cat([torch.full((1, 3), 1e18), cloud(200, 3)]).double()
    starts = torch.cat([points[1:5], torch.full((1, 3), -1e20)])  # the outlier begins with one of the four
    found = lloyd(Space.of(points), starts)
    means = torch.stack([points[found.labels == label].mean(0) for label in range(5)])
    assert found.sizes.min() > 0
    torch.testing.assert_close(found.centres, means, rtol=1e-9, atol=1e-9)
    assert torch.equal(found.labels[1:], torch.cdist(points[1:], means).argmin(1))


scales = st.sampled_from([1e-3, 1.0, 1e3, 1e9])
coordinates = st.builds(lambda number, scale: number * scale, st.integers(-3, 3), scales)


@settings(max_examples=150)
@given(
    places=st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=12),
    copies=st.integers(1, 4),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 99),
)
def test_with_clusters_enough_every_distinct_point_has_its_own(places, copies, dtype, seed) -> None:  # type: ignore[no-untyped-def]
    points = torch.tensor(places * copies, dtype=dtype)
    distinct = {tuple(point) for point in points.tolist()}
    found = kmeans(Space.of(points), 12, generator(seed))
    owners = {(tuple(p), label) for p, label in zip(points.tolist(), found.labels.tolist(), strict=True)}
    assert len(found.centres) == len(distinct) == len(owners)
    assert len({label for _, label in owners}) == len(distinct)
    assert found.inertia <= 1e-12 * float(points.double().square().sum())
