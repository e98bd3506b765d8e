"""Downloading one file from an address, going on where an earlier attempt stopped."""

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

CHUNK = 1 << 13  # small: what is read of a chunk when the connection breaks is lost
TIMEOUT = (10.0, 30.0)  # seconds to connect, and between two chunks
ATTEMPTS = 5
WINDOW, SLOWEST = 30.0, 500  # seconds over which, and bytes a second that, a server must send at least
TOO_SLOW = "the server is too slow"
MOST_BYTES = 16 << 30  # where the registry does not say how many to expect
Advance = Callable[[int], None]  # is told how many bytes there are by now


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sha256(path: Path, expected: str, title: str) -> None:
    """Refuse a file that is not the one the registry names."""
    found = sha256_of(path)
    if found != expected:
        raise DataError(f"{title} has sha256 {found}, expected {expected}")


def download(source: UrlSource, part: Path, advance: Advance) -> None:
    """Bring `part` to be the whole, verified file; when this raises, it stays for the next attempt.

    A file that is complete but wrong is deleted: going on from it would never end well.
    """
    resumed = part.exists() and part.stat().st_size > 0
    _complete(source, part, advance)
    try:
        check_sha256(part, source.sha256, source.url)
    except DataError:
        part.unlink()
        if not resumed:
            raise
        # The first bytes may be of another version of the file.
        download(source, part, advance)


def _complete(source: UrlSource, part: Path, advance: Advance) -> None:
    """Ask for what is missing until it is all there, as long as every attempt brings something."""
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

    # Without encoding, so that the bytes written are the bytes hashed and counted.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(source.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if (
            response.status_code == 416
        ):  # nothing beyond what is here: whole, or too long, as the hash will say
            return
        if not response.ok:
            raise DataError(f"{source.url} answered HTTP {response.status_code} {response.reason}".rstrip())
        goes_on = response.status_code == 206 and _range_start(response) == have
        if response.status_code == 206 and not goes_on:
            part.unlink()  # an answer to another question
            raise requests.ConnectionError("the server sent another range than asked for")
        _append(response, source, part, have if goes_on else 0, advance)


def _append(response: Response, source: UrlSource, part: Path, have: int, advance: Advance) -> None:
    import requests
    from urllib3.exceptions import HTTPError

    most = source.bytes or MOST_BYTES
    with part.open("ab" if have else "wb") as file:
        advance(have)
        try:
            slow = _Slowness(have)
            while chunk := response.raw.read1(CHUNK, decode_content=False):  # as it comes, were it one byte
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
        raise DataError(f"{source.url} sends more than the {most} bytes expected")
    if source.bytes and have < source.bytes:
        raise requests.ConnectionError(f"the body ended after {have} of {source.bytes} bytes")


class _Slowness:
    """Gives up on a server that sends hardly anything for a while."""

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
    """Where a partial answer starts, or -1."""
    with contextlib.suppress(ValueError):
        return int(response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0])
    return -1


def _explain(error: Exception, source: UrlSource, have: int) -> str:
    import requests

    reason = "no answer in time" if isinstance(error, requests.Timeout) else type(error).__name__
    if "timed out" in str(error).lower():
        reason = "no answer in time"
    elif isinstance(error, requests.ConnectionError):
        reason = "the connection failed or broke off"
    if TOO_SLOW in str(error):
        reason = str(error)
    kept = f" ({have} bytes are kept and the next attempt goes on from there)" if have else ""
    return f"{source.url}: {reason}{kept}"
