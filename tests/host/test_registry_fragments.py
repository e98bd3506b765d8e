"""Registry fragments of plugins: joined when they are right, attributed when they are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., tuple[int, str, str]]
Install = Callable[..., Path]

FRAGMENT = "schema: 1\nmodels:\n  fcam-tiny: {model: fcam, summary: A tiny one., options: {width: 2}}\n"


def announcing(fragment: str) -> str:
    """The body of a plugin that contributes a fragment."""
    return f"@hookimpl\ndef attnx_registry():\n    return {fragment!r}\n"


def test_a_fragment_adds_a_named_model(install: Install, cli: Cli) -> None:
    install("extra", announcing(FRAGMENT))
    code, out, err = cli("info", "fcam-tiny")
    assert (code, err) == (0, "")
    assert "A tiny one." in out
    assert "width=2" in out
    assert "fcam-tiny" in cli("list", "models")[1]


def test_a_fragment_says_what_the_audit_found_of_a_metric(install: Install, cli: Cli) -> None:
    metric = "@hookimpl\ndef attnx_metrics():\n    return [Card('mine', 'extra_plugin.mine:Mine')]\n"
    body = 'class Mine:\n    """Mine."""\n    needs = ()\n'
    fragment = "schema: 1\naudit:\n  mine: {inversions: 3, comparisons: 396}\n"
    install("extra", metric + announcing(fragment), mine=body)
    assert "preferred the wrong explanation in 3 of 396 comparisons" in cli("info", "mine")[1]
    assert "preferred the wrong explanation in 0 of 396 comparisons" in cli("info", "comprehensiveness")[1]
    assert "in the audit" not in cli("info", "entropy")[1]


@pytest.mark.filterwarnings("default")  # printed as one line
@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("schema: 1\nmodels: [", "not valid YAML"),
        ("schema: 1\nmodells: {}", "modells"),
        ("schema: 2", "schema"),
        ("schema: 1\naudit: {kendall: {inversions: 0, comparisons: 1}}", "audit.kendall is defined twice"),
        ("schema: 1\ndefaults: {task: mine}", "defaults: not allowed in a plugin"),
        ("schema: 1\nmodels: {tiny: {model: fcam}}", "models.tiny.summary"),
        ("schema: 1\nmodels: {tiny: {model: fcam, summary: [1]}}", "models.tiny.summary"),
    ],
)
def test_a_broken_fragment_is_attributed_and_left_out_alone(
    fragment: str, said: str, install: Install, cli: Cli
) -> None:
    install("extra", announcing(fragment))
    code, out, err = cli("info", "fcam-mlp")
    assert code == 0
    assert "fcam-mlp" in out
    (line,) = err.splitlines()
    assert line.startswith("warning: Registry of plugin extra (attnx-extra 1.2): ")
    assert said in line
