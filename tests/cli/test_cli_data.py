"""`attnx data` prints results on stdout and changes nothing but its cache."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from attnx.cli.data import data_app
from attnx.errors import AttnxError, DataError
from attnx.host.plugins import load_plugins
from attnx.registry.schema import read_registry

REGISTRY = """
schema: 1
datasets:
  rows:
    summary: Rows.
    licence: CC0-1.0
    sources:
      - {package: demo-data, index: pypi, version: "1.0", sha256: %s, bytes: 1000, members: {rows.csv: d}}
  lines:
    summary: Lines of the same file.
    licence: CC0-1.0
    sources:
      - {package: demo-data, index: pypi, version: "1.0", sha256: %s, bytes: 1000, members: {rows.csv: d}}
  notes: {summary: Notes., licence: restricted, layout: notes.txt, files: [notes.txt]}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wheel = tmp_path / "demo_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("d", "rows" * 1000)
        archive.writestr(
            "demo_data-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo-data\nVersion: 1.0\n"
        )
        archive.writestr("demo_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    registry = tmp_path / "registry.yaml"
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    registry.write_text(REGISTRY % (sha256, sha256))
    settings = {
        "ATTNX_HOME": str(tmp_path / "home"),
        "ATTNX_REGISTRY": str(registry),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for name in ("ATTNX_DATA", "ATTNX_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(data_app, list(arguments))
    if isinstance(result.exception, AttnxError):
        raise result.exception
    return result


def test_a_dataset_goes_from_unknown_to_here_to_cleared(home: Path) -> None:
    assert "rows   download, 1 kB from pypi" in run("list").stdout
    with pytest.raises(DataError, match="'attnx data fetch rows'"):
        run("where", "rows")
    lines = run("fetch", "rows").stdout.splitlines()
    assert (Path(lines[0]) / "rows.csv").read_text() == "rows" * 1000
    assert "  licence: CC0-1.0" in lines
    assert run("where", "rows").stdout.strip() == lines[0]
    assert "rows   downloaded" in run("list").stdout
    assert run("clear", "rows").stdout.startswith("freed 4 kB")
    assert not Path(lines[0]).exists()
    assert run("clear", "rows").stdout.startswith("freed 0 kB")


def test_clear_without_a_name_also_deletes_what_nothing_accounts_for(home: Path) -> None:
    run("fetch", "rows")
    (home / "data" / "old-1.0-abc").mkdir()
    (home / "data" / "old-1.0-abc" / ".attnx.json").write_text("{}")
    (home / "data" / f".{'a' * 64}.part").write_text("x")
    run("clear")
    assert {path.suffix for path in (home / "data").iterdir()} == {".lock"}


def test_clear_leaves_a_users_own_data_beside_the_downloads_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNX_DATA", str(home / "data"))
    mine = [home / "data" / "mine.csv", home / "data" / "mydataset" / "notes.txt"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    folder = Path(run("fetch", "rows").stdout.splitlines()[0])
    run("clear")
    assert not folder.exists()
    assert all(path.read_text() == "mine" for path in mine)


def test_clear_says_which_other_dataset_goes_too(home: Path) -> None:
    run("fetch", "rows")
    said = run("clear", "rows").stdout.strip()
    assert said == f"freed 4 kB in {home / 'data'}; also deleted, because they share the download: lines"
    assert run("clear", "rows").stdout.strip() == f"freed 0 kB in {home / 'data'}"
    run("fetch", "rows")
    assert "lines" not in run("clear").stdout


def test_where_advises_what_can_work() -> None:
    said = r"'notes' is not on this machine\. Pass --data-dir .* with a folder that holds notes\.txt\."
    with pytest.raises(DataError, match=said):
        run("where", "notes")


@pytest.mark.parametrize("command", [("list",), ("where", "rows"), ("fetch", "rows")])
def test_a_data_directory_that_does_not_exist_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"The data directory '.*/nope' does not exist"):
        run(*command, "--data-dir", str(tmp_path / "nope"))


def test_clear_needs_no_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_DATA", str(tmp_path / "nope"))
    assert run("clear").stdout.startswith("freed 0 kB")


def test_a_local_folder_is_shown_and_never_cleared(home: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "notes").mkdir(parents=True)
    (mine / "notes" / "notes.txt").write_text("mine")
    assert "notes  needs --data-dir" in run("list").stdout
    assert "notes  your folder" in run("list", "--data-dir", str(mine)).stdout
    assert run("where", "notes", "--data-dir", str(mine)).stdout.strip() == str(mine / "notes")
    run("clear", "notes")
    run("clear")
    assert (mine / "notes" / "notes.txt").exists()


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    for command in ("where", "fetch", "clear"):
        with pytest.raises(DataError, match="Did you mean 'rows'"):
            run(command, "rws")


def test_the_projects_own_registry_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTNX_REGISTRY")
    datasets = read_registry(load_plugins(points=())).datasets
    names = {"imdb", "rotten-tomatoes", "20-newsgroups", "glove-50d", "minilm", "cifar10"}
    assert names <= datasets.keys()
    assert all(dataset.layouts for dataset in datasets.values())
