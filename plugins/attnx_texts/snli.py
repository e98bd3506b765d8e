from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from attnx.plugin import TaskData, read_json_lines

from .dataset_task import DatasetTask
from .options import SnliOptions
from .readers.jsonl import read_jsonl
from .readers.split_files import SPLITS
from .rows import Rows, RowStream
from .samples import make_pairs

OFFICIAL = "snli_1.0_{}.jsonl"
UNDECIDED = "-"  # the label of a pair on which the annotators did not agree
PAIRS = (  # of the sample, every label in turn
    ("a man in a {} coat plays the guitar", "a man plays music"),
    ("a woman in a {} hat walks her dog", "a tall woman walks home"),
    ("two children in {} shirts sleep on the grass", "two children run to school"),
)


class Snli(DatasetTask):
    """Whether a sentence follows from another, contradicts it, or neither.

    Attention is spread over the premise, and the hypothesis is the query, as in Jain and Wallace;
    units=hypothesis turns it round. Pairs on which annotators did not agree are passed over, as is
    usual.
    """

    provides = ("words", "query")
    needs = ("reads-query",)
    dataset = "snli"
    kinds = ("jsonl",)
    known_labels = ("entailment", "neutral", "contradiction")
    options: SnliOptions

    def read_file(self, path: Path) -> RowStream:
        names = {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
        with closing(read_json_lines(path)) as lines:
            _, first = next(lines, (0, {}))
        if "sentence1" in first:  # as the authors call them
            names = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
        other = "hypothesis" if self.options.units == "premise" else "premise"
        rows = read_jsonl(path, names[self.options.units], names["label"], query=names[other])
        return (row for row in rows if row.label != UNDECIDED)

    def read_folder(self, folder: Path) -> Mapping[str, Rows]:
        found = {split: folder / OFFICIAL.format(split) for split in SPLITS}
        if not all(path.is_file() for path in found.values()):
            return super().read_folder(folder)
        return {split: Rows(str(path), self.read_file(path)) for split, path in found.items()}

    def sample(self) -> TaskData:
        return make_pairs(self.known_labels, PAIRS)
