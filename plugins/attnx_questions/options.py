"""Options of the tasks about stories."""

from typing import Literal, Self

from pydantic import Field, model_validator

from attnx.plugin import Options


class StoryOptions(Options):
    """What attention is spread over."""

    units: Literal["words", "sentences"] = Field(
        "words", description="words, or whole sentences for a model that reads texts as they are written"
    )

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("raw-text",) if self.units == "sentences" else ()

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("sentences",) if self.units == "sentences" else ()


class BabiOptions(StoryOptions):
    """Options of `babi-1`, `babi-2` and `babi-3`."""

    dev: int = Field(10, ge=1, le=50, description="% of the training stories used for model selection (dev)")
    seed: int = Field(0, ge=0, description="seed of that choice")
    max_sentences: int = Field(0, ge=0, description="keep only this many sentences before a question; 0: all")


class GeneratedOptions(StoryOptions):
    """Options of `babi-generated`."""

    facts: int = Field(1, ge=1, le=3, description="supporting sentences of a question")
    sentences: int = Field(8, ge=4, le=60, description="most sentences in a story; the fewest are half of it")
    each_once: bool = Field(
        False,
        description="one sentence for each of 4 or 5 people, who are in different places: the order of "
        "the sentences does not matter; with facts=1",
    )
    ask: Literal["question", "name"] = Field(
        "question",
        description="the query: where is anna, or with facts=1 the name alone, for a model that completes "
        "'{query} is in the'",
    )
    train: int = Field(4000, ge=6, description="training questions, each with its own story")
    dev: int = Field(500, ge=6, description="questions for model selection")
    test: int = Field(500, ge=6, description="test questions")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")

    @model_validator(mode="after")
    def _asks_where_a_person_is(self) -> Self:
        asked = "each_once=true" if self.each_once else "ask=name" if self.ask == "name" else ""
        if asked and self.facts != 1:
            raise ValueError(f"{asked} asks where a person is: facts=1, not facts={self.facts}")
        return self
