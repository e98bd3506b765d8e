"""A download is complete and verified, or it is a part that the next attempt goes on from."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Handler, Server, ranges, serving, status, whole

from attnx.data import downloads
from attnx.data.downloads import download
from attnx.errors import DataError
from attnx.registry.datasets import UrlSource

CONTENT = os.urandom(40_000)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "x.part"


def source(url: str, content: bytes = CONTENT, size: int | None = None) -> UrlSource:
    sha256 = hashlib.sha256(content).hexdigest()
    return UrlSource(url=url, archive="file", members={"x": "x"}, sha256=sha256, bytes=size)


def get(source: UrlSource, part: Path) -> list[int]:
    seen: list[int] = []
    download(source, part, seen.append)
    return seen


def test_a_file_is_downloaded_and_its_progress_told(server: Server, part: Path) -> None:
    seen = get(source(server.at("/x", ranges(CONTENT, pause=0.001))), part)
    assert part.read_bytes() == CONTENT
    assert seen[0] == 0
    assert seen == sorted(seen)
    assert seen[-1] == len(CONTENT)


def test_a_redirect_is_followed(server: Server, part: Path) -> None:
    server.at("/there", whole(CONTENT))
    get(source(server.at("/here", status(302, Location="/there"))), part)
    assert part.read_bytes() == CONTENT


def test_a_body_is_kept_as_it_is_sent_even_when_the_server_calls_it_encoded(
    server: Server, part: Path
) -> None:
    packed = gzip.compress(CONTENT)
    get(source(server.at("/x.gz", whole(packed, Content_Encoding="gzip")), packed), part)
    assert part.read_bytes() == packed


def test_a_part_is_continued_where_it_stopped(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:15_000])
    seen = get(source(server.at("/x", ranges(CONTENT))), part)
    assert part.read_bytes() == CONTENT
    assert server.asked == [("/x", "bytes=15000-")]
    assert seen[0] == 15_000


def test_a_server_without_ranges_starts_again(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:15_000])
    get(source(server.at("/x", whole(CONTENT))), part)
    assert part.read_bytes() == CONTENT
    assert len(server.asked) == 1


def test_a_part_that_is_already_whole_is_not_downloaded_again(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT)
    get(source(server.at("/x", ranges(CONTENT))), part)
    assert part.read_bytes() == CONTENT
    assert server.asked == [("/x", "bytes=40000-")]


def test_a_part_of_another_version_is_thrown_away(server: Server, part: Path) -> None:
    part.write_bytes(b"old" * 5000)
    get(source(server.at("/x", ranges(CONTENT))), part)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == ["bytes=15000-", None]


def test_an_answer_for_another_range_is_not_appended(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:15_000])

    def wrong(handler: Handler) -> None:
        if handler.start() == 0:
            return whole(CONTENT)(handler)
        handler.head(206, 10, Content_Range=f"bytes 0-9/{len(CONTENT)}")
        handler.wfile.write(CONTENT[:10])

    url = server.at("/x", wrong)
    with pytest.raises(DataError, match="connection failed"):
        get(source(url), part)
    get(source(url), part)
    assert part.read_bytes() == CONTENT


def test_a_body_cut_short_is_continued_by_itself(server: Server, part: Path) -> None:
    get(source(server.at("/x", ranges(CONTENT, most=15_000))), part)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, "bytes=15000-", "bytes=30000-"]


def test_a_body_that_is_cut_too_often_is_kept_as_a_part(server: Server, part: Path) -> None:
    with pytest.raises(DataError, match="5000 bytes are stored"):
        get(source(server.at("/x", ranges(CONTENT, most=1000))), part)
    assert part.read_bytes() == CONTENT[:5000]


def test_a_short_body_with_a_length_that_agrees_is_noticed_by_the_size(server: Server, part: Path) -> None:
    url = server.at("/x", whole(CONTENT[:20_000]))
    with pytest.raises(DataError, match="20000 bytes are stored"):
        get(source(url, size=len(CONTENT)), part)


def test_a_wrong_file_is_refused_and_not_kept(server: Server, part: Path) -> None:
    url = server.at("/x", whole(b"x" + CONTENT[1:]))
    with pytest.raises(DataError, match=r"/x has sha256 [0-9a-f]{64}, expected [0-9a-f]{64}$"):
        get(source(url), part)
    assert not part.exists()


def test_a_body_longer_than_promised_is_cut_off(server: Server, part: Path) -> None:
    seen: list[int] = []
    with pytest.raises(DataError, match="more than the expected 30000 bytes"):
        download(source(server.at("/x", whole(CONTENT)), size=30_000), part, seen.append)
    assert max(seen) <= 30_000
    assert not part.exists()


@pytest.mark.parametrize("code", [403, 404, 500, 503])
def test_a_refusal_is_told_with_its_status(server: Server, part: Path, code: int) -> None:
    url = server.at("/x", status(code))
    with pytest.raises(DataError, match=f"^{url} answered HTTP {code} "):
        get(source(url), part)
    assert not part.exists()


def test_a_refusal_leaves_the_part_alone(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:15_000])
    with pytest.raises(DataError, match="HTTP 503"):
        get(source(server.at("/x", status(503))), part)
    assert part.read_bytes() == CONTENT[:15_000]


def test_a_body_that_hangs_is_given_up(server: Server, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "TIMEOUT", (1.0, 0.2))
    monkeypatch.setattr(downloads, "ATTEMPTS", 2)
    with pytest.raises(DataError, match=r"no answer in time \(18000 bytes are stored"):
        get(source(server.at("/x", ranges(CONTENT, most=9000, hang=True))), part)


def test_a_body_that_hardly_comes_is_given_up(
    server: Server, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "WINDOW", 0.1)
    monkeypatch.setattr(downloads, "SLOWEST", 10**7)
    monkeypatch.setattr(downloads, "ATTEMPTS", 1)
    with pytest.raises(DataError, match=r"the server is too slow: \d+ bytes in 0 s \(\d+ bytes are stored"):
        get(source(server.at("/x", ranges(CONTENT, pause=0.05))), part)


def test_a_slow_body_is_waited_for(server: Server, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "TIMEOUT", (1.0, 0.5))
    get(source(server.at("/x", ranges(CONTENT, pause=0.02))), part)  # 0.8 s, but never silent for 0.5
    assert part.read_bytes() == CONTENT
    assert len(server.asked) == 1


def test_nobody_listening_is_one_line(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        url = server.at("/x", whole(CONTENT))
    with pytest.raises(DataError) as caught:
        get(source(url), part)
    assert str(caught.value) == f"{url}: the connection failed"


def test_a_redirect_to_something_else_than_the_web_is_refused(server: Server, part: Path) -> None:
    url = server.at("/x", status(302, Location="file:///etc/passwd"))
    with pytest.raises(DataError, match=url):
        get(source(url), part)
    assert not part.exists()
