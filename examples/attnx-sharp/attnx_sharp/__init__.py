"""Sharper attention, and a measure of how sharp an explanation is."""

from attnx.plugin import Card, hookimpl


@hookimpl
def attnx_projections() -> list[Card]:
    """One projection."""
    return [
        Card("power", "attnx_sharp.power:Power", options="attnx_sharp.options:PowerOptions"),
    ]


@hookimpl
def attnx_metrics() -> list[Card]:
    """One metric."""
    return [Card("top-share", "attnx_sharp.top_share:TopShare")]
