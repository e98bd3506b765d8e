"""Options of texts in memory."""

from pydantic import Field

from .options import OwnOptions


class InMemoryOptions(OwnOptions):
    """Options of texts in memory: which columns are which."""

    text: str = Field("text", min_length=1, description="column of the texts")
    label: str = Field("label", min_length=1, description="column of the labels")
    query: str = Field("", description="column of a second text, a question about the first")
    id: str = Field("", description="column of ids; without one, rows are numbered")

    @property
    def also_needs(self) -> tuple[str, ...]:
        return ("reads-query",) if self.query else ()

    @property
    def also_provides(self) -> tuple[str, ...]:
        return ("query",) if self.query else ()
