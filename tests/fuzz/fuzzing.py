"""How input is made at random: a quick part with the other tests, or for as many minutes as are given.

What fails is kept in a folder (FUZZ_CORPUS, by default .fuzz) and tried first the next time; what was mended
becomes an example in the test.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import count_cases
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

MINUTES = float(os.environ.get("MINUTES", 0))
CORPUS = Path(os.environ.get("FUZZ_CORPUS", Path(__file__).parents[2] / ".fuzz"))
TARGETS: list[str] = []  # in all files, once they are collected


class Over(pytest.skip.Exception):  # type: ignore[name-defined]
    """The time of a target is over."""


def fuzzed(
    quick: int, *strategies: st.SearchStrategy[Any], examples: tuple[Any, ...] = ()
) -> Callable[..., Any]:
    """A test of what is made at random: so many cases quickly, or as many as its share of the time has."""

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        TARGETS.append(test.__name__)
        state: dict[str, Any] = {"cases": 0, "failed": False, "until": 0.0}

        def body(made: tuple[Any, ...]) -> None:
            if MINUTES and not state["failed"] and time.monotonic() > state["until"]:
                raise Over
            state["cases"] += 1
            try:
                test(*made)
            except BaseException:
                state["failed"] = True  # what follows is the search for the smallest case
                raise

        body.__name__ = body.__qualname__ = test.__name__
        body.__module__ = test.__module__
        run = given(st.tuples(*strategies))(body)
        for one in examples:
            run = example(one)(run)
        made = settings(
            max_examples=10**9 if MINUTES else quick,
            deadline=None,
            derandomize=not MINUTES,  # the quick part is the same every time, the long one never
            database=DirectoryBasedExampleDatabase(CORPUS) if MINUTES else None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        )(run)

        def test_for_a_while() -> None:
            state.update(cases=0, until=time.monotonic() + MINUTES * 60 / len(TARGETS))
            try:
                made()
            except Over:
                pass
            finally:
                count_cases(state["cases"])

        test_for_a_while.__name__ = test.__name__
        test_for_a_while.__doc__ = test.__doc__
        return test_for_a_while

    return decorate


def damaged(content: bytes, seed: int) -> bytes:
    """Bytes of a file after an accident: changed, cut off, doubled, taken away, or strange ones put in."""
    random_ = random.Random(seed)
    changed = bytearray(content)
    for _ in range(random_.choice([1, 1, 1, 2, 5, 30])):
        place = random_.randrange(len(changed) + 1)
        act = random_.randrange(6)
        if act == 0 and place < len(changed):
            changed[place] ^= 1 << random_.randrange(8)
        elif act == 1:
            del changed[place:]
        elif act == 2:
            del changed[place : place + random_.randrange(1, 40)]
        elif act == 3:
            changed[place:place] = changed[place : place + random_.randrange(1, 40)]
        elif act == 4:
            changed[place:place] = random_.choice(STRANGE)
        elif act == 5 and place < len(changed):
            stop = place + random_.randrange(1, 12)
            changed[place:stop] = random_.choice(STRANGE)
    return bytes(changed)


STRANGE = [
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b'"',
        b"'",
        b",",
        b"\t",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\\",
    ),
    *(
        b"null",
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e999",
        b"9" * 400,
        b"true",
        b"[" * 2000,
        "é\u202e\x1b[31m".encode(),
    ),
    *(b'"\\ud800"', b"0", b"-0.0", b" ", b"<script>", b"2024-01-01", b"''", b":", b'{"a":1}'),
]
