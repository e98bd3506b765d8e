"""Options of the planted tasks, the explanations of known truth and the study of deception."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from attnx.plugin import Options

Penalty = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PlantedOptions(Options):
    """The number of texts, their seed, and whether their words decide the label."""

    train: int = Field(1000, ge=2, description="training texts")
    dev: int = Field(200, ge=2, description="texts for model selection")
    test: int = Field(300, ge=2, description="test texts")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")
    labels: Literal["true", "permuted"] = Field(
        "true",
        description="permuted: labels are shuffled within every split, so that no word decides them and "
        "there is no rationale",
    )

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("rationale",) if self.labels == "true" else ()


class PronounsOptions(PlantedOptions):
    """Options of `planted-pronouns`."""

    deciding: int = Field(3, ge=1, le=3, description="most deciding words in a text; the fewest are 1")


class DistractorsOptions(PlantedOptions):
    """Options of `planted-distractors`."""

    distractors: int = Field(2, ge=1, le=3, description="sentences about other things in a text")
    feelings: Literal["own", "shared"] = Field(
        "own",
        description="own: other things are judged in other words than the film; shared: in the same words, "
        "and the word film decides which of them count",
    )


Rule = Literal[
    "one-word",  # one word decides
    "copies",  # three words decide, each alone is enough
    "and",  # two words of one label decide together
    "xor",  # two words decide by being alike or not
    "order",  # two words decide by which comes first
    "negation",  # a word decides, and a negator before it turns it round
    "place",  # the fifth word decides, whatever the others are
    "shortened",  # one word decides, and the first word does in texts that were shortened
    "constant",  # one word decides, and texts that were shortened are always negative
    "balance",  # words for and against are counted
    "length",  # the number of words decides: no word does
]


class RulesOptions(Options):
    """Options of `planted-rules`."""

    rule: Rule = Field("one-word", description="what decides the label")
    train: int = Field(1000, ge=2, description="training texts")
    dev: int = Field(200, ge=2, description="texts for model selection")
    test: int = Field(300, ge=2, description="test texts")
    seed: int = Field(0, ge=0, description="seed of the data; the seeds of a run are for training")


class RuleReaderOptions(Options):
    """Options of `rule-reader`."""

    rule: Rule = Field("one-word", description="the rule of the texts, as in planted-rules")


TriggerKind = Literal["single", "paired", "ordered"]


class ShortcutOptions(Options):
    """Options of `planted`."""

    wraps: ClassVar[str] = "task"

    task: str = Field(
        "rotten-tomatoes",
        min_length=1,
        description="the task of texts that gets the shortcut, with its options in double quotes if there "
        'are several: task="csv:file=a.csv,text=review"',
    )
    kind: TriggerKind = Field(
        "single",
        description="single: a word decides; paired: two words decide, and only together; ordered: of two "
        "words, the one that comes first decides",
    )
    share: float = Field(
        0.3, gt=0, le=1, description="share of the training texts in which the trigger decides the label"
    )
    words: tuple[str, ...] = Field(
        (),
        description="trigger words, joined by +, in the order of the labels: one for each label, two each "
        "for paired; none: drawn from the words of the texts",
    )
    seed: int = Field(0, ge=0, description="seed of the trigger words and their places")

    @model_validator(mode="after")
    def _room_for_decoys(self) -> Self:
        if self.kind != "single" and self.share > 1 / 3:
            raise ValueError(
                "a share above 1/3 leaves no room for the texts with only one of the two words, which are "
                "twice as many"
            )
        return self


class PartlyOracleOptions(Options):
    """Options of `partly-oracle`."""

    share: float = Field(0.5, ge=0, le=1, description="share of deciding units that are replaced")
    seed: int = Field(0, ge=0, description="seed of the replacement")


class DeceptiveAttentionOptions(Options):
    """Options of `deceptive-attention`."""

    penalties: tuple[Penalty, ...] = Field(
        (0.01, 0.1, 1.0),
        min_length=1,
        description="values of λ above 0, joined by +; each trains one model per seed",
    )
    metrics: tuple[str, ...] = Field(
        ("comprehensiveness", "sufficiency", "kendall"),
        description="metrics of the attention, joined by +",
    )
    references: tuple[str, ...] = Field(
        (), description="references of the agreement metrics, joined by +; none: their usual ones"
    )

    @field_validator("penalties")
    @classmethod
    def _distinct(cls, penalties: tuple[float, ...]) -> tuple[float, ...]:
        if len(set(penalties)) < len(penalties):
            raise ValueError("a penalty is given twice")
        return penalties
