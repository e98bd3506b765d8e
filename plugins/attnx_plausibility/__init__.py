"""Plausibility: texts whose important words people marked, and agreement with their marks."""

from attnx import Card, hookimpl

ERASER = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'
PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


def _task(name: str, target: str, summary: str, options: str, citation: str) -> Card:
    return Card(
        name,
        f"attnx_plausibility.{target}",
        summary,
        options=f"attnx_plausibility.options:{options}",
        provides=("words", "rationale"),
        recommends=("bilstm-add",),
        dataset=name,
        citation=citation,
    )


@hookimpl
def attnx_tasks() -> list[Card]:
    """Texts with human rationales."""
    return [
        _task("eraser-movies", "eraser_movies:EraserMovies",
              "Movie reviews with the phrases that show whether they are positive or negative.",
              "RationaleOptions",
              f'Zaidan and Eisner, "Modeling Annotators", EMNLP 2008; as in {ERASER}'),
        _task("hatexplain", "hatexplain:HateXplain",
              "Posts that are hateful, offensive or normal, with the words that make them so.",
              "HateXplainOptions",
              'Mathew et al., "HateXplain: A Benchmark Dataset for Explainable Hate Speech Detection", '
              "AAAI 2021"),
        _task("esnli", "esnli:Esnli",
              "Pairs of sentences that agree, contradict or neither, with the words that show it.",
              "EsnliOptions",
              'Camburu et al., "e-SNLI: Natural Language Inference with Natural Language Explanations", '
              "NeurIPS 2018"),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """Agreement with human rationales."""
    return [
        Card("plausibility", "attnx_plausibility.plausibility:Plausibility",
             "How well the explanation finds the units that people marked.",
             options="attnx_plausibility.options:PlausibilityOptions",
             needs=("rationale",), citation=ERASER),
        Card("localisation", "attnx_plausibility.localisation:Localisation",
             "How much the explanation looks like the region that people marked.",
             options="attnx_plausibility.options:LocalisationOptions",
             needs=("rationale",), citation=PANDEY),
    ]  # fmt: skip
