"""Metrics of Quantus on the explanations that attnx tests."""

from attnx.plugin import Card, hookimpl

HEDSTROEM = (
    'Hedström et al., "Quantus: An Explainable AI Toolkit for Responsible Evaluation of Neural Network '
    'Explanations and Beyond", JMLR 2023'
)


@hookimpl
def attnx_metrics() -> list[Card]:
    return [
        Card(
            "quantus-complexity",
            "attnx_quantus.complexity:QuantusComplexity",
            options="attnx_quantus.options:QuantusOptions",
            citation=HEDSTROEM,
        )
    ]
