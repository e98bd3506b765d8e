"""The stored results of the papers' tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnx.registry.experiments import Experiment
from attnx.results.reproduction import ClaimFound, Measured, Reproduction

from .merging import merge

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "data" / "reproductions"

# Papers by how their experiments are named, and in the order of the page.
PAPERS = {
    "jain-wallace": "Jain and Wallace 2019, Attention is not Explanation",
    "wiegreffe-pinter": "Wiegreffe and Pinter 2019, Attention is not not Explanation",
    "serrano-smith": "Serrano and Smith 2019, Is Attention Interpretable?",
    "meister": "Meister et al. 2021, Is Sparse Attention more Interpretable?",
    "wen": "Wen et al. 2022, Revisiting Attention Weights from an Information-Theoretic Perspective",
    "sdc": "On the Interpretability of Attention Networks",
}


@dataclass(frozen=True)
class Stored:
    """Everything that was measured, by experiment, and what the registry has."""

    found: Mapping[str, Reproduction]
    known: Mapping[str, Experiment]
    parts: Mapping[str, Sequence[Reproduction]] = field(default_factory=dict)  # if a table was run in parts

    @classmethod
    def read(cls, known: Mapping[str, Experiment], folder: Path = RESULTS) -> Stored:
        """Read the results of every experiment that the registry has."""
        parts: dict[str, list[Reproduction]] = {}
        for path in parts_in(folder):
            one = Reproduction.from_json(path.read_text(encoding="utf-8"))
            if one.experiment in known:
                parts.setdefault(one.experiment, []).append(one)
        return cls({name: merge(several, known[name]) for name, several in parts.items()}, known, parts)

    def parts_of(self, experiment: str) -> Sequence[Reproduction]:
        """The runs behind a result, in their order."""
        return self.parts.get(experiment) or [self.found[experiment]]

    def of(self, paper: str) -> list[str]:
        """The experiments of a paper, in the order of the registry."""
        return [name for name in self.known if name.startswith(f"{paper}-")]

    def claims(self, paper: str) -> Iterator[tuple[str, str, ClaimFound | None]]:
        """Every claim of a paper: its experiment, what it says, and what became of it."""
        for name in self.of(paper):
            found = self.found.get(name)
            by_words = {claim.says: claim for claim in found.claims} if found else {}
            for claim in self.known[name].claims:
                tested = by_words.get(claim.says)
                yield name, claim.says, tested if tested and tested.compared else None

    def value(self, experiment: str, row: str, column: str) -> Measured | None:
        """What was measured there, if it was run."""
        found = self.found.get(experiment)
        if found is None or row not in found.rows:
            return None
        return found.value(row, column)


def parts_in(folder: Path, experiment: str = "*") -> list[Path]:
    """The files of an experiment, or of all: NAME.json, and NAME.2.json and so on of later parts."""
    found = {*folder.glob(f"{experiment}.json"), *folder.glob(f"{experiment}.[0-9].json")}
    return sorted(found, key=lambda path: (path.name.split(".")[0], path.name.count("."), path.name))
