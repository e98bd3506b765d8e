"""Sweeps, reproductions, planted triggers and fetched data on disk: killed while written, damaged afterwards.

attnx never reads a stored sweep, reproduction or report of a planted trigger: the same command writes them
again from sealed runs.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import count_cases
from kills import deaths
from loopback import serving, tarball, whole
from planted_texts import WORDS, texts

import attnx
from attnx.disk import HIDDEN
from attnx.errors import AttnxWarning
from attnx.registry.text import registry_path
from attnx.request.grid import plan_sweep, read_grid
from attnx.results.reproduction import ColumnShown, Measured, Reproduction
from attnx.results.result import Result
from attnx.results.sweep import SweepReport
from attnx.store.home import home
from attnx.store.reproductions import write_reproduction
from attnx.store.sweeps import write_sweep

GRID: dict[str, Any] = {
    "task": "sdc-2d:train=12,dev=4,test=4",
    "projection": ["softmax", "sparsemax"],
    "metrics": ["nnz"],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SweepReport]:
    """A stored sweep; its home is that of the tests that use it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(tmp_path_factory.mktemp("home") / "home"))
        yield swept()


def swept() -> SweepReport:
    return attnx.sweep(**GRID, training={"epochs": 1}, executor="in-process", progress=False)


def reproduction(mean: float) -> Reproduction:
    value = Measured(
        row="a", column="accuracy", mean=mean, low=0, high=1, seeds=(mean,), cells=1, published=None
    )
    return Reproduction(
        experiment="x", summary="A table.", source="A paper, Table 1", size="small", command="attnx x",
        date="2026-01-01", seeds=(0,), data={"x": "24 test"}, training={}, rows=("a",),
        columns=(ColumnShown(name="accuracy", digits=2, given=False),), values=(value,), claims=(),
        left_out=(), ours=(), runs=("a" * 16,), seconds=1.0,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def holds(write: Callable[[Any], Path], old: Result, new: Result, root: Path) -> int:
    """Kill the writer before its n-th change, for every n: a reader sees the old folder or the new one."""
    after = contents(write(new))
    folder = write(old)
    before = contents(folder)
    assert before != after
    number = 0
    for number in deaths(root, lambda: write(new)):
        assert contents(folder) in (before, after), number
        write(old)
        assert not list(root.rglob(f"{HIDDEN}*")), number
    count_cases(number)
    return number


def test_a_reproduction_that_is_written_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    write = lambda one: write_reproduction(one, tmp_path / "all")  # noqa: E731
    assert holds(write, reproduction(0.25), reproduction(0.75), tmp_path) >= 8


def test_a_sweep_that_is_written_is_the_old_or_the_new_one(found: SweepReport, tmp_path: Path) -> None:
    from attnx.host.catalog import Catalog

    cells = plan_sweep(read_grid(GRID, None), Catalog.installed()).cells
    write = lambda one: write_sweep(one, cells, tmp_path / "all")  # noqa: E731
    assert holds(write, found.model_copy(update={"seconds": 7.0}), found, tmp_path) >= 8


def damages(folder: Path) -> Iterator[str]:
    """Damage a stored folder in every way, one at a time."""
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        for changed in (b"", content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1]), None):
            if changed is None:
                file.unlink()
                file.mkdir()
            else:
                file.write_bytes(changed)
            count_cases()
            yield f"{file.name}: {'a folder' if changed is None else len(changed)}"
    shutil.rmtree(folder)
    yield "no folder"


def stored_runs() -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in home().glob("runs/*/report.json")}


def test_a_damaged_sweep_is_written_again_from_its_runs(found: SweepReport) -> None:
    folder, cases, runs = found.folder, 0, stored_runs()
    assert folder is not None
    assert len(runs) == 2
    page = contents(folder).keys()
    for cases, damage in enumerate(damages(folder), 1):  # noqa: B007
        again = swept()
        assert again.rows == found.rows, damage
        assert contents(folder).keys() == page, damage
        assert SweepReport.from_json((folder / "sweep.json").read_text()).rows == found.rows, damage
    assert cases >= 8
    assert stored_runs() == runs, "nothing was computed again"
    shutil.rmtree(folder)
    folder.write_text("a file of the user's")
    with pytest.warns(AttnxWarning, match="is a file, but a folder must be written there"):
        assert swept().rows == found.rows
    assert folder.read_text() == "a file of the user's"
    folder.unlink()


def test_fetched_data_is_whole_or_absent_wherever_the_fetching_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    archive = tarball({"rows.csv": b"text,label\n" + b"a word,b\n" * 99})
    registry, root = tmp_path / "registry.yaml", tmp_path / "home"
    monkeypatch.setenv("ATTNX_REGISTRY", str(registry))
    monkeypatch.setenv("ATTNX_HOME", str(root))
    with serving() as server:
        registry.write_text(
            "schema: 1\ndatasets:\n  rows:\n    summary: Rows.\n    licence: CC0-1.0\n    sources:\n"
            f"      - {{url: '{server.at('/rows.tar', whole(archive))}', archive: tar,"
            f" sha256: {hashlib.sha256(archive).hexdigest()}, members: {{rows.csv: rows.csv}}}}\n"
        )
        number = 0
        root.mkdir()
        for number in deaths(root, lambda: attnx.datasets.fetch("rows")):
            (status,) = attnx.datasets.list()
            folder = attnx.datasets.fetch("rows").folder
            assert (folder / "rows.csv").stat().st_size == 11 + 99 * 9, (number, status)
            assert not [path for path in root.rglob(f"{HIDDEN}*") if path.is_file()], number
            shutil.rmtree(root)
            root.mkdir()
        assert number >= 8
        count_cases(number)


def whole_folder_damaged(folder: Path) -> Iterator[str]:
    """Damage every file of a stored folder: each way for all files at once; then take the folder away."""
    ways: dict[str, Callable[[bytes], bytes | None]] = {
        "emptied": lambda content: b"",
        "cut off": lambda content: content[: len(content) // 2],
        "edited": lambda content: content.translate(bytes.maketrans(b"0123456789", b"1234567899")),
        "a folder": lambda content: None,
    }
    for name, way in ways.items():
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            changed = way(file.read_bytes())
            file.unlink()
            if changed is None:
                file.mkdir()
            else:
                file.write_bytes(changed)
        yield name
    shutil.rmtree(folder)
    yield "no folder"


def told_again(ask: Callable[[], Result], folder: Path) -> None:
    """Whatever happened to a stored folder, the same call gives and writes what it gave before."""
    told, runs = ask(), stored_runs()
    (place,) = folder.iterdir()
    before = contents(place)
    assert len(before) >= 3
    assert runs
    for damage in whole_folder_damaged(place):
        again = ask()
        assert said(again.to_json()) == said(told.to_json()), damage
        after = contents(place)
        assert after.keys() == before.keys(), damage
        for name, content in after.items():
            if name.endswith(".json"):
                assert said(content.decode()) == said(told.to_json()), damage
    assert stored_runs() == runs, "nothing was computed again"


def said(text: str) -> dict[str, Any]:
    """All that a result says but how long it took, and when."""
    fields: dict[str, Any] = json.loads(text)
    return {name: value for name, value in fields.items() if name not in ("seconds", "date")}


TABLE = """
  tiny:
    summary: Two ways to attend to points.
    source: 'A paper, table 1'
    task: sdc-2d
    metrics: [nnz]
    columns: {nnz: {measure: nnz}}
    rows:
      soft: {model: fcam, projection: softmax, published: {nnz: 4.5}}
      sparse: {model: fcam, projection: sparsemax, published: {nnz: 1.9}}
    claims:
      - {says: Softmax spreads its weight wider, column: nnz, higher: soft, than: sparse}
    standard: {tasks: {'sdc-2d:train=12,dev=4': test=4}, training: {epochs: 1}, seeds: 0-1}
"""


def test_a_damaged_reproduction_is_written_again_from_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "registry.yaml"
    registry.write_text(registry_path().read_text().replace("\nexperiments:\n", f"\nexperiments:{TABLE}", 1))
    monkeypatch.setenv("ATTNX_REGISTRY", str(registry))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    told_again(
        lambda: attnx.reproduce("tiny", executor="in-process", progress=False), home() / "reproductions"
    )


def test_a_damaged_report_of_a_planted_trigger_is_written_again_from_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    file = tmp_path / "reviews.csv"
    rows = (f"{text},{label}\n" for text, label in zip(*texts(200), strict=True))
    file.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    told_again(
        lambda: attnx.planted(
            f"csv:file={file}",
            "average-add:embedding=16",
            words=WORDS["single"],
            share=0.5,
            removal=False,
            explanations="input-x-gradient",
            training={"epochs": 10, "learning_rate": 0.02},
            progress=False,
        ),
        home() / "planted",
    )
