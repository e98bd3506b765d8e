"""How fast the output changes with a unit."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'


@hookimpl
def attnx_importances() -> list[Card]:
    """Importances read off a gradient."""
    return [
        Card("gradient", "attnx_gradient.gradient:Gradient",
             "Size of the gradient of the predicted class with respect to each unit's embedding.",
             options="attnx_gradient.options:GradientOptions", needs=("gradient",), citation=MEISTER),
    ]  # fmt: skip
