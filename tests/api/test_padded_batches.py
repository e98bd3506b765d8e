"""`Batch.padded`: one column per unit, filled up to the longest example."""

from __future__ import annotations

import pytest
import torch

from attnx.plugin import Batch, Example, PluginError

EXAMPLES = (
    Example("a", ("x", "y", "z"), 1, rationale=(True, False, False)),
    Example("b", ("x",), 0),
    Example("c", (), 1),
)


def test_rows_are_filled_up_and_padding_is_off_the_mask() -> None:
    batch = Batch.padded(EXAMPLES, [(4, 5, 6), [7], ()], padding=9)
    assert batch.inputs.tolist() == [[4, 5, 6], [7, 9, 9], [9, 9, 9]]
    assert batch.mask.tolist() == [[True] * 3, [True, False, False], [False] * 3]
    assert batch.unit_index.tolist() == [[0, 1, 2], [0, -1, -1], [-1, -1, -1]]
    assert batch.lengths.tolist() == [3, 1, 0]
    assert batch.labels.tolist() == [1, 0, 1]
    assert batch.rationale[0].tolist() == [1.0, 0.0, 0.0]
    assert batch.inputs.dtype == batch.lengths.dtype == torch.long
    assert batch.query is None


def test_a_row_needs_one_number_per_unit() -> None:
    with pytest.raises(PluginError, match="example 'b' has 1 units and 2 numbers"):
        Batch.padded(EXAMPLES, [(4, 5, 6), (7, 8), ()])
