"""What works on which architecture of transformers, tried on tiny models; prints the table of the docs.

`python tests/plugins/hugging_face/architectures.py` prints it; docs/transformers.md has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from attnx.plugin import AttnxError

sys.path.insert(0, str(Path(__file__).parents[1]))

from raw_checkpoints import KINDS, byte_level
from tiny_checkpoints import VOCABULARY, data, tokenizer

from attnx.testing import results
from attnx.testing.model_laws import ModelOnTask
from attnx.testing.toy import ToySoftmax
from attnx_transformers.causal import HfCausal
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.encoder import HfEncoder
from attnx_transformers.options import HfCausalOptions, HfClassifierOptions, HfOptions

ENCODERS = (
    "albert bert big_bird camembert canine convbert data2vec-text deberta deberta-v2 distilbert electra "
    "ernie esm eurobert flaubert fnet funnel ibert longformer megatron-bert mobilebert modernbert mpnet mra "
    "nomic_bert nystromformer rembert roberta roberta-prelayernorm roformer squeezebert xlm xlm-roberta "
    "xlm-roberta-xl xlnet yoso"
).split()
DECODERS = (
    "biogpt bloom ctrl diffllama gemma gemma2 gpt2 gpt_bigcode gpt_neox gpt_oss llama mistral mixtral "
    "modernbert-decoder mpt olmo2 openai-gpt opt phi phi3 qwen2 qwen3 stablelm starcoder2"
).split()
BOTH = ("bart", "mbart", "t5")
NAMES = (*ENCODERS, *DECODERS, *BOTH)

EVERYTHING, NO_ATTENTION, NO_LAYERS, NONE = "all", "no attention", "no layers", "–"
SMALL = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 32, "d_model": 32, "dim": 32, "n_embd": 32, "embedding_size": 32,
    "word_embed_proj_dim": 32,
    "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "block_sizes": [1, 1],
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "num_key_value_heads": 2,
    "head_dim": 8, "d_head": 8,
    "intermediate_size": 48, "d_inner": 48, "hidden_dim": 48, "ffn_dim": 48, "dff": 48,
    "max_position_embeddings": 64, "n_positions": 64, "attention_window": 8,
    "num_local_experts": 2, "num_experts_per_tok": 2, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
    "initializer_range": 0.3, "init_std": 0.3, "num_labels": 2,
}  # fmt: skip
TOKENIZERS = {"mpnet": KINDS["mpnet"][1]}  # its padding is piece 1 whatever its configuration says
# Mixtures of experts in transformers count tokens by a function that the pretended device does not have.
NOT_OF_EXPERTS = "model-device"
NOT_SET = {"xlnet": ("max_position_embeddings",), "funnel": ("num_hidden_layers",)}  # which these refuse

Maker = Callable[[Path], Any]
MODELS: dict[str, tuple[Any, dict[str, Any], Maker]] = {
    "hf-classifier": (
        AutoModelForSequenceClassification,
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
        lambda folder: HfClassifier.build(data(), ToySoftmax(), HfClassifierOptions(checkpoint=str(folder))),
    ),
    "hf": (
        AutoModel,
        MODEL_MAPPING_NAMES,
        lambda folder: HfEncoder.build(data(), ToySoftmax(), HfOptions(checkpoint=str(folder))),
    ),
    "hf-causal": (
        AutoModelForCausalLM,
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        lambda folder: HfCausal.build(
            data(), ToySoftmax(), HfCausalOptions(checkpoint=str(folder), labels=("dull", "one"))
        ),
    ),
}
NOT_TRIED = {  # transformers has the class, for another use than the plain one
    "hf": frozenset(DECODERS),
    "hf-causal": frozenset((*ENCODERS, *BOTH)),
    "hf-classifier": frozenset[str](),
}


def save_tiny(name: str, model: str, folder: Path) -> None:
    """A model of that architecture with random weights, and a tokenizer."""
    kind, _, _ = MODELS[model]
    usual = CONFIG_MAPPING[name]()
    fitting = {
        key: value for key, value in SMALL.items() if hasattr(usual, key) and key not in NOT_SET.get(name, ())
    }
    made = TOKENIZERS.get(name, byte_level)() if name in (*TOKENIZERS, *DECODERS) else None
    fast = (
        tokenizer() if made is None else PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64)
    )
    config = CONFIG_MAPPING[name](**fitting | {"vocab_size": len(fast)})
    if name == "funnel" and model == "hf":
        config.architectures = ["FunnelModel"]  # of two
    torch.manual_seed(0)
    kind.from_config(config).save_pretrained(folder)
    fast.save_pretrained(folder)


def what_works(name: str, model: str) -> str:
    """What can be asked of a model of that architecture; all laws hold for it, or it is refused."""
    _, known, make = MODELS[model]
    if name not in known or name in NOT_TRIED[model]:
        return NONE
    with TemporaryDirectory() as folder, quiet():
        save_tiny(name, model, Path(folder))
        try:
            made = make(Path(folder)).eval()
        except AttnxError as refused:
            return f"refused: {_short(str(refused))}"
        found = results("model", ModelOnTask(made, data()), name)
        broken = [result for result in found if result.failure and result.law != NOT_OF_EXPERTS]
    if broken:
        raise AssertionError(f"{name} as {model}: {'; '.join(map(str, broken))}")
    if "layers" in made.provides:
        return EVERYTHING
    return NO_LAYERS if model == "hf" else NO_ATTENTION


def _short(refusal: str) -> str:
    if "an encoder and a decoder" in refusal:
        return "encoder and decoder"
    if "from embeddings" in refusal:
        return "not from embeddings"
    return refusal


def table() -> str:
    """What works, a row for every kind of answer."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in NAMES:
        rows.setdefault(tuple(what_works(name, model) for model in MODELS), []).append(name)
    order = sorted(rows.items(), key=lambda row: -len(row[1]))
    lines = [f"| {' | '.join(['architectures', *(f'`{model}`' for model in MODELS)])} |", "| --- " * 4 + "|"]
    lines += [
        f"| {', '.join(f'`{name}`' for name in names)} | {' | '.join(found)} |" for found, names in order
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
