"""Plausibility: agreement with the units that people marked."""

from attnx import Card, hookimpl

ERASER = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'
PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Agreement with human rationales."""
    return [
        Card("plausibility", "attnx_plausibility.plausibility:Plausibility",
             "How well the explanation finds the units that people marked.",
             options="attnx_plausibility.options:PlausibilityOptions",
             needs=("rationale",), citation=ERASER),
        Card("eraser", "attnx_plausibility.eraser:Eraser",
             "How well the explanation finds the units that people marked, as the ERASER benchmark counts.",
             options="attnx_plausibility.options:EraserOptions",
             needs=("rationale",), citation=ERASER),
        Card("localisation", "attnx_plausibility.localisation:Localisation",
             "How much the explanation looks like the region that people marked.",
             options="attnx_plausibility.options:LocalisationOptions",
             needs=("rationale",), citation=PANDEY),
    ]  # fmt: skip
