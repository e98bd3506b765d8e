"""A classifier of MiniLM's shape, 6 layers of 384, with random weights: as fast as the trained one.

Leave-one-out beside the bare matrix products it needs and beside a loop over examples; and a whole
report (attention, gradient, integrated gradients, leave-one-out under comprehensiveness, sufficiency
and Kendall's τ) beside the same numbers computed example by example with transformers and Captum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from attnx.plugin import Example, TaskData
from attnx.progress import Progress
from attnx.request.plan import Tests
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, trace_of
from attnx.run.measuring.measurement import observe
from attnx.run.measuring.splits import Split, batches
from attnx_agreement.kendall import Kendall
from attnx_baselines.attention import Attention
from attnx_captum.integrated_gradients import IntegratedGradients
from attnx_captum.options import IntegratedGradientsOptions
from attnx_erasure.comprehensiveness import Comprehensiveness
from attnx_erasure.deletion import logits_without_each
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import ErasureCurveOptions, LeaveOneOutOptions
from attnx_erasure.sufficiency import Sufficiency
from attnx_gradient.gradient import Gradient
from attnx_gradient.options import GradientOptions
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

from .peers import WORDS, random_texts
from .timing import Row, best_of

if TYPE_CHECKING:
    from .one_by_one import OneByOne

CPU = torch.device("cpu")
STEPS = 10  # of integrated gradients
LAYERS, SIZE, WIDE = 6, 384, 1536
TOLERANCE = 1e-4  # of logits and of measures
MOST = 0.85  # of the sentences: where two weights are equal up to rounding, two units change places
BINS = ErasureCurveOptions().bins


def rows(tiny: bool = False) -> list[Row]:
    """Seconds of ours and of the peer, and whether both computed the same."""
    with classifier() as (model, stock):
        if tiny:
            return [
                _against_limit(model, 4), *_against_loops(model, stock, 2), _report(model, stock, 2, share=1)
            ]  # fmt: skip
        return [_against_limit(model), *_against_loops(model, stock), _report(model, stock)]


def _against_limit(model: HfClassifier, words: int = 180) -> Row:
    """Deletions of a text of 180 words against nothing but the matrix products it takes."""
    texts = random_texts(1, words, words)
    a, b = torch.randn(2048, SIZE), torch.randn(SIZE, WIDE)
    operations = sum(pass_operations(len(text.units) + 1) * len(text.units) for text in texts)
    needed = max(1, round(operations / (2.0 * a.numel() * WIDE)))

    def products() -> None:
        for _ in range(needed):
            torch.mm(a, b)

    best = best_of(2, {"ours": lambda: _deletions(model, texts), "limit": products})
    return Row(
        f"leave-one-out, MiniLM, 1 x {words} / products",
        best["ours"].seconds,
        best["limit"].seconds,
        1 / 1.6,
        None,
    )


def pass_operations(n: int) -> float:
    """Floating-point operations of a forward pass of n positions."""
    return LAYERS * 2.0 * n * (4 * SIZE * SIZE + 2 * SIZE * WIDE + 2 * n * SIZE)


def _against_loops(model: HfClassifier, stock: OneByOne, count: int = 20) -> list[Row]:
    """Deletions beside a loop over all of them, and beside one over texts that batches those of a text."""
    texts = random_texts(count, 15, 25)
    best = best_of(
        2,
        {
            "ours": lambda: _deletions(model, texts),
            "loop": lambda: [stock.without_each(text.units) for text in texts],
            "batched loop": lambda: [stock.without_each_at_once(text.units) for text in texts],
        },
    )

    def row(peer: str, target: float) -> Row:
        pairs = zip(best["ours"].result, best[peer].result, strict=True)
        same = all(torch.allclose(ours, theirs, atol=TOLERANCE) for ours, theirs in pairs)
        work = f"leave-one-out, MiniLM, {count} x ~20 / {peer}"
        return Row(work, best["ours"].seconds, best[peer].seconds, target, same)

    return [row("loop", 1.3), row("batched loop", 1.0)]


def _deletions(model: HfClassifier, texts: Sequence[Example]) -> list[Tensor]:
    """By text: [units, C]."""
    found: dict[int, Tensor] = {}
    with evaluating(model):
        for numbers, batch in batches(Split(model, texts, CPU)):
            logits = logits_without_each(model, trace_of(model, batch))[batch.mask]
            found.update(zip(numbers.tolist(), logits.split(batch.mask.sum(1).tolist()), strict=True))
    return [found[number] for number in range(len(texts))]


def _report(model: HfClassifier, stock: OneByOne, sentences: int = 200, share: int = 10) -> Row:
    """Ours on all sentences; one by one on each tenth of them by length, times ten."""
    texts = sorted(random_texts(sentences, 15, 25), key=lambda text: len(text.units))
    some = slice(share // 2, None, share)
    runs: dict[str, Callable[[], Mapping[str, Any]]] = {
        "ours": lambda: report(model, texts),
        "theirs": lambda: stock.report(texts[some], BINS),
    }
    best = best_of(1, runs)
    ours, theirs = best["ours"].result, best["theirs"].result
    same = ours.keys() == theirs.keys() and all(
        np.mean(np.abs(ours[key][some] - theirs[key]) < TOLERANCE) >= MOST for key in ours
    )
    work = f"whole report, MiniLM, {sentences} sentences / one by one"
    return Row(work, best["ours"].seconds, best["theirs"].seconds * sentences / len(texts[some]), 5.0, same)


def report(model: HfClassifier, texts: Sequence[Example]) -> dict[str, NDArray[np.float64]]:
    """Every measure of every sentence, as a run computes it."""
    methods = {
        "attention": Attention(),
        "gradient": Gradient(GradientOptions()),
        "integrated-gradients": IntegratedGradients(IntegratedGradientsOptions(steps=STEPS, absolute=True)),
        "loo": LeaveOneOut(LeaveOneOutOptions(signed=False)),
    }
    explanations = tuple(Named(name, method) for name, method in methods.items())
    options = ErasureCurveOptions()
    found = observe(
        model,
        Split(model, texts, CPU),
        Tests(
            explanations=explanations,
            references=explanations[-1:],
            metrics=(
                Named("comprehensiveness", Comprehensiveness(options)),
                Named("sufficiency", Sufficiency(options)),
                Named("kendall", Kendall()),
            ),
        ),
        seed=0,
        progress=Progress("off"),
        label="",
    )
    return {f"{m.metric} {m.explanation}": m.values[:, 0] for m in found.measurements}


@contextmanager
def classifier() -> Iterator[tuple[HfClassifier, OneByOne]]:
    """The classifier as we run it and as transformers does, from one checkpoint."""
    from .one_by_one import OneByOne  # with Captum and scipy, which a process without it need not load

    with checkpoint() as (folder, tokenizer):
        yield our_classifier(folder), OneByOne(folder, tokenizer, STEPS)


def our_classifier(folder: Path) -> HfClassifier:
    """The classifier as we run it."""
    data = TaskData(random_texts(2, 5, 5), (), (), ("no", "yes"))  # type: ignore[arg-type]
    options = HfClassifierOptions(checkpoint=str(folder))
    return HfClassifier.build(data, Softmax(SoftmaxOptions()), options).eval()


@contextmanager
def checkpoint() -> Iterator[tuple[Path, PreTrainedTokenizerFast]]:
    """A folder with weights and a tokenizer."""
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", *(f"w{number}" for number in range(WORDS))]
    vocabulary = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=SIZE,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=WIDE,
        initializer_range=0.1,  # large enough for words to matter
    )
    with TemporaryDirectory() as folder, quiet():
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=512
        )
        tokenizer.save_pretrained(folder)
        yield Path(folder), tokenizer
