"""The list of experiments: the source of each, its sizes, and how long they take."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from ...registry.experiments import SIZES, Experiment, Size
from ...results.formatting import duration
from .components import width


def experiment_list(known: Mapping[str, Experiment]) -> str:
    """Every experiment in a few lines."""
    head = "Durations are estimates for two cores; those of the paper size are rough."
    return "\n\n".join([head, *(_entry(name, known[name]) for name in sorted(known))])


def _entry(name: str, experiment: Experiment) -> str:
    lines = [
        *textwrap.wrap(f"{name}  {experiment.source}", width(), subsequent_indent="    "),
        *_wrapped(experiment.summary),
    ]
    for size_name in SIZES:
        size = experiment.size(size_name)
        lines += _wrapped(f"{size_name} ({_about(size.minutes)}): {_amount(experiment, size)}")
    return "\n".join(lines)


def _about(minutes: float | None) -> str:
    return "unknown duration" if minutes is None else f"about {duration(60 * minutes)}"


def _amount(experiment: Experiment, size: Size) -> str:
    """Rows, tasks with their limits, training and seeds."""
    tasks = [f"{task} ({limit or 'whole'})" for task, limit in size.tasks.items()] or ["all tasks, whole"]
    said = [" + ".join(tasks), f"seeds {size.seeds}"]
    if size.rows:
        said.append(f"{len(size.rows)} of {len(experiment.rows)} rows")
    if size.options:
        said.append("models with " + ", ".join(f"{key}={value}" for key, value in size.options.items()))
    if size.training:
        said.append("training " + ", ".join(f"{key}={value}" for key, value in size.training.items()))
    if size.study:
        said.append(f"study {' + '.join(size.study)}")
    return "; ".join(said)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width(),
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
