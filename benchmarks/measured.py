"""What a run of the benchmarks found: as lines, and as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .timing import Row

FILE = Path(__file__).with_name("measured.json")
OTHERS = {  # by what docs/performance.md calls them
    "avx2": Path(__file__).with_name("measured_avx2.json"),  # without AVX-512, as on other processors
    "slower": Path(__file__).with_name("measured_slower.json"),  # a processor whose AVX-512 gains little
}
HEAD = f"{'work':<66} {'ours':>9} {'peer':>9} {'ratio':>7} {'target':>7} {'limit':>6}  same result"


@dataclass
class Measured:
    """All rows, by benchmark, and the conditions under which they were measured."""

    date: str
    processor: str
    torch: str
    load: float  # of the machine when the run began, in programs that want a core
    minutes: dict[str, float] = field(default_factory=dict)  # by benchmark
    rows: dict[str, list[Row]] = field(default_factory=dict)
    profiles: list[str] = field(default_factory=list)  # what the time of commands goes to, a line for each

    @property
    def conditions(self) -> str:
        """One line."""
        return f"{self.date}, {self.processor}, torch {self.torch}, load {self.load:.1f}"

    @property
    def all_rows(self) -> Iterator[Row]:
        """Of all benchmarks."""
        return (row for rows in self.rows.values() for row in rows)

    def write(self, file: Path) -> None:
        """Keep it in a file."""
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Measured:
        """What was kept in a file."""
        given = json.loads(file.read_text(encoding="utf-8"))
        rows = {name: [Row(**row) for row in rows] for name, rows in given.pop("rows").items()}
        return cls(**given, rows=rows)


def line(row: Row) -> str:
    """A row as it is printed, with the share of the rate of bare matrix products that ours reaches."""
    same = {True: "yes", False: "NO", None: "(a limit)"}[row.equal]
    limit = "" if row.limit is None else f"{row.limit / row.ours:.2f}"
    ours, peer = (
        f"{value:>8.4f}s" if row.unit == "s" else f"{value:>6.0f} {row.unit}"
        for value in (row.ours, row.peer)
    )
    return (
        f"{row.work:<66} {ours} {peer} {row.ratio:>6.2f}x {row.target:>6.2f}x "
        f"{limit:>6}  {same}{'' if row.met else '  (below target)'}"
    )
