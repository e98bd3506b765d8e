"""The warnings of a report: where a number does not mean what a reader would expect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal

import numpy as np

from ...request.spec import RunSpec
from ...types import Example, TaskData
from ..caution import Caution
from ..observations import SeedResult
from ..report import Summary
from .constant_answer import UselessModel
from .records import UnitName

FEW: Final = 0.5  # share of examples with a value below which a mean covers a minority
COPIES: Final = 0.05  # share of test examples that occur more than once, or in train, worth a warning
UNLIKELY: Final = {  # measures of unlikely inputs, by what was done to the examples
    "unlikely-without-top": "Without the top {units}",
    "unlikely-only-top": "With only the top {units}",
}
UNLIKELY_SHARE: Final = 0.1  # of inputs that look unlike training examples; 5 % do by chance
MANY: Final = 0.5  # share of examples, or of words, above which something is worth a warning


def cautions(
    results: Sequence[SeedResult],
    summaries: Sequence[Summary],
    data: TaskData,
    useless: UselessModel | None,
    provides: Sequence[str] = (),
    unit: UnitName = "word",
) -> tuple[Caution, ...]:
    """What a reader must know before trusting a number of a model that provides these capabilities."""
    return (
        *([useless.caution] if useless else []),
        *_of_training(results),
        *_of_length(results, data, unit),
        *_of_scores(results, summaries, unit),
        *_of_unlikely_inputs(summaries, unit),
        *_of_undefined(summaries),
        *(() if "unseen-words" in provides else _of_unknown_words(data)),
        *_of_copies(data),
        *_of_labels(data),
    )


def _of_unlikely_inputs(summaries: Sequence[Summary], unit: UnitName) -> Iterable[Caution]:
    """Shortened examples that look unlike training examples, more often than whole ones do."""
    found = {(s.explanation, s.measure): s for s in summaries if s.predicted is None and s.mean is not None}
    for (name, measure), shortened in found.items():
        whole = found.get((name, "unlikely-whole"))
        if name is None or whole is None or measure not in UNLIKELY:
            continue
        mean, low, most = shortened.mean or 0.0, shortened.low or 0.0, whole.high or whole.mean or 0.0
        if mean >= UNLIKELY_SHARE and low > most:
            yield Caution(
                kind="unlikely-inputs",
                about=(name, measure),
                text=f"{UNLIKELY[measure].format(units=f'{unit}s')} of '{name}', {mean:.0%} of the inputs "
                f"look unlike training examples (whole examples: {whole.mean or 0.0:.0%}): a change of the "
                "output may be due to that alone",
            )


def no_attention(model: str, explanations: Sequence[str]) -> Caution:
    """That something else than attention is tested, because the model has none to read."""
    tested = ", ".join(f"'{name}'" for name in explanations)
    return Caution(
        kind="no-attention",
        about=(model, *explanations),
        text=f"Model '{model}' has no attention weights to read; tested instead: {tested}",
    )


def explained_output(
    spec: RunSpec, classless: Collection[str], summaries: Sequence[Summary]
) -> tuple[Caution, ...]:
    """Which class was explained, where it is not the predicted one, and what does not depend on it."""
    if spec.target == "predicted" and spec.versus is None:
        return ()
    if spec.versus is not None:
        what = (
            f"why '{spec.target}' and not '{spec.versus}': removal tests use "
            f"(1 + p({spec.target}) − p({spec.versus})) / 2 as the output"
        )
    else:
        what = "the label of each example" if spec.target == "gold" else f"class '{spec.target}'"
    about = f"Explained is {what}, whichever class is predicted"
    if classless:
        same = ", ".join(f"'{name}'" for name in classless)
        about += f". {same} {'gives' if len(classless) == 1 else 'give'} the same scores for every class"
    flips = [s.metric for s in summaries if s.family == "intervention" and spec.versus is None]
    other = list(dict.fromkeys([*flips, *(s.metric for s in summaries if s.explanation is None)]))
    if other:
        about += f". {', '.join(other)} {'tests' if len(other) == 1 else 'test'} the model's prediction"
    return (Caution(kind="explained-class", about=(spec.target, *filter(None, [spec.versus])), text=about),)


def notices_of(source: Literal["data", "model"], notices: Sequence[str]) -> list[Caution]:
    """What the task's data, or the model, wants a reader to know about itself."""
    return [Caution(kind="notice", about=(source,), text=notice) for notice in notices]


def _of_training(results: Sequence[SeedResult]) -> Iterable[Caution]:
    for result in results:
        if len(result.record.course) > 1 and result.record.best_epoch == 0:
            yield Caution(
                kind="untrained",
                about=(str(result.seed),),
                text=f"Seed {result.seed}: no epoch was better on dev than the untrained model, so the "
                "untrained model was measured",
            )
    first = results[0].observation.logits
    if len(results) > 1 and all(np.array_equal(result.observation.logits, first) for result in results):
        yield Caution(
            kind="same-model",
            text="All seeds gave the same model: it is counted several times, and the intervals ignore "
            "differences between training runs. Use one seed",
        )
    elif len(results) == 1 and len(results[0].record.course) <= 1:
        yield Caution(
            kind="not-retrained",
            text="One pretrained model, not retrained: the intervals cover other examples, not other "
            "training runs",
        )
    else:
        yield from few_seeds(len(results))


def few_seeds(seeds: int) -> tuple[Caution, ...]:
    """That one or two training seeds hardly show how much training runs differ."""
    if seeds == 1:
        text = (
            "Only one training seed: the intervals ignore differences between training runs. Use at least "
            "three, e.g. --seeds 0-2"
        )
        return (Caution(kind="one-seed", text=text),)
    if seeds == 2:
        text = (
            "Only two training seeds: they hardly show how much training runs differ, and the intervals are "
            "several times wider than with three or more, e.g. --seeds 0-2"
        )
        return (Caution(kind="two-seeds", text=text),)
    return ()


def _of_length(results: Sequence[SeedResult], data: TaskData, unit: UnitName) -> Iterable[Caution]:
    """Examples that the model does not read as a whole."""
    unread = results[0].observation.unread
    if unread is not None and unread.any():
        units = sum(len(example.units) for example in data.test)
        yield Caution(
            kind="cut-off",
            text=f"{int((unread > 0).sum())} of {len(unread)} test examples are longer than the model reads, "
            f"or have {unit}s that its tokenizer drops or joins: {int(unread.sum())} of {units} {unit}s have "
            "no score",
        )


def _of_scores(
    results: Sequence[SeedResult], summaries: Sequence[Summary], unit: UnitName
) -> Iterable[Caution]:
    """Signed scores compared with unsigned ones, and scores that rank nothing."""
    traits = results[0].observation.traits
    pairs = dict.fromkeys(
        (s.explanation, s.reference)
        for s in summaries
        if s.family == "agreement" and s.explanation and s.reference
    )
    for explanation, reference in pairs:
        signed, other = (traits[name].signed for name in (explanation, reference))
        which, plain = (explanation, reference) if signed else (reference, explanation)
        if signed == other or traits[plain].declares_signs:
            continue
        compared = "their agreement is that of sizes (absolute values)"
        if not traits[which].declares_signs:
            compared = f"'{which}' does not declare signed = True, so they are compared as they are"
        yield Caution(
            kind="signed-scores",
            about=(which, plain),
            text=f"'{which}' has signs and '{plain}' has none: {compared}",
        )
    asked = dict.fromkeys(s.explanation for s in summaries if s.explanation)
    for name in asked:
        share = float(np.mean([result.observation.traits[name].constant for result in results]))
        if share > MANY:
            yield Caution(
                kind="constant-scores",
                about=(name,),
                text=f"'{name}' gives all {unit}s of an example the same score in {share:.0%} of the "
                "examples, so it ranks nothing there",
            )


def _of_undefined(summaries: Sequence[Summary]) -> Iterable[Caution]:
    rows = [s for s in summaries if s.predicted is None and s.mean is not None]
    for s in rows:
        if s.n < FEW * (s.n + s.undefined):
            of = f" of '{s.explanation}'" if s.explanation else ""
            yield Caution(
                kind="undefined-values",
                about=tuple(filter(None, (s.metric, s.measure, s.explanation, s.reference))),
                text=f"{s.metric} {s.measure}{of} is defined for only {s.n} of {s.n + s.undefined} examples; "
                "its mean covers those",
            )


def _of_unknown_words(data: TaskData) -> Iterable[Caution]:
    if data.features is not None:
        return
    known = {unit for example in data.train for unit in example.units}
    units = [unit for example in data.test for unit in example.units]
    unknown = sum(unit not in known for unit in units) / max(1, len(units))
    if unknown > MANY:
        yield Caution(
            kind="unknown-words",
            text=f"{unknown:.0%} of the test split's words never occur in train, so the model does not know "
            "them",
        )


def _of_copies(data: TaskData) -> Iterable[Caution]:
    """Test examples that are not independent of each other, or of training."""
    test = Counter(map(_content, data.test))
    copies = len(data.test) - len(test)
    if copies >= COPIES * len(data.test) and copies:
        yield Caution(
            kind="copies-in-test",
            text=f"{len(data.test)} test examples are only {len(test)} different ones: copies count as if "
            "they were independent, so the intervals are too narrow",
        )
    known = set(map(_content, data.train))
    seen = sum(count for content, count in test.items() if content in known)
    if seen >= COPIES * len(data.test) and seen:
        yield Caution(
            kind="copies-of-train",
            text=f"{seen} of {len(data.test)} test examples occur in train too: the accuracy is too high for "
            "new examples",
        )


def _content(example: Example) -> tuple[object, ...]:
    """What a model reads of an example."""
    return example.units, example.query, example.rows


def _of_labels(data: TaskData) -> Iterable[Caution]:
    """A test split in which nothing can be told apart."""
    labels = {example.label for example in data.test}
    if len(labels) == 1:
        (label,) = labels
        yield Caution(
            kind="one-label",
            about=(data.label_names[label],),
            text=f"All {len(data.test)} test examples have the label '{data.label_names[label]}': the "
            "accuracy does not show whether the model can distinguish labels",
        )
