"""A dataset is found where it should be, whole, or the error says what was tried."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loopback import Server, serving, status, tarball, whole

from attnx.data.access import Source
from attnx.data.cache import MANIFEST
from attnx.errors import AttnxWarning, DataError, MachineError, PluginError
from attnx.host.plugins import Plugin
from attnx.registry.datasets import Dataset
from attnx.registry.schema import parse_registry, read_registry

ROWS = os.urandom(60_000)
ARCHIVE = tarball({"inner/rows.csv": ROWS})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


def dataset(*urls: str, archive: bytes = ARCHIVE) -> Dataset:
    sha256 = hashlib.sha256(archive).hexdigest()
    facts = {"archive": "tar", "sha256": sha256, "members": {"rows.csv": "inner/rows.csv"}}
    sources = [{"url": url} | facts for url in urls]
    return Dataset.model_validate({"summary": "Rows.", "licence": "CC0-1.0", "sources": sources})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def shown(root: Path) -> list[str]:
    """What is in the cache, locks aside."""
    return sorted(path.name for path in root.iterdir() if path.suffix != ".lock")


def test_a_dataset_is_fetched_once_with_its_provenance(server: Server, root: Path) -> None:
    url = server.at("/rows.tar", whole(ARCHIVE))
    source = Source(datasets={"rows": dataset(url)}, cache=root)
    assert source.where("rows") is None
    fetched = source.fetch("rows")
    assert (fetched.folder / "rows.csv").read_bytes() == ROWS
    sha256 = hashlib.sha256(ARCHIVE).hexdigest()
    assert fetched.provenance == {
        "dataset": "rows", "kind": "url", "url": url, "sha256": sha256, "licence": "CC0-1.0"
    }  # fmt: skip
    assert source.fetch("rows") == source.where("rows") == fetched
    assert len(server.asked) == 1
    assert shown(root) == [fetched.folder.name]


def test_the_next_source_is_used_when_one_fails_and_the_provenance_says_so(
    server: Server, root: Path
) -> None:
    bad, good = server.at("/bad", status(404)), server.at("/good", whole(ARCHIVE))
    fetched = Source(datasets={"rows": dataset(bad, good)}, cache=root).fetch("rows")
    assert fetched.provenance["url"] == good


def test_every_failure_is_told_in_one_line_with_a_way_out(server: Server, root: Path) -> None:
    wrong = server.at("/wrong", whole(b"something else"))
    rows = dataset(server.at("/gone", status(404)), wrong)
    source = Source(datasets={"rows": rows}, cache=root, fallback_task="sdc-digits")
    with pytest.raises(DataError) as caught:
        source.fetch("rows")
    message = str(caught.value)
    assert "\n" not in message
    expected = ("no local folder", "/gone answered HTTP 404", "/wrong has sha256", "--data-dir", "ATTNX_DATA")
    assert all(words in message for words in (*expected, "rows.csv", "sdc-digits"))
    assert shown(root) == []


def test_offline_uses_what_is_here_and_asks_nobody(
    server: Server, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = {"rows": dataset(server.at("/rows.tar", whole(ARCHIVE)))}
    monkeypatch.setenv("ATTNX_OFFLINE", "1")
    with pytest.raises(DataError, match=r"/rows.tar: offline \(ATTNX_OFFLINE is set\).*sdc-digits"):
        Source.configured(datasets, root, fallback_task="sdc-digits").fetch("rows")
    assert server.asked == []
    monkeypatch.setenv("ATTNX_OFFLINE", "0")
    fetched = Source.configured(datasets, root).fetch("rows")
    monkeypatch.setenv("ATTNX_OFFLINE", "1")
    assert Source.configured(datasets, root).fetch("rows") == fetched


def test_every_error_of_missing_data_names_a_task_that_needs_none(tmp_path: Path, root: Path) -> None:
    (tmp_path / "rows").mkdir()
    known = {"rows": dataset("http://x/")}
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    failing: list[Callable[[], object]] = [
        lambda: Source(tmp_path / "nope", fallback_task="sdc-digits"),
        lambda: Source(tmp_path, known, root, fallback_task="sdc-digits").fetch("rows"),  # incomplete
        lambda: Source(None, known, root, offline=True, fallback_task="sdc-digits").fetch("rows"),
        lambda: (_ for _ in ()).throw(Source(None, known, fallback_task="sdc-digits").missing("rows")),
    ]
    if not os.access(locked, os.R_OK):  # the superuser may read everything
        failing.append(lambda: Source(locked, fallback_task="sdc-digits"))
    for fail in failing:
        with pytest.raises(DataError, match=r"\. The task sdc-digits needs no files\.$"):
            fail()


@pytest.mark.parametrize("place", ["rows/rows.csv", "rows.csv"])
def test_a_local_folder_comes_first(
    server: Server, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    datasets = {"rows": dataset(server.at("/rows.tar", whole(ARCHIVE)))}
    Source(datasets=datasets, cache=root).fetch("rows")
    mine = tmp_path / "mine" / place
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"my rows")
    monkeypatch.setenv("ATTNX_DATA", str(tmp_path / "mine"))
    fetched = Source.configured(datasets, root).fetch("rows")
    assert (fetched.folder / "rows.csv").read_bytes() == b"my rows"
    assert fetched.provenance == {
        "dataset": "rows",
        "kind": "local",
        "folder": str(mine.parent),
        "sha256": hashlib.sha256(b"my rows").hexdigest(),
        "licence": "CC0-1.0",
    }
    other = Source.configured(datasets, root, tmp_path)
    assert other.fetch("rows").provenance["kind"] == "url"


def test_an_incomplete_local_folder_is_not_replaced_by_a_download(
    server: Server, tmp_path: Path, root: Path
) -> None:
    datasets = {"rows": dataset(server.at("/rows.tar", whole(ARCHIVE)))}
    (tmp_path / "rows").mkdir()
    with pytest.raises(DataError, match=r"not a complete 'rows' dataset: it must hold rows.csv"):
        Source(tmp_path, datasets, root).fetch("rows")
    assert server.asked == []


def test_a_data_directory_that_is_none_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typo = tmp_path / "typo"
    with pytest.raises(
        DataError, match=rf"^The data directory '{typo}' does not exist \(--data-dir, ATTNX_DATA\)"
    ):
        Source(typo)
    monkeypatch.setenv("ATTNX_DATA", str(typo))
    with pytest.raises(DataError, match="does not exist"):
        Source.configured({}, tmp_path)
    typo.write_text("")
    with pytest.raises(DataError, match="is not a folder"):
        Source.configured({}, tmp_path)


@pytest.mark.parametrize("locked", [".", "rows"])
def test_a_local_folder_that_may_not_be_read_is_one_line(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    (tmp_path / "rows").mkdir()
    # Permissions do not bind root, so the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path / locked)
    with pytest.raises(DataError, match=f"^Cannot read '{tmp_path / locked}': permission denied"):
        Source(tmp_path, {"rows": dataset("http://x/")}, root).where("rows")


def test_the_local_folder_of_a_dataset_is_the_one_it_would_be_read_from(tmp_path: Path) -> None:
    source = Source(tmp_path, {"rows": dataset("http://x/")})
    assert source.local_folder("rows") is None
    assert source.local_folder("unknown") == tmp_path
    (tmp_path / "rows.csv").write_text("")
    assert source.local_folder("rows") == tmp_path
    for name in ("rows", "unknown"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text("")
        assert source.local_folder(name) == tmp_path / name
    assert Source().local_folder("rows") is None


def test_a_dataset_without_sources_needs_a_folder_with_its_layout(tmp_path: Path) -> None:
    facts = {"summary": "Notes.", "licence": "restricted", "layout": "train and test as JSON lines"}
    notes = Dataset.model_validate(facts | {"files": ["train.jsonl*", "test.jsonl*"]})
    source = Source(tmp_path, {"notes": notes, "anything": Dataset.model_validate(facts)})
    with pytest.raises(
        DataError, match=r"does not hold it.*a folder that holds train and test as JSON lines"
    ):
        source.fetch("notes")
    for name in ("notes/train.jsonl.gz", "notes/test.jsonl", "anything/deep/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert source.fetch("notes").folder == tmp_path / "notes"
    (tmp_path / "notes" / "test.jsonl").unlink()
    with pytest.raises(
        DataError, match="a complete 'notes' dataset: it must hold train and test as JSON lines"
    ):
        source.fetch("notes")
    assert source.fetch("anything").folder == tmp_path / "anything"


def test_an_unknown_dataset_names_the_nearest() -> None:
    with pytest.raises(DataError, match=r"Unknown dataset 'row'. Did you mean 'rows'\? Available: rows"):
        Source(datasets={"rows": dataset("http://x/")}).fetch("row")


def test_a_damaged_copy_is_fetched_again(server: Server, root: Path) -> None:
    source = Source(datasets={"rows": dataset(server.at("/rows.tar", whole(ARCHIVE)))}, cache=root)
    path = source.fetch("rows").folder / "rows.csv"
    path.write_bytes(ROWS[:100])
    with pytest.warns(AttnxWarning, match=f"'{path}' was changed after it was unpacked"):
        assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").read_bytes() == ROWS
    (path.parent / MANIFEST).write_text("{")
    assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").read_bytes() == ROWS
    assert shown(root) == [path.parent.name]


def test_a_cache_that_cannot_be_written_is_one_line(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    source = Source(
        datasets={"rows": dataset(server.at("/x", whole(ARCHIVE)))}, cache=tmp_path / "file" / "c"
    )
    with pytest.raises(MachineError, match=r"cannot write to '.*/file/c'"):
        source.fetch("rows")


REGISTRY = """
schema: 1
datasets:
  rows:
    summary: Rows.
    licence: CC0-1.0
    sources:
      - {url: "http://x/y.tar", archive: tar, sha256: %s, members: {%s}}
"""


def test_a_registry_holds_datasets_and_an_error_has_its_place() -> None:
    good = parse_registry(REGISTRY % ("a" * 64, "a: b"), "here")
    assert good.datasets["rows"].sources[0].sha256 == "a" * 64
    with pytest.raises(PluginError, match=r"here: datasets.rows.sources.0.url.sha256: "):
        parse_registry(REGISTRY % ("a" * 63, "a: b"), "here")
    for bad in ("../a: b", "/a: b", "a/: b", "a: b, c: b"):
        with pytest.raises(PluginError, match=r"here: datasets.rows.sources.0.url.members: "):
            parse_registry(REGISTRY % ("a" * 64, bad), "here")


def test_datasets_of_plugins_join_the_projects_own_and_clash_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "registry.yaml").write_text(REGISTRY % ("a" * 64, "a: b"))
    monkeypatch.setenv("ATTNX_REGISTRY", str(tmp_path / "registry.yaml"))
    more = "{schema: 1, datasets: {%s: {summary: More., licence: CC0-1.0}}}"
    joined = read_registry([Plugin("p", "dist", "1", registry=more % "columns")])
    assert set(joined.datasets) == {"rows", "columns"}
    with pytest.warns(UserWarning, match=r"datasets\.rows is defined twice"):
        read_registry([Plugin("p", "dist", "1", registry=more % "rows")])
