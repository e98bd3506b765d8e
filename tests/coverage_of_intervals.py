"""How often intervals cover the true mean over seeds and examples, in simulation.

`python tests/coverage_of_intervals.py` prints the tables of docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from attnx.results.statistics import mean_interval

Array = np.ndarray[Any, np.dtype[np.float64]]
Method = Callable[[Array], tuple[Array, Array]]  # [S, N, M] -> low [M], high [M]

PIECE = 250  # sets that are drawn at once


@dataclass(frozen=True, slots=True)
class World:
    """Values whose true mean is known: seed + example + rest, both effects with the sd that is given."""

    kind: Literal["normal", "skewed", "binary"]
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
        values = seed + example + draw((self.seeds, self.examples, sets))
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


def worlds() -> Iterator[World]:
    """Everything the interval must hold for."""
    kinds: tuple[Literal["normal", "skewed", "binary"], ...] = ("normal", "skewed", "binary")
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
        ours = {world: rate for world, (rate, _) in found.items() if world.seeds == seeds}
        print(f"| {seeds} | {min(ours.values()):.3f} | {max(ours.values()):.3f} |")


if __name__ == "__main__":
    main()
