"""Planted triggers, minimal pairs and cases of metrics made of anything: as they are defined, or one line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from fuzzing import damaged, fuzzed
from hypothesis import strategies as st
from pydantic import ValidationError

from attnx.data.access import Source
from attnx.data.loading import load_data
from attnx.errors import DataError, UsageError
from attnx.host.catalog import Catalog
from attnx.plugin import TaskData
from attnx.request.arguments import Arguments
from attnx.request.spec import Limit
from attnx.testing.cases import failing_cases, read_cases
from attnx_audit.options import ShortcutOptions
from attnx_audit.shortcut import PlantedShortcut
from attnx_shape.nnz import Nnz
from attnx_shape.options import NnzOptions
from attnx_texts.minimal_pairs import MinimalPairs
from attnx_texts.minimal_pairs_options import MinimalPairsOptions

CATALOG = Catalog.installed()
FOLDER = tempfile.TemporaryDirectory()
seeds = st.integers(0, 2**32)
cells = st.text(max_size=8) | st.sampled_from(
    ["", "zebra", "piano", "Zebra", "a b", "0", "-1", "é", "\ud800", "a\nb", ",", "nan", "ﬁ", "ß", "x" * 300]
)
values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | cells,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(cells, inner, max_size=2),
    max_leaves=4,
)


def refused(work: Any) -> Any:
    """What the work gives; None if it was refused in one line as bad data or a bad request."""
    try:
        return work()
    except (DataError, UsageError) as error:
        said = str(error)
    assert said.strip()
    assert "Traceback" not in said
    return None


def load_texts(rows: list[tuple[str, str]], options: dict[str, Any], raw_text: bool) -> TaskData | None:
    """The texts with a trigger in them."""
    try:
        asked = ShortcutOptions(**options)
    except ValidationError:
        return None

    def load() -> TaskData:
        arguments = Arguments(CATALOG)
        choice = arguments.choice("task", ([text for text, _ in rows], [label for _, label in rows]))
        inner = arguments.objects["task", choice.name].thing
        return load_data(PlantedShortcut(asked, inner), Source(), Limit(), raw_text=raw_text)

    found: TaskData | None = refused(load)
    return found


@fuzzed(
    40,
    st.lists(st.tuples(st.lists(cells, max_size=6).map(" ".join), st.sampled_from("ab") | cells), max_size=8),
    st.sampled_from(["single", "paired", "ordered"]),
    st.floats(allow_nan=True) | st.sampled_from([0.1, 0.3, 1 / 3, 1.0]),
    st.lists(cells, max_size=4)
    | st.sampled_from([[], ["zebra", "piano"], ["zebra", "lemon", "piano", "ink"]]),
    st.booleans(),
)
def test_triggers_in_texts_of_anything(
    rows: list[tuple[str, str]], kind: str, share: float, words: list[str], raw_text: bool
) -> None:
    plain = [(f"some plain words of text number {n} here", "ab"[n % 2]) for n in range(120)]
    options = {"kind": kind, "share": share, "words": tuple(words)}
    data = load_texts([*plain, *rows], options, raw_text)
    if data is None:
        return
    many = 1 if kind == "single" else 2
    for example in data.test:
        marked = [u for u, here in zip(example.units, example.rationale or (), strict=True) if here]
        assert len(marked) == many
        without = data.contrasts["without"][example.id]
        assert not set(marked) & set(without.units)
        assert without.label != example.label
        assert [u for u, m in zip(example.units, example.rationale or (), strict=True) if not m] == [
            *without.units
        ]
        if example.text is not None and example.starts is not None:
            for unit, start in zip(example.units, example.starts, strict=True):
                assert example.text.startswith(unit, start)


def load_pairs(content: bytes) -> None:
    file = Path(FOLDER.name) / "pairs.jsonl"
    file.write_bytes(content)
    task = MinimalPairs(MinimalPairsOptions(file=file))
    data: TaskData | None = refused(lambda: load_data(task, Source(), Limit()))
    for example in (*data.train, *data.dev, *data.test) if data else ():
        partner = example.partner
        assert partner is not None
        assert partner.label != example.label
        mine, its = (
            [unit for unit, here in zip(one.units, one.rationale or (), strict=True) if not here]
            for one in (example, partner)
        )
        assert mine == its
        assert mine


def lines_of(pairs: list[Any]) -> bytes:
    return "".join(json.dumps(pair) + "\n" for pair in pairs).encode()


GOOD = [
    {"texts": [f"film {n} is fine", f"film {n} is dull"], "labels": ["positive", "negative"]}
    for n in range(20)
]


@fuzzed(40, seeds)
def test_damaged_minimal_pairs(seed: int) -> None:
    load_pairs(damaged(lines_of(GOOD), seed))


two = st.lists(cells | st.integers() | st.booleans(), min_size=2, max_size=2)


@fuzzed(
    40, st.lists(st.fixed_dictionaries({"texts": two | values, "labels": two | values}) | values, max_size=6)
)
def test_minimal_pairs_of_anything(pairs: list[Any]) -> None:
    load_pairs(lines_of([*GOOD, *pairs]))


CASES = b"""# Worked out by hand.
- scores: [0.2, 0.7, 0.1]
  value: 1.0
- scores: [-3, 1]
  reference: [1, 0]
  value: undefined
- scores: [4, 3, 2, 1]
  units: [one, two, three, four]
  rationale: [true, false, false, true]
  options: {}
  values: {nnz: 1}
  within: 0.1
  name: the last
"""


def try_cases(content: bytes) -> None:
    file = Path(FOLDER.name) / "cases.yaml"
    file.write_bytes(content)
    cases = refused(lambda: read_cases(file))
    for line in failing_cases(lambda options: Nnz(NnzOptions()), cases) if cases else ():
        assert line.startswith("case ")


@fuzzed(60, seeds)
def test_damaged_cases_of_metrics(seed: int) -> None:
    try_cases(damaged(CASES, seed))


@fuzzed(
    40,
    st.lists(
        st.fixed_dictionaries(
            {"scores": st.lists(st.floats(), max_size=4) | values, "value": st.floats() | values},
            optional={"units": values, "reference": values, "rationale": values, "within": values,
                      "name": cells, "options": values, "label": values, "values": values},
        )
        | values,
        max_size=3,
    ),
)  # fmt: skip
def test_cases_of_anything(cases: list[Any]) -> None:
    try_cases(json.dumps(cases).encode())
