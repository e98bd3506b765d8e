"""Options; no polars here, so that `attnx` answers at once."""

from pydantic import Field

from attnx.plugin import Options


class FrameOptions(Options):
    """How a data frame is read."""

    text: str = Field("text", description="the column of texts")
    label: str = Field("label", description="the column of labels")
    split: str = Field("", description="the column that says train, dev or test; by default by hash")
