"""Gradients at many points by the LSTM's own path equal a forward and a backward pass for each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from random_examples import PROJECTIONS, texts
from text_building import SCORERS, build, read

from attnx.formulas import class_output
from attnx.formulas.point_gradients import one_pass_each
from attnx.plugin import ExplainedOutput, GradientPoints, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx_encoders import lstm_gradients

LENGTHS = [7, 1, 12, 3, 12, 2, 20]


def points_of(model: Any, data: TaskData, noisy: bool, points: int = 5) -> tuple[Trace, GradientPoints]:
    """Random points on one line or on one line for each, in double precision."""
    model.double()
    trace = read(model, data.test)
    generator = torch.Generator().manual_seed(0)
    x = trace.embeddings
    pairs = (points + 1) // 2
    lines = torch.randn(1 + pairs, *x.shape, generator=generator, dtype=x.dtype) * trace.batch.mask[..., None]
    share, weights = torch.rand(points, len(x) + 1, generator=generator, dtype=x.dtype).split([len(x), 1], 1)
    return trace, GradientPoints(lines[0], share, weights[:, 0], lines[1:] if noisy else None)


def predicted(trace: Trace) -> ExplainedOutput:
    """The probability of the class that a text gets."""
    return lambda logits, rows: class_output(logits, trace.predicted[rows], "probability")


def assert_equals_a_pass_each(model: Any, data: TaskData, noisy: bool, points: int = 5) -> None:
    trace, at = points_of(model, data, noisy, points)
    with evaluating(model):
        along, total = model.gradients_at(trace, at, predicted(trace))
        expected_along, expected_total = one_pass_each(model, trace, at, predicted(trace))
    assert expected_total.abs().max() > 1e-4, "no gradient to compare"
    torch.testing.assert_close(along, expected_along, atol=1e-10, rtol=1e-7)
    units = trace.batch.mask
    torch.testing.assert_close(total[units], expected_total[units], atol=1e-10, rtol=1e-7)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize("scorer", SCORERS)
def test_gradients_are_exact_for_every_scorer(scorer: str, query: bool, noisy: bool) -> None:
    data = texts(LENGTHS, query=query)
    assert_equals_a_pass_each(build("bilstm", data, PROJECTIONS["softmax"], scorer=scorer), data, noisy)


@pytest.mark.parametrize("name", ["sparsemax", "entmax", "spherical", "uniform"])
def test_gradients_are_exact_for_other_projections(name: str) -> None:
    data = texts(LENGTHS)
    assert_equals_a_pass_each(build("bilstm", data, PROJECTIONS[name], boundaries=False), data, False)


@pytest.mark.parametrize("rows", [1, 8, 21, 1000])
def test_how_many_points_go_together_changes_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm_gradients, "ROWS", rows)
    data = texts(LENGTHS)
    for noisy in (False, True):
        assert_equals_a_pass_each(build("bilstm", data, PROJECTIONS["softmax"]), data, noisy, points=7)


@pytest.mark.parametrize("noisy", [False, True])
def test_one_sum_alone_is_the_same(noisy: bool) -> None:
    data = texts(LENGTHS)
    model = build("bilstm", data, PROJECTIONS["softmax"])
    trace, at = points_of(model, data, noisy)
    with evaluating(model):
        for find in (model.gradients_at, partial(one_pass_each, model)):
            along, total = find(trace, at, predicted(trace))
            alone, _ = find(trace, replace(at, only="along"), predicted(trace))
            _, gradients = find(trace, replace(at, only="total"), predicted(trace))
            torch.testing.assert_close(alone, along, atol=1e-10, rtol=1e-7)
            torch.testing.assert_close(gradients, total, atol=1e-10, rtol=1e-7)
