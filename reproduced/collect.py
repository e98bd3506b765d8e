"""Store the results of `attnx reproduce` in docs/data/reproductions, without their curves: small files.

`python -m reproduced.collect` takes the results of the standard size in ATTNX_HOME; then `make reproduced`.
"""

from __future__ import annotations

from pathlib import Path

from attnx.registry.experiments import DEFAULT_SIZE
from attnx.results.reproduction import Reproduction
from attnx.store.home import home

from .results import RESULTS


def collect(folder: Path, into: Path = RESULTS) -> list[str]:
    """Store the results of the standard size in a folder of reproductions; return their names."""
    names = []
    for path in sorted(folder.glob(f"*-{DEFAULT_SIZE}/reproduction.json")):
        found = Reproduction.from_json(path.read_text(encoding="utf-8"))
        kept = found.model_copy(update={"curves": ()})
        (into / f"{found.experiment}.json").write_text(kept.to_json(), encoding="utf-8")
        names.append(found.experiment)
    return names


if __name__ == "__main__":
    print("\n".join(collect(home() / "reproductions")))
