"""What is kept on disk: runs and weights, each written aside and renamed, never unpickled."""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from .errors import PluginError, UsageError
from .results import Report, StudyReport
from .spec import digest

if TYPE_CHECKING:
    from torch import Tensor


def home() -> Path:
    """The folder of everything attnx keeps: ATTNX_HOME, or the user's cache folder."""
    given = os.environ.get("ATTNX_HOME")
    return Path(given) if given else platformdirs.user_cache_path("attnx")


def check_writable(folder: Path, setting: str) -> None:
    """Refuse a folder that cannot be written, before anything is computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"Cannot write to '{folder}': {error.strerror}. Choose another folder with {setting}."
        ) from error


@contextmanager
def _aside(final: Path) -> Iterator[Path]:
    """A temporary folder beside `final`, moved into its place only when all went well."""
    final.parent.mkdir(parents=True, exist_ok=True)
    hidden = tempfile.TemporaryDirectory(prefix=".writing-", dir=final.parent, ignore_cleanup_errors=True)
    with hidden as name:
        temporary = Path(name) / final.name
        temporary.mkdir()  # with the usual mode: the hidden one is closed to everybody else
        yield temporary
        _replace(final, temporary)


def _replace(final: Path, temporary: Path) -> None:
    """Move a folder into its place; of several writers at once the last one stays."""
    while True:
        try:
            temporary.rename(final)  # fails when somebody's folder is there
            return
        except NotADirectoryError as error:
            raise _in_the_way(final) from error
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        aside = tempfile.TemporaryDirectory(prefix=".writing-", dir=final.parent)
        with aside as old, suppress(FileNotFoundError):  # another writer may have been faster
            final.rename(Path(old) / "old")


def _in_the_way(final: Path) -> UsageError:
    return UsageError(f"'{final}' is a file where a folder is to be written: delete it or move it away.")


class Runs:
    """Reports of finished runs, one folder each, named by fingerprint."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "runs"

    def find(self, fingerprint: str) -> Report | None:
        """The report of a run; None where there is none that this version can read."""
        folder = self.folder(fingerprint)
        if os.path.isfile(folder):
            raise _in_the_way(folder)
        return _read_report(folder / "report.json")

    def folder(self, fingerprint: str) -> Path:
        return self.root / fingerprint

    def write(self, report: Report) -> Path:
        final = self.folder(report.fingerprint)
        with _aside(final) as folder:
            (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
            (folder / "report.md").write_text(report.to_markdown(), encoding="utf-8")
        return final

    def __iter__(self) -> Iterator[Report]:
        """Finished runs, newest first."""
        written: dict[Path, float] = {}
        for path in self.root.glob("[!.]*/report.json"):
            with suppress(FileNotFoundError):  # removed, or replaced by another writer, just now
                written[path] = path.stat().st_mtime
        for path in sorted(written, key=written.__getitem__, reverse=True):
            report = _read_report(path)
            if report is not None:
                yield report


def _read_report(path: Path) -> Report | None:
    """A report, or None where no file is, or one of another version or damaged."""
    try:
        return Report.from_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def write_study(report: StudyReport, root: Path) -> Path:
    """Write a study's report into a folder named by what was asked."""
    name = digest(report.study.label, report.spec.canonical())
    final = root / f"{report.study.name}-{name}"
    with _aside(final) as folder:
        (folder / "study.json").write_text(report.to_json(), encoding="utf-8")
    return final


class Weights:
    """Trained weights as safetensors with their training record, named by what determines them."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or home() / "weights"

    def find(self, key: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Weights and their record; None where there are none, or damaged ones, which is told."""
        from safetensors import SafetensorError, safe_open

        if os.path.isfile(self.root / key):
            raise _in_the_way(self.root / key)
        try:
            with safe_open(self.root / key / "weights.safetensors", framework="pt") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                kept = file.metadata() or {}
            if kept["seal"] != _seal(key, state, kept["record"]):
                raise ValueError("not what was written")
            return state, json.loads(kept["record"])
        except FileNotFoundError:  # another writer may be replacing it
            return None
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            self.tell_damaged(key, error)
            return None

    def tell_damaged(self, key: str, error: Exception) -> None:
        """Warn that the weights of this name are as good as none."""
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"warning: damaged weights in '{self.root / key}' ({reason}): training again", file=sys.stderr)

    def write(self, key: str, state: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        from safetensors.torch import save

        tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
        with _aside(self.root / key) as folder:
            text = json.dumps(record)
            whole = save(tensors, {"record": text, "seal": _seal(key, tensors, text)})
            (folder / "weights.safetensors").write_bytes(whole)


def _seal(key: str, state: Mapping[str, Tensor], record: str) -> str:
    """What weights, their record and their name must agree with."""
    return digest(key, tensors_hash(state), record)


def tensors_hash(state: Mapping[str, Tensor]) -> str:
    """A hash of named tensors, independent of how they are stored."""
    hashed = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        hashed.update(f"{name}{tensor.dtype}{tuple(tensor.shape)}".encode())
        hashed.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return hashed.hexdigest()[:16]


def code_hash(package: str) -> str:
    """A hash of a package's source files, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise PluginError(f"the source of package '{package}' cannot be found")
    hashed = hashlib.sha256()
    for place in spec.submodule_search_locations or [spec.origin or ""]:  # folders, or a single file
        folder = Path(place)
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            hashed.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return hashed.hexdigest()[:16]
