"""How often intervals cover the true mean over seeds and examples, and how often several rows err, simulated.

`python tests/coverage_of_intervals.py` prints the tables of docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from attnx.results.statistics import holm, mean_interval, p_values

Array = np.ndarray[Any, np.dtype[np.float64]]
Method = Callable[[Array], tuple[Array, Array]]  # [S, N, M] -> low [M], high [M]

Kind = Literal["normal", "skewed", "binary", "rare"]

ERROR = 0.05  # of all rows of a family together
PIECE = 250  # sets that are drawn at once
ROWS = 8  # of a comparison, or of one family of a verdict
DISAGREE = 0.05  # share of the examples on which two answers that are right or wrong differ, where it is rare


@dataclass(frozen=True, slots=True)
class World:
    """Values whose true mean is known: seed + example + rest, both effects with the sd that is given."""

    kind: Kind  # binary: 0 or 1; rare: the difference of two of these, which is seldom not 0
    seeds: int
    examples: int
    seed_effect: float  # beside a rest of sd 1
    example_effect: float

    @property
    def mean(self) -> float:
        spread = (1 + self.seed_effect**2 + self.example_effect**2) ** 0.5
        return NormalDist().cdf(0.5 / spread) if self.kind == "binary" else 0.0

    def draw(self, sets: int, rng: np.random.Generator) -> Array:
        """[S, N, sets] one column for each repetition of the experiment."""
        draw = rng.standard_normal if self.kind != "skewed" else lambda size: rng.exponential(size=size) - 1
        seed = self.seed_effect * rng.standard_normal((self.seeds, 1, sets))
        example = self.example_effect * draw((1, self.examples, sets))
        rest = draw((self.seeds, self.examples, sets))
        if self.kind == "rare":
            differ = rng.random(rest.shape) < DISAGREE
            return np.where(differ, np.sign(seed + example + rest), 0.0)
        values = seed + example + rest
        return (values + 0.5 > 0).astype(float) if self.kind == "binary" else values


def new(values: Array) -> tuple[Array, Array]:
    """The interval of reports."""
    found = mean_interval(values)
    return found.low, found.high


def percentile(values: Array, resamples: int = 400) -> tuple[Array, Array]:
    """The percentile bootstrap over seeds and examples, for values that are all defined."""
    rng = np.random.default_rng(0)
    seeds, examples, _ = values.shape
    of_seeds = rng.multinomial(seeds, np.full(seeds, 1 / seeds), resamples) / seeds  # [R, S]
    of_examples = rng.multinomial(examples, np.full(examples, 1 / examples), resamples) / examples  # [R, N]
    means = np.einsum("rs,srm->rm", of_seeds, of_examples @ values)  # [R, M]
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high


def coverage(world: World, method: Method, sets: int) -> tuple[float, float]:
    """How often the interval holds the true mean, and its mean width beside that of known variances."""
    rng = np.random.default_rng(0)
    covered, widths, means = [], [], []
    for _ in range(sets // PIECE):
        values = world.draw(PIECE, rng)
        low, high = method(values)
        covered.append((low <= world.mean) & (world.mean <= high))
        widths.append(high - low)
        means.append(values.mean((0, 1)))
    ideal = 2 * 1.96 * float(np.std(means))
    return float(np.mean(covered)), float(np.mean(widths)) / ideal


def family_error(world: World, sets: int) -> tuple[float, float]:
    """How often at least one of several rows without a difference is found to have one, of `sets` families.

    In a comparison, by p-values that are corrected step by step; in a verdict, by intervals of a corrected
    level. The rows are independent, which is the worst that they can be.
    """
    rng = np.random.default_rng(1)
    compared, judged = [], []
    for _ in range(sets // PIECE):
        values = world.draw(PIECE * ROWS, rng) - world.mean
        p = p_values(values).reshape(PIECE, ROWS)
        compared += [bool((holm(row) <= ERROR).any()) for row in p]
        found = mean_interval(values, 1 - ERROR / ROWS)
        judged.append(((found.low > 0) | (found.high < 0)).reshape(PIECE, ROWS).any(1))
    return float(np.mean(compared)), float(np.mean(judged))


def families() -> Iterator[World]:
    """Few seeds, few and many examples, with and without effects of seeds and examples."""
    kinds: tuple[Kind, ...] = ("normal", "skewed", "binary", "rare")
    for kind, seeds, examples, effects in product(kinds, (2, 3), (20, 30, 100, 400), ((0, 0), (0.5, 1))):
        yield World(kind, seeds, examples, *effects)


def worlds() -> Iterator[World]:
    """Everything the interval must hold for."""
    kinds: tuple[Kind, ...] = ("normal", "skewed", "binary")
    for kind, seeds, examples, seed_effect, example_effect in product(
        kinds, (2, 3, 5, 10), (50, 200, 1000), (0, 0.1, 0.5), (0, 1)
    ):
        yield World(kind, seeds, examples, seed_effect, example_effect)


def main() -> None:
    """Print the tables as Markdown."""
    print("| seeds | seed effect | coverage | width | bootstrap: coverage | width |")
    print("| --- | --- | --- | --- | --- | --- |")
    for seeds, effect in product((1, 2, 3, 5, 10), (0, 0.1, 0.5)):
        world = World("normal", seeds, 200, effect, 1)
        (ours, width), (theirs, narrow) = coverage(world, new, 4000), coverage(world, percentile, 1000)
        print(
            f"| {seeds} | {effect or 'none'} | {ours:.3f} | {width:.2f} | {theirs:.3f} | {narrow:.2f} |",
            flush=True,
        )
    print("\n| seeds | lowest | highest |\n| --- | --- | --- |", flush=True)
    found = {world: coverage(world, new, 4000) for world in worlds()}
    for seeds in (2, 3, 5, 10):
        rates = [rate for world, (rate, _) in found.items() if world.seeds == seeds]
        print(f"| {seeds} | {min(rates):.3f} | {max(rates):.3f} |")
    print("\n| values | seeds | effects | 20 texts | 30 | 100 | 400 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    errors = {world: family_error(world, 4000) for world in families()}
    for kind, seeds, effect in product(("normal", "skewed", "binary", "rare"), (2, 3), (0, 0.5)):
        row = [
            max(of)
            for world, of in errors.items()
            if (world.kind, world.seeds, world.seed_effect) == (kind, seeds, effect)
        ]
        rates = " | ".join(f"{rate:.3f}" for rate in row)
        print(f"| {kind} | {seeds} | {'both' if effect else 'none'} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
