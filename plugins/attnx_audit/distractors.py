import numpy as np

from attnx import Source, Task, TaskData

from .options import DistractorsOptions
from .planted import SAMPLE, Text, Unit, make_texts

PATTERNS = (
    "the {topic} was {feeling} from start to end .",
    "we all found the {topic} {feeling} this time .",
    "what a {feeling} {topic} that was on {day} .",
    "everyone said that the {topic} was {feeling} .",
    "my {friend} called the {topic} rather {feeling} .",
    "on {day} the {topic} seemed {feeling} to us .",
    "the {topic} my {friend} had picked was {feeling} and {feeling} .",
    "a {feeling} {topic} , as my {friend} put it .",
)
FILLERS = {
    "day": "monday tuesday thursday friday saturday sunday".split(),
    "friend": "sister brother neighbour cousin uncle teacher".split(),
}
DECIDING_TOPICS = ("film", "movie")
OTHER_TOPICS = "hotel meal train museum weather concert garden party".split()
FEELINGS = (  # (negative, positive)
    ("dreadful", "wonderful"),
    ("dull", "gripping"),
    ("awful", "superb"),
    ("terrible", "excellent"),
    ("boring", "charming"),
    ("horrible", "lovely"),
    ("poor", "great"),
    ("clumsy", "graceful"),
    ("bleak", "delightful"),
    ("tedious", "splendid"),
)


class PlantedDistractors(Task):
    """Short reviews of several things, of which what is said of the film alone decides the label.

    One sentence judges the film, the others judge other things as strongly, and their judgements
    are independent of the label. To know the label one must find the film's word (film, movie) and
    read the feeling in its sentence (one word or two): both are the rationale. The film's word is the
    same for either label; without it nobody could say which feeling counts. A model that reads each
    word alone can count feelings at best.
    """

    provides = ("words",)

    def __init__(self, options: DistractorsOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        return make_texts(self.write, self.options, ("negative", "positive"))

    def sample(self) -> TaskData:
        return make_texts(self.write, DistractorsOptions(**SAMPLE), ("negative", "positive"))

    def write(self, rng: np.random.Generator) -> Text:
        """A text for either label."""
        count = self.options.distractors + 1
        film = int(rng.integers(count))  # the sentence that decides
        patterns = rng.choice(PATTERNS, size=count, replace=False).tolist()
        topics = rng.choice(OTHER_TOPICS, size=count, replace=False).tolist()
        topics[film] = str(rng.choice(DECIDING_TOPICS))
        return tuple(
            unit
            for i, (pattern, topic) in enumerate(zip(patterns, topics, strict=True))
            for unit in _sentence(rng, pattern, topic, i == film)
        )


def _sentence(rng: np.random.Generator, pattern: str, topic: str, decides: bool) -> Text:
    words = pattern.split()
    said = int(rng.integers(2))  # what a sentence about another thing says
    feelings = iter(rng.choice(len(FEELINGS), size=words.count("{feeling}"), replace=False).tolist())
    units = []
    for word in words:
        slot = word.strip("{}")
        if word == "{topic}":
            units.append(Unit((topic, topic), deciding=decides))
        elif word == "{feeling}":
            pair = FEELINGS[next(feelings)]
            units.append(Unit(pair, deciding=True) if decides else Unit.plain(pair[said]))
        else:
            units.append(Unit.plain(word if slot == word else str(rng.choice(FILLERS[slot]))))
    return tuple(units)
