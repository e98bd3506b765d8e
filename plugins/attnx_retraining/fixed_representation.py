from attnx.plugin import Finding, Lab, Model, Study

from .information import compare_information
from .options import FixedRepresentationOptions
from .starts import copy_of, free_attention_alone


class FixedRepresentation(Study):
    """What attention learns about hidden states that are not trained.

    The attention parameters of a trained model are drawn again and trained alone. Reported is Δτ =
    τ_normal − τ_fixed, where τ is that of `mi-kendall`: near 0 means that attention finds informative
    hidden states without having shaped them. Trains one model per seed.
    """

    needs = ("attention", "hidden")

    def __init__(self, options: FixedRepresentationOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        def make(trained: Model, seed: int) -> Model:
            model = copy_of(lab, trained, seed, new_attention=True)
            free_attention_alone(lab, model)
            return lab.train(model, seed, "new attention")

        return compare_information(lab, "fixed representation", make, self.options.clusters)
