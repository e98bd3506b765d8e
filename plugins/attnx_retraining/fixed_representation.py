from attnx.plugin import Finding, Lab, Model, Study

from .information import compare_information
from .options import FixedRepresentationOptions
from .starts import copy_of, free_attention_alone


class FixedRepresentation(Study):
    """What attention learns anew about hidden states that stay as they are.

    The attention parameters of a trained model are drawn anew and trained alone. Δτ = τ_normal −
    τ_fixed near 0 says that attention finds informative hidden states by itself, without having
    shaped them.
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
