"""What every result offers, under the same names: JSON, data frame, Markdown, page, figures, files."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from ..disk import write_file
from .provenance import Record

if TYPE_CHECKING:
    import pandas

    from ..host.catalog import Catalog
    from ..views.figures.figure import ReportFigure

SCHEMA: Literal[3] = 3


class Result(Record):
    """A result that can be saved, shown and read back; printed, it is one short line."""

    file_stem: ClassVar[str]  # the name of its files, without their endings

    schema_: Literal[3] = Field(default=SCHEMA, alias="schema")
    _stored_in: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path | None:
        """The folder that this is stored in; None if it is not stored."""
        return self._stored_in

    def stored_in(self, folder: Path) -> Self:
        """The same result, which knows the folder that it is stored in."""
        result = self.model_copy()
        result._stored_in = folder
        return result

    def to_json(self) -> str:
        """The result as JSON text, in the layout that docs/report.md describes."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A result read back from its JSON text."""
        return cls.model_validate_json(text)

    @classmethod
    def schema(cls) -> dict[str, Any]:  # type: ignore[override]  # pydantic's own is deprecated
        """The JSON schema of `to_json`."""
        return cls.model_json_schema(mode="serialization")

    def to_frame(self) -> pandas.DataFrame:
        """The rows of the result as a pandas DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.records())

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """The rows of the result, each a plain mapping from column to value."""

    def to_text(self, width: int = 100) -> str:
        """The result as a terminal prints it, in lines of at most that many characters."""
        from .rendering import text_of

        return text_of(self, width)

    def to_markdown(self) -> str:
        """The result as a Markdown page."""
        from .rendering import markdown_of

        return markdown_of(self)

    def to_table(
        self,
        to: Literal["latex", "csv", "markdown"] = "latex",
        *,
        what: Literal["measures", "ranking"] | None = None,
        metrics: Collection[str] = (),
        explanations: Collection[str] = (),
    ) -> str:
        """One table of the result for a paper.

        Args:
            to: the format; CSV has every number at full precision.
            what: "measures", or "ranking" for how faithful each explanation is; by default measures, of a
                sweep the ranking, and in Markdown the whole result if nothing is chosen.
            metrics: the metrics to keep; by default all.
            explanations: the explanations to keep; by default all.

        Returns:
            The table as text; LaTeX needs the package booktabs.

        Raises:
            UsageError: this kind of result has no such table, or a name is not in it.
        """
        from .rendering import table_of

        return table_of(self, to, what, metrics, explanations)

    def to_html(self, catalog: Catalog | None = None) -> str:
        """The result as an HTML page of one file.

        Args:
            catalog: the components that the page describes; by default all that are installed.
        """
        from .rendering import page_of

        return page_of(self, catalog)

    def figures(self, catalog: Catalog | None = None) -> list[ReportFigure]:
        """Every figure that the result has the numbers for; `save("name.svg")` writes one (or .pdf, .png)."""
        from .rendering import figures_of

        return figures_of(self, catalog)

    def save(self, folder: str | Path, *, seen_from: Path | None = None) -> Path:
        """Write JSON, Markdown, page and figures into a folder, and return it.

        Args:
            folder: where to write; it is made where it does not exist.
            seen_from: the folder that links on the page start from, if the files are moved afterwards.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        write_file(place / f"{self.file_stem}.json", self.to_json())
        write_file(place / f"{self.file_stem}.md", self.to_markdown())
        write_file(place / f"{self.file_stem}.html", self.page_in(seen_from or place))
        for figure in self.figures():
            figure.save(place / f"{figure.name}.svg")
        return place

    def page_in(self, folder: Path) -> str:  # noqa: ARG002  # a sweep links from there to its runs
        """The page as it is written into that folder."""
        return self.to_html()

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        """The result for a notebook."""
        from .rendering import notebook_of

        return notebook_of(self)
