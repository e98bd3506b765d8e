"""Whatever is typed or written in a file is read, or refused in one line with the right exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from fuzzing import fuzzed
from hypothesis import strategies as st

from attnx.cli.app import main
from attnx.errors import AttnxError
from attnx.registry.plain_yaml import load_yaml
from attnx.registry.schema import parse_registry
from attnx.request.parsing import read_request
from attnx.request.spec import Choice
from attnx.results.report import Report

PIECES = [
    *("task", "model", "seeds", "limit", "training", "metrics", "schema", "datasets", "defaults", "sources"),
    *(": ", "\n", "\n  ", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "!!bool ", "!!int ", "? ", "|\n", "#"),
    *("0x_", "2024-13-01", "1e999", ".nan", ".inf", "9" * 5000, "-1", "''", '"', "\x1b[31m", "\u202e", "é"),
    *("sdc-2d", "fcam:width=2", "bilstm:embedding=1", "kendall", "0-3", "train=2", "null", "true", "~"),
]
text = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join)
words = st.lists(
    st.sampled_from(["list", "info", "evaluate", "sweep", "study", "--task", "--model", "--seeds", "--limit"])
    | st.sampled_from(
        ["--metric", "--train", "--spec", "--json", "--dry-run", "sdc-2d", "fcam:width=x", "0-"]
    )
    | st.text(max_size=12).filter(lambda word: "\x00" not in word),
    max_size=5,
)


@fuzzed(60, text)
def test_yaml_is_plain_data_or_refused(written: str) -> None:
    with contextlib.suppress(ValueError):
        load_yaml(written)


@fuzzed(60, text)
def test_specs_are_read_or_refused(written: str) -> None:
    path = Path(os.environ["ATTNX_HOME"]) / "fuzzed.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written, encoding="utf-8", errors="surrogatepass")
    with contextlib.suppress(AttnxError):
        read_request({}, path)


@fuzzed(60, text)
def test_options_and_registries_are_read_or_refused(written: str) -> None:
    for read in (Choice.parse, lambda one: parse_registry(one, "fuzzed")):
        with contextlib.suppress(AttnxError):
            read(written)


@fuzzed(60, text | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(str))
def test_reports_are_read_or_refused(written: str) -> None:
    with contextlib.suppress(ValueError):
        Report.from_json(written)


@fuzzed(60, words)
def test_the_command_line_answers_in_one_line(asked: list[str]) -> None:
    if {"evaluate", "study", "sweep"} & set(asked) and "sdc-2d" in asked:  # it might compute
        return
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["attnx", *asked]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch("attnx.api.evaluate.evaluate_spec", side_effect=SystemError("computes")),
        patch("attnx.api.study.study_spec", side_effect=SystemError("computes")),
        patch("attnx.run.workers.sweep.carry_out_sweep", side_effect=SystemError("computes")),
        pytest.raises(SystemExit) as left,
    ):
        main()
    assert "computes" in err.getvalue() or left.value.code in (0, 2), (asked, err.getvalue())
    assert "Traceback" not in err.getvalue()
    assert err.getvalue().count("error:") <= 1
    assert len(err.getvalue()) < 5000
