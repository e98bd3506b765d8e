from attnx.plugin import Finding, Lab, Model, Study

from .guided import Guided
from .information import compare_information
from .options import FixedAttentionOptions
from .starts import new_model


class FixedAttention(Study):
    """What hidden states learn anew under attention that stays as it is.

    A new encoder and decoder are trained under the attention of a model that is kept as it is.
    Δτ = τ_normal − τ_fixed near 0 says that information moves to the units that are attended to,
    whichever they are. The paper speaks of fixed scores without saying whose; the large Δτ it reports
    is that of attention which never learned anything.
    """

    needs = ("reattend", "projection", "hidden")

    def __init__(self, options: FixedAttentionOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        def make(trained: Model, seed: int) -> Model:
            guide = trained if self.options.attention == "trained" else lab.untrained(seed)
            return lab.train(
                Guided(new_model(lab, seed), guide, lab.data), seed, "fixed attention", beside=(guide,)
            )

        published = self.options.attention == "untrained"
        return compare_information(lab, "fixed attention", make, self.options.clusters, published)
