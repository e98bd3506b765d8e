import numpy as np

from attnx.plugin import Source, Task, TaskData

from .options import PronounsOptions
from .planted import SAMPLE, Text, Unit, make_texts

# Each pattern names the person once, as `who`, `whose` or `whom`.
PATTERNS = (
    "{who} was born in {city} and grew up near the {place} .",
    "{who} studied {field} at the university of {city} .",
    "when the war was over {who} moved to {city} to work as a {job} .",
    "{who} later taught {field} at a small school near {city} .",
    "for {number} years {who} worked as a {job} in {city} .",
    "{who} wrote {number} books about {field} and one about {field} .",
    "in old age {who} lived quietly near a {place} in {city} .",
    "{whose} first book about {field} was printed in {city} .",
    "the {place} in {city} keeps {whose} letters and drawings .",
    "{whose} family owned a {place} not far from {city} .",
    "many of {whose} students became known for {field} .",
    "a {job} from {city} bought {whose} house by the {place} .",
    "the university of {city} gave {whom} a prize for {field} .",
    "friends in {city} remember {whom} as a patient {job} .",
    "a {job} at the {place} taught {whom} {field} .",
)
FILLERS = {
    "city": "paris london vienna madrid lisbon prague dublin oslo athens warsaw".split(),
    "place": "harbour library museum market river theatre garden mill station".split(),
    "field": "physics music history botany chess painting geometry medicine astronomy poetry".split(),
    "job": "teacher doctor printer painter lawyer gardener writer pilot baker chemist".split(),
    "number": "two three four five seven nine twelve twenty".split(),
}
SURNAMES = "miller novak garcia larsen rossi dubois keller santos weber moreau lind okafor".split()
# Words for the person that decide the label: pairs like (he, she).
PRONOUNS = {"who": ("he", "she"), "whose": ("his", "her"), "whom": ("him", "her")}
TITLES = ("mr", "mrs")
NEUTRAL_TITLES = ("dr", "professor", "judge", "captain")


class PlantedPronouns(Task):
    """Generated short biographies; only pronouns and titles decide the label.

    Two or three sentences about one person. One to `deciding` of them name the person by a pronoun (he,
    she, his, her, him) or a title (mr, mrs); the others by a neutral title. Each of the deciding words is
    enough to determine the label, and all of them are the rationale. Full stops are units too: a place on
    which attention can rest without using it. Needs no files.
    """

    provides = ("words",)

    def __init__(self, options: PronounsOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        return make_texts(self.write, self.options, ("he", "she"))

    def sample(self) -> TaskData:
        return make_texts(self.write, PronounsOptions(**SAMPLE), ("he", "she"))

    def write(self, rng: np.random.Generator) -> Text:
        """Return a text that can have either label."""
        count = int(rng.integers(2, 4))
        deciding = int(rng.integers(1, min(count, self.options.deciding) + 1))
        decides = rng.permutation(np.arange(count) < deciding)  # [sentences]
        surname = str(rng.choice(SURNAMES))
        chosen = rng.choice(PATTERNS, size=count, replace=False)
        return tuple(
            unit
            for pattern, here in zip(chosen.tolist(), decides.tolist(), strict=True)
            for word in pattern.split()
            for unit in _units(rng, word, surname, here)
        )


def _units(rng: np.random.Generator, word: str, surname: str, decides: bool) -> Text:
    slot = word.strip("{}")
    if slot == word:
        return (Unit.plain(word),)
    if slot in FILLERS:
        return (Unit.plain(str(rng.choice(FILLERS[slot]))),)
    if decides and rng.random() < 0.7:
        return (Unit(PRONOUNS[slot], deciding=True),)
    title = Unit(TITLES, deciding=True) if decides else Unit.plain(str(rng.choice(NEUTRAL_TITLES)))
    name = (title, Unit.plain(surname))
    return (*name, Unit.plain("'s")) if slot == "whose" else name
