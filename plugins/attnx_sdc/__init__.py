"""Selective dependence classification: tasks whose deciding unit is known, and the model made for them."""

from attnx import Card, hookimpl

PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'
VECTORS = ("features", "rationale")


def _task(name: str, target: str, summary: str, options: str, provides: tuple[str, ...], model: str) -> Card:
    return Card(
        name,
        f"attnx_sdc.{target}",
        summary,
        options=f"attnx_sdc.options:{options}",
        provides=provides,
        recommends=(model,),
        citation=PANDEY,
    )


@hookimpl
def attnx_tasks() -> list[Card]:
    """Mosaics of segments, one of which decides the label."""
    return [
        _task("sdc", "sdc:Sdc", "Mosaics drawn from any base distributions.",
              "SdcOptions", VECTORS, "fcam-mlp"),
        _task("sdc-error-mode-1", "error_modes:ErrorMode1",
              "Training finds an accurate model that takes one foreground class for background.",
              "Sizes", VECTORS, "fcam-linear"),
        _task("sdc-error-mode-2", "error_modes:ErrorMode2",
              "No linear focus separates foreground from background, yet a linear model is accurate.",
              "Sizes", VECTORS, "fcam-linear"),
        _task("sdc-error-mode-3", "error_modes:ErrorMode3",
              "A strong classifier is accurate before a good focus is learnt.",
              "Sizes", VECTORS, "fcam-linear-relu"),
        _task("sdc-2d", "plane:Plane", "Ten Gaussians in the plane, three of them foreground.",
              "Sdc2dOptions", VECTORS, "fcam-mlp"),
        _task("sdc-digits", "digits:Digits",
              "Mosaics of handwritten digits, three classes of them foreground.",
              "DigitsOptions", VECTORS, "fcam-cnn"),
        _task("sdc-text", "text:SdcText", "Sentences of filler with planted words that decide the label.",
              "SdcTextOptions", ("words", "rationale"), "fcam-words"),
    ]  # fmt: skip


@hookimpl
def attnx_models() -> list[Card]:
    """The focus-classify attention model."""
    return [
        Card("fcam", "attnx_sdc.fcam:Fcam",
             "Scores each segment alone and classifies their weighted average.",
             options="attnx_sdc.options:FcamOptions",
             provides=("attention", "gradient", "hidden", "deletion"),
             citation=PANDEY),
    ]  # fmt: skip


@hookimpl
def attnx_metrics() -> list[Card]:
    """Whether the explanation points at the unit that decides the label."""
    return [
        Card("focus", "attnx_sdc.focus:Focus",
             "Whether the explanation's top unit is one that decides the label.",
             options="attnx_sdc.options:FocusOptions", needs=("rationale",), citation=PANDEY),
    ]  # fmt: skip
