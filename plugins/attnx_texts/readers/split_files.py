"""The local layout of datasets: a file a split.

    [PREFIX.]SPLIT[_remark].KIND[.gz]

SPLIT is train, dev (or val, valid, validation) or test; dev may be missing. KIND is what the task
reads: jsonl everywhere, and csv, tsv, tab or txt where the dataset is published so. Several
preparations of a dataset may lie side by side under different prefixes.
"""

from __future__ import annotations

import re
from pathlib import Path

from attnx.plugin import DataError, did_you_mean

ORIGINAL = "jw"  # the prefix of files prepared as Jain and Wallace did
SPLITS = ("train", "dev", "test")
_NAME = re.compile(
    r"(?:(?P<prefix>.+)\.)?(?P<split>train|dev|val|valid|validation|test)(?:_[^.]*)?\.(?P<kind>[a-z]+)(?:\.gz)?"
)


def find_split_files(folder: Path, prefix: str, kinds: tuple[str, ...]) -> tuple[str, dict[str, Path]]:
    """The prefix and the file of each split; "auto" tries without a prefix, then the original one.

    No file at all gives no splits; files that do not make a whole are an error.
    """
    sets = _by_prefix(folder, kinds)
    if not sets and prefix == "auto":
        return "", {}
    for candidate in ("", ORIGINAL) if prefix == "auto" else (prefix,):
        if {"train", "test"} <= sets.get(candidate, {}).keys():
            return candidate, {split: sets[candidate][split] for split in SPLITS if split in sets[candidate]}
    whole = sorted(name for name, files in sets.items() if {"train", "test"} <= files.keys())
    wanted = "" if prefix == "auto" else prefix
    names = " and ".join(f"{wanted}{'.' * bool(wanted)}{split}.{kinds[0]}" for split in ("train", "test"))
    there = f" Choose others with files={' or files='.join(whole)}." if whole else ""
    raise DataError(f"'{folder}' does not hold {names}.{did_you_mean(wanted, whole)}{there}")


def _by_prefix(folder: Path, kinds: tuple[str, ...]) -> dict[str, dict[str, Path]]:
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match is None or match["kind"] not in kinds or not path.is_file():
            continue
        split = "dev" if match["split"].startswith("val") else match["split"]
        files = found.setdefault(match["prefix"] or "", {})
        if split in files:
            raise DataError(
                f"'{folder}' holds both {files[split].name} and {path.name} for {split}; remove one."
            )
        files[split] = path
    return found
