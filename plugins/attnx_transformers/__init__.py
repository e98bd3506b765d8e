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
MOHEBBI = 'Mohebbi, Zuidema, Chrupała and Alishahi, "Quantifying Context Mixing in Transformers", EACL 2023'
FERRANDO = (
    'Ferrando, Gállego and Costa-jussà, "Measuring the Mixing of Contextual Information in the Transformer", '
    "EMNLP 2022"
)
FERRANDO_LOGIT = (
    'Ferrando, Gállego, Tsiamas and Costa-jussà, "Explaining How Transformers Use Context to Build '
    'Predictions", ACL 2023'
)
ACHTIBAT = (
    'Achtibat et al., "AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for Transformers", ICML 2024'
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
    """Explanations made of the attention and the states of several layers and heads."""
    return [
        _card("rollout", "rollout:Rollout", "LayerOptions", ABNAR),
        _card("gradient-rollout", "gradient_rollout:GradientRollout", "LayerOptions", CHEFER),
        _card("attention-norm", "attention_norm:AttentionNorm", "AttentionNormOptions", KOBAYASHI),
        _card("attention-flow", "layer_methods.attention_flow:AttentionFlow", "AttentionFlowOptions", ABNAR),
        _card("value-zeroing", "layer_methods.value_zeroing:ValueZeroing", "LayerOptions", MOHEBBI),
        _card("alti", "layer_methods.alti:Alti", "LayerOptions", FERRANDO),
        _card("alti-logit", "layer_methods.alti_logit:AltiLogit", "AltiLogitOptions", FERRANDO_LOGIT),
        _card("attn-lrp", "layer_methods.attention_lrp:AttentionLrp", "AttentionLrpOptions", ACHTIBAT),
        _card("cls-attention", "cls_attention:ClsAttention", "ClsAttentionOptions"),
    ]


@hookimpl
def attnx_studies() -> list[Card]:
    """A study of layers and heads."""
    return [Card("heads", f"{PACKAGE}.heads:Heads", options=f"{PACKAGE}.head_options:HeadsOptions")]
