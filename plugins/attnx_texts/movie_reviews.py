from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from .dataset_task import DatasetTask
from .label_names import SENTIMENT
from .readers.delimited import read_table
from .readers.folders import read_folders
from .rows import Rows

TABLE = "reviews.csv"  # both datasets in one table, distinguished by its column `source`


class _MovieReviews(DatasetTask):
    known_labels = SENTIMENT
    kinds = ("jsonl",)
    source: ClassVar[str]
    content: ClassVar[str]  # of the table

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        path = folder / TABLE
        if not path.exists():
            return super().read_folder(folder)
        return {"all": Rows(str(path), read_table(path, only={"source": self.source}), content=self.content)}


class Imdb(_MovieReviews):
    """Movie reviews, positive or negative.

    The package carries the training half alone, which is divided; a local folder or the official
    archive (train/pos/*.txt and so on) has both halves, and dev is a tenth of train.
    """

    dataset = "imdb"
    source = "imdb"
    content = f"the training half, all that {TABLE} has of it,"

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        if not (folder / "train").is_dir():
            return super().read_folder(folder)
        labels = {"neg": "negative", "pos": "positive"}
        return {
            half: Rows(str(folder / half), read_folders(folder / half, labels, suffix=".txt"))
            for half in ("train", "test")
        }


class RottenTomatoes(_MovieReviews):
    """One-sentence movie reviews, positive or negative.

    The package carries the training part alone, which is divided.
    """

    dataset = "rotten-tomatoes"
    source = "rotten_tomatoes"
    content = f"the training part, all that {TABLE} has of it,"
