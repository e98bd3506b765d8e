import hashlib
from typing import Any

from attnx.plugin import DataError, Example, Source, Task, TaskData, did_you_mean

from .options import FrameOptions

SPLITS = ("train", "dev", "test")


class FrameTask(Task):
    """Texts of a Polars data frame, lazy or not.

    Rows without a text or label are left out. Without a column of splits a text belongs to test or dev if a
    hash of it says so, a tenth each, so that the same text is never in two splits.
    """

    provides = ("words",)

    def __init__(self, frame: Any, options: FrameOptions) -> None:
        self.frame, self.options = frame, options

    def load(self, source: Source) -> TaskData:
        wanted = [self.options.text, self.options.label, *filter(None, [self.options.split])]
        known = self.frame.collect_schema().names()
        for column in wanted:
            if column not in known:
                near = did_you_mean(column, known)
                raise DataError(f"The data frame has no column '{column}'.{near} It has: {', '.join(known)}.")
        frame = self.frame.select(wanted).drop_nulls()
        rows = (frame.collect() if hasattr(frame, "collect") else frame).rows()
        names = tuple(sorted({str(row[1]) for row in rows}))
        splits: dict[str, list[Example]] = {split: [] for split in SPLITS}
        for number, (text, label, *split) in enumerate(rows):
            place = str(split[0]) if split else _split(str(text))
            if place not in splits:
                raise DataError(f"Row {number}: the split '{place}' is not one of {', '.join(SPLITS)}.")
            example = Example(f"row-{number}", tuple(str(text).split()), names.index(str(label)))
            splits[place].append(example)
        for split, examples in splits.items():
            if not examples:
                raise DataError(
                    f"The data frame has {len(rows)} usable rows, and none of them is in {split}."
                )
        made = {split: tuple(examples) for split, examples in splits.items()}
        return TaskData(**made, label_names=names, provenance={"source": "polars"})


def _split(text: str) -> str:
    number = hashlib.sha256(text.encode()).digest()[0] / 256
    return "test" if number < 0.1 else "dev" if number < 0.2 else "train"


def task_of(frame: Any, options: FrameOptions) -> FrameTask:
    """A task of a data frame."""
    return FrameTask(frame, options)
