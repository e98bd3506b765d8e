"""YAML of anybody's is read within limits, or refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attnx.registry.plain_yaml import load_yaml

BOMB = "a0: &a0 [1, 2]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
HOSTILE = {
    "an impossible date": ("!!timestamp 2024-13-45", "cannot be read"),
    "a date that is asked for": ("!!timestamp 2024-01-02", "a date is not a string"),
    "no digits": ("0x_", "cannot be read"),
    "too many digits": ("9" * 5000, "cannot be read"),
    "no number": ("!!int ", "cannot be read"),
    "no truth value": ("!!bool maybe", "cannot be read"),
    "bytes": ("!!binary aGk=", "a bytes is not a string"),
    "a set": ("!!set {a, b}", "a set is not a string"),
    "an object": ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
    "brackets": ("[" * 200_000, "nested more than 50 deep"),
    "braces": ("{a: " * 200_000, "nested more than 50 deep"),
    "dashes": ("- " * 200_000, "nested more than 50 deep"),
    "keys": ("? " * 200_000, "nested more than 50 deep"),
    "itself": ("&a [*a]", "is undefined or refers to itself"),
    "an alias bomb": (BOMB, "more than 200000 values"),
    "a large file": ("a" * 4_000_001, "characters, more than 4000000"),
    "a control character": ("a: \x00", "unacceptable character|not allowed"),
    "a key twice": ("{a: 1, b: 2, a: 3}", "the key 'a' occurs twice"),
    "a key twice in another": ("x:\n  - task: a\n    task: b", "the key 'task' occurs twice"),
    "a number twice": ("{16: 1, 0x10: 2}", "the key '0x10' occurs twice"),
    "a list as a key": ("{[1]: 2}", "unhashable|cannot be read"),
}


@pytest.mark.parametrize(("text", "said"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        load_yaml(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-02", "2024-01-02"),
        ("{a: &x [1, 2.5], b: *x}", {"a": [1, 2.5], "b": [1, 2.5]}),
        ("[yes, null, 0x10, 1e3, .5]", [True, None, 16, "1e3", 0.5]),
        ("", None),
        ("{x: &x {a: 1, b: 2}, y: {<<: *x, a: 3}}", {"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 2}}),
        ("{1: a, '1': b}", {1: "a", "1": "b"}),
    ],
)
def test_plain_data_is_read(text: str, value: Any) -> None:
    assert load_yaml(text) == value


@pytest.mark.parametrize("command", ["evaluate", "sweep"])
@pytest.mark.parametrize("name", ["brackets", "an alias bomb", "too many digits", "an impossible date"])
def test_a_hostile_spec_is_a_mistake(cli: Any, tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "spec.yaml").write_text(f"task: {HOSTILE[name][0]}" if name != "an alias bomb" else BOMB)
    code, out, err = cli(command, "--spec", str(tmp_path / "spec.yaml"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is not valid YAML" in err


def test_a_hostile_registry_is_told_and_nothing_dies(tmp_path: Path) -> None:
    (tmp_path / "registry.yaml").write_text("schema: " + "[" * 200_000)
    program = "from attnx.cli.app import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "info", "fcam"],
        env=os.environ | {"ATTNX_REGISTRY": str(tmp_path / "registry.yaml")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 3, ended.stderr
    assert "nested more than 50 deep" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_is_echoed_is_short(cli: Any) -> None:
    for asked in (
        ["--task", "x" * 100_000],
        ["--seeds", "9" * 100_000],
        ["--model", "fcam:" + "y" * 100_000],
    ):
        code, out, err = cli("evaluate", *asked)
        assert (code, out) == (2, "")
        assert len(err) < 2100
