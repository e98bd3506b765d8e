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
# What is said of other things in words of their own: (negative, positive).
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
    """Short reviews of several things, of which what is said of the film alone decides the label.

    One sentence judges the film, the others judge other things as strongly, and their judgements are
    independent of the label. By default things are judged in words of their own (a film is dull or
    gripping, a train late or punctual), and the film's one or two such words are the rationale:
    everything else can be anything.

    With feelings=shared all are judged in the same words. To know the label one must find the film's
    word (film, movie) as well, which is the same for either label, and which feeling is in its
    sentence: both are the rationale, but so much hangs on what stands near what that a model uses the
    words around them too. A model that reads each word alone can count feelings at best.
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
            for unit in self._sentence(rng, pattern, topic, i == film)
        )

    def _sentence(self, rng: np.random.Generator, pattern: str, topic: str, decides: bool) -> Text:
        words = pattern.split()
        shared = self.options.feelings == "shared"
        pairs = FEELINGS if decides or shared else OTHERS[topic]
        said = int(rng.integers(2))  # what a sentence about another thing says
        feelings = iter(rng.choice(len(pairs), size=words.count("{feeling}"), replace=False).tolist())
        units = []
        for word in words:
            slot = word.strip("{}")
            if word == "{topic}":
                units.append(Unit((topic, topic), deciding=decides and shared))
            elif word == "{feeling}":
                pair = pairs[next(feelings)]
                units.append(Unit(pair, deciding=True) if decides else Unit.plain(pair[said]))
            else:
                units.append(Unit.plain(word if slot == word else str(rng.choice(FILLERS[slot]))))
        return tuple(units)
