import numpy as np

from attnx.plugin import Source, Task, TaskData

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
# Words that judge other things, used for nothing else: (negative, positive).
OTHERS = {
    "hotel": (("dirty", "spotless"), ("noisy", "quiet"), ("cramped", "spacious")),
    "meal": (("bland", "tasty"), ("burnt", "crisp"), ("greasy", "delicious")),
    "train": (("late", "punctual"), ("crowded", "empty"), ("slow", "fast")),
    "museum": (("dusty", "modern"), ("confusing", "instructive"), ("closed", "open")),
    "weather": (("rainy", "sunny"), ("stormy", "mild"), ("grey", "bright")),
    "concert": (("shrill", "melodious"), ("sloppy", "precise"), ("muffled", "clear")),
    "garden": (("bare", "blooming"), ("neglected", "tended"), ("muddy", "green")),
    "party": (("stiff", "lively"), ("awkward", "cheerful"), ("rude", "friendly")),
}
OTHER_TOPICS = list(OTHERS)
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
    """Generated reviews of several things; only the judgement of the film decides the label.

    One sentence judges the film, the others judge other things as strongly and independently of the
    label. By default each thing is judged in its own words (a film is dull or gripping, a train late or
    punctual), and the one or two such words about the film are the rationale: only they decide the label.

    With feelings=shared all things are judged in the same words. The label then depends on the word for
    the film (film, movie), which is the same for both labels, and on the judgement in its sentence: both
    are the rationale, but a model will also use the words around them. A model that reads each word
    separately can only count judgements. Needs no files.
    """

    provides = ("words",)

    def __init__(self, options: DistractorsOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        return make_texts(self.write, self.options, ("negative", "positive"))

    def sample(self) -> TaskData:
        return make_texts(self.write, DistractorsOptions(**SAMPLE), ("negative", "positive"))

    def write(self, rng: np.random.Generator) -> Text:
        """Return a text that can have either label."""
        count = self.options.distractors + 1
        film = int(rng.integers(count))  # the sentence that decides
        patterns = rng.choice(PATTERNS, size=count, replace=False).tolist()
        topics = rng.choice(OTHER_TOPICS, size=count, replace=False).tolist()
        topics[film] = str(rng.choice(DECIDING_TOPICS))
        return tuple(
            unit
            for i, (pattern, topic) in enumerate(zip(patterns, topics, strict=True))
            for unit in self._sentence(rng, pattern, topic, i == film)
        )

    def _sentence(self, rng: np.random.Generator, pattern: str, topic: str, decides: bool) -> Text:
        words = pattern.split()
        shared = self.options.feelings == "shared"
        pairs = FEELINGS if decides or shared else OTHERS[topic]
        judgement = int(rng.integers(2))  # of another thing
        feelings = iter(rng.choice(len(pairs), size=words.count("{feeling}"), replace=False).tolist())
        units = []
        for word in words:
            slot = word.strip("{}")
            if word == "{topic}":
                units.append(Unit((topic, topic), deciding=decides and shared))
            elif word == "{feeling}":
                pair = pairs[next(feelings)]
                units.append(Unit(pair, deciding=True) if decides else Unit.plain(pair[judgement]))
            else:
                units.append(Unit.plain(word if slot == word else str(rng.choice(FILLERS[slot]))))
        return tuple(units)
