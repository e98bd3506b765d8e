"""The page of all reproductions: every claim, what became of it, and every table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from attnx.registry.experiments import DEFAULT_SIZE
from attnx.results.formatting import format_number
from attnx.results.reproduction import ClaimFound, Compared, Reproduction
from attnx.views.terminal.reproduction import STATUS_IN_WORDS, markdown_section

from .lessons import lessons
from .results import PAPERS, Stored

NOT_RUN = "not run"
COLUMNS = ("holds", "does not hold", "inconclusive", "undertrained", NOT_RUN)

HEAD = """\
# Papers' tables and figures, reproduced

`attnx reproduce NAME` runs a table or figure of a paper and prints the published values next to the measured ones; `attnx reproduce --list` lists them with their sizes and durations. The grid, the published values (as printed), the claims and our own choices are in [registry.yaml](../registry.yaml) under `experiments`. This page is made by `python -m reproduced` from the stored results in [data/reproductions](data/reproductions), without running anything.

**Sizes.** `standard`, the default, decides: whole SST and 20 Newsgroups, a sample of IMDB that is large enough to train attention, pretrained word vectors (GloVe, 50 dimensions) where the papers had pretrained ones, training until dev accuracy stops improving, five seeds or more. `small` is a smoke test: it shows that everything runs, and no claim is decided. `paper` is the size of the paper.

**Claims.** A claim is a direction or an order stated in the paper, written as differences that should be above 0. It *holds* if the 95 % interval of every difference lies above 0. It *does not hold* if one of them lies below 0, at a level corrected for the number of differences. Otherwise it is *inconclusive*, with the reason and about how many seeds would decide it. Intervals cover seeds and examples, paired if both sides have the same examples ([statistics.md](statistics.md)). A comparison of models that did not learn says nothing about attention: it is *undertrained* if accuracy gains less than three quarters of what the published accuracy gains over always predicting one label (without a published accuracy: less than .05), or if training moved less than 5 % of the attention weight from where it started. A claim about many rows is tested on the rows that were run. Published numbers are mostly single runs without seeds: compare direction and order, not digits.

**Data.** SST and IMDB as prepared by Jain and Wallace and bAbI are read from a local folder (`--data-dir`); 20 Newsgroups, GloVe and CIFAR-10 come from their packages. AG News, ADR tweets, the hospital notes, Yelp, Amazon, Yahoo, MS COCO, bAbI 3 and SNLI's training half were not available: their rows were not run. Seconds are those of one worker on a busy machine; they are shorter if trained weights of another table were reused. A run that is interrupted continues where it stopped when the same command is given again.
"""


def page(stored: Stored) -> str:
    """The whole page."""
    parts = [HEAD, "## All claims by paper\n", _counts(stored), *lessons(stored), "## Every claim\n"]
    parts += [LEGEND_OF_CLAIMS, _claims(stored)]
    missing = [name for name in stored.known if name not in stored.found]
    if missing:
        listed = ", ".join(f"`attnx reproduce {name}`" for name in missing)
        parts.append(f"Not run at the standard size yet, so that nothing is said of them: {listed}.\n")
    for paper in PAPERS:
        parts += [markdown_section(stored.found[name]) for name in stored.of(paper) if name in stored.found]
    return "\n".join(parts)


LEGEND_OF_CLAIMS = (
    "Effect: the difference that the claim says is above 0, with its 95 % interval; of several differences "
    "the one nearest to refuting the claim, and in brackets how many hold. Published: the same difference of "
    "the printed values.\n"
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
            found = stored.found.get(name)
            cells = [_linked(stored, name), says, *_told(claim, found)]
            command = found.command if found else f"attnx reproduce {name}"
            lines.append(f"| {' | '.join(_escaped(cell) for cell in cells)} | `{command}` |")
    return "\n".join(lines) + "\n"


def _linked(stored: Stored, name: str) -> str:
    source = stored.known[name].source
    short = source.replace("On the Interpretability of Attention Networks", "Attention Networks")
    return f"[{short}](#{_anchor(source)})" if name in stored.found else short


def _told(claim: ClaimFound | None, found: Reproduction | None) -> Iterator[str]:
    """What became of a claim: status, effect, published effect, and how it was run."""
    if claim is None or found is None:
        yield from (NOT_RUN, "", "", "")
        return
    held = sum(one.status == "holds" for one in claim.compared)
    why = f": {claim.reason}; would decide it: {claim.next_step}" if claim.reason else ""
    yield f"**{STATUS_IN_WORDS[claim.status]}**{why}"
    one = min(claim.compared, key=_nearest)
    several = f" ({held} of {len(claim.compared)})" if len(claim.compared) > 1 else ""
    yield f"{one.what} = {format_number(one.difference)} {one.interval or ''}{several}"
    yield "" if one.published is None else format_number(one.published)
    size = "" if found.size == DEFAULT_SIZE else f"{found.size}, "
    yield f"{size}{len(found.seeds)} seeds, {found.seconds:.0f} s"


def _nearest(one: Compared) -> tuple[bool, float]:
    """The order from what refutes a claim most to what supports it most."""
    return one.status == "undertrained", one.low if one.low is not None else 0.0


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
