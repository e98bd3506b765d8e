"""The removal test of a run: what every explanation, random orders and the best orders found reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...types import Order, Question, RemovalColumn, RemovalName, TestSetting
from ..observations import Measurement, SeedResult
from .shares import SMALLEST_RANGE, Share, share_of

Array = np.ndarray[Any, np.dtype[np.float64]]
QUESTIONS: tuple[Question, ...] = ("comprehensiveness", "sufficiency")
Columns = Mapping[RemovalColumn, Array]  # [S, N] each


@dataclass(frozen=True)
class RemovalTest:
    """One removal: values [S, N] by explanation."""

    removal: RemovalName
    columns: Mapping[str, Columns]  # by explanation

    @cached_property
    def _first(self) -> Columns:
        return next(iter(self.columns.values()))

    def both(self, explanation: str | None, order: Order) -> Array:
        """[S, N] comprehensiveness − sufficiency; of no explanation: what is the same for all of them."""
        columns = self._first if explanation is None else self.columns[explanation]
        found = columns.get(RemovalColumn(self.removal, order))
        if found is not None:
            return found
        comprehensiveness, sufficiency = (
            columns[RemovalColumn(self.removal, order, question)] for question in QUESTIONS
        )
        return comprehensiveness - sufficiency

    def question(self, explanation: str | None, order: Order, question: Question) -> Array:
        """[S, N] the values of one question."""
        columns = self._first if explanation is None else self.columns[explanation]
        return columns[RemovalColumn(self.removal, order, question)]

    def by_size(self, explanation: str, order: Order, question: Question) -> dict[float, Array]:
        """[S, N] the values of one question by the percentage of units that is removed or kept, rising."""
        found = {
            column.size: values
            for column, values in self.columns[explanation].items()
            if column.size is not None
            and (column.removal, column.order, column.question) == (self.removal, order, question)
        }
        return dict(sorted(found.items()))

    @cached_property
    def disturbance(self) -> float:
        """How far removing random units moves the output."""
        return float(np.nanmean(self._first[RemovalColumn(self.removal, None)]))

    @cached_property
    def relative_disturbance(self) -> float:
        """The disturbance relative to how far the best order moves the output; infinite where it does not.

        Words that stand in may bring back what was removed: that moves the output less and says less too.
        """
        reached = float(np.nanmean(self.range))
        return self.disturbance / reached if reached > SMALLEST_RANGE else np.inf

    @cached_property
    def random(self) -> Array:
        """[S, N] the mean over random orders."""
        return self.both(None, "random")

    @cached_property
    def _candidates(self) -> dict[tuple[str | None, Order], Array]:
        """Every order that was tried, [S, N] each."""
        found: dict[tuple[str | None, Order], Array] = {(None, "search"): self.both(None, "search")}
        if self.removal == "replace":
            found[None, "delete-search"] = self.both(None, "delete-search")
        orders: tuple[Order, ...] = ("explanation", "signed")
        for name in self.columns:
            found |= {(name, order): self.both(name, order) for order in orders}
        return {key: values for key, values in found.items() if not np.isnan(values).all()}

    @cached_property
    def best(self) -> Array:
        """[S, N] the best that was found.

        Deletion is not random, so it is the best order of every text. Replacement is: the best of several
        noisy values would be too good, so it is the order that is best on average over all texts.
        """
        if self.removal == "delete":
            stacked = np.stack([np.nan_to_num(v, nan=-np.inf) for v in self._candidates.values()])
            best = stacked.max(0)
            return np.where(np.isfinite(best), best, np.nan)
        return max(self._candidates.values(), key=_mean)

    @cached_property
    def worst(self) -> float:
        """The mean of the worst order found."""
        return min(_mean(v) for v in (*self._candidates.values(), self.both(None, "worst")))

    def question_range(self, question: Question) -> Array:
        """[S, N] how much better than random the best found is in one question."""
        sign = 1.0 if question == "comprehensiveness" else -1.0
        tried = [sign * self.question(None, "search", question)]
        tried += [sign * self.question(name, "explanation", question) for name in self.columns]
        if self.removal == "delete":
            best = np.stack([np.nan_to_num(v, nan=-np.inf) for v in tried]).max(0)
            best = np.where(np.isfinite(best), best, np.nan)
        else:
            tried.append(sign * self.question(None, "delete-search", question))
            best = max(tried, key=_mean)
        return best - sign * self.question(None, "random", question)

    def question_gain(self, explanation: str, question: Question) -> Array:
        """[S, N] how much better than random an explanation is in one question."""
        sign = 1.0 if question == "comprehensiveness" else -1.0
        own = self.question(explanation, "explanation", question)
        return sign * (own - self.question(None, "random", question))

    def gain(self, explanation: str) -> Array:
        """[S, N] what an explanation has over random orders."""
        return self.both(explanation, "explanation") - self.random

    @cached_property
    def range(self) -> Array:
        """[S, N] what the best order found has over random ones."""
        return self.best - self.random

    def share(self, explanation: str) -> Share:
        """How far an explanation gets from random to best."""
        return share_of(self.gain(explanation), self.range)

    def seed_shares(self, explanation: str) -> list[float]:
        """The share of each training seed by itself; NaN where it has none."""
        gain, range_ = self.gain(explanation), self.range
        return [share_of(gain[s : s + 1], range_[s : s + 1]).value for s in range(len(gain))]

    def signed(self, explanation: str) -> tuple[Share, Share] | None:
        """With the signs of leave-one-out: the whole way, and the part that sizes have over random sizes.

        None for an explanation with signs of its own.
        """
        values = self.both(explanation, "signed")
        if np.isnan(values).all():
            return None
        chance = self.both(None, "random-signed")
        return share_of(values - self.random, self.range), share_of(values - chance, self.best - chance)

    def settings(self, explanation: str) -> dict[TestSetting, Array]:
        """[S, N] the gain in each part of the test."""
        return {
            column.setting: values
            for column, values in self.columns[explanation].items()
            if column.setting != "all" and column.removal == self.removal
        }


def _mean(values: Array) -> float:
    return float(np.nanmean(values))


def removal_tests(results: Sequence[SeedResult]) -> tuple[RemovalTest, ...]:
    """The removal tests of a run, that with the smaller relative disturbance first; empty if it has none."""
    measured: dict[str, list[Measurement]] = {}
    for result in results:
        for m in result.observation.measurements:
            if m.explanation is not None and any(measure.column for measure in m.measures):
                measured.setdefault(m.explanation, []).append(m)
    if not measured:
        return ()
    columns = {
        name: {
            measure.column: np.stack([m.values[:, number] for m in of_seeds])  # [S, N]
            for number, measure in enumerate(of_seeds[0].measures)
            if measure.column
        }
        for name, of_seeds in measured.items()
    }
    first = next(iter(columns.values()))
    names = dict.fromkeys(column.removal for column in first)
    tests = [RemovalTest(name, columns) for name in names]
    usable = [test for test in tests if not np.isnan(test.random).all()]
    return tuple(sorted(usable, key=lambda test: (test.relative_disturbance, test.disturbance)))
