from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, Source, Task, TaskData, parse_object, read_text

from .marked import make_sample
from .options import HateXplainOptions
from .passages import Account, Marks, Passage, agreed, cased, make_data
from .reading import find_file, find_label, value_of

LABELS = {"hatespeech": 0, "normal": 1, "offensive": 2}
NORMAL = LABELS["normal"]
DIVISIONS = {"train": "train", "dev": "val", "test": "test"}


class HateXplain(Task):
    """Posts that are hateful, offensive or normal, with the words that make them so.

    A folder holds dataset.json and post_id_divisions.json as HateXplain has them. The label of a post
    is the one that most of its annotators chose; where there is none the post is dropped. The
    rationale is what enough of them marked; a normal post has none. Marks that do not have one value
    per word are left out.
    """

    provides = ("words", "rationale")
    dataset = "hatexplain"

    def __init__(self, options: HateXplainOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        path, divided = (find_file(fetched.folder, f"{n}.json") for n in ("dataset", "post_id_divisions"))
        posts, divisions = (parse_object(read_text(file), f"'{file}'") for file in (path, divided))
        account = Account()
        splits = {
            split: self._read(posts, value_of(divisions, name, list, f"'{divided}'"), path, split, account)
            for split, name in DIVISIONS.items()
        }
        provenance = {**fetched.provenance, "agreement": self.options.agreement}
        return make_data(splits, tuple(LABELS), self.options, provenance, account, raw_text=source.raw_text)

    def units_of(self, text: str) -> tuple[str, ...]:
        return cased(tuple(text.split()), self.options)

    def sample(self) -> TaskData:
        evidence = {
            "hatespeech": "despise loathe banish".split(),
            "normal": "garden weather recipe".split(),
            "offensive": "fool twit nitwit".split(),
        }
        return make_sample(evidence, self.options)

    def _read(
        self, posts: dict[str, Any], ids: list[Any], path: Path, split: str, account: Account
    ) -> Iterator[Passage]:
        for name in ids:
            where = f"'{path}', post '{name}'"
            post = posts.get(name) if isinstance(name, str) else None
            if not isinstance(post, dict):
                raise DataError(f"{where}: post_id_divisions.json names it, but it is not there.")
            label = _label(value_of(post, "annotators", list, where), where)
            if label is None:
                account.drop(split, "no label in the majority")
                continue
            words = value_of(post, "post_tokens", list, where)
            if not all(isinstance(word, str) and word.strip() for word in words):
                raise DataError(f"{where}: 'post_tokens' must be words that are not empty.")
            marks = None
            if label != NORMAL:
                votes = _votes(value_of(post, "rationales", list, where), where)
                fitting = [vote for vote in votes if len(vote) == len(words)]
                if len(fitting) < len(votes):
                    account.add(split, "marks left out", "not one value per word")
                marks = agreed(fitting, self.options.agreement)
            yield Passage(name, tuple(words), label, marks)


def _label(annotators: list[Any], where: str) -> int | None:
    """The label that most annotators chose, or None where two lead."""
    for annotator in annotators:
        if not isinstance(annotator, dict):
            raise DataError(f"{where}: an annotator must be an object with a label.")
    given = [value_of(annotator, "label", str, where) for annotator in annotators]
    counts = Counter(find_label(label, LABELS, where) for label in given).most_common(2)
    if not counts:
        raise DataError(f"{where}: there is no annotator, so it has no label.")
    leads = len(counts) == 1 or counts[0][1] > counts[1][1]
    return counts[0][0] if leads else None


def _votes(rationales: list[Any], where: str) -> list[Marks]:
    for values in rationales:
        if not (isinstance(values, list) and all(type(v) is int and v in (0, 1) for v in values)):
            raise DataError(f"{where}: a rationale must be a list of 0 and 1.")
    return [tuple(bool(value) for value in values) for values in rationales]
