"""Options of the tasks about stories."""

from pydantic import Field

from attnx.plugin import Options


class BabiOptions(Options):
    """Options of `babi-1`, `babi-2` and `babi-3`."""

    dev: int = Field(10, ge=1, le=50, description="% of the training stories that are for model selection")
    seed: int = Field(0, ge=0, description="seed of that choice")
    max_sentences: int = Field(
        0, ge=0, description="keep this many of the last sentences before a question; 0: all of them"
    )


class GeneratedOptions(Options):
    """Options of `babi-generated`."""

    facts: int = Field(1, ge=1, le=3, description="supporting sentences of a question")
    sentences: int = Field(8, ge=4, le=60, description="most sentences of a story; the least is half of them")
    train: int = Field(4000, ge=6, description="training questions, each about a story of its own")
    dev: int = Field(500, ge=6, description="questions for model selection")
    test: int = Field(500, ge=6, description="test questions")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")
