"""The stored results of the papers' tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from attnx.registry.experiments import Experiment
from attnx.results.reproduction import ClaimFound, Measured, Reproduction

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "data" / "reproductions"
LEAST_CLAIMED = "not run"

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

    @classmethod
    def read(cls, known: Mapping[str, Experiment], folder: Path = RESULTS) -> Stored:
        """Read the results of every experiment that the registry has."""
        results = [
            Reproduction.from_json(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))
        ]
        return cls({one.experiment: one for one in results if one.experiment in known}, known)

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
