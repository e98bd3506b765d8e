"""Options of the study of heads."""

from pydantic import Field

from attnx.plugin import Options


class HeadsOptions(Options):
    """Options of `heads`."""

    texts: int = Field(50, ge=2, description="dev texts that heads are ranked on")
    percent: int = Field(20, ge=1, le=90, description="share of the words of a text that is deleted, in %")
    top: int = Field(5, ge=1, description="best heads on dev, which are measured on test")
    draws: int = Field(5, ge=1, description="random sets of words per text")
