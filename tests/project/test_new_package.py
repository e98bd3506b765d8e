"""`attnx new`: every package passes its check and its tests at once, and docs/first_plugin.md is replayed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from documented import ROOT, assert_shown, commands
from forked_pytest import forked_pytest

import attnx
from attnx.api.new_package import KINDS

Cli = Callable[..., tuple[int, str, str]]
PAGE = (ROOT / "docs" / "first_plugin.md").read_text(encoding="utf-8")


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own; it must end well."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
    found = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found


@pytest.fixture
def imported() -> Iterator[None]:
    """Forgets the modules of packages that a test made."""
    before = set(sys.modules)
    yield
    for module in set(sys.modules) - before:
        if module.startswith("attnx_"):
            del sys.modules[module]


@pytest.mark.usefixtures("imported")
def test_every_package_passes_its_check_and_its_tests(tmp_path: Path, cli: Cli) -> None:
    folders = []
    for kind in KINDS:
        folders.append(attnx.components.new(kind, f"own-{kind}", into=tmp_path / kind))
        code, out, err = cli("check", f"{folders[-1]}/attnx_own_{kind}/own_{kind}.py")
        assert code == 0, out + err
        assert f"Own{kind.capitalize()}" in out
    tests = [str(folder / "tests") for folder in folders]
    home = str(tmp_path / "home")
    code, out = forked_pytest(["-q", "-c", "/dev/null", *tests], folders, ATTNX_HOME=home)
    assert code == 0, out
    assert "17 passed" in out


def test_the_files_are_tidy(tmp_path: Path) -> None:
    for kind in KINDS:
        folder = attnx.components.new(kind, f"own-{kind}", into=tmp_path / kind)
        ruff = [Path(sys.executable).with_name("ruff")]
        rules = ["--isolated", "--config", 'lint.select=["E","F","B","UP"]']
        rules += ["--config", "line-length=110", "--config", f'src=["{folder}"]']
        run(*ruff, "check", *rules, folder)
        assert not list(folder.rglob("*.txt"))
        assert "$" not in (folder / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("metrc", "a"), "Unknown kind 'metrc'. Did you mean 'metric'?"),
        (("metric", "Top Share"), "'Top Share' is not a valid name: use lower-case letters"),
        (("metric", "../up"), "is not a valid name"),
        (("metric", "class"), "The name 'class' cannot be used for a module"),
        (("metric", "options"), "The name 'options' cannot be used for a module"),
        (("metric", "focus"), "The metric 'focus' exists already, in plugin"),
        (("method", "loo"), "The method 'loo' exists already, in plugin"),
    ],
)
def test_a_wrong_name_is_refused(
    arguments: tuple[str, str], reason: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = cli("new", *arguments)
    assert code == 2
    assert reason in err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "attnx-mine").mkdir()  # an empty folder is fine
    assert cli("new", "metric", "mine")[0] == 0
    mine = tmp_path / "attnx-mine" / "README.md"
    mine.write_text("mine")
    code, _, err = cli("new", "metric", "mine")
    assert code == 2
    assert "'attnx-mine' exists and is not empty. Choose another folder with --into." in err
    assert mine.read_text() == "mine"
    (tmp_path / "file").write_text("")
    assert cli("new", "metric", "mine", "--into", "file")[0] == 2


def steps() -> Iterator[tuple[str, str]]:
    """The blocks of the page with their language, in their order."""
    yield from re.findall(r"```(transcript|python|yaml)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.usefixtures("imported")
def test_the_page_about_a_first_plugin_is_replayed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    package = tmp_path / "attnx-early-share" / "attnx_early_share"
    done = 0
    for language, block in steps():
        if language == "python":
            _edit(package / "early_share.py", block)
        elif language == "yaml":
            (package / "early_share.yaml").write_text(block)
        else:
            for command, shown in commands(block):
                _forget(package.name)
                _carry_out(command, shown, cli, tmp_path, monkeypatch)
                done += 1
    assert done == 8


def _edit(file: Path, block: str) -> None:
    """Replace the docstring of the class, or the method of the same name."""
    text = file.read_text()
    first = block.splitlines()[0].strip()
    if first.startswith('"""'):
        edited = re.sub(r'    """.*?"""\n', block, text, count=1)
    else:
        assert first.split("(")[0] in text
        edited = text[: text.index("    def __call__")] + block
    assert edited != text
    file.write_text(edited)


def _forget(package: str) -> None:
    """Each command of a user is a process of its own."""
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[module]


def _carry_out(command: str, shown: str, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = command.split()
    if words[0] == "cd":
        monkeypatch.chdir(words[1])
        return
    if words[0] == "attnx":
        code, out, err = cli(*words[1:])
        assert code == (1 if "FAILED" in shown else 0), err
    elif "pytest" in words:
        code, out = forked_pytest(words[words.index("pytest") + 1 :])
        assert code == 0, out
    else:
        pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--no-build-isolation"]
        out = run(*pip, "--target", folder / "site", ".").stdout
        monkeypatch.syspath_prepend(str(folder / "site"))
    assert_shown(shown, out)
