"""Tiny checkpoints whose tokenizers are trained on the spot, of every kind that pretrained models use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from attnx_transformers.checkpoints import quiet

CORPUS = (
    "Don't panic: it's FINE, isn't it? You couldn't say they're wrong, and we've seen it.",
    "A bold film with markup, <br /> and <b>tags</b>; the rest is dull and tedious 1,000.50 times.",
    "“Curly” quotes – and dashes — around ‘words’, naïve café and été.",
    "The best of films and the worst of films, one two three four five six seven eight nine ten.",
    "emoji 🙂 👍 and שלום עולם, مرحبا بالعالم, 日本語のテキスト.",
    "  leading   spaces\tand tabs\nand new lines  ",
)
# What a tokenizer or a splitter into words may stumble over.
TEXTS = (
    "Don't panic: it's FINE… isn't it?",
    "  leading spaces,\ttabs\n\nand new lines ",
    "A <b>bold</b> film<br /><br />with markup &amp; entities",
    "emoji 🙂👍🏽 and a family 👨‍👩‍👧 in the middle🙂of it",
    "“curly” ‘quotes’ — dashes – and it’s not over…",
    "שלום עולם and مرحبا بالعالم (עברית)",
    "naïve café E\u0301te\u0301 ﬁne ½ ㈱ İstanbul ΟΔΟΣ",
    "U.S.A. costs $1,000.50 at http://x.y/z?a=b#c_d snake_case",
    "zero\u200bwidth \ufeffmark soft\u00adhyphen a\u00a0b",
    "日本語のテキスト",
    "x",
    "!!!",
    "[CLS] the [SEP] marks </s> <s> of <unk> others",
)
SIZE = 400  # pieces of a vocabulary
LONGEST = 96  # pieces of a text

ONE_WIDTH = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}
STEEP = {"initializer_range": 0.4}  # so that logits are far from 0


def word_piece(
    lowercase: bool, marks: tuple[str, str] = ("[CLS]", "[SEP]"), first: tuple[str, str] = ("[PAD]", "[UNK]")
) -> Tokenizer:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=SIZE, special_tokens=[*first, *marks])
    made.train_from_iterator(CORPUS, trainer)
    return _framed(made, f"{marks[0]} $A {marks[1]}", f"{marks[0]} $A {marks[1]} $B:1 {marks[1]}:1", marks)


def byte_level(framed: bool = False) -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(CORPUS, trainer)
    if framed:
        ends = (("</s>", 2), ("<s>", 0))
        made.post_processor = processors.RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=False)
    else:
        made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def sentence_piece(single: str, pair: str, marks: tuple[str, ...], lowercase: bool = False) -> Tokenizer:
    made = Tokenizer(models.Unigram())
    rules = [normalizers.NFKC(), *([normalizers.Lowercase()] if lowercase else [])]
    made.normalizer = normalizers.Sequence([*rules, normalizers.Replace("``", '"')])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=["<pad>", "<unk>", *marks], unk_token="<unk>"
    )
    made.train_from_iterator(CORPUS, trainer)
    return _framed(made, single, pair, marks)


def byte_fallback() -> Tokenizer:
    """As Llama's: a space is a piece's first character, and unknown characters are bytes."""
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    known = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=SIZE + 256, special_tokens=known)
    made.train_from_iterator(CORPUS[:4], trainer)
    return _framed(made, "<s> $A", "<s> $A <s>:1 $B:1", ("<s>",))


def _framed(made: Tokenizer, single: str, pair: str, marks: tuple[str, ...]) -> Tokenizer:
    ids = [(mark, made.token_to_id(mark)) for mark in marks]
    made.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
    return made


SENTENCE_ENDS = ("<s> $A </s>", "<s> $A </s> </s> $B </s>", ("<s>", "</s>"))
BERT_LIKE = ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ("[CLS]", "[SEP]"))
ENDS_LAST = ("$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2", ("<sep>", "<cls>"))
ONLY_END = ("$A </s>", "$A </s> $B </s>", ("</s>",))

# By kind: the architecture, how its tokenizer is made, and settings of its own.
KINDS: dict[str, tuple[str, Callable[[], Tokenizer], dict[str, Any]]] = {
    "bert, uncased": ("bert", lambda: word_piece(lowercase=True), {}),
    "bert, cased": ("bert", lambda: word_piece(lowercase=False), {}),
    "distilbert, uncased": (
        "distilbert",
        lambda: word_piece(lowercase=True),
        {"dim": 32, "n_heads": 4, "n_layers": 2, "hidden_dim": 48},
    ),
    "mpnet": (  # whose padding is piece 1 whatever its configuration says
        "mpnet",
        lambda: word_piece(True, ("<s>", "</s>"), ("[UNK]", "[PAD]")),
        {"max_position_embeddings": LONGEST + 2},
    ),
    "roberta": ("roberta", lambda: byte_level(framed=True), {"max_position_embeddings": LONGEST + 2}),
    "longformer": (
        "longformer",
        lambda: byte_level(framed=True),
        {"attention_window": 16, "max_position_embeddings": LONGEST + 2},
    ),
    "deberta": ("deberta", lambda: byte_level(framed=True), {}),
    "gpt2": ("gpt2", lambda: byte_level(framed=False), {"n_embd": 32, "n_layer": 2, "n_head": 4}),
    "albert": ("albert", lambda: sentence_piece(*BERT_LIKE, lowercase=True), {"embedding_size": 16}),
    "deberta-v2": ("deberta-v2", lambda: sentence_piece(*BERT_LIKE), {}),
    "xlm-roberta": (
        "xlm-roberta",
        lambda: sentence_piece(*SENTENCE_ENDS),
        {"max_position_embeddings": LONGEST + 2},
    ),
    "xlnet": ("xlnet", lambda: sentence_piece(*ENDS_LAST), {"d_model": 32, "n_layer": 2, "n_head": 4}),
    "electra, pieces of T5": ("electra", lambda: sentence_piece(*ONLY_END), {"embedding_size": 16}),
    "llama": ("llama", byte_fallback, {"num_key_value_heads": 2}),
    "modernbert": ("modernbert", lambda: byte_level(framed=True), {}),
}


def save_raw(kind: str, folder: Path, causal: bool = False, **more: Any) -> Path:
    """A classifier of that kind, or a language model, with its tokenizer."""
    name, make_tokenizer, own = KINDS[kind]
    made = make_tokenizer()
    special = {
        "pad_token": next((t for t in ("[PAD]", "<pad>") if made.token_to_id(t) is not None), None),
        "unk_token": next((t for t in ("[UNK]", "<unk>") if made.token_to_id(t) is not None), None),
    }
    typed = name in ("bert", "albert", "deberta-v2", "xlnet", "electra")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=LONGEST,
        padding_side="left" if name == "xlnet" else "right",
        model_input_names=["input_ids", *(["token_type_ids"] if typed else []), "attention_mask"],
        **{role: token for role, token in special.items() if token},
    )
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    given = {"vocab_size": made.get_vocab_size(), "pad_token_id": pad, "max_position_embeddings": LONGEST}
    given |= {"bos_token_id": None, "eos_token_id": None}
    given |= ({} if "dim" in own or "n_embd" in own or "d_model" in own else ONE_WIDTH) | STEEP | own | more
    if name == "xlnet":
        del given["max_position_embeddings"]
    torch.manual_seed(0)
    kind_of_model = AutoModelForCausalLM if causal else AutoModelForSequenceClassification
    with quiet():
        kind_of_model.from_config(CONFIG_MAPPING[name](**given)).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder
