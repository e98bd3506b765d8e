"""Folders of texts: a folder a label, a file a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attnx.plugin import DataError, read_text

from ..rows import Row, RowStream


def read_folders(
    folder: Path,
    labels: Mapping[str, str],
    *,
    suffix: str = "",
    encoding: str = "utf-8-sig",
    clean: Callable[[str], str] = str.strip,
) -> RowStream:
    """Rows of the folders named in `labels`, each with its label, in the order of their names."""
    index = 0
    for name, label in labels.items():
        if not (folder / name).is_dir():
            raise DataError(f"There is no folder '{folder / name}'; it must hold the texts of '{label}'.")
        # Dot-files are not texts: file managers leave them.
        files = sorted((folder / name).glob(f"[!.]*{suffix}"))
        if not files:
            raise DataError(f"'{folder / name}' holds no '*{suffix}' file.")
        for path in files:
            yield Row(index, 1, clean(read_text(path, encoding)), label)
            index += 1


def without_mail_header(message: str) -> str:
    """The subject and the body of a message: other header lines name the newsgroup."""
    header, _, body = message.partition("\n\n")
    subjects = [line[8:] for line in header.splitlines() if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body]).strip()
