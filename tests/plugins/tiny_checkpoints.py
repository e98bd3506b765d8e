"""Hugging Face checkpoints small enough to make in a test: random weights, a tokenizer of a few pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from attnx import Example, TaskData

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
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **names,
    )


def _bert(**settings: Any) -> BertConfig:
    return BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
        initializer_range=0.5,
        **settings,
    )


def _gpt2(**settings: Any) -> GPT2Config:
    return GPT2Config(
        vocab_size=len(VOCABULARY),
        n_embd=32,
        n_layer=3,
        n_head=4,
        n_positions=32,
        initializer_range=0.3,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
        **settings,
    )


def save(kind: str, folder: Path, **settings: Any) -> Path:
    """A checkpoint of that kind in the folder: encoder, classifier, decoder-classifier or language-model."""
    torch.manual_seed(0)
    makers: dict[str, Any] = {
        "encoder": lambda: BertModel(_bert(**settings)),
        "classifier": lambda: BertForSequenceClassification(_bert(**settings)),
        "decoder-classifier": lambda: GPT2ForSequenceClassification(_gpt2(**settings)),
        "language-model": lambda: GPT2LMHeadModel(_gpt2(**settings)),
    }
    makers[kind]().save_pretrained(folder)
    tokenizer(frame=kind in ("encoder", "classifier")).save_pretrained(folder)
    return folder
