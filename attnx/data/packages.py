"""Downloading a pinned package with the user's own client: never installed, never imported, never built."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ..errors import DataError
from ..registry.datasets import PackageSource

PATIENCE = 0.25  # seconds between two looks at how far the client is
_DEATH_SIGNAL = 1  # Linux's PR_SET_PDEATHSIG
# What pip and npm say of an index that does not answer; in the end pip claims only to have found nothing.
UNREACHABLE = ("Retrying (", "NewConnectionError", "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN")


def download_package(source: PackageSource, folder: Path, advance: Callable[[int], None]) -> Path:
    """Let pip or npm download one package into an empty folder, and return the archive."""
    command, pattern = _pip(source, folder) if source.index == "pypi" else _npm(source, folder)
    scratch = folder / "scratch"
    scratch.mkdir()
    # What the client unpacks or half-downloads goes where the caller cleans up, and can be measured.
    environment = os.environ | {"TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
    code, errors = _run(command, environment, folder, lambda: advance(_size(folder)))
    if code != 0:
        raise DataError(f"{source.title}: {_complaint(errors) or f'{command[0]} failed with code {code}'}")
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise DataError(f"{source.title}: the client downloaded {len(found)} archives instead of one")
    return found[0]


def _pip(source: PackageSource, folder: Path) -> tuple[list[str], str]:
    if importlib.util.find_spec("pip") is None:
        raise DataError(
            f"{source.title}: this Python has no pip to download with; "
            f"add it with '{sys.executable} -m ensurepip'"
        )
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check"]
    # The package is never installed, so it does not matter which Python it wants.
    options += ["--ignore-requires-python", "--dest", str(folder)]
    requirement = f"{source.package}=={source.version}"
    return [sys.executable, "-m", "pip", "download", *options, requirement], "*.whl"


def _npm(source: PackageSource, folder: Path) -> tuple[list[str], str]:
    npm = shutil.which("npm")
    if npm is None:
        raise DataError(f"{source.title}: npm is not installed, and this dataset is downloaded with it")
    options = ["--ignore-scripts", "--loglevel", "error", "--pack-destination", str(folder)]
    return [npm, "pack", *options, f"{source.package}@{source.version}"], "*.tgz"


def _run(
    command: list[str], environment: dict[str, str], folder: Path, look: Callable[[], None]
) -> tuple[int, str]:
    """Run a client to its end, and never let it outlive this call."""
    log = folder / "client.log"
    with log.open("wb") as errors:
        client = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
        try:
            while True:
                try:
                    code = client.wait(PATIENCE)
                    break
                except subprocess.TimeoutExpired:
                    look()
        finally:
            if client.poll() is None:
                client.kill()
                client.wait()
    return code, log.read_text(encoding="utf-8", errors="replace")


def _end_with_parent() -> None:
    """Let the system end this process when its parent is killed, which cannot do so itself any more."""
    _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _size(folder: Path) -> int:
    """The bytes of all files below a folder, some of which may vanish meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _complaint(text: str) -> str:
    """What a client says went wrong, in one line, without the passwords an address may carry."""
    if any(words in text for words in UNREACHABLE):
        return "the package index cannot be reached; check the network and the client's index setting"
    said = re.findall(r"^(?:ERROR:|npm (?:error|ERR!)) *(\S.*)$", text, re.MULTILINE)
    # pip ends with its conclusion; npm starts with a code, then says what it means.
    told = said[1:2] if re.search(r"^npm (?:error|ERR!)", text, re.MULTILINE) else said[-1:]
    plain = [line for line in said if line.startswith(("network", "404"))]
    line = " ".join((plain or told or said or text.splitlines()[-1:] or [""])[0].split())
    return re.sub(r"//[^/@\s]+@", "//", line)[:300]
