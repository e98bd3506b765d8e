"""Whether the units that an explanation ranks high carry much information about the output."""

from attnx.plugin import Card, hookimpl

WEN = (
    "Wen, Subbalakshmi and Yang, "
    '"Revisiting Attention Weights as Explanations from an Information Theoretic Perspective", 2022'
)


@hookimpl
def attnx_metrics() -> list[Card]:
    """Mutual information by rank, and its correlation with the ranks."""
    return [
        Card("mi-kendall", "attnx_information.mi_kendall:MiKendall",
             options="attnx_information.options:MiKendallOptions", citation=WEN),
    ]  # fmt: skip
