"""Text classifiers that pool an encoder's hidden states with attention."""

from attnx.plugin import Card, hookimpl

JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
MEISTER = 'Meister, Lazov, Augenstein and Cotterell, "Is Sparse Attention more Interpretable?", ACL 2021'
WEN = (
    'Wen, Subbalakshmi and Yang, "Revisiting Attention Weights as Explanations from an '
    'Information Theoretic Perspective", 2022'
)
SERRANO = (
    'Yang et al., "Hierarchical Attention Networks for Document Classification", NAACL 2016; '
    'as in Serrano and Smith, "Is Attention Interpretable?", ACL 2019'
)


def _model(name: str, target: str, options: str, citation: str) -> Card:
    package = "attnx_encoders"
    return Card(name, f"{package}.{target}", options=f"{package}.options:{options}", citation=citation)


@hookimpl
def attnx_models() -> list[Card]:
    """Text classifiers with attention, one per encoder."""
    return [
        _model("bilstm", "bilstm:BiLstm", "BiLstmOptions", JAIN),
        _model("cnn", "cnn:Cnn", "CnnOptions", WEN),
        _model("mlp", "mlp:Mlp", "SequenceOptions", WEN),
        _model("average", "average:Average", "SequenceOptions", JAIN),
        _model("transformer", "transformer:Transformer", "TransformerOptions", MEISTER),
        _model("han", "han:Han", "HanOptions", SERRANO),
    ]
