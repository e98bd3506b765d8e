"""The classes of the named datasets, and finding a class or column by what a person typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from attnx.plugin import DataError, did_you_mean

WHOLE = re.compile(r"-?\d{1,18}")  # a label of more digits is a name like any other
SENTIMENT = ("negative", "positive")
STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
AG_NEWS = ("World", "Sports", "Business", "Sci/Tech")
YAHOO = (
    "Society & Culture",
    "Science & Mathematics",
    "Health",
    "Education & Reference",
    "Computers & Internet",
    "Sports",
    "Business & Finance",
    "Entertainment & Music",
    "Family & Relationships",
    "Politics & Government",
)
NEWSGROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
ADVERSE_REACTION = ("no adverse reaction", "adverse reaction")
DIABETES = ("no diabetes", "diabetes")
ANEMIA = ("acute", "chronic")


def find_names(given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """The known names that are meant, each in full or by its last part; a ValueError names the nearest."""
    return tuple(_find_name(name, known) for name in given)


def _find_name(name: str, known: Sequence[str]) -> str:
    wanted = name.strip().lower()
    matches = [full for full in known if full.lower() == wanted]
    matches = matches or [full for full in known if full.lower().endswith(f".{wanted}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ValueError(f"'{name}' may be {' or '.join(matches)}: give the full name")
    short = {full.rpartition(".")[2]: full for full in known}
    hint = did_you_mean(name, known) or did_you_mean(name, short)
    raise ValueError(f"there is no '{name}'.{hint} Names: {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Labels:
    """The classes of a dataset, and those of them that are used; rows of the others are passed over.

    Where none is said to be used, those are that train has, and a row of another is an error.
    """

    known: tuple[str, ...]
    used: tuple[str, ...] = ()
    advice: str = ""  # for files that lack a class

    def name(self, given: str, origin: str, line: int) -> str:
        """The class meant by a name, or by a number from 0 on."""
        if given in self.known:
            return given
        if WHOLE.fullmatch(given) and 0 <= int(given) < len(self.known):
            return self.known[int(given)]
        names = ", ".join(f"{number} {name}" for number, name in enumerate(self.known))
        raise DataError(
            f"'{origin}', line {line}: unknown label '{given[:40]}'.{did_you_mean(given, self.known)} "
            f"Labels: {names}."
        )
