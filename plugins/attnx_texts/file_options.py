"""Where the user's own files are."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from attnx.plugin import Options


class FileOptions(Options):
    """Where the user's own files are."""

    file: Path | None = Field(None, description="one file, divided at random into 80/10/10 % by rows")
    train: Path | None = Field(
        None,
        description="training file; a relative path is looked up here, then in --data-dir",
    )
    dev: Path | None = Field(None, description="file for model selection; without one, 10 % of train")
    test: Path | None = Field(None, description="test file")


class ColumnOptions(FileOptions):
    """Where the user's own files are, and what in them is what."""

    text: str = Field("text", min_length=1, description="column or key of texts")
    label: str = Field("label", min_length=1, description="column or key of labels")
    query: str = Field(
        "",
        description="column or key of a second text, a question about the first; attention is on the first",
    )
    context: str = Field("", description="another name of text, for passages that a question is about")
    question: str = Field("", description="another name of query")

    @model_validator(mode="after")
    def _each_column_once(self) -> Self:
        if self.context and self.text not in ("text", self.context):
            raise ValueError("text and context are two names of one option; give one of them")
        if self.question and self.query not in ("", self.question):
            raise ValueError("query and question are two names of one option; give one of them")
        if self.text_column in (self.label, self.query_column) or self.query_column == self.label:
            raise ValueError("text, label and query must be different columns")
        return self

    @property
    def text_column(self) -> str:
        return self.context or self.text

    @property
    def query_column(self) -> str:
        return self.question or self.query

    @property
    def also_needs(self) -> tuple[str, ...]:
        return (*super().also_needs, *(("reads-query",) if self.query_column else ()))

    @property
    def also_provides(self) -> tuple[str, ...]:
        return (*super().also_provides, *(("query",) if self.query_column else ()))
