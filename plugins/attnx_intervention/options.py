"""Options of the intervention metrics."""

from pydantic import Field

from attnx.plugin import Options


class PermutationOptions(Options):
    """Options of `permutation`."""

    permutations: int = Field(100, ge=1, description="random orders of the weights for each example")


class AdversarialAttentionOptions(Options):
    """Options of `adversarial-attention`."""

    epsilon: float | None = Field(
        None,
        gt=0,
        le=1,
        description="largest change of the output, as total variation; None: .01, or .05 with a query",
    )
    adversaries: int = Field(
        5, ge=1, description="where it is searched: attentions together, far from each other too"
    )
    mixtures: int = Field(
        2, ge=0, description="how many of them start from mixtures of two units, the others at random"
    )
    steps: int = Field(500, ge=1, description="steps of Adam")
    learning_rate: float = Field(0.01, gt=0, description="of Adam")
