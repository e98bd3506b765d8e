"""Whatever interrupts a fetch, the cache holds a dataset whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock
from loopback import Server, ranges, serving, tarball, whole

from attnx.data.access import Source
from attnx.data.cache import MANIFEST, Cache
from attnx.errors import AttnxWarning, DataError, MachineError
from attnx.progress import Progress, Step
from attnx.registry.datasets import Dataset

ROWS = os.urandom(60_000)
ARCHIVE = tarball({"inner/rows.csv": ROWS})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def dataset(url: str, archive: bytes = ARCHIVE) -> Dataset:
    sha256 = hashlib.sha256(archive).hexdigest()
    members = {"rows.csv": "inner/rows.csv"}
    sources = [{"url": url, "archive": "tar", "sha256": sha256, "members": members}]
    return Dataset.model_validate({"summary": "Rows.", "licence": "CC0-1.0", "sources": sources})


def shown(root: Path) -> list[str]:
    """What is in the cache, locks aside."""
    return sorted(path.name for path in root.iterdir() if path.suffix != ".lock")


class Interrupting(Progress):
    """Raises, as Ctrl-C does, in the stage whose label holds a word."""

    def __init__(self, word: str) -> None:
        super().__init__("off")
        self.word = word

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Step]:
        def step(done: int = 1, note: str = "") -> None:
            if self.word in label:
                raise KeyboardInterrupt

        yield step


@pytest.mark.parametrize("word", ["downloading", "unpacking"])
def test_an_interrupt_leaves_nothing_that_looks_complete(server: Server, root: Path, word: str) -> None:
    large = tarball({"inner/rows.csv": os.urandom(3_000_000)})
    datasets = {"rows": dataset(server.at("/rows.tar", ranges(large)), archive=large)}
    with pytest.raises(KeyboardInterrupt):
        Source(datasets=datasets, cache=root, progress=Interrupting(word)).fetch("rows")
    assert all(name.endswith(".part") for name in shown(root))
    source = Source(datasets=datasets, cache=root)
    assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").stat().st_size == 3_000_000
    went_on = [asked for _, asked in server.asked if asked]
    assert len(went_on) == (word == "downloading")  # the part is continued


FETCH = """
import json, os, signal, sys
from pathlib import Path
from attnx.data import cache
from attnx.registry.datasets import Dataset
from attnx.data.access import Source

facts, root, die = json.loads(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "die"
extract = cache.extract

def deadly(*arguments):
    extract(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

if die:
    cache.extract = deadly
print(Source(datasets={"rows": Dataset.model_validate(facts)}, cache=root).fetch("rows").folder)
"""


def in_process(rows: Dataset, root: Path, die: str = "") -> subprocess.Popen[str]:
    arguments = [json.dumps(rows.model_dump(mode="json")), str(root), die]
    return subprocess.Popen([sys.executable, "-c", FETCH, *arguments], stdout=subprocess.PIPE, text=True)


def test_a_kill_while_unpacking_leaves_nothing_that_looks_complete(server: Server, root: Path) -> None:
    rows = dataset(server.at("/rows.tar", whole(ARCHIVE)))
    with in_process(rows, root, "die") as killed:
        assert killed.wait(60) == -signal.SIGKILL
    assert [name for name in shown(root) if not name.startswith(".writing-")] == []
    assert shown(root) != []  # or the kill came too late to prove anything
    source = Source(datasets={"rows": rows}, cache=root)
    assert source.where("rows") is None
    folder = source.fetch("rows").folder
    assert shown(root) == [folder.name]


def test_a_kill_while_downloading_leaves_a_part_to_go_on_from(server: Server, root: Path) -> None:
    rows = dataset(server.at("/rows.tar", ranges(ARCHIVE, most=40_000, hang=True)))
    part = Cache(root)._part(rows.sources[0])
    with in_process(rows, root) as killed:
        deadline = time.monotonic() + 600
        while not (part.exists() and part.stat().st_size > 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.kill()
    have = part.stat().st_size
    assert 0 < have < len(ARCHIVE)
    server.at("/rows.tar", ranges(ARCHIVE))
    source = Source(datasets={"rows": rows}, cache=root)
    assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").read_bytes() == ROWS
    assert server.asked[-1] == ("/rows.tar", f"bytes={have}-")


def test_threads_and_processes_that_fetch_the_same_share_one_download(server: Server, root: Path) -> None:
    rows = dataset(server.at("/rows.tar", ranges(ARCHIVE, pause=0.03)))  # two seconds
    others = [in_process(rows, root) for _ in range(2)]
    with ThreadPoolExecutor(3) as pool:
        sources = [Source(datasets={"rows": rows}, cache=root) for _ in range(3)]
        folders = {str(fetched.folder) for fetched in pool.map(lambda source: source.fetch("rows"), sources)}
    for other in others:
        folders.add(other.communicate(timeout=600)[0].strip())
        assert other.returncode == 0
    assert len(folders) == 1
    assert len(server.asked) == 1


def test_what_is_being_fetched_is_not_cleared(server: Server, root: Path) -> None:
    rows = dataset(server.at("/rows.tar", ranges(ARCHIVE, most=40_000, hang=True)))
    part = Cache(root)._part(rows.sources[0])
    with in_process(rows, root) as fetching:
        deadline = time.monotonic() + 600
        while not (part.exists() and part.stat().st_size > 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(DataError, match="Another process is downloading"):
            Cache(root).remove(rows.sources[0])
        fetching.kill()
    assert Cache(root).remove(rows.sources[0]) > 0
    assert shown(root) == []


@pytest.mark.parametrize(
    "text", ["[]", "null", "3", '{"files": []}', '{"files": {}}', '{"files": null}', "{}"]
)
def test_a_folder_without_a_sound_manifest_is_not_complete(server: Server, root: Path, text: str) -> None:
    source = Source(datasets={"rows": dataset(server.at("/rows.tar", whole(ARCHIVE)))}, cache=root)
    folder = source.fetch("rows").folder
    (folder / MANIFEST).write_text(text)
    assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").read_bytes() == ROWS


def leftovers(root: Path) -> dict[str, Path]:
    """What earlier versions may have left: a dataset, one that was being written, and a part."""
    folder = root / "rows-0123456789abcdef"
    folder.mkdir(parents=True)
    (folder / "rows.csv").write_bytes(b"rows")
    manifest = {"source": {"sha256": "a" * 64}, "files": {"rows.csv": 4}}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    hidden, part = root / f".writing-{'b' * 64}", root / f".{'c' * 64}.part"
    hidden.mkdir()
    part.write_bytes(b"part")
    return {"a" * 64: folder, "b" * 64: hidden, "c" * 64: part}


def test_the_rest_is_removed_and_a_users_own_files_are_not(root: Path) -> None:
    leftovers(root)
    (root / ".writing-rows").mkdir()
    (root / "damaged").mkdir()
    (root / "damaged" / MANIFEST).write_text("[]")
    mine = ["mine.csv", "mydataset/notes.txt", ".hidden.part", "deep/a/.attnx.json", ".config/x"]
    for name in mine:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine")
    assert Cache(root).remove_rest() > 0
    assert shown(root) == sorted({name.partition("/")[0] for name in mine})
    assert all((root / name).read_text() == "mine" for name in mine)
    assert Cache(root).remove_rest() == 0
    assert Cache(root / "nowhere").remove_rest() == 0


@pytest.mark.parametrize("sha256", ["a" * 64, "b" * 64, "c" * 64])
def test_the_rest_is_left_alone_while_it_is_being_fetched(root: Path, sha256: str) -> None:
    path = leftovers(root)[sha256]
    with (
        FileLock(root / f".{sha256}.lock"),
        pytest.raises(DataError, match=f"^Another process is downloading {path.name}"),
    ):
        Cache(root).remove_rest()
    assert path.exists()
    Cache(root).remove_rest()
    assert not path.exists()


def test_a_file_edited_with_size_and_time_kept_is_fetched_again(server: Server, root: Path) -> None:
    rows = dataset(server.at("/rows.tar", whole(ARCHIVE)))
    source = Source(datasets={"rows": rows}, cache=root)
    file = source.fetch("rows").folder / "rows.csv"
    stat, content = file.stat(), file.read_bytes()
    file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.warns(
        AttnxWarning, match="was changed after it was unpacked; the dataset is downloaded again"
    ):
        assert source.where("rows") is None
    assert (source.fetch("rows").folder / "rows.csv").read_bytes() == content  # and no second warning
    file.touch()  # another time alone is no damage
    assert source.where("rows") is not None


def test_room_is_checked_before_a_download_and_before_unpacking(
    server: Server, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = dataset(server.at("/rows.tar", ranges(ARCHIVE)))
    told = rows.model_copy(update={"sources": (rows.sources[0].model_copy(update={"bytes": len(ARCHIVE)}),)})
    free = [100_000]
    monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 0, free[0]))
    with pytest.raises(MachineError, match=r"needs about 1[0-9]+ kB, 100 kB are free"):
        Source(datasets={"rows": told}, cache=root).fetch("rows")
    assert server.asked == []
    free[0] = 50_000
    with pytest.raises(MachineError, match=r"unpacked, needs about [67].+ kB, 50 kB are free"):
        Source(datasets={"rows": rows}, cache=root).fetch("rows")
    assert len(server.asked) == 1
    assert [name[-5:] for name in shown(root)] == [".part"]  # what was downloaded is not lost
    free[0] = 10**6
    assert (
        Source(datasets={"rows": told}, cache=root).fetch("rows").folder / "rows.csv"
    ).read_bytes() == ROWS
    assert len(server.asked) == 2
    assert server.asked[1][1]  # nothing was downloaded again


def test_a_disk_that_fills_up_meanwhile_is_the_machines_fault(
    server: Server, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("attnx.data.cache.extract", fail)
    with pytest.raises(MachineError, match="No space left on device"):
        Source(datasets={"rows": dataset(server.at("/rows.tar", ranges(ARCHIVE)))}, cache=root).fetch("rows")
