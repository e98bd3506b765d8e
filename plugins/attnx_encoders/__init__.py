"""Encoders: classifiers that read words with attention."""

from attnx import Card, hookimpl

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
PROVIDES = ("attention", "gradient", "hidden", "deletion", "linear-decoder")


def _model(
    name: str, target: str, summary: str, options: str, citation: str, provides: tuple[str, ...] = PROVIDES
) -> Card:
    return Card(
        name,
        f"attnx_encoders.{target}",
        summary,
        options=f"attnx_encoders.options:{options}",
        needs=("words",),
        provides=provides,
        citation=citation,
    )


@hookimpl
def attnx_models() -> list[Card]:
    """Classifiers that read words with attention, one for every encoder."""
    return [
        _model("bilstm", "bilstm:BiLstm", "Reads words with an LSTM in each direction.",
               "BiLstmOptions", JAIN, (*PROVIDES, "fast-deletion", "fast-influence")),
        _model("cnn", "cnn:Cnn", "Reads words through filters of several widths.", "CnnOptions", WEN,
               (*PROVIDES, "rescale")),
        _model("mlp", "mlp:Mlp", "Reads each word alone through a hidden layer of ReLU.",
               "SequenceOptions", WEN, (*PROVIDES, "rescale")),
        _model("average", "average:Average", "Reads each word alone through a linear map and tanh.",
               "SequenceOptions", JAIN, (*PROVIDES, "rescale")),
        _model("transformer", "transformer:Transformer",
               "Reads words through layers of self-attention; the tested attention is the pooling on top.",
               "TransformerOptions", MEISTER),
        _model("han", "han:Han",
               "Reads words into sentences and sentences into a text, with attention at both levels.",
               "HanOptions", SERRANO),
    ]  # fmt: skip
