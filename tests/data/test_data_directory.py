"""A data directory that is none is one line, whatever is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import attnx

Cli = Callable[..., tuple[int, str, str]]
SMALL = ("--task", "sdc-2d:train=8,dev=4,test=4", "--train", "epochs=1")


@pytest.mark.parametrize(
    "asked",
    [
        ("evaluate", *SMALL),
        ("evaluate", "--task", "imdb"),
        ("study", "uniform-attention", *SMALL),
        ("data", "list"),
        ("data", "where", "imdb"),
    ],
)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_data_directory_that_does_not_exist_is_refused(
    asked: tuple[str, ...], by: str, cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nope = tmp_path / "nope"
    if by == "environment":
        monkeypatch.setenv("ATTNX_DATA", str(nope))
    code, out, err = cli(*asked, *(("--data-dir", str(nope)) if by == "option" else ()))
    assert (code, out) == (4, "")
    wrong = f"error: The data directory '{nope}' does not exist (--data-dir, ATTNX_DATA)."
    assert err == f"{wrong} The task sdc-digits needs no files.\n"
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_data_directory_that_does_not_exist_is_refused_in_python_too(tmp_path: Path) -> None:
    with pytest.raises(attnx.DataError, match="does not exist"):
        attnx.evaluate("sdc-2d:train=8,dev=4,test=4", data_dir=tmp_path / "nope", progress=False)
