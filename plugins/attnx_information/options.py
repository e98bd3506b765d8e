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
        10, ge=1, le=MOST_REPEATS, description="runs of k-means with other seeds that values are the mean of"
    )
    permutations: int = Field(20, ge=1, description="shuffles of the outputs that the bias is estimated from")
    seed: int = Field(
        0, ge=0, description="seed of clustering and shuffles, of which each repeat takes another"
    )
    max_ranks: Annotated[int, Field(ge=1)] | None = Field(
        None, description="most ranks to look at, as the hidden states of each are held in memory; none: all"
    )
