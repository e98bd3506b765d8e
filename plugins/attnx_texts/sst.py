from __future__ import annotations

from pathlib import Path

from .dataset_task import DatasetTask
from .label_names import SENTIMENT
from .readers.jsonl import read_jsonl
from .readers.trees import read_trees
from .rows import RowStream


class Sst(DatasetTask):
    """Movie review sentences, positive or negative; local train.txt, dev.txt, test.txt of trees.

    The Stanford Sentiment Treebank as its archive `trainDevTestTrees_PTB` has it, a bracketed tree a
    line; neutral sentences are left out. Its sentences are split into words already.
    """

    dataset = "sst"
    known_labels = SENTIMENT
    kinds = ("jsonl", "txt")
    tokenised = True

    def read_file(self, path: Path) -> RowStream:
        return read_jsonl(path) if ".jsonl" in path.suffixes else read_trees(path)
