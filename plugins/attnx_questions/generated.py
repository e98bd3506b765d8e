from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from attnx.plugin import Source, Task, TaskData

from .options import GeneratedOptions
from .stories import StoryQuestion, to_example, units_of

PEOPLE = ("anna", "boris", "clara", "david", "erin")
PLACES = ("attic", "barn", "cellar", "library", "porch", "stable")
THINGS = ("basket", "candle", "lantern", "rope")
GOES = ("walked to", "hurried to", "returned to", "strolled to")
TAKES = ("took", "picked up", "lifted")
DROPS = ("dropped", "put down", "left")
FRIENDS = ("Mary", "John", "Sandra", "Daniel", "Julie")  # common words, which a language model knows best
ROOMS = ("kitchen", "garden", "bathroom", "bedroom", "office", "hallway")
SPLITS = ("train", "dev", "test")


class GeneratedStories(Task):
    """Generated stories with a question, like bAbI, whose supporting sentences are known.

    facts=1 asks where a person is: supported by the last sentence that moved this person. facts=2 asks
    where an object is: supported by where its holder went last or dropped it, and by who took it or had
    it then. facts=3 asks where an object was before a place: supported by the sentences that brought it
    there, the one that took its holder to the place before, and the one in which the holder got it. With
    each_once=true everybody is in one place, and nobody moves. Units are words, and the words of
    supporting sentences are the rationale. Every answer is equally frequent. Needs no files, but a model
    that reads queries.
    """

    provides = ("words", "query", "rationale")
    needs = ("reads-query",)

    def __init__(self, options: GeneratedOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        places = ROOMS if self.options.each_once else PLACES
        train, dev, test = (
            tuple(
                to_example(
                    self._asked(rng, f"{split}-{i}", places[i % len(places)]), places, self.options.units
                )
                for i in range(getattr(self.options, split))
            )
            for split, rng in ((split, Random(f"{self.options.seed} {split}")) for split in SPLITS)
        )
        details = {"source": f"generated stories, {self.options.facts} supporting sentences per question"}
        return TaskData(train, dev, test, places, provenance=details)

    def units_of(self, text: str) -> tuple[str, ...]:
        return units_of(text if self.options.each_once else text.lower())

    def sample(self) -> TaskData:
        return GeneratedStories(GeneratedOptions(facts=self.options.facts, train=30, dev=12, test=12)).load(
            Source()
        )

    def _asked(self, rng: Random, name: str, answer: str) -> StoryQuestion:
        """Return a question with that answer: the answer and the drawn place exchange names in the story."""
        while True:
            story = _Story(rng, things=self.options.facts > 1)
            if self.options.each_once:
                story.place_each_once(rng.randint(4, len(FRIENDS)))
            else:
                for _ in range(rng.randint(max(4, self.options.sentences // 2), self.options.sentences)):
                    story.add_sentence()
            questions = story.questions(self.options.facts)
            if questions:
                break
        question, place, supporting = rng.choice(questions)
        question = question[-1:] if self.options.ask == "name" else question
        other = {place: answer, answer: place}
        sentences = tuple(_renamed(words, other) for words in story.sentences)
        return StoryQuestion(name, sentences, _renamed(question, other), answer, frozenset(supporting))


def _renamed(words: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(word, word) for word in words)


Question = tuple[tuple[str, ...], str, set[int]]  # its words, the answer, supporting sentences


@dataclass
class _Story:
    """A story so far, and all facts that follow from it."""

    rng: Random
    things: bool  # whether there are any
    sentences: list[tuple[str, ...]] = field(default_factory=list)
    places: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # of people: place, sentence
    holders: dict[str, tuple[str, int]] = field(default_factory=dict)  # of things: person, sentence
    stays: dict[str, list[tuple[str, set[int]]]] = field(default_factory=dict)  # of things: place, sentences

    def place_each_once(self, people: int) -> None:
        """Let some people be in a place each, no two in the same."""
        rooms = _some(self.rng, ROOMS, people)
        for person, room in zip(_some(self.rng, FRIENDS, people), rooms, strict=True):
            self._go(person, room, "is in")

    def add_sentence(self) -> None:
        """Add a sentence in which somebody goes, takes or drops."""
        person = _pick(self.rng, PEOPLE)
        here = self.places.get(person, [])
        held = [thing for thing, (who, _) in self.holders.items() if who == person]
        free = [
            thing
            for thing in THINGS
            if thing not in self.holders
            and (thing not in self.stays or (here and self.stays[thing][-1][0] == here[-1][0]))
        ]
        deed = _pick(self.rng, ("go", "take", "drop")) if self.things else "go"
        if deed == "drop" and held and here:
            self._drop(person, _pick(self.rng, held))
        elif deed == "take" and free and here:
            self._take(person, _pick(self.rng, free))
        else:
            self._go(person, _pick(self.rng, [place for place in PLACES if not here or place != here[-1][0]]))

    def _go(self, person: str, place: str, verb: str = "") -> None:
        now = self._say(f"{person} {verb or _pick(self.rng, GOES)} the {place}")
        self.places.setdefault(person, []).append((place, now))
        for thing, (who, taken) in self.holders.items():
            if who == person:
                self.stays.setdefault(thing, []).append((place, {taken, now}))

    def _take(self, person: str, thing: str) -> None:
        now = self._say(f"{person} {_pick(self.rng, TAKES)} the {thing}")
        place, came = self.places[person][-1]
        if thing not in self.stays:
            self.stays[thing] = [(place, {now, came})]
        self.holders[thing] = (person, now)

    def _drop(self, person: str, thing: str) -> None:
        now = self._say(f"{person} {_pick(self.rng, DROPS)} the {thing}")
        place, came = self.places[person][-1]
        self.stays[thing][-1] = (place, {came, now})
        del self.holders[thing]

    def _say(self, text: str) -> int:
        self.sentences.append(tuple(text.split()))
        return len(self.sentences) - 1

    def questions(self, facts: int) -> list[Question]:
        """All questions of that many facts that the story answers."""
        if facts == 1:
            return [
                (("where", "is", person), been[-1][0], {been[-1][1]}) for person, been in self.places.items()
            ]
        if facts == 2:
            last = {thing: been[-1] for thing, been in self.stays.items()}
            return [(("where", "is", "the", thing), place, why) for thing, (place, why) in last.items()]
        return [
            (
                ("where", "was", "the", thing, "before", "the", after[0]),
                before[0],
                before[1] | after[1],
            )
            for thing, been in self.stays.items()
            for before, after in pairwise(been)
            if [place for place, _ in been].count(after[0]) == 1 and len(before[1] | after[1]) == 3
        ]


def _some(rng: Random, among: tuple[str, ...], count: int) -> list[str]:
    """So many different ones, in a random order."""
    left = list(among)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]


def _pick(rng: Random, among: list[str] | tuple[str, ...]) -> str:
    return among[int(rng.random() * len(among))]
