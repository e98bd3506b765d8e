"""Options of the text tasks; the defaults of a dataset are its facts."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from attnx.plugin import Options

from .file_options import ColumnOptions
from .label_names import AG_NEWS, NEWSGROUPS, find_names

Agreement = Literal["majority", "any", "all"]
Units = Literal["words", "sentences", "paragraphs"]
LARGER = ("sentences", "paragraphs")  # than words


class TextOptions(Options):
    """How texts become words, and which of them are used."""

    min_length: int = Field(1, ge=1, description="fewest words of a text; shorter ones are dropped")
    max_length: int = Field(0, ge=0, description="most words of a text; 0: any number")
    too_long: Literal["drop", "truncate", "refuse"] = Field(
        "drop", description="what happens to a text of more than max_length words"
    )
    empty: Literal["drop", "refuse"] = Field("drop", description="what happens to a text without any word")
    drop_longest: bool = Field(
        False, description="also drop the longest text of every split, as Jain and Wallace's code does"
    )
    tokenise: Literal["auto", "words", "spaces"] = Field(
        "auto",
        description="words: split words and punctuation; spaces: at white space only; "
        "auto: spaces where the files are split already",
    )
    lowercase: bool = Field(True, description="make all letters lower-case")
    digits: Literal["qqq", "keep"] = Field("qqq", description="qqq stands in for every word that has a digit")
    seed: int = Field(0, ge=0, description="seed of the split, where the files do not give one")
    min_count: int = Field(1, ge=1, description="words rarer than this in train are unknown to a model")
    units: Units = Field(
        "words",
        description="what attention is spread over and what is removed; sentences and paragraphs need a "
        "model that reads texts as they are written",
    )

    @property
    def also_needs(self) -> tuple[str, ...]:
        return (*super().also_needs, *(("raw-text",) if self.units in LARGER else ()))

    @property
    def also_provides(self) -> tuple[str, ...]:
        return (*super().also_provides, *((self.units,) if self.units in LARGER else ()))


class DatasetOptions(TextOptions):
    """Options of every named dataset."""

    min_length: int = Field(7, ge=1, description="fewest words of a text; shorter ones are dropped")
    files: str = Field(
        "auto",
        pattern=r"^[\w.-]*$",
        description="prefix of local files: jw reads jw.train.jsonl, jw.dev.jsonl and jw.test.jsonl (or "
        ".jsonl.gz; dev may be missing), a line {'text': ..., 'label': ...} an example; files named jw "
        "are split into words already; auto: no prefix, or else jw",
    )


class ImdbOptions(DatasetOptions):
    """Options of `imdb`."""

    min_count: int = Field(10, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(399, ge=0, description="most words of a text; 0: any number")
    drop_longest: bool = Field(
        True, description="also drop the longest text of every split, as Jain and Wallace's code does"
    )
    digits: Literal["qqq", "keep"] = Field(
        "keep", description="qqq stands in for every word that has a digit"
    )


class SnippetOptions(DatasetOptions):
    """Options of `rotten-tomatoes`."""

    min_length: int = Field(6, ge=1, description="fewest words of a text; shorter ones are dropped")


class SstOptions(SnippetOptions):
    """Options of `sst`."""

    drop_longest: bool = Field(
        True, description="also drop the longest text of every split, as Jain and Wallace's code does"
    )


def _names(known: tuple[str, ...]) -> Any:
    """Some of the known names; "all" stands for every one."""

    def find(given: Any) -> Any:
        return known if list(given) == ["all"] else find_names(given, known)

    return Annotated[tuple[str, ...], BeforeValidator(find)]


class NewsgroupsOptions(DatasetOptions):
    """Options of `20news`."""

    min_count: int = Field(2, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(499, ge=0, description="most words of a text; 0: any number")
    groups: _names(NEWSGROUPS) = Field(  # type: ignore[valid-type]
        ("rec.sport.baseball", "rec.sport.hockey"),
        description="two or more newsgroups, joined by +, or all; the last part of a name is enough",
    )

    split: Literal["by-date", "pooled"] = Field(
        "by-date",
        description="by-date: train and test as published; pooled: both together, a fifth of them drawn for "
        "test, as in Jain and Wallace",
    )

    @field_validator("groups")
    @classmethod
    def _two(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        return _at_least_two(groups)


class AgNewsOptions(DatasetOptions):
    """Options of `agnews`."""

    min_count: int = Field(5, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(59, ge=0, description="most words of a text; 0: any number")
    classes: _names(AG_NEWS) = Field(  # type: ignore[valid-type]
        ("World", "Business"), description="two or more classes, joined by +, or all"
    )

    @field_validator("classes")
    @classmethod
    def _two(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        return _at_least_two(classes)


def _at_least_two(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise ValueError("give two or more different names, joined by +")
    return names


class StarsOptions(DatasetOptions):
    """Options of `yelp` and `amazon`."""

    min_count: int = Field(10, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(399, ge=0, description="most words of a text; 0: any number")
    variant: Literal["full", "polarity"] = Field(
        "full", description="full: five classes, one to five stars; polarity: negative and positive"
    )


class YahooOptions(DatasetOptions):
    """Options of `yahoo`."""

    min_count: int = Field(10, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(399, ge=0, description="most words of a text; 0: any number")


class TweetOptions(DatasetOptions):
    """Options of `adr-tweets`."""

    min_count: int = Field(2, ge=1, description="words rarer than this in train are unknown to a model")
    min_length: int = Field(6, ge=1, description="fewest words of a text; shorter ones are dropped")
    max_length: int = Field(99, ge=0, description="most words of a text; 0: any number")


class NotesOptions(DatasetOptions):
    """Options of `diabetes` and `anemia`."""

    min_count: int = Field(5, ge=1, description="words rarer than this in train are unknown to a model")
    max_length: int = Field(3999, ge=0, description="most words of a text; 0: any number")


class OwnOptions(TextOptions):
    """Options of every task over the user's own data: nothing is dropped unless an option says so."""

    max_length: int = Field(2000, ge=0, description="most words of a text; 0: any number")
    too_long: Literal["drop", "truncate", "refuse"] = Field(
        "refuse", description="what happens to a text of more than max_length words"
    )
    empty: Literal["drop", "refuse"] = Field("refuse", description="what happens to a text without any word")
    digits: Literal["qqq", "keep"] = Field(
        "keep", description="qqq stands in for every word that has a digit"
    )


class CsvOptions(OwnOptions, ColumnOptions):
    """Options of `csv`."""

    delimiter: Literal["auto", "comma", "semicolon", "tab", "pipe"] = Field(
        "auto", description="what separates columns; auto: tab for .tsv and .tab, otherwise comma"
    )


class JsonlOptions(OwnOptions, ColumnOptions):
    """Options of `jsonl`; a text is a string, or a list of words."""


class MarkedJsonlOptions(JsonlOptions):
    """Options of `jsonl-rationales`; a text is a string, split at white space only, or a list of words."""

    rationale: str = Field(
        "rationale",
        min_length=1,
        description="key of the important words: 0 or 1 for every word, or a list of [start, end) word "
        "positions",
    )


class HubOptions(Options):
    """Where a Hugging Face dataset is, and what in it is what."""

    name: str = Field("", description="dataset of the Hugging Face hub, or a local folder")
    config: str = Field("", description="configuration of the dataset, where it has several")
    train: str = Field("train", min_length=1, description="name of the training split")
    dev: str = Field("", description="name of the split for model selection; without one, 10 % of train")
    test: str = Field("test", min_length=1, description="name of the test split")
    text: str = Field("text", min_length=1, description="column of texts")
    label: str = Field("label", min_length=1, description="column of labels")


class HfDatasetOptions(OwnOptions, HubOptions):
    """Options of `hf-dataset`."""


class RationaleOptions(Options):
    """Options of every task with human rationales."""

    max_length: int = Field(
        0, ge=0, description="most words of a text, the rest is cut off with its rationale; 0: any number"
    )
    lowercase: bool = Field(True, description="make all letters lower-case")


class AnnotatorOptions(RationaleOptions):
    """Options of a task in which several people marked the same text."""

    agreement: Agreement = Field(
        "majority",
        description="words are in the rationale when more than half, any or all of those who marked the "
        "text marked them",
    )


class HateXplainOptions(AnnotatorOptions):
    """Options of `hatexplain`; the evaluation of its authors is agreement=any."""


class EsnliOptions(AnnotatorOptions):
    """Options of `esnli`."""

    units: Literal["both", "premise", "hypothesis"] = Field(
        "both",
        description="what attention is spread over: both sentences in a row, or one of them with the other "
        "as the query",
    )

    @property
    def also_needs(self) -> tuple[str, ...]:
        return () if self.units == "both" else ("reads-query",)

    @property
    def also_provides(self) -> tuple[str, ...]:
        return () if self.units == "both" else ("query",)


class SnliOptions(DatasetOptions):
    """Options of `snli`."""

    min_length: int = Field(1, ge=1, description="fewest words of a text; shorter ones are dropped")
    min_count: int = Field(3, ge=1, description="words rarer than this in train are unknown to a model")
    units: Literal["premise", "hypothesis"] = Field(  # type: ignore[assignment]
        "premise", description="the sentence that attention is spread over; the other one is the query"
    )
