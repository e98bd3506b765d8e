from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attnx.plugin import DataError, Source, Task, TaskData

from .marked import SAMPLE, SIZES, cut_punctuation, read_stars
from .options import EsnliOptions
from .passages import SPLITS, Account, Marks, Passage, agreed, cased, make_data
from .reading import find_label, read_table
from .samples import COLOURS

FILES = {"train": "esnli_train*.csv", "dev": "esnli_dev.csv", "test": "esnli_test.csv"}
LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2}
SENTENCES = ("Sentence1", "Sentence2")  # premise and hypothesis
ANNOTATORS = 3  # of dev and test; train has one
SEPARATOR = "<sep>"  # a unit of its own, so that no span reaches from one sentence into the other
PAIRS = (  # of the sample, every label in turn
    ("a man in a {} coat *plays* the guitar", "a man *plays* music"),
    ("a woman in a {} hat *walks* her dog", "a *tall* woman walks *home*"),
    ("two children in {} shirts *sleep* on the grass", "two children *run* to school"),
)
Words = tuple[str, ...]
Pair = tuple[Marks, Marks]  # of premise and hypothesis


class Esnli(Task):
    """Pairs of sentences that agree, contradict or neither, with the words that show it.

    A folder holds esnli_train_1.csv, esnli_train_2.csv, esnli_dev.csv and esnli_test.csv as e-SNLI has
    them: columns gold_label, Sentence1 (the premise), Sentence2 (the hypothesis) and, for each of one
    or three people, the sentences with the words they marked between stars (Sentence1_marked_1, ...).

    Units are the words of the premise, a separator and the words of the hypothesis: people marked a
    neutral pair in the hypothesis alone, so that with either sentence alone a label would lack its
    rationale. Or one sentence is the units and the other the query. Punctuation around words is a
    unit of its own and never in the rationale.
    """

    provides = ("words", "rationale")
    dataset = "esnli"

    def __init__(self, options: EsnliOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        fetched = source.fetch(self.dataset)
        account = Account()
        splits = {
            split: self._read(_files(fetched.folder, pattern), split, account)
            for split, pattern in FILES.items()
        }
        said = {"agreement": self.options.agreement, "units": self.options.units}
        provenance = {**fetched.provenance, **said}
        return make_data(splits, tuple(LABELS), self.options, provenance, account, raw_text=source.raw_text)

    def units_of(self, text: str) -> tuple[str, ...]:
        """The words of a sentence, or of a premise and a hypothesis with <sep> between them."""
        sentences = [sentence.split() for sentence in text.split(SEPARATOR)]
        parts = [cut_punctuation(words, [False] * len(words))[0] for words in sentences]
        return cased(tuple(f" {SEPARATOR} ".join(" ".join(words) for words in parts).split()), self.options)

    def sample(self) -> TaskData:
        splits = {
            split: [
                self._sample_pair(f"{split}-{label}-{number}", label, COLOURS[number])
                for label in LABELS.values()
                for number in range(SIZES[split])
            ]
            for split in SPLITS
        }
        return make_data(splits, tuple(LABELS), self.options, SAMPLE, Account())

    def _sample_pair(self, name: str, label: int, colour: str) -> Passage:
        premise, hypothesis = (read_stars(text.format(colour)) for text in PAIRS[label])
        texts = (" ".join(premise[0]), " ".join(hypothesis[0]))
        return self._passage(name, texts, [(premise[1], hypothesis[1])], label)

    def _read(self, files: Sequence[Path], split: str, account: Account) -> Iterator[Passage]:
        columns = ("gold_label", *SENTENCES, *(f"{sentence}_marked_1" for sentence in SENTENCES))
        number = 0
        for path in files:
            for where, row in read_table(path, columns):
                label = find_label(row["gold_label"], LABELS, where)
                premise, hypothesis = (tuple(row[sentence].split()) for sentence in SENTENCES)
                votes = list(_votes(row))
                fitting = [
                    (first, second)
                    for first, second in votes
                    if (len(first), len(second)) == (len(premise), len(hypothesis))
                ]
                if len(fitting) < len(votes):
                    account.add(split, "marks left out", "not one piece per word")
                texts = (row[SENTENCES[0]], row[SENTENCES[1]])
                yield self._passage(f"{split}-{number:06d}", texts, fitting, label)
                number += 1

    def _passage(self, name: str, texts: tuple[str, str], votes: list[Pair], label: int) -> Passage:
        """A pair of sentences, and what each annotator marked in them."""
        sentences = tuple(text.split() for text in texts)
        cut = [
            tuple(cut_punctuation(*part)[1] for part in zip(sentences, vote, strict=True)) for vote in votes
        ]
        premise, hypothesis = (cut_punctuation(words, (False,) * len(words))[0] for words in sentences)
        query: Words | None
        if self.options.units == "premise":
            words, marks, query = premise, [vote[0] for vote in cut], hypothesis
            text, asked = texts
        elif self.options.units == "hypothesis":
            words, marks, query = hypothesis, [vote[1] for vote in cut], premise
            asked, text = texts
        else:
            both = (*premise, SEPARATOR, *hypothesis)
            words, marks, query = both, [(*vote[0], False, *vote[1]) for vote in cut], None
            text, asked = f" {SEPARATOR} ".join(texts), None
        agree = agreed(marks, self.options.agreement)
        return Passage(name, words, label, agree, query, text, asked)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise DataError(f"'{folder}' does not hold {pattern}.")
    return found


def _votes(row: dict[str, str]) -> Iterator[Pair]:
    """What each annotator of a row marked in the premise and in the hypothesis."""
    for number in range(1, ANNOTATORS + 1):
        columns = [f"{sentence}_marked_{number}" for sentence in SENTENCES]
        if all(column in row for column in columns):
            premise, hypothesis = (read_stars(row[column])[1] for column in columns)
            yield premise, hypothesis
