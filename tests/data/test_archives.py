"""Archives give the members asked for and cannot do anything else."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from attnx.data.archives import Limits, extract
from attnx.errors import DataError

KINDS = ["zip", "tar"]


def pack(path: Path, kind: str, members: list[tuple[str, bytes]]) -> Path:
    """Write an archive whose member names are taken as they are, however bad."""
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                entry = zipfile.ZipInfo("placeholder")
                entry.filename = name  # past the constructor, which tidies names up
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name, content in members:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def unpack(archive: Path, kind: str, wanted: dict[str, str], **limits: int) -> dict[str, int]:
    folder = archive.parent / "out"
    folder.mkdir()
    return extract(archive, kind, wanted, folder, lambda position: None, Limits(**limits))


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("kind", KINDS)
def test_only_requested_members_are_written_under_their_local_names(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [("data/x.csv", b"xx"), ("code.py", b"raise"), ("data/y.csv", b"y")])
    sizes = unpack(archive, kind, {"one.csv": "data/x.csv"})
    assert sizes == {"one.csv": 2}
    assert tree(tmp_path / "out") == ["one.csv"]
    assert (tmp_path / "out/one.csv").read_bytes() == b"xx"


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_taken_with_everything_below_it(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [("d/p/1", b"1"), ("d/p/q/2", b"2"), ("d/other", b"3")])
    assert unpack(archive, kind, {"pos/": "d/p/"}) == {"pos/1": 1, "pos/q/2": 1}
    assert tree(tmp_path / "out") == ["pos/1", "pos/q/2"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_members_everything_is_written(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [("b/1", b"1"), ("2", b"2")])
    assert unpack(archive, kind, {}) == {"b/1": 1, "2": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("members", [{"x": "gone"}, {"d/": "gone/"}])
def test_a_missing_member_is_named(tmp_path: Path, kind: str, members: dict[str, str]) -> None:
    archive = pack(tmp_path / "a", kind, [("here", b"1")])
    with pytest.raises(DataError, match="has no member 'gone"):
        unpack(archive, kind, members)


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_tar_compressions_are_recognised(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "a"
    with tarfile.open(path, f"w:{compression}") as archive:
        entry = tarfile.TarInfo("x")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    assert unpack(path, "tar", {}) == {"x": 3}


def test_single_files_are_written_under_their_one_name(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(b"words"))
    (tmp_path / "plain").write_bytes(b"words")
    folder = tmp_path / "out"
    assert extract(tmp_path / "packed", "gzip", {"a.txt": "a.gz"}, folder, lambda p: None) == {"a.txt": 5}
    assert extract(tmp_path / "plain", "file", {"b.txt": "b"}, folder, lambda p: None) == {"b.txt": 5}
    assert (folder / "a.txt").read_bytes() == (folder / "b.txt").read_bytes() == b"words"


ESCAPES = ["../evil", "a/../../evil", "/tmp/attnx-evil", "..\\evil", "C:\\evil", "C:evil", "\\\\host\\evil"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ESCAPES)
def test_a_member_that_escapes_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    archive = pack(tmp_path / "a", kind, [("good", b"1"), (name, b"evil")])
    with pytest.raises(DataError, match="outside its folder"):
        unpack(archive, kind, {})
    assert tree(tmp_path) == ["a", "out/good"]
    assert not Path("/tmp/attnx-evil").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_escapes_from_a_requested_folder_is_refused(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [("d/../../../evil", b"evil")])
    with pytest.raises(DataError, match="outside its folder"):
        unpack(archive, kind, {"d/": "d/"})
    assert tree(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "type_", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
@pytest.mark.parametrize("members", [{}, {"x": "x"}])
def test_links_and_devices_in_a_tar_are_refused(
    tmp_path: Path, type_: bytes, members: dict[str, str]
) -> None:
    with tarfile.open(tmp_path / "a", "w") as archive:
        entry = tarfile.TarInfo("x")
        entry.type, entry.linkname = type_, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(DataError, match="not a plain file"):
        unpack(tmp_path / "a", "tar", members)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_link_is_never_followed_to_another_members_content(tmp_path: Path) -> None:
    """tarfile resolves links inside the archive on reading; a file that is not one stays refused."""
    with tarfile.open(tmp_path / "a", "w") as archive:
        entry = tarfile.TarInfo("real")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"1"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "real"
        archive.addfile(link)
    with pytest.raises(DataError, match="'link' is not a plain file"):
        unpack(tmp_path / "a", "tar", {"x": "link"})


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("x")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(DataError, match="not a plain file"):
        unpack(tmp_path / "a", "zip", {})


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_of_the_archive_are_not_taken_over(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a", "w") as archive:
        entry = tarfile.TarInfo("x")
        entry.mode, entry.uid = 0o6777, 0
        archive.addfile(entry)
    unpack(tmp_path / "a", "tar", {})
    assert (tmp_path / "out/x").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_stopped_before_it_is_written(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [("zeros", bytes(50_000_000))])
    assert archive.stat().st_size < 100_000
    with pytest.raises(DataError, match="unpacks to more than"):
        unpack(archive, kind, {})
    assert (tmp_path / "out/zeros").stat().st_size < 12_000_000


def test_a_gzip_bomb_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(bytes(50_000_000)))
    with pytest.raises(DataError, match="unpacks to more than"):
        unpack(tmp_path / "a", "gzip", {"x": "x"})


def test_a_bomb_that_is_only_passed_over_is_stopped_too(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a", "tar", [("zeros", bytes(50_000_000)), ("x", b"1")])
    with pytest.raises(DataError, match="unpacks to more than"):
        unpack(archive, "tar", {"x": "x"})


def test_a_zip_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a", "zip", [("x", bytes(100_000))])
    told = archive.read_bytes().replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    archive.write_bytes(told)
    with pytest.raises(DataError, match="cannot be unpacked"):
        unpack(archive, "zip", {})


@pytest.mark.parametrize("kind", KINDS)
def test_limits_on_total_and_members_hold(tmp_path: Path, kind: str) -> None:
    archive = pack(tmp_path / "a", kind, [(f"x{i}", os.urandom(100)) for i in range(20)])
    with pytest.raises(DataError, match="more than 1500 bytes"):
        unpack(archive, kind, {}, total=1500)
    (tmp_path / "out").rename(tmp_path / "first")
    with pytest.raises(DataError, match="more than 19 members"):
        unpack(archive, kind, {}, members=19)
    (tmp_path / "out").rename(tmp_path / "second")
    assert len(unpack(archive, kind, {}, members=20, total=2000)) == 20


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("x", "x"), ("x", "x/y"), ("x/y", "x")])
def test_members_that_overwrite_each_other_are_refused(
    tmp_path: Path, kind: str, names: tuple[str, str]
) -> None:
    archive = pack(tmp_path / "a", kind, [(name, b"1") for name in names])
    with pytest.raises(DataError, match="twice"):
        unpack(archive, kind, {})


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        *((kind, damage) for kind in KINDS for damage in ("truncated", "garbage", "empty")),
        *(("gzip", damage) for damage in ("truncated", "garbage")),  # an empty one is nothing, well packed
    ],
)
def test_a_damaged_archive_is_one_line(tmp_path: Path, kind: str, damage: str) -> None:
    path = tmp_path / "a"
    content = os.urandom(50_000)
    if kind == "gzip":
        path.write_bytes(gzip.compress(content))
    else:
        pack(path, kind, [("x", content)])
    whole = path.read_bytes()
    path.write_bytes({"truncated": whole[:20_000], "garbage": b"garbage" * 99, "empty": b""}[damage])
    with pytest.raises(DataError) as caught:
        unpack(path, kind, {"x": "x"})
    assert "\n" not in str(caught.value)


def test_progress_is_the_position_in_the_archive(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a", "tar", [("x", os.urandom(5_000_000))])
    seen: list[int] = []
    (tmp_path / "out").mkdir()
    extract(archive, "tar", {}, tmp_path / "out", seen.append)
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] <= archive.stat().st_size
