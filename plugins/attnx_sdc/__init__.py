"""Selective dependence classification: tasks in which one known unit decides the label, and their model."""

from attnx.plugin import Card, hookimpl

PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'


def _task(name: str, target: str, options: str, model: str) -> Card:
    return Card(
        name,
        f"attnx_sdc.{target}",
        options=f"attnx_sdc.options:{options}",
        recommends=(model,),
        citation=PANDEY,
    )


@hookimpl
def attnx_tasks() -> list[Card]:
    """Mosaics of segments, one of which decides the label."""
    return [
        _task("sdc", "sdc:Sdc", "SdcOptions", "fcam-mlp"),
        _task("sdc-error-mode-1", "error_modes:ErrorMode1", "Sizes", "fcam-linear"),
        _task("sdc-error-mode-2", "error_modes:ErrorMode2", "Sizes", "fcam-linear"),
        _task("sdc-error-mode-3", "error_modes:ErrorMode3", "Sizes", "fcam-linear-relu"),
        _task("sdc-2d", "plane:Plane", "Sdc2dOptions", "fcam-mlp"),
        _task("sdc-digits", "digits:Digits", "DigitsOptions", "fcam-cnn"),
        _task("sdc-cifar10", "cifar10:Cifar10", "Cifar10Options", "fcam-cifar10"),
        _task("sdc-text", "text:SdcText", "SdcTextOptions", "fcam-words"),
    ]


@hookimpl
def attnx_models() -> list[Card]:
    """The focus-classify attention model."""
    return [
        Card("fcam", "attnx_sdc.fcam:Fcam", options="attnx_sdc.options:FcamOptions", citation=PANDEY),
    ]


@hookimpl
def attnx_drawings() -> list[Card]:
    """Maps of the focus and of the decision."""
    return [Card("plane", "attnx_sdc.plane_drawing:PlaneDrawing", citation=PANDEY)]


@hookimpl
def attnx_metrics() -> list[Card]:
    """Whether the explanation's top unit is the one that decides the label."""
    return [
        Card("focus", "attnx_sdc.focus:Focus",
             options="attnx_sdc.options:FocusOptions", plain=True, citation=PANDEY),
    ]  # fmt: skip
