"""Deletions and attention on a decoder, 6 layers of 384 as GPT-2 has them, with random weights.

Deletions of each word, and of sets of words as removal tests have them:
ours    shortened texts that begin alike share the states of their beginning
peer    every shortened text computed as a whole, in batches of equal length: what every model can do

Memory, in MB above what the process had before: the attention of one layer from the position that answers
ours    of that layer alone
peer    taken from the attention of all layers, which is kept
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from attnx.formulas import Randomness, logits_of_kept
from attnx.plugin import Example, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.splits import Split, batches
from attnx_erasure.deletion import logits_without_each
from attnx_transformers.causal import HfCausal
from attnx_transformers.checkpoints import quiet
from attnx_transformers.cls_attention import ClsAttention
from attnx_transformers.language.prompts import TemplatePrompt
from attnx_transformers.options import ClsAttentionOptions, HfCausalOptions
from attnx_transformers.word_pieces import WordPieces

from .peak_memory import RESET, peak
from .peers import random_texts
from .timing import Row, best_of

CPU = torch.device("cpu")
LAYERS, SIZE, WORDS = 6, 384, 12_000
# How many texts, of how many words, after how many words of a prompt. Without a prompt at most half of the
# positions are before the removed word: whole texts of 20 words have 1.6 x as many positions as ours, those
# of 180 words 2.0 x, so the target is out of reach there.
TEXTS, TARGET = ((20, 20, 0), (2, 180, 0), (10, 20, 40)), 2.0
SETS, SET_TEXTS, SET_LENGTH, SET_TARGET = 100, 4, 40, 1.2  # sets of words per text, texts, words, target
LONG, LONG_TARGET = 2000, 5.0  # words of the text whose attention is read
REPEATS = 3
TOLERANCE = 1e-4  # of logits


def rows(tiny: bool = False) -> list[Row]:
    """Seconds and MB of ours and of the peer, and whether both give the same."""
    with _decoder(1 if tiny else LAYERS, 24 if tiny else SIZE) as model:
        if tiny:
            texts = random_texts(3, 5, 5)
            return [
                _row(model, texts, "leave-one-out", _without_each, 0.0),
                _row(model, texts, "sets", _without_sets, 0.0),
            ]
        found = []
        for count, n, before in TEXTS:
            model.network.pieces = _after(model, before)
            work = f"leave-one-out, decoder, {count} x {n}{f' after {before}' if before else ''}"
            found.append(_row(model, random_texts(count, n, n), work, _without_each, TARGET))
        model.network.pieces = _after(model, 0)
        texts = random_texts(SET_TEXTS, SET_LENGTH, SET_LENGTH)
        work = f"{SETS} sets of words deleted, decoder, {SET_TEXTS} x {SET_LENGTH}"
        return [*found, _row(model, texts, work, _without_sets, SET_TARGET), *_memory(model)]


def _after(model: HfCausal, words: int) -> WordPieces:
    """The same texts after so many words of a prompt."""
    pieces = model.network.pieces
    return WordPieces(
        pieces.tokenizer, pieces.limit, TemplatePrompt("It is " * (words // 2) + "{text} It is")
    )


Deletions = Callable[[HfCausal, Trace], Tensor]


def _row(model: HfCausal, texts: Sequence[Example], work: str, delete: Deletions, target: float) -> Row:
    shared = model.provides
    whole = tuple(word for word in shared if word != "fast-logits")
    best = best_of(
        REPEATS,
        {
            "ours": lambda: _deletions(model, texts, delete, shared),
            "peer": lambda: _deletions(model, texts, delete, whole),
        },
    )
    pairs = zip(best["ours"].result, best["peer"].result, strict=True)
    same = all(torch.allclose(ours, theirs, atol=TOLERANCE) for ours, theirs in pairs)
    return Row(f"{work} / whole texts", best["ours"].seconds, best["peer"].seconds, target, same)


def _deletions(
    model: HfCausal, texts: Sequence[Example], delete: Deletions, provides: tuple[str, ...]
) -> list[Tensor]:
    found = []
    before, model.provides = model.provides, provides
    with evaluating(model):
        for _, batch in batches(Split(model, texts, CPU)):
            found.append(delete(model, trace_of(model, batch)))
    model.provides = before
    return found


def _without_each(model: HfCausal, trace: Trace) -> Tensor:
    return logits_without_each(model, trace)[trace.batch.mask]


def _without_sets(model: HfCausal, trace: Trace) -> Tensor:
    """Without the first 1, 5, 10, 20 and 50 % of the words, in random orders."""
    batch = trace.batch
    used = torch.arange(batch.mask.shape[1]) < batch.lengths[:, None]  # [B, L]
    random = torch.rand(len(batch), SETS, batch.mask.shape[1], generator=torch.Generator().manual_seed(0))
    place = random.masked_fill(~batch.mask[:, None], 2.0).argsort(-1).argsort(-1)  # [B, SETS, L]
    shares = torch.tensor([0.01, 0.05, 0.1, 0.2, 0.5]).repeat(SETS // 5)  # [SETS]
    count = (batch.mask.sum(1)[:, None] * shares).ceil()  # [B, SETS]
    gone = (place < count[..., None]) & batch.mask[:, None]
    rows = torch.arange(len(batch)).repeat_interleave(SETS)
    return logits_of_kept(model, batch, rows, (used[:, None] & ~gone).flatten(0, 1))


def _memory(model: HfCausal) -> list[Row]:
    """The most memory that reading the attention of one layer takes; nothing where the system cannot say."""
    if not RESET.exists():  # not Linux
        return []
    options = ClsAttentionOptions(layer=LAYERS // 2)
    method = ClsAttention(options)
    (_, batch), *_ = batches(Split(model, random_texts(1, LONG, LONG), CPU))
    random, alone = Randomness(0), model.provides
    found: list[tuple[float, Tensor]] = []
    with evaluating(model):
        trace = trace_of(model, batch)
        for provides in (alone, tuple(word for word in alone if word != "one-layer")):
            model.provides = provides
            found.append(peak(lambda: method(model, trace, trace.predicted, random)))
    model.provides = alone
    (ours, mine), (peer, theirs) = found
    work = f"attention of one layer, decoder, {LONG} words / of all layers"
    return [Row(work, ours, peer, LONG_TARGET, torch.allclose(mine, theirs, atol=1e-5), unit="MB")]


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
        n_positions=LONG + 8,
        initializer_range=0.1,  # large enough for words to matter
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    with TemporaryDirectory() as folder, quiet():
        GPT2LMHeadModel(config).save_pretrained(folder)
        PreTrainedTokenizerFast(
            tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=LONG + 8
        ).save_pretrained(folder)
        texts = tuple(random_texts(2, 5, 5))
        data = TaskData(texts, (), (), ("no", "yes"))
        yield HfCausal(data, HfCausalOptions(checkpoint=folder)).eval()
