"""Hugging Face checkpoints small enough to make in a test: random weights, a tokenizer of a few pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from attnx.plugin import Example, TaskData
from attnx_transformers.checkpoints import quiet

# "onetwo" is cut into two pieces, "threefourfive" into three.
WORDS = ["one", "two", "three", "four", "five", "yes", "no", "it", "is", "a"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
VOCABULARY = {piece: i for i, piece in enumerate([*SPECIAL, *WORDS, *(f"##{word}" for word in WORDS)])}


def texts(*sentences: str, queries: tuple[str, ...] = ()) -> tuple[Example, ...]:
    return tuple(
        Example(f"t{i}", tuple(text.split()), i % 2, query=tuple(queries[i].split()) if queries else None)
        for i, text in enumerate(sentences)
    )


def data(*sentences: str, queries: tuple[str, ...] = ()) -> TaskData:
    """A task of a few sentences, words of one, two and three pieces among them."""
    examples = texts(*(sentences or SENTENCES), queries=queries)
    return TaskData(train=examples, dev=examples, test=examples, label_names=("no", "yes"))


SENTENCES = (
    "one two threefourfive",
    "four one",
    "onetwo five one three fourfive",
    "three three two one",
    "five",
    "one twotwo five four three onetwo",
)


def tokenizer(frame: bool = True) -> PreTrainedTokenizerFast:
    """Word pieces, with [CLS] and [SEP] around texts or nothing."""
    made = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if frame:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(name, VOCABULARY[name]) for name in ("[CLS]", "[SEP]")],
        )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    names |= {"cls_token": "[CLS]", "sep_token": "[SEP]"} if frame else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=32,
        model_input_names=["input_ids", *(["token_type_ids"] if frame else []), "attention_mask"],
        **names,
    )


SIZES = {"vocab_size": len(VOCABULARY), "hidden_size": 32, "num_attention_heads": 4, "initializer_range": 0.5}
LAYERS = {"num_hidden_layers": 3, "intermediate_size": 48, "max_position_embeddings": 32}
GPT2 = {"vocab_size": len(VOCABULARY), "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 32}
NO_MARKS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0, "initializer_range": 0.3}


def save(kind: str, folder: Path, **settings: Any) -> Path:
    """A checkpoint of that kind in the folder, its weights random and large enough to matter."""
    torch.manual_seed(0)
    makers: dict[str, Any] = {
        "encoder": lambda: BertModel(BertConfig(**SIZES | LAYERS | settings)),
        "classifier": lambda: BertForSequenceClassification(BertConfig(**SIZES | LAYERS | settings)),
        "roberta": lambda: RobertaForSequenceClassification(
            RobertaConfig(**SIZES, **LAYERS | {"max_position_embeddings": 34}, pad_token_id=0)
        ),
        "distilbert": lambda: DistilBertForSequenceClassification(
            DistilBertConfig(vocab_size=len(VOCABULARY), dim=32, n_layers=3, n_heads=4, hidden_dim=48)
        ),
        "albert": lambda: AlbertForSequenceClassification(AlbertConfig(**SIZES, **LAYERS, embedding_size=16)),
        "decoder-classifier": lambda: GPT2ForSequenceClassification(GPT2Config(**GPT2, **NO_MARKS)),
        "language-model": lambda: GPT2LMHeadModel(GPT2Config(**GPT2, **NO_MARKS)),
        "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES | NO_MARKS, **LAYERS, num_key_value_heads=2)),
    }
    with quiet():
        makers[kind]().save_pretrained(folder)
        tokenizer(frame=kind not in ("decoder-classifier", "language-model", "llama")).save_pretrained(folder)
    return folder
