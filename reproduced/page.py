"""The page of all reproductions: every claim, what became of it, and every table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from attnx.registry.experiments import DEFAULT_SIZE
from attnx.request.experiment import plan_experiment
from attnx.results.formatting import format_number
from attnx.results.reproduction import ClaimFound, Compared, Reproduction
from attnx.views.terminal.reproduction import STATUS_IN_WORDS, markdown_section

from .lessons import LESSONS, lessons
from .merging import parts_that_test
from .results import PAPERS, Stored

NOT_RUN = "not run"
COLUMNS = ("holds", "does not hold", "inconclusive", "undertrained", NOT_RUN)

INTRODUCTION = Path(__file__).with_name("introduction.md")


def page(stored: Stored, known_lessons: str | None = LESSONS.read_text(encoding="utf-8")) -> str:
    """The whole page; without lessons if there are none."""
    parts = [INTRODUCTION.read_text(encoding="utf-8"), "## All claims by paper\n", _counts(stored)]
    parts += [] if known_lessons is None else [lessons(stored, known_lessons)]
    parts.append("## Every claim\n")
    parts += [LEGEND_OF_CLAIMS, _claims(stored)]
    missing = [name for name in stored.known if name not in stored.found]
    if missing:
        listed = ", ".join(f"`attnx reproduce {name}`" for name in missing)
        parts.append(f"Not run at the standard size yet, so that nothing is said of them: {listed}.\n")
    for paper in PAPERS:
        parts += [
            markdown_section(stored.found[name], stored.parts_of(name))
            for name in stored.of(paper)
            if name in stored.found
        ]
    return "\n".join(parts)


LEGEND_OF_CLAIMS = (
    "Effect: the difference that the claim says is above 0, with its 95 % interval; of several differences "
    "the one that decides the claim, or is nearest to refuting it, and in brackets how many hold. Published: "
    "the same difference of the printed values. The command runs a whole table; its section has the commands "
    "that were given.\n"
)


def _counts(stored: Stored) -> str:
    lines = [
        f"| paper | claims | {' | '.join(COLUMNS)} |",
        "| --- | ---: |" + " ---: |" * len(COLUMNS),
    ]
    total: Counter[str] = Counter()
    for paper, title in PAPERS.items():
        counts = Counter(_word(claim) for _, _, claim in stored.claims(paper))
        total += counts
        lines.append(_count_line(title, counts))
    lines.append(_count_line("**all**", total))
    return "\n".join(lines) + "\n"


def _count_line(title: str, counts: Counter[str]) -> str:
    numbers = [sum(counts.values()), *(counts[column] for column in COLUMNS)]
    return f"| {title} | {' | '.join(map(str, numbers))} |"


def _word(claim: ClaimFound | None) -> str:
    return STATUS_IN_WORDS[claim.status] if claim else NOT_RUN


def _claims(stored: Stored) -> str:
    lines = [
        "| table or figure | claim | here | effect | published | size, seeds, seconds | command |",
        "| --- | --- | --- | --- | ---: | --- | --- |",
    ]
    for paper in PAPERS:
        for name, says, claim in stored.claims(paper):
            tested = parts_that_test(stored.parts_of(name), says) if claim else []
            cells = [_linked(stored, name), says, *_told(claim, tested)]
            command = f"`{_command(stored, name, says)}`"
            lines.append(f"| {' | '.join(_escaped(cell) for cell in cells)} | {command} |")
    return "\n".join(lines) + "\n"


def _command(stored: Stored, name: str, says: str) -> str:
    """The command that would test a claim: at the standard size if it has the claim's rows."""
    experiment = stored.known[name]
    claim = next(claim for claim in experiment.claims if claim.says == says)
    run = {cell.row for cell in plan_experiment(name, experiment).cells}
    size = "" if run >= set(claim.named_rows or run) or run & set(claim.rows) else " --size paper"
    return f"attnx reproduce {name}{size}"


def _linked(stored: Stored, name: str) -> str:
    source = stored.known[name].source
    short = source.replace("On the Interpretability of Attention Networks", "Attention Networks")
    return f"[{short}](#{anchor(source)})" if name in stored.found else short


def _told(claim: ClaimFound | None, tested: Sequence[Reproduction]) -> Iterator[str]:
    """What became of a claim: status, effect, published effect, and how the parts that test it were run."""
    if claim is None:
        yield from (NOT_RUN, "", "", "")
        return
    held = sum(one.status == "holds" for one in claim.compared)
    why = f": {claim.reason}; would decide it: {claim.next_step}" if claim.reason else ""
    yield f"**{STATUS_IN_WORDS[claim.status]}**{why}"
    one = min(claim.compared, key=lambda one: _shown_first(claim, one))
    several = f" ({held} of {len(claim.compared)})" if len(claim.compared) > 1 else ""
    yield f"{one.what} = {format_number(one.difference)} {one.interval or ''}{several}"
    yield "" if one.published is None else format_number(one.published)
    sizes = {part.size for part in tested} - {DEFAULT_SIZE}
    seeds = sorted({len(part.seeds) for part in tested})
    seconds = sum(part.seconds for part in tested)
    yield f"{''.join(f'{size}, ' for size in sizes)}{' or '.join(map(str, seeds))} seeds, {seconds:.0f} s"


def _shown_first(claim: ClaimFound, one: Compared) -> tuple[bool, bool, float]:
    """The order in which one comparison is chosen: of trained models, with the claim's result, the lowest."""
    return (
        one.status == "undertrained", one.status != claim.status, one.low if one.low is not None else 0.0
    )  # fmt: skip


def anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
