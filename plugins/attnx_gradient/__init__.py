"""How fast the output changes with a unit."""

from attnx import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
SERRANO = 'Serrano and Smith, "Is Attention Interpretable?", ACL 2019'


@hookimpl
def attnx_importances() -> list[Card]:
    """Importances read off a gradient."""
    return [
        Card("gradient", "attnx_gradient.gradient:Gradient",
             "Size of the gradient of the predicted class with respect to each unit's embedding.",
             options="attnx_gradient.options:GradientOptions", needs=("gradient",), citation=MEISTER),
        Card("gradient-hidden", "attnx_gradient.hidden_gradient:HiddenGradient",
             "Size of the gradient of the predicted class with respect to each unit's hidden state.",
             options="attnx_gradient.options:GradientOptions", needs=("gradient", "hidden")),
        Card("attention-gradient", "attnx_gradient.attention_gradient:AttentionGradient",
             "Gradient of the predicted class with respect to each attention weight.",
             options="attnx_gradient.options:AttentionGradientOptions", needs=("gradient", "attention"),
             citation=SERRANO),
        Card("attention-x-gradient", "attnx_gradient.attention_x_gradient:AttentionXGradient",
             "Attention weight times the gradient of the predicted class with respect to it.",
             options="attnx_gradient.options:AttentionGradientOptions", needs=("gradient", "attention"),
             citation=SERRANO),
    ]  # fmt: skip
