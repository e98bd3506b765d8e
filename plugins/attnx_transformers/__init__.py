"""Transformers: models of Hugging Face, and what can be read off their layers."""

from attnx.plugin import Adapter, Card, hookimpl

PACKAGE = "attnx_transformers"
ABNAR = 'Abnar and Zuidema, "Quantifying Attention Flow in Transformers", ACL 2020'
CHEFER = (
    'Chefer, Gur and Wolf, "Generic Attention-model Explainability for Interpreting Bi-Modal and '
    'Encoder-Decoder Transformers", ICCV 2021'
)
KOBAYASHI = (
    'Kobayashi, Kuribayashi, Yokoi and Inui, "Attention is Not Only a Weight: Analyzing Transformers '
    'with Vector Norms", EMNLP 2020'
)


def _card(name: str, target: str, options: str, citation: str = "") -> Card:
    return Card(name, f"{PACKAGE}.{target}", options=f"{PACKAGE}.options:{options}", citation=citation)


@hookimpl
def attnx_adapters() -> list[Adapter]:
    """Text-classification pipelines, and classifiers with their tokenizers."""
    options = "attnx_transformers.options:InMemoryOptions"
    module = "attnx_transformers.in_memory"
    pipeline = "transformers.pipelines.text_classification:TextClassificationPipeline"
    return [
        Adapter("model", accepts=(pipeline,), target=f"{module}:of_pipeline", options=options),
        Adapter("model", accepts=("builtins:tuple",), target=f"{module}:of_pair", options=options),
        Adapter(
            "model",
            accepts=("transformers.modeling_utils:PreTrainedModel",),
            target=f"{module}:of_model",
            options=options,
        ),
    ]


@hookimpl
def attnx_models() -> list[Card]:
    """Hugging Face encoders, classifiers and language models."""
    return [
        _card("hf", "encoder:HfEncoder", "HfOptions"),
        _card("hf-classifier", "classifier:HfClassifier", "HfClassifierOptions"),
        _card("hf-causal", "causal:HfCausal", "HfCausalOptions"),
    ]


@hookimpl
def attnx_importances() -> list[Card]:
    """Explanations made of the attention of several layers and heads."""
    return [
        _card("rollout", "rollout:Rollout", "LayerOptions", ABNAR),
        _card("gradient-rollout", "gradient_rollout:GradientRollout", "LayerOptions", CHEFER),
        _card("attention-norm", "attention_norm:AttentionNorm", "AttentionNormOptions", KOBAYASHI),
        _card("cls-attention", "cls_attention:ClsAttention", "ClsAttentionOptions"),
    ]


@hookimpl
def attnx_studies() -> list[Card]:
    """A study of layers and heads."""
    return [Card("heads", f"{PACKAGE}.heads:Heads", options=f"{PACKAGE}.head_options:HeadsOptions")]
