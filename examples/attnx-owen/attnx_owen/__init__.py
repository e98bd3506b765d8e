"""Owen values, computed by the library shap."""

from attnx.plugin import Card, hookimpl


@hookimpl
def attnx_importances() -> list[Card]:
    return [
        Card(
            "shap-owen",
            "attnx_owen.owen:Owen",
            options="attnx_owen.options:OwenOptions",
            citation='Lundberg and Lee, "A Unified Approach to Interpreting Model Predictions", NeurIPS 2017',
        )
    ]
