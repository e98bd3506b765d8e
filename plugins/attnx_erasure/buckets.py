from collections.abc import Iterator

from torch import Tensor

COLUMNS = 8192  # of one pass: enough to keep the processor busy, little enough to stay in its caches


def equal_lengths(lengths: Tensor) -> Iterator[Tensor]:
    """Indices of rows of one length each, as many as make up one pass: nothing needs padding."""
    order = lengths.argsort(stable=True)
    values, counts = lengths[order].unique_consecutive(return_counts=True)
    for length, rows in zip(values.tolist(), order.split(counts.tolist()), strict=True):
        yield from rows.split(max(1, COLUMNS // length))
