"""Attention as an explanation, scores from a file, and uninformative baselines."""

from attnx.plugin import Card, hookimpl


@hookimpl
def attnx_importances() -> list[Card]:
    """The attention weights, scores from a file, and the two baselines of every report."""
    return [
        Card("attention", "attnx_baselines.attention:Attention"),
        Card("precomputed", "attnx_baselines.precomputed:Precomputed",
             options="attnx_baselines.options:PrecomputedOptions"),
        Card("random", "attnx_baselines.random:Random",
             options="attnx_baselines.options:RandomOptions"),
        Card("uniform", "attnx_baselines.uniform:Uniform"),
    ]  # fmt: skip
