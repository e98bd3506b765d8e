"""Downloads one file from a URL, resuming where an earlier attempt stopped."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from ..registry.datasets import UrlSource

if TYPE_CHECKING:
    from requests import Response

CHUNK = 1 << 13  # small, because part of a chunk is lost when the connection breaks
TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two chunks
ATTEMPTS = 5
WINDOW, SLOWEST = 30.0, 500  # a server must send SLOWEST bytes per second over WINDOW seconds
TOO_SLOW = "the server is too slow"
MOST_BYTES = 16 << 30  # if the registry does not state the size
Advance = Callable[[int], None]  # receives the number of bytes so far


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sha256(path: Path, expected: str, title: str) -> None:
    """Refuse a file whose checksum is not that of the registry."""
    found = sha256_of(path)
    if found != expected:
        raise DataError(f"{title} has sha256 {found}, expected {expected}")


def download(source: UrlSource, part: Path, advance: Advance) -> None:
    """Download into `part` until it is complete and verified; if this raises, the next attempt resumes it.

    A complete file with a wrong checksum is deleted.
    """
    resumed = part.exists() and part.stat().st_size > 0
    _complete(source, part, advance)
    try:
        check_sha256(part, source.sha256, source.url)
    except DataError:
        part.unlink()
        if not resumed:
            raise
        # The first bytes may come from another version of the file.
        download(source, part, advance)


def _complete(source: UrlSource, part: Path, advance: Advance) -> None:
    """Request the rest of the file until it is complete, as long as each attempt brings some bytes."""
    import requests

    for attempt in range(ATTEMPTS):
        before = part.stat().st_size if part.exists() else 0
        try:
            _request(source, part, before, advance)
            return
        except requests.RequestException as error:
            after = part.stat().st_size if part.exists() else 0
            if attempt == ATTEMPTS - 1 or after <= before:
                raise DataError(_explain(error, source, after)) from error


def _request(source: UrlSource, part: Path, have: int, advance: Advance) -> None:
    import requests

    # Without compression, so that the bytes written are the bytes hashed and counted.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(source.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == 416:  # no more bytes: the checksum will tell whether these are right
            return
        if not response.ok:
            raise DataError(f"{source.url} answered HTTP {response.status_code} {response.reason}".rstrip())
        resumes = response.status_code == 206 and _range_start(response) == have
        if response.status_code == 206 and not resumes:
            part.unlink()  # bytes that were not requested
            raise requests.ConnectionError("the server sent another range than requested")
        _append(response, source, part, have if resumes else 0, advance)


def _append(response: Response, source: UrlSource, part: Path, have: int, advance: Advance) -> None:
    import requests
    from urllib3.exceptions import HTTPError

    most = source.bytes or MOST_BYTES
    with part.open("ab" if have else "wb") as file:
        advance(have)
        try:
            slow = _Slowness(have)
            while chunk := response.raw.read1(CHUNK, decode_content=False):  # whatever has arrived
                have += len(chunk)
                slow.check(have)
                if have > most:
                    break
                file.write(chunk)
                advance(have)
        except HTTPError as error:
            raise requests.ConnectionError(error) from error
    if have > most:
        part.unlink()
        raise DataError(f"{source.url} sends more than the expected {most} bytes")
    if source.bytes and have < source.bytes:
        raise requests.ConnectionError(f"the body ended after {have} of {source.bytes} bytes")


class _Slowness:
    """Gives up on a server that is too slow for WINDOW seconds."""

    def __init__(self, have: int) -> None:
        self.since, self.had = time.monotonic(), have

    def check(self, have: int) -> None:
        import requests

        spent = time.monotonic() - self.since
        if spent < WINDOW:
            return
        if have - self.had < SLOWEST * spent:
            raise requests.ConnectionError(f"{TOO_SLOW}: {have - self.had} bytes in {spent:.0f} s")
        self.since, self.had = time.monotonic(), have


def _range_start(response: Response) -> int:
    """The first byte of a partial answer, or -1."""
    with contextlib.suppress(ValueError):
        return int(response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0])
    return -1


def _explain(error: Exception, source: UrlSource, have: int) -> str:
    import requests

    reason = "no answer in time" if isinstance(error, requests.Timeout) else type(error).__name__
    if "timed out" in str(error).lower():
        reason = "no answer in time"
    elif isinstance(error, requests.ConnectionError):
        reason = "the connection failed"
    if TOO_SLOW in str(error):
        reason = str(error)
    resumable = f" ({have} bytes are stored; the next attempt resumes from there)" if have else ""
    return f"{source.url}: {reason}{resumable}"
