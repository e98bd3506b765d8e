"""Importance methods on the embeddings of units: those of the Captum library, and Shapley values."""

from attnx.plugin import Card, hookimpl

SUNDARARAJAN = 'Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017'
SHRIKUMAR = (
    'Shrikumar, Greenside and Kundaje, "Learning Important Features Through Propagating Activation '
    'Differences", ICML 2017'
)
LUNDBERG = 'Lundberg and Lee, "A Unified Approach to Interpreting Model Predictions", NeurIPS 2017'
RIBEIRO = 'Ribeiro, Singh and Guestrin, "Why Should I Trust You?", KDD 2016'

CASTRO = 'Castro, Gómez and Tejada, "Polynomial calculation of the Shapley value based on sampling", 2009'
OWEN = 'Owen, "Values of games with a priori unions", 1977; López and Saboya, "On the relationship between '
OWEN += 'Shapley and Owen values", 2009 (values over a tree)'


def _card(name: str, target: str, options: str, citation: str = "") -> Card:
    package = "attnx_captum"
    return Card(name, f"{package}.{target}", options=f"{package}.options:{options}", citation=citation)


@hookimpl
def attnx_importances() -> list[Card]:
    """Gradient methods, and methods that replace embeddings by a baseline."""
    return [
        _card("integrated-gradients", "integrated_gradients:IntegratedGradients",
              "IntegratedGradientsOptions", SUNDARARAJAN),
        _card("input-x-gradient", "input_x_gradient:InputXGradient", "OutputOptions"),
        _card("deeplift", "deeplift:DeepLift", "DeepLiftOptions", SHRIKUMAR),
        _card("gradient-shap", "gradient_shap:GradientShap", "GradientShapOptions", LUNDBERG),
        _card("lime", "lime:Lime", "LimeOptions", RIBEIRO),
        _card("kernel-shap", "kernel_shap:KernelShap", "KernelShapOptions", LUNDBERG),
        _card("shapley-sampling", "shapley_sampling:ShapleySampling", "ShapleyOptions", CASTRO),
        _card("owen", "owen:Owen", "OwenOptions", OWEN),
        _card("feature-ablation", "feature_ablation:FeatureAblation", "BaselineOptions"),
    ]  # fmt: skip
