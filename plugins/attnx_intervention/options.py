"""Options of the intervention metrics."""

from pydantic import Field

from attnx.plugin import Options


class PermutationOptions(Options):
    """Options of `permutation`."""

    permutations: int = Field(100, ge=1, description="number of random permutations per example")


class AdversarialAttentionOptions(Options):
    """Options of `adversarial-attention`."""

    epsilon: float | None = Field(
        None,
        gt=0,
        le=1,
        description="ε, largest total variation of the output; None: .01, or .05 with a query",
    )
    adversaries: int = Field(
        5, ge=1, description="number of attentions that are searched for together, also far from each other"
    )
    mixtures: int = Field(
        2, ge=0, description="number of them that start from mixtures of units instead of at random"
    )
    steps: int = Field(500, ge=1, description="number of Adam steps")
    learning_rate: float = Field(0.01, gt=0, description="learning rate of Adam")
