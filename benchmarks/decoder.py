"""Leave-one-out on a decoder, 6 layers of 384 as GPT-2 has them, with random weights.

ours    the states before the removed word are read again, only what follows is computed
peer    every shortened text computed as a whole, in batches of equal length: what every model can do
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from attnx.plugin import Example, TaskData
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.splits import Split, batches
from attnx_erasure.deletion import logits_without_each
from attnx_transformers.causal import HfCausal
from attnx_transformers.checkpoints import quiet
from attnx_transformers.options import HfCausalOptions

from .peers import random_texts
from .timing import Row, best_of

CPU = torch.device("cpu")
LAYERS, SIZE, WORDS = 6, 384, 12_000
# How many, of how many words, and the target. Of short texts not half of the positions are before the word:
# of 20 words and a template of 2, whole texts have 442 with the pass that explains them, ours 274: 1.6 x.
TEXTS = ((40, 20, 1.5), (4, 180, 2.0))
REPEATS = 3
TOLERANCE = 1e-4  # of logits


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, and whether both give the same logits."""
    with _decoder(1 if tiny else LAYERS, 24 if tiny else SIZE) as model:
        if tiny:
            return [_row(model, random_texts(3, 5, 5), 5, 0.0)]
        return [_row(model, random_texts(count, n, n), n, target) for count, n, target in TEXTS]


def _row(model: HfCausal, texts: Sequence[Example], length: int, target: float) -> Row:
    best = best_of(
        REPEATS,
        {
            "ours": lambda: _deletions(model, texts, fast=True),
            "peer": lambda: _deletions(model, texts, fast=False),
        },
    )
    pairs = zip(best["ours"].result, best["peer"].result, strict=True)
    same = all(torch.allclose(ours, theirs, atol=TOLERANCE) for ours, theirs in pairs)
    work = f"leave-one-out, decoder, {len(texts)} x {length} / whole texts"
    return Row(work, best["ours"].seconds, best["peer"].seconds, target, same)


def _deletions(model: HfCausal, texts: Sequence[Example], *, fast: bool) -> list[Tensor]:
    found = []
    with evaluating(model):
        for _, batch in batches(Split(model, texts, CPU)):
            trace = trace_of(model, batch)
            logits = model.without_each(trace) if fast else logits_without_each(model, trace)
            found.append(logits[batch.mask])
    return found


@contextmanager
def _decoder(layers: int, size: int) -> Iterator[HfCausal]:
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "no", "yes", "It", "is", *(f"w{number}" for number in range(WORDS))]
    vocabulary = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    config = GPT2Config(
        vocab_size=len(vocabulary),
        n_embd=size,
        n_layer=layers,
        n_head=12,
        initializer_range=0.1,  # large enough for words to matter
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    with TemporaryDirectory() as folder, quiet():
        GPT2LMHeadModel(config).save_pretrained(folder)
        PreTrainedTokenizerFast(
            tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=512
        ).save_pretrained(folder)
        texts = tuple(random_texts(2, 5, 5))
        data = TaskData(texts, (), (), ("no", "yes"))
        yield HfCausal(data, HfCausalOptions(checkpoint=folder)).eval()
