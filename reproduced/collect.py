"""Store the results of `attnx reproduce` in docs/data/reproductions, without their curves: small files.

`python -m reproduced.collect` takes the results of the standard size in ATTNX_HOME; then `make reproduced`.
Rows that were run before and are not part of a new result stay: the new result becomes another part.
"""

from __future__ import annotations

from pathlib import Path

from attnx.registry.experiments import DEFAULT_SIZE
from attnx.results.reproduction import Reproduction
from attnx.store.home import home

from .results import RESULTS, parts_in


def collect(folder: Path, into: Path = RESULTS) -> list[str]:
    """Store the results of the standard size in a folder of reproductions; return the files' names."""
    return [
        store(Reproduction.from_json(path.read_text(encoding="utf-8")), into).name
        for path in sorted(folder.glob(f"*-{DEFAULT_SIZE}/reproduction.json"))
    ]


def store(found: Reproduction, into: Path) -> Path:
    """Store a result instead of the parts whose rows it has, and next to the others."""
    kept = [
        part
        for path in parts_in(into, found.experiment)
        if not set((part := Reproduction.from_json(path.read_text(encoding="utf-8"))).rows) <= set(found.rows)
    ]
    for path in parts_in(into, found.experiment):
        path.unlink()
    parts = [*kept, found.model_copy(update={"curves": ()})]
    for number, part in enumerate(parts, start=1):
        place = "" if number == 1 else f".{number}"
        path = into / f"{found.experiment}{place}.json"
        path.write_text(part.to_json(), encoding="utf-8")
    return path


if __name__ == "__main__":
    print("\n".join(collect(home() / "reproductions")))
