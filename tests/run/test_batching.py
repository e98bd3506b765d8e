"""Batches: every example once, similar lengths together."""

import torch

from attnx import similar_lengths


def test_groups_hold_similar_lengths_and_every_row_once() -> None:
    lengths = torch.tensor([30, 3, 400, 29, 2, 31, 0, 600, 3])
    groups = list(similar_lengths(lengths, 1024))
    assert sorted(torch.cat(groups).tolist()) == list(range(9))
    assert [lengths[group].tolist() for group in groups] == [[0, 2, 3, 3, 29, 30, 31], [400], [600]]


def test_nothing_gives_no_group() -> None:
    assert list(similar_lengths(torch.tensor([], dtype=torch.long), 10)) == []
