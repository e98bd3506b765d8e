"""Attention itself as an explanation, and the scores that know nothing."""

from attnx import Card, hookimpl


@hookimpl
def attnx_importances() -> list[Card]:
    """The attention weights and the two baselines every report includes."""
    return [
        Card("attention", "attnx_baselines.attention:Attention", "The attention weights themselves.",
             needs=("attention",)),
        Card("random", "attnx_baselines.random:Random",
             "A point drawn uniformly from the simplex for each example.",
             options="attnx_baselines.options:RandomOptions"),
        Card("uniform", "attnx_baselines.uniform:Uniform", "The same score for every unit."),
    ]  # fmt: skip
