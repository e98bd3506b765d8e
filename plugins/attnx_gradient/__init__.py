"""Importance of units by the gradient of the output."""

from attnx.plugin import Card, hookimpl

MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
SMILKOV = 'Smilkov et al., "SmoothGrad: removing noise by adding noise", 2017'
JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
SERRANO = 'Serrano and Smith, "Is Attention Interpretable?", ACL 2019'


@hookimpl
def attnx_importances() -> list[Card]:
    """Gradients with respect to embeddings, hidden states and attention weights."""
    return [
        Card("gradient", "attnx_gradient.gradient:Gradient",
             options="attnx_gradient.options:GradientOptions", citation=MEISTER),
        Card("smoothgrad", "attnx_gradient.smoothgrad:SmoothGrad",
             options="attnx_gradient.options:SmoothGradOptions", citation=SMILKOV),
        Card("gradient-hidden", "attnx_gradient.hidden_gradient:HiddenGradient",
             options="attnx_gradient.options:GradientOptions"),
        Card("gradient-jw", "attnx_gradient.gradient_jw:GradientJw", citation=JAIN),
        Card("attention-gradient", "attnx_gradient.attention_gradient:AttentionGradient",
             options="attnx_gradient.options:AttentionGradientOptions", citation=SERRANO),
        Card("attention-x-gradient", "attnx_gradient.attention_x_gradient:AttentionXGradient",
             options="attnx_gradient.options:AttentionGradientOptions", citation=SERRANO),
    ]  # fmt: skip
