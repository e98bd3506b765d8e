"""Batches: every example once, similar lengths together."""

import pytest
import torch

from attnx.formulas import similar_lengths
from attnx.formulas.chunks import COLUMNS
from attnx.plugin import Example
from attnx.run.measuring.splits import Split, batches, shuffled
from attnx.testing import ToyModel
from attnx.testing.toy import WORDS


def test_groups_hold_similar_lengths_and_every_row_once() -> None:
    lengths = torch.tensor([30, 3, 400, 29, 2, 31, 0, 600, 3])
    groups = list(similar_lengths(lengths, 1024))
    assert sorted(torch.cat(groups).tolist()) == list(range(9))
    assert [lengths[group].tolist() for group in groups] == [[0, 2, 3, 3, 29, 30, 31], [400], [600]]


def test_nothing_gives_no_group() -> None:
    assert list(similar_lengths(torch.tensor([], dtype=torch.long), 10)) == []


class Recording(ToyModel):
    """A model that remembers the sizes of everything it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[tuple[int, int]] = []

    def encode(self, examples):  # type: ignore[no-untyped-def]
        batch = super().encode(examples)
        self.sizes.append((len(batch), batch.mask.shape[1]))
        return batch


def texts(lengths: list[int]) -> list[Example]:
    return [Example(str(i), (WORDS[0],) * length, i % 2) for i, length in enumerate(lengths)]


def test_one_long_text_widens_no_other() -> None:
    model = Recording()
    lengths = [3 + i % 20 for i in range(2000)]
    split = Split(model, texts([*lengths, 5000]), torch.device("cpu"))
    assert split.lengths.tolist() == [*lengths, 5000]
    for pass_over in (batches(split), shuffled(split, 32, torch.Generator().manual_seed(0))):
        for _ in pass_over:
            pass
    assert (1, 5000) in model.sizes
    together = [rows * columns for rows, columns in model.sizes if columns < 5000]
    assert max(together) <= COLUMNS  # against 2001 x 5000 of the split padded as one
    assert all(rows <= 32 for rows, columns in model.sizes if columns == 5000)


def test_a_very_long_text_is_trained_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnx.run.measuring.splits.WIDEST", 1000)
    model = Recording()
    split = Split(model, texts([3] * 40 + [900]), torch.device("cpu"))
    model.sizes.clear()
    seen = [example.id for batch in shuffled(split, 8, torch.Generator()) for example in batch.examples]
    assert sorted(map(int, seen)) == list(range(41))
    assert (1, 900) in model.sizes
    assert max(columns for rows, columns in model.sizes if rows > 1) == 3


def test_a_batch_is_as_wide_as_its_own_longest() -> None:
    split = Split(Recording(), texts([4, 9, 2, 30]), torch.device("cpu"))
    for rows in ([0, 2], [1], [3, 0]):
        batch = split.take(torch.tensor(rows))
        assert batch.mask.shape[1] == int(split.lengths[rows].max())
