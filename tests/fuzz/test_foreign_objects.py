"""Tables in memory, functions as models, addresses and what workers send: used, or refused in one line."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest
from fuzzing import fuzzed
from hypothesis import strategies as st

import attnx
from attnx.data.loading import Source, load_data
from attnx.errors import AttnxError, DataError, PluginError, UsageError
from attnx.host.catalog import Catalog
from attnx.plugin import TaskData
from attnx.request.arguments import Arguments
from attnx.request.spec import Limit
from attnx.run.workers.dask_cluster import Trust, check_trust
from attnx.run.workers.jobs import JobOutput, receive

T = TypeVar("T")
CATALOG = Catalog.installed()
seeds = st.integers(0, 2**32)
cell = (
    st.text(max_size=6)
    | st.sampled_from([None, 0, 1, -1, 0.5, 1.0, float("nan"), True, b"x", "\ud800", "NaN", "", " ", [], {}])
    | st.sampled_from([pd.NA, pd.NaT, np.int64(3), np.float32(2), np.str_("a"), pd.Timestamp(0), object()])
)
names = st.sampled_from(["text", "label", "id", "query", "other", 0])


def one_line(work: Callable[[], T], *allowed: type[AttnxError]) -> T | None:
    """What the work gives; None if it was refused in one line, as one of these errors."""
    try:
        return work()
    except allowed as error:
        said = str(error)
    assert said.strip()
    assert "\n" not in said
    return None


@fuzzed(
    60, st.lists(st.tuples(cell, cell), max_size=12), st.lists(names, min_size=2, max_size=2), st.booleans()
)
def test_tables_of_anything(rows: list[tuple[Any, Any]], columns: list[Any], padded: bool) -> None:
    good = [("a good text", "up"), ("a bad text", "down")] * 10 if padded else []
    frame = pd.DataFrame([*good, *rows], columns=columns)

    def load() -> TaskData:
        asked = Arguments(CATALOG)
        choice = asked.choice("task", frame)
        return load_data(asked.objects["task", choice.name].thing, Source(), Limit())

    data = one_line(load, DataError, UsageError)
    if data is None:
        return
    for example in (*data.train, *data.dev, *data.test):
        assert example.units
        " ".join((example.id, *example.units)).encode()
    assert not {"nan", "none", "null", ""} & {name.lower() for name in data.label_names}


def odd_answer(seed: int, count: int) -> Any:
    """What a function might return for so many texts."""
    random_ = random.Random(seed)
    right = np.array([[0.25, 0.75]] * count)
    return random_.choice(
        [
            right,
            right.tolist(),
            right[:-1],
            right[0],
            right.T,
            right[:, :, None],
            np.zeros((count, 0)),
            np.full((count, 2), np.nan),
            np.full((count, 2), np.inf),
            right.astype(object),
            right.astype(complex),
            right.astype(np.float16),
            right.astype(str),
            right * 1e300,
            -right,
            None,
            "text",
            [None] * count,
            [[1], [1, 2]] * count,
            7,
            {},
        ]
    )


@fuzzed(25, seeds, st.booleans())
def test_functions_that_return_anything(seed: int, always: bool) -> None:
    calls = iter(range(10**9))

    def answer(texts: Any) -> Any:
        count = len(list(texts))
        return odd_answer(seed, count) if always or next(calls) else np.array([[0.25, 0.75]] * count)

    found = one_line(
        lambda: attnx.explain(answer, "a good text", "loo", progress=False),
        PluginError,
        UsageError,
        DataError,
    )
    if found is None:
        return
    assert np.isfinite([score for row in found.to_frame()["loo"] for score in np.atleast_1d(row)]).all()


NEAR = ["127.0.0.1", "localhost", "[::1]", "::1", "127.1"]
PARTS = [
    "tcp://",
    "tls://",
    "ws://",
    "node1",
    "10.0.0.1",
    "[",
    "]",
    "@",
    ":8786",
    ":",
    ":x",
    "/",
    "?",
    "#",
    "%",
]
parts = st.sampled_from([*NEAR, *PARTS, " ", "\n", "0", "://", "\ud800", "é"])


@fuzzed(
    60,
    st.lists(parts | st.text(max_size=3), max_size=6).map("".join),
    st.booleans(),
    examples=((" tls://tcp://", False),),  # a space that one reader of addresses leaves out
)
def test_an_address_is_trusted_for_a_reason(address: str, insecure: bool) -> None:
    try:
        check_trust(address, Trust(insecure=insecure))
    except UsageError:
        return
    near = any(mark in address for mark in ("127.", "localhost", "::1", "0:0:0:0:0:0:0:1"))
    assert insecure or not address or near or address.lower().startswith(("tls://", "wss://")), address


sent = st.lists(
    st.sampled_from(
        ["weights", "runs", "..", ".", "/", "//", "\\", "a", "report.json", "\0", "\n", "~", ".x"]
    ),
    max_size=7,
).map("".join)


@pytest.mark.filterwarnings("ignore::attnx.errors.AttnxWarning")
@fuzzed(60, st.lists(sent, max_size=3))
def test_no_sent_file_lands_elsewhere(paths: list[str]) -> None:
    with tempfile.TemporaryDirectory() as around, pytest.MonkeyPatch.context() as patch:
        home = Path(around, "home")
        home.mkdir()
        patch.setenv("ATTNX_HOME", str(home))
        with contextlib.suppress(DataError):
            receive(JobOutput("", tuple((path, b"x") for path in paths)))
        assert list(Path(around).iterdir()) == [home]
        tops = {path.relative_to(home).parts[0] for path in home.rglob("report.json")}
        assert tops <= {"weights", "runs"}
