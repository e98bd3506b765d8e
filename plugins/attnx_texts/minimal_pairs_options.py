"""Options of minimal pairs."""

from pydantic import Field

from .file_options import FileOptions


class MinimalPairsOptions(FileOptions):
    """Options of `minimal-pairs`."""

    texts: str = Field("texts", min_length=1, description="key of the list of two texts")
    labels: str = Field("labels", min_length=1, description="key of the list of their two labels")
    lowercase: bool = Field(True, description="make all letters lower-case")
    seed: int = Field(0, ge=0, description="seed of the split, where the files do not give one")
