"""Importances that Captum computes, on the embeddings of units."""

from attnx import Card, hookimpl

SUNDARARAJAN = 'Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017'
SHRIKUMAR = (
    'Shrikumar, Greenside and Kundaje, "Learning Important Features Through Propagating Activation '
    'Differences", ICML 2017'
)
LUNDBERG = 'Lundberg and Lee, "A Unified Approach to Interpreting Model Predictions", NeurIPS 2017'
RIBEIRO = 'Ribeiro, Singh and Guestrin, "Why Should I Trust You?", KDD 2016'


def _card(
    name: str, target: str, summary: str, options: str, needs: tuple[str, ...] = (), citation: str = ""
) -> Card:
    return Card(
        name,
        f"attnx_captum.{target}",
        summary,
        options=f"attnx_captum.options:{options}",
        needs=needs,
        citation=citation,
    )


@hookimpl
def attnx_importances() -> list[Card]:
    """The gradient family, and the methods that replace embeddings by a baseline."""
    return [
        _card("integrated-gradients", "integrated_gradients:IntegratedGradients",
              "Gradient averaged on the line from a baseline to the embeddings, times their difference.",
              "IntegratedGradientsOptions", ("gradient",), SUNDARARAJAN),
        _card("input-x-gradient", "input_x_gradient:InputXGradient",
              "Gradient times embedding, summed over the embedding's dimensions.",
              "OutputOptions", ("gradient",)),
        _card("deeplift", "deeplift:DeepLift",
              "Differences from a baseline, handed back by the rescale rule with attention held.",
              "DeepLiftOptions", ("gradient", "rescale"), SHRIKUMAR),
        _card("gradient-shap", "gradient_shap:GradientShap",
              "Gradient at random points between random baselines and the embeddings, times the difference.",
              "GradientShapOptions", ("gradient",), LUNDBERG),
        _card("lime", "lime:Lime",
              "Weights of a linear model fitted to the output as units come and go.",
              "LimeOptions", citation=RIBEIRO),
        _card("kernel-shap", "kernel_shap:KernelShap",
              "Shapley values of the units, by a regression on random subsets of them.",
              "KernelShapOptions", citation=LUNDBERG),
        _card("feature-ablation", "feature_ablation:FeatureAblation",
              "Change of the output when a baseline takes the place of a unit's embedding.",
              "BaselineOptions"),
    ]  # fmt: skip
