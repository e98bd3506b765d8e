from attnx.plugin import Finding, Lab, Model, Study

from .guided import Guided
from .information import compare_information
from .options import FixedAttentionOptions
from .starts import new_model


class FixedAttention(Study):
    """What hidden states learn under attention that is not trained.

    A new encoder and decoder are trained with the attention of another model that stays fixed. Reported
    is Δτ = τ_normal − τ_fixed, where τ is that of `mi-kendall`: near 0 means that information moves to
    the units (words, image patches, ...) that get attention, whichever they are. The paper does not say
    whose scores are fixed; the large Δτ it reports is that of attention of an untrained model, which is
    the default. Trains one model per seed.
    """

    needs = ("reattend", "projection", "hidden")

    def __init__(self, options: FixedAttentionOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        def make(trained: Model, seed: int) -> Model:
            guide = trained if self.options.attention == "trained" else lab.untrained(seed)
            return lab.train(
                Guided(new_model(lab, seed), guide, lab.data), seed, "fixed attention", depends_on=(guide,)
            )

        published = self.options.attention == "untrained"
        return compare_information(lab, "fixed attention", make, self.options.clusters, published)
