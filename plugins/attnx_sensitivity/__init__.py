"""How an explanation changes when the input, the class or the model changes."""

from attnx.plugin import Card, hookimpl

HEDSTROEM = (
    'Adebayo et al., "Sanity Checks for Saliency Maps", NeurIPS 2018; Hedström et al., "Sanity Checks '
    'Revisited", 2023 (efficient and smoothed)'
)
SIXT = 'Sixt, Granz and Landgraf, "When Explanations Lie", ICML 2020'
YEH = 'Yeh et al., "On the (In)fidelity and Sensitivity of Explanations", NeurIPS 2019'


@hookimpl
def attnx_metrics() -> list[Card]:
    """Metrics that explain again; none of them decides whether an explanation is faithful."""
    return [
        Card("parameter-randomisation", "attnx_sensitivity.parameter_randomisation:ParameterRandomisation",
             options="attnx_sensitivity.options:ParameterRandomisationOptions", citation=HEDSTROEM),
        Card("class-sensitivity", "attnx_sensitivity.class_sensitivity:ClassSensitivity", citation=SIXT),
        Card("max-sensitivity", "attnx_sensitivity.max_sensitivity:MaxSensitivity",
             options="attnx_sensitivity.options:MaxSensitivityOptions", citation=YEH),
    ]  # fmt: skip
