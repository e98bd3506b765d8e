"""Every built-in metric says what it costs and what it cannot tell, and its range and direction are shown."""

from __future__ import annotations

import math

import pytest

import attnx
from attnx.host.catalog import Catalog
from attnx.host.declarations import read_measures
from attnx.views.components import MeasureInfo
from attnx.views.terminal.components import describe

METRICS = [c for c in Catalog.installed().of_kind("metric") if c.distribution == "attnx"]


@pytest.mark.parametrize("metric", METRICS, ids=lambda component: component.name)
def test_cost_and_limits_are_shown(metric) -> None:
    shown = describe(attnx.components.info(metric.name))
    assert metric.cost
    assert metric.cannot
    assert "costs  " in shown
    assert "cannot tell  " in shown


@pytest.mark.parametrize("metric", METRICS, ids=lambda component: component.name)
def test_measures_read_from_the_source_are_those_of_the_class(metric) -> None:
    read = read_measures(metric.card.target)
    declared = metric.load()
    if "measures" in vars(declared):
        # none, where a bound is not a literal, such as math.log(2)
        assert read in ((), tuple((m.name, m.direction, m.bounds) for m in declared.measures))
    else:
        assert read == ()  # they depend on options


def test_most_metrics_have_measures_that_can_be_read() -> None:
    assert sum(bool(read_measures(metric.card.target)) for metric in METRICS) > 0.8 * len(METRICS)


def test_ranges_are_said_in_words() -> None:
    assert MeasureInfo.of("x", "up", (-1, 1)).in_words == "−1 to 1, higher is better"
    assert MeasureInfo.of("x", "down", (0, math.inf)).in_words == "0 or more, lower is better"
    assert MeasureInfo.of("x", "none", (-math.inf, 0.5)).in_words == "0.5 or less, neither end is better"
    assert MeasureInfo.of("x", "none", (-math.inf, math.inf)).in_words == "any number, neither end is better"
