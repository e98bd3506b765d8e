"""Options; no torch here, so that `attnx info` answers at once."""

from pydantic import Field

from attnx.plugin import Options


class OwenOptions(Options):
    """Options of `shap-owen`."""

    evaluations: int = Field(200, ge=4, description="passes through the model for each text, at most")
