from dataclasses import replace

import numpy as np

from attnx.plugin import Example, Source, Task, TaskData

from .mosaics import SPLITS
from .options import SdcTextOptions

EVIDENCE = (
    np.array(["dull", "clumsy", "tedious", "bland", "hollow", "lifeless", "messy", "stale"]),
    np.array(["vivid", "graceful", "gripping", "tender", "witty", "radiant", "bold", "fresh"]),
)
FILLER = np.array(
    "the a this that one of and but with without in on at by for from into over under after before again "
    "film story plot scene camera actor actress director script music score ending opening hour minute "
    "we they she he it you people everyone nobody town house street river winter summer morning night "
    "was is are were has had goes comes turns seems stays begins ends moves looks sounds feels runs "
    "rather quite very almost nearly mostly simply only just still soon later there here where".split()
)


class SdcText(Task):
    """Generated sentences of filler words with planted words that decide the label.

    Units are words; the planted words are the rationale. All splits share a vocabulary, but sentences are
    drawn separately. With labels=permuted the labels are shuffled within each split: nothing decides
    them, and there is no rationale. Needs no files.
    """

    provides = ("words",)

    def __init__(self, options: SdcTextOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        seeds = np.random.SeedSequence(self.options.seed).spawn(len(SPLITS))
        train, dev, test = (
            self._split(rng, split)
            for split, rng in zip(SPLITS, map(np.random.default_rng, seeds), strict=True)
        )
        return TaskData(
            train=train,
            dev=dev,
            test=test,
            label_names=("negative", "positive"),
            provenance={"source": "generated from word lists"},
        )

    def sample(self) -> TaskData:
        return SdcText(SdcTextOptions(train=24, dev=12, test=12)).load(Source())

    def _split(self, rng: np.random.Generator, split: str) -> tuple[Example, ...]:
        examples = tuple(self._sentence(rng, f"{split}-{i}") for i in range(getattr(self.options, split)))
        if self.options.labels == "true":
            return examples
        labels = rng.permutation([example.label for example in examples]).tolist()
        return tuple(
            replace(example, label=label, rationale=None)
            for example, label in zip(examples, labels, strict=True)
        )

    def _sentence(self, rng: np.random.Generator, name: str) -> Example:
        length = int(rng.integers(self.options.segments // 2, self.options.segments + 1))
        label = int(rng.integers(len(EVIDENCE)))
        words = rng.choice(FILLER, size=length).tolist()
        planted = rng.choice(length, size=min(self.options.evidence, length), replace=False).tolist()
        for position in planted:
            words[position] = str(rng.choice(EVIDENCE[label]))
        return Example(
            id=name,
            units=tuple(words),
            label=label,
            rationale=tuple(position in planted for position in range(length)),
        )
