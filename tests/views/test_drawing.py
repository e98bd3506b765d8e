"""Figures of many lines can be read."""

import pytest
from matplotlib.figure import Figure

from attnx.results.report import Curve
from attnx.views.figures.report import curve_drawings


def drawn(lines, seeds=2):
    curves = [
        Curve(
            kind="metric",
            name="weight above t",
            metric="focus",
            explanation=f"row {line}",
            reference=None,
            seed=seed,
            axis="t",
            x=(0.0, 0.5, 1.0),
            y=(1.0, line / lines, 0.1 * seed),
        )
        for line in range(lines)
        for seed in range(seeds)
    ]
    (drawing,) = curve_drawings(curves)
    figure = Figure(figsize=drawing.size)
    drawing.draw(figure)
    (axes,) = figure.axes
    return drawing, axes


@pytest.mark.parametrize("lines", [2, 6, 10, 20])
def test_no_two_lines_look_alike(lines):
    _, axes = drawn(lines)
    looks = {(line.get_color(), str(line.get_linestyle()), str(line._dash_pattern)) for line in axes.lines}
    assert len(axes.lines) == len(looks) == lines


def test_few_lines_have_bands_and_many_have_their_names_beside_them():
    few, axes = drawn(3)
    assert len(axes.collections) == 3
    assert "the band spans" in few.caption
    many, axes = drawn(10)
    assert not axes.collections
    assert "band" not in many.caption
    figure = axes.figure
    figure.canvas.draw()
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
    assert axes.get_legend().get_window_extent().x1 <= figure.bbox.x1
