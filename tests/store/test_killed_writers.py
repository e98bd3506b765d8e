"""A kill at any moment: a reader sees what was there or what was to be, and doing it again completes it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from cases import count_cases
from kills import BOTH, Deaths, killings
from loopback import serving, tarball, whole

import attnx
from attnx.data.cache import Cache
from attnx.disk import HIDDEN, delete_folder, write_file
from attnx.errors import AttnxWarning
from attnx.registry.datasets import Dataset
from attnx.results.report import Report
from attnx.results.study import StudyReport
from attnx.run.workers.jobs import write_sent
from attnx.store import run_list, runs, saved_reports
from attnx.store.runs import Runs, read_study, write_study
from attnx.store.weights import Weights
from attnx.views.export import write_figures

TASK = "sdc-2d:train=8,dev=4,test=4"
NAME = "0123456789abcdef"
each_way = pytest.mark.parametrize("deaths", BOTH)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, StudyReport]:
    asked: dict[str, Any] = {"training": {"epochs": 1}, "progress": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(tmp_path_factory.mktemp("home")))
        run = attnx.evaluate(TASK, metrics=["nnz"], **asked)
        run.examples()  # or they would be read from a folder that is gone
        return run.with_examples(run.examples()), attnx.study("uniform-attention", TASK, **asked)


@dataclass
class Deed:
    """Something that changes a folder, and what a reader sees of it."""

    work: Callable[[], Any]
    seen: Callable[[], Any]
    before: Any  # what may be seen until it is done
    after: Any


def holds(deed: Deed, root: Path, least: int, deaths: Deaths) -> None:
    """Kill it at every change; each time from the same start, and do it again."""
    start = root.parent / "start"
    shutil.copytree(root, start)
    number, unchanged = 0, 0
    for number in deaths(root, deed.work):
        seen = deed.seen()
        assert seen in (deed.before, deed.after), number
        unchanged += seen == deed.before
        deed.work()
        assert deed.seen() == deed.after, number
        assert not list(root.rglob(f"{HIDDEN}*")), number
        shutil.rmtree(root)
        shutil.copytree(start, root)
    assert number >= least
    assert unchanged > 0
    count_cases(number)


@each_way
@pytest.mark.parametrize("existing", [False, True])
def test_runs_with_their_examples_and_pages(
    reports: tuple[Report, StudyReport],
    tmp_path: Path,
    existing: bool,
    monkeypatch: pytest.MonkeyPatch,
    deaths: Deaths,
) -> None:
    first, second = (reports[0].model_copy(update={"fingerprint": NAME, "seconds": {"d": n}}) for n in (1, 2))
    kept = reports[0].examples()
    monkeypatch.setattr(Report, "to_html", lambda self, *_: f"page of {self.seconds}")
    store = Runs(tmp_path / "runs")
    store.root.mkdir()
    if existing:
        store.write(first, kept)

    def seen() -> Any:
        found = store.find(NAME)
        return found and (found.seconds, len(found.examples().ids), [run.fingerprint for run in store])

    before = ({"d": 1}, 4, [NAME]) if existing else None
    deed = Deed(lambda: store.write(second, kept), seen, before, ({"d": 2}, 4, [NAME]))
    holds(deed, store.root, least=15, deaths=deaths)


@each_way
@pytest.mark.parametrize("existing", [False, True])
def test_weights(tmp_path: Path, existing: bool, deaths: Deaths) -> None:
    store = Weights(tmp_path / "weights")
    store.root.mkdir()
    if existing:
        store.write("key", {"w": torch.zeros(3)}, {"n": 1})

    def seen() -> Any:
        found = store.find("key")
        return found and (found[0]["w"].tolist(), found[1])

    before = ([0, 0, 0], {"n": 1}) if existing else None
    work = lambda: store.write("key", {"w": torch.ones(3)}, {"n": 2})  # noqa: E731
    holds(Deed(work, seen, before, ([1, 1, 1], {"n": 2})), store.root, least=6, deaths=deaths)


@each_way
@pytest.mark.parametrize("existing", [False, True])
def test_studies(
    reports: tuple[Report, StudyReport],
    tmp_path: Path,
    existing: bool,
    monkeypatch: pytest.MonkeyPatch,
    deaths: Deaths,
) -> None:
    monkeypatch.setattr(StudyReport, "to_html", lambda self, *_: f"page of {self.seconds}")
    first, second = (reports[1].model_copy(update={"seconds": n}) for n in (1.0, 2.0))
    root = tmp_path / "studies"
    root.mkdir()
    if existing:
        write_study(first, root)

    def seen() -> Any:
        return [found and found.seconds for found in map(read_study, sorted(root.glob("[!.]*")))]

    before = [1.0] if existing else []
    holds(Deed(lambda: write_study(second, root), seen, before, [2.0]), root, least=12, deaths=deaths)


@each_way
def test_deleting(
    reports: tuple[Report, StudyReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaths: Deaths
) -> None:
    monkeypatch.setattr(StudyReport, "to_html", lambda self, *_: "page")
    root = tmp_path / "studies"
    folder = write_study(reports[1], root)

    def work() -> None:
        if folder.exists():
            delete_folder(folder)
        write_file(root / "after", "")  # whoever writes next clears what is left

    def seen() -> bool:
        assert not folder.exists() or read_study(folder) is not None
        return folder.exists()

    holds(Deed(work, seen, True, False), root, least=6, deaths=deaths)


@each_way
def test_the_note_and_the_page_over_all_runs(
    reports: tuple[Report, StudyReport], tmp_path: Path, deaths: Deaths
) -> None:
    root = tmp_path / "studies"
    folder = write_study(reports[1], root)
    (folder / runs.PAGE).unlink()
    page = root / "index.html"
    page.write_text("old")

    def work() -> None:
        run_list.list_runs(root)
        saved_reports.write_index(list(saved_reports.saved_reports(root)), page)

    def seen() -> tuple[list[str], bool, bool]:
        names = [line.name for line in run_list.list_runs(root) if line.kind == "study"]
        text = page.read_text()
        assert text == "old" or text.rstrip().endswith("</html>")
        whole = not (folder / runs.PAGE).exists() or "</html>" in (folder / runs.PAGE).read_text()
        return names, whole, text != "old"

    holds(
        Deed(work, seen, ([folder.name], True, False), ([folder.name], True, True)),
        root,
        least=10,
        deaths=deaths,
    )


@each_way
@pytest.mark.slow
def test_figures_and_pages_that_are_exported(
    reports: tuple[Report, StudyReport], tmp_path: Path, deaths: Deaths
) -> None:
    root = tmp_path / "figures"
    names = {path.name for path in write_figures(reports[0], "svg", root)}
    assert names
    for path in root.iterdir():
        path.write_text("old")

    def work() -> None:
        write_figures(reports[0], "svg", root)

    def seen() -> str:
        texts = {path.read_text() for path in root.glob("[!.]*")}
        assert all(text == "old" or text.rstrip().endswith("</svg>") for text in texts)
        return "old" if "old" in texts else "new"

    holds(Deed(work, seen, "old", "new"), root, least=5, deaths=deaths)


@each_way
def test_what_workers_elsewhere_bring(
    reports: tuple[Report, StudyReport], home: Path, deaths: Deaths
) -> None:
    """A run of a sweep comes whole: its report is never seen without its seal, or beside another's."""
    first, second = (reports[0].model_copy(update={"fingerprint": NAME, "seconds": {"d": n}}) for n in (1, 2))
    Runs(home / "elsewhere").write(second, reports[0].examples())
    brought = tuple(
        (f"runs/{NAME}/{file.name}", file.read_bytes()) for file in (home / "elsewhere" / NAME).iterdir()
    )
    shutil.rmtree(home / "elsewhere")
    Runs().write(first, reports[0].examples())

    def seen() -> Any:
        found = Runs().find(NAME)
        return found and (found.seconds, len(found.examples().ids))

    holds(
        Deed(lambda: write_sent(brought), seen, ({"d": 1}, 4), ({"d": 2}, 4)), home, least=12, deaths=deaths
    )


@each_way
@pytest.mark.parametrize("damaged", [False, True])
def test_the_cache_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool, deaths: Deaths
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    archive = tarball({"a.csv": b"a,b\n" * 999, "b.csv": b"c,d\n" * 999})
    root = tmp_path / "data"
    root.mkdir()
    with serving() as server:
        fields = {
            "url": server.at("/rows.tar", whole(archive)),
            "archive": "tar",
            "sha256": hashlib.sha256(archive).hexdigest(),
            "members": {"a.csv": "a.csv", "b.csv": "b.csv"},
        }
        rows = Dataset.model_validate({"summary": "Rows.", "licence": "CC0-1.0", "sources": [fields]})
        (source,) = rows.sources
        cache = Cache(root)
        if damaged:
            (cache.obtain(source, "rows") / "a.csv").write_text("changed")
            with pytest.warns(AttnxWarning, match="was changed after it was unpacked"):  # once per file
                assert cache.find(source) is None

        def seen() -> Any:
            folder = cache.find(source)
            return folder and sorted((file.name, file.stat().st_size) for file in folder.glob("*.csv"))

        after = [("a.csv", 3996), ("b.csv", 3996)]
        holds(Deed(lambda: cache.obtain(source, "rows"), seen, None, after), root, least=8, deaths=deaths)
        holds_removed(cache, source, root, deaths)


def holds_removed(cache: Cache, source: Any, root: Path, deaths: Deaths) -> None:
    """A dataset that is being deleted is whole or gone."""
    shutil.rmtree(root.parent / "start")
    cache.obtain(source, "rows")

    def work() -> None:
        cache.remove(source)

    holds(Deed(work, lambda: cache.find(source) is not None, True, False), root, least=4, deaths=deaths)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "study", "sweep"])
def test_whole_commands(home: Path, command: str) -> None:
    """Whatever was being written, the same command afterwards says what it would have said at first."""
    asked: dict[str, Any] = {"training": {"epochs": 1}, "progress": False}

    def work() -> Any:
        if command == "evaluate":
            report = attnx.evaluate(TASK, metrics=["nnz"], **asked)
            return [report.summaries, report.examples().ids]
        if command == "study":
            return attnx.study("uniform-attention", TASK, **asked).findings
        return [row.values for row in attnx.sweep(TASK, metrics=["nnz"], workers=1, **asked).rows]

    whole = work()
    shutil.rmtree(home)
    home.mkdir()
    number = 0
    for number in killings(home, work):
        for line in run_list.list_runs():
            assert line.kind != "unreadable"
        assert work() == whole, number
        # The next writer clears what a killed one left; whole weights and data are not written again.
        left = [path for path in home.rglob(f"{HIDDEN}*") if path.parent.name not in ("data", "weights")]
        assert not left, number
        shutil.rmtree(home)
        home.mkdir()
    count_cases(number)
    assert number >= 5  # of a sweep's driver; its workers' are counted by what they bring
