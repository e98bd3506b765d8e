"""Options of the information metrics."""

from typing import Annotated, Literal

from pydantic import Field

from attnx.plugin import Options

MOST_REPEATS = 1000


class MiKendallOptions(Options):
    """Options of `mi-kendall`."""

    clusters: Annotated[int, Field(ge=2)] | Literal["paper"] = Field(
        50,
        description="clusters N of the hidden states of a rank; paper: the smallest of 50 to 200 that "
        "leaves no cluster with a single example at any rank",
    )
    repeats: int = Field(
        10, ge=1, le=MOST_REPEATS, description="k-means runs with different seeds; values are their means"
    )
    permutations: int = Field(20, ge=1, description="shuffles of the outputs to estimate the bias")
    seed: int = Field(0, ge=0, description="seed of clustering and shuffles; each repeat derives its own")
    max_ranks: Annotated[int, Field(ge=1)] | None = Field(
        None, description="largest number of ranks, to save memory; none: all"
    )
