"""The datasets of Zhang, Zhao and LeCun: train.csv and test.csv, a class and columns of text."""

from __future__ import annotations

from pathlib import Path

from .dataset_task import DatasetTask
from .label_names import AG_NEWS, SENTIMENT, STARS, YAHOO
from .options import AgNewsOptions, StarsOptions
from .readers.delimited import read_zhang
from .readers.jsonl import read_jsonl
from .rows import RowStream


class _Zhang(DatasetTask):
    kinds = ("jsonl", "csv")

    def read_file(self, path: Path) -> RowStream:
        return read_jsonl(path) if ".jsonl" in path.suffixes else read_zhang(path, len(self.known_labels))


class AgNews(_Zhang):
    """News by topic, World against Business unless others are chosen; local train.csv and test.csv.

    No header; columns class (1 World, 2 Sports, 3 Business, 4 Sci/Tech), title, description. Dev is a
    tenth of train.
    """

    dataset = "agnews"
    known_labels = AG_NEWS
    options: AgNewsOptions

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.options.classes)


class _Stars(_Zhang):
    known_labels: tuple[str, ...] = STARS
    advice = " For files of two classes set variant=polarity."
    options: StarsOptions

    def __init__(self, options: StarsOptions) -> None:
        super().__init__(options)
        if options.variant == "polarity":
            self.known_labels = SENTIMENT


class Yelp(_Stars):
    """Yelp reviews by stars; local train.csv and test.csv, no header: class from 1, text.

    Dev is a tenth of train.
    """

    dataset = "yelp"


class Amazon(_Stars):
    """Amazon reviews by stars; local train.csv and test.csv, no header: class from 1, title, text.

    Dev is a tenth of train.
    """

    dataset = "amazon"


class Yahoo(_Zhang):
    """Yahoo questions by topic; local train.csv and test.csv, no header: class, question, answer.

    Columns class (from 1), title, question, best answer. Dev is a tenth of train.
    """

    dataset = "yahoo"
    known_labels = YAHOO
