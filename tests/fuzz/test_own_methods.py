"""Functions of a model and texts as importance methods: scores that can be, or one line that names them."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from fuzzing import fuzzed
from hypothesis import strategies as st
from test_components import RAISED

import attnx
from attnx.errors import AttnxError, PluginError

seeds = st.integers(0, 2**32)


def predict(texts: Any) -> Any:
    return np.array([[0.25, 0.75] if "good" in text else [0.5, 0.5] for text in texts])


def odd_scores(seed: int, texts: list[list[str]]) -> Any:
    """What somebody's function might return for texts."""
    random_ = random.Random(seed)
    right = [[float(at) for at in range(len(words))] for words in texts]
    value = random_.choice([math.nan, math.inf, -math.inf, 1e300, -1.0, 1e-320, None, "x", [1.0], 1j, True])
    changed = [[value if at == 1 else score for at, score in enumerate(row)] for row in right]
    return random_.choice(
        [
            lambda: right,
            lambda: changed,
            lambda: right[0],
            lambda: [row[:-1] for row in right],
            lambda: [[*row, 1.0] for row in right],
            lambda: right * 2,
            lambda: [],
            lambda: [[]],
            lambda: np.array(right),
            lambda: np.array(right).T,
            lambda: np.array(right, dtype=object),
            lambda: np.array(right).astype(str),
            lambda: np.array(right).astype(complex),
            lambda: np.array(right)[..., None],
            lambda: np.float64(1),
            lambda: torch.tensor(right, requires_grad=True),
            lambda: torch.tensor(right).half(),
            lambda: torch.tensor(right).to_sparse(),
            lambda: dict.fromkeys(texts[0], 1.0),
            lambda: [dict.fromkeys(words, 1.0) for words in texts],
            lambda: (iter(row) for row in right),
            lambda: "text",
            lambda: ["text"],
            lambda: [" ".join(words) for words in texts],
            lambda: None,
            lambda: 7,
            lambda: texts,
            lambda: object(),
            lambda: lambda: right,
        ]
    )()


def explained(method: Callable[..., Any]) -> None:
    """Numbers for every word, or one line that names the function."""
    said: AttnxError | None = None
    found = None
    try:
        found = attnx.explain(predict, "a good text", method, progress=False)
    except AttnxError as error:
        said = error
    if said is not None:
        assert isinstance(said, PluginError), said
        assert "mine" in str(said), said
        assert "\n" not in str(said)
        assert len(str(said)) < 2000
        return
    assert found is not None
    scores = [score for row in found.to_frame()["mine"] for score in np.atleast_1d(row)]
    assert len(scores) == 3
    assert np.isfinite(scores).all()


@fuzzed(30, seeds, st.sampled_from([None, True, False, "yes", 7]))
def test_functions_that_score_anything(seed: int, signed: Any) -> None:
    def mine(model: Any, texts: Any) -> Any:
        return odd_scores(seed, texts)

    if signed is not None:
        mine.signed = signed  # type: ignore[attr-defined]
    explained(mine)


@fuzzed(12, st.sampled_from(range(len(RAISED))))
def test_functions_that_raise_anything(number: int) -> None:
    def mine(model: Any, texts: Any) -> Any:
        raise RAISED[number]()

    with contextlib.suppress(KeyboardInterrupt, MemoryError):  # which the command line says in its own words
        explained(mine)


@fuzzed(
    12,
    st.lists(
        st.lists(st.text(max_size=4) | st.sampled_from(["good", "", "\ud800", None, 3]), max_size=3)
        | st.sampled_from([None, "a text", 7, b"x"]),
        max_size=3,
    )
    | st.sampled_from([None, "a text", 7, [[]], {}]),
)
def test_functions_that_ask_about_anything(asked: Any) -> None:
    def mine(model: Any, texts: Any) -> Any:
        answers = model(asked)
        assert np.isfinite(np.asarray(answers)).all()
        return [[1.0] * len(words) for words in texts]

    explained(mine)
