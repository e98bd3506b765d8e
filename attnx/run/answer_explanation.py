"""Answers of a language model explained: as a whole, and piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

import torch

from ..errors import UsageError
from ..progress import Progress
from ..protocols import AnsweringModel, Model
from ..request.plan import Tests
from ..results.explanation import Answer, Explanation
from ..types import Example, ExplainedClass
from .explanation import ExplainedTexts, explain_examples
from .measuring.attribution import Named
from .measuring.splits import Split

GENERATED: Final = "generated"  # an answer that is not words: the model's own
OTHER: Final = "any other answer"
ANSWER_LENGTH: Final = 20  # pieces of a generated answer at most


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """Which answer is explained."""

    answer: str  # words, or GENERATED
    versus: str | None  # the answer that it is contrasted with
    longest: int  # pieces of a generated answer


def explain_answers(
    model: Model,
    examples: Sequence[Example],
    tests: Tests[Named],
    asked: AskedAnswer,
    texts: ExplainedTexts,
    device: torch.device,
    *,
    seed: int,
    progress: Progress,
) -> list[Explanation]:
    """Explain the answer to each text; `texts` says what a reader must know about them."""
    if "answers" not in model.provides:
        raise UsageError(
            f"{texts.model_title[:1].upper()}{texts.model_title[1:]} does not answer in words: leave out "
            "--answer, or choose a language model, such as hf-causal."
        )
    silent = Progress("off")
    found = []
    with progress.stage("explaining answers", len(examples)) as step:
        for example in examples:
            one = partial(_explained, cast("AnsweringModel", model), example, tests, asked, texts, device)
            found.append(one(seed, silent))
            step(1)
    return found


def _explained(
    model: AnsweringModel,
    example: Example,
    tests: Tests[Named],
    asked: AskedAnswer,
    texts: ExplainedTexts,
    device: torch.device,
    seed: int,
    progress: Progress,
) -> Explanation:
    own = asked.answer == GENERATED
    pieces = model.generate(example, asked.longest) if own else model.pieces_of(asked.answer)
    if not pieces:
        raise UsageError(
            "The model's own answer is empty, so there is nothing to explain: give one with --answer TEXT."
            if own
            else "The answer is empty: write some words, or use --answer generated."
        )
    shown = model.texts_of(pieces)
    words = model.text_of(pieces).strip() if own else asked.answer.strip()
    other = () if asked.versus is None else (model.pieces_of(asked.versus),)
    if other and not other[0]:
        raise UsageError("The answer of --versus is empty: write some words.")
    if pieces in other:
        raise UsageError(f"The answer and --versus are both '{words}': give two different answers.")
    names = (words, asked.versus if asked.versus is not None else OTHER)

    def explain(variant: Model, wanted: Tests[Named], labels: tuple[str, str]) -> Explanation:
        split = Split(variant, [example], device)
        one = replace(texts, split=split, label_names=labels, labelled=False, unknown=[()])
        return explain_examples(variant, one, wanted, (ExplainedClass(0),), seed=seed, progress=progress)[0]

    whole = explain(model.answering((pieces, *other)), tests, names)
    methods_alone = Tests(tests.explanations)
    foils = _foils(pieces, *other)
    against = tuple(None if foil is None else model.texts_of([foil])[0] for foil in foils)
    steps = []
    for at, foil in enumerate(foils):
        classes = ((pieces[at],),) if foil is None else ((pieces[at],), (foil,))
        named = shown[at], f"not {shown[at]}"
        steps.append(explain(model.answering(classes, after=pieces[:at]), methods_alone, named))
    answer = Answer(
        words=words,
        generated=own,
        pieces=shown,
        probabilities=tuple(one.probabilities[shown[at]] for at, one in enumerate(steps)),
        scores={method: tuple(one.scores[method] for one in steps) for method in whole.scores},
        against=against if other else (),
    )
    return whole.model_copy(update={"predicted": words, "answer": answer})


def _foils(pieces: Sequence[int], other: Sequence[int] = ()) -> list[int | None]:
    """The piece of another answer that stands where each piece stands, if there is one and it differs."""
    same_place = [*other, *[None] * len(pieces)][: len(pieces)]
    return [None if foil == piece else foil for piece, foil in zip(pieces, same_place, strict=True)]
