"""Projections: from scores to attention weights on the simplex."""

from attnx import Card, hookimpl

BREBISSON = 'de Brébisson and Vincent, "An Exploration of Softmax Alternatives", ICLR 2016'
JANG = 'Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", ICLR 2017'
LAHA = 'Laha et al., "On Controllable Sparse Alternatives to Softmax", NeurIPS 2018'
MARTINS = 'Martins and Astudillo, "From Softmax to Sparsemax", ICML 2016'
PETERS = 'Peters, Niculae and Martins, "Sparse Sequence-to-Sequence Models", ACL 2019'
WIEGREFFE = 'Wiegreffe and Pinter, "Attention is not not Explanation", EMNLP 2019'
XU = 'Xu et al., "Show, Attend and Tell", ICML 2015'


@hookimpl
def attnx_projections() -> list[Card]:
    """Dense, sparse, sampled and constant projections."""
    return [
        Card("softmax", "attnx_projections.softmax:Softmax",
             "Weights proportional to the exponentials of the scores.",
             options="attnx_projections.options:SoftmaxOptions"),
        Card("sparsemax", "attnx_projections.sparsemax:Sparsemax",
             "The point of the simplex nearest to the scores.", citation=MARTINS),
        Card("sparsegen", "attnx_projections.sparsegen:Sparsegen",
             "Sparsemax with a dial from uniform to a single unit.",
             options="attnx_projections.options:SparsegenOptions", citation=LAHA),
        Card("entmax", "attnx_projections.entmax:Entmax",
             "α-entmax: from softmax at α = 1 to sparsemax at α = 2.",
             options="attnx_projections.options:EntmaxOptions", citation=PETERS),
        Card("spherical", "attnx_projections.spherical:Spherical",
             "Weights proportional to the squares of the scores.", citation=BREBISSON),
        Card("gumbel-softmax", "attnx_projections.gumbel_softmax:GumbelSoftmax",
             "Softmax of scores to which Gumbel noise is added in training.",
             options="attnx_projections.options:GumbelSoftmaxOptions", citation=JANG),
        Card("hard", "attnx_projections.hard:Hard",
             "Softmax in training, the highest-scored unit alone in evaluation.", citation=XU),
        Card("uniform", "attnx_projections.uniform:Uniform",
             "The same weight for every unit, whatever the scores.", citation=WIEGREFFE),
    ]  # fmt: skip
