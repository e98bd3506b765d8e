"""A finished run, loaded again: its report, its examples, and its model to use."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast, overload

import torch

from ..data.loading import Source
from ..data.unit_groups import UnitsOfText
from ..errors import AttnxWarning, UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..protocols import ClassNamingModel, Model
from ..request.objects import Objects
from ..request.plan import Plan
from ..results.examples import Examples
from ..results.explanation import Explanation, Explanations
from ..results.judgement.records import UnitName
from ..results.report import Report
from ..store.weights import Weights, tensors_hash
from ..types import Example, TaskData
from .answer_explanation import ANSWER_LENGTH, AskedAnswer, explain_answers
from .data_cache import load_data_of
from .device import choose_device
from .evaluation_mode import evaluating
from .explained_classes import PREDICTED, explained_classes
from .explanation import ExplainedTexts, explain_examples
from .explanation_tests import choose_tests
from .given_texts import UnlabelledTexts, examples_of, find_example, in_units, unknown_words
from .measuring.attribution import trace_of
from .measuring.measurement import check_classes
from .measuring.splits import Split, batches
from .plugin_errors import errors_of
from .training.models import TrainedModels


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model predicts for one text."""

    label: str
    probabilities: dict[str, float]  # by label


@dataclass(eq=False)
class Run:
    """A run with its model; `report` is None for a model that was never evaluated."""

    plan: Plan | None  # None: an object took part, which cannot be made again
    catalog: Catalog
    source: Source
    progress: Progress
    report: Report | None = None
    folder: Path | None = None
    objects: Objects = field(default_factory=dict)  # that the caller made, by kind and name
    _models: dict[int, Model] = field(default_factory=dict)

    def __repr__(self) -> str:
        what = repr(self.report) if self.report else self._title
        return f"<Run of {what}{f' in {self.folder}' if self.folder else ''}>"

    @cached_property
    def examples(self) -> Examples:
        """The examples that are stored with the run."""
        if self.report is None:
            raise UsageError("This model was not evaluated: there are no stored examples.")
        return self.report.examples()

    @cached_property
    def data(self) -> TaskData:
        """The examples of the task, loaded again."""
        plan = self._plan()
        task = plan.task.make()
        if not isinstance(task, UnlabelledTexts):
            return load_data_of(plan, self.source)
        data = task.load(self.source)
        if "own-classes" not in plan.model.provides:
            return data
        names = cast("ClassNamingModel", plan.model.make()).class_names(plan.model.options, data)
        return replace(data, label_names=tuple(names))

    def model(self, seed: int | None = None) -> Model:
        """The trained model of a seed, by default the first: from stored weights, or trained again."""
        plan = self._plan()
        seed = plan.spec.seeds[0] if seed is None else seed
        if seed not in plan.spec.seeds:
            raise UsageError(f"This run has no seed {seed}; it has {', '.join(map(str, plan.spec.seeds))}.")
        if seed not in self._models:
            self._models[seed] = self._found_or_trained(plan, seed)
        return self._models[seed]

    def predict(
        self, texts: str | Sequence[str], *, query: str | None = None, seed: int | None = None
    ) -> list[Prediction]:
        """Predict the labels of texts, each split into words like those of the task."""
        several = [texts] if isinstance(texts, str) else list(texts)
        examples = examples_of(self._plan(), self.data, several, [query] * len(several))
        model = self.model(seed)
        split = Split(model, examples, self._device)
        names = self._label_names(model, split)
        found: dict[int, list[float]] = {}
        with evaluating(model):
            for rows, batch in batches(split):
                probabilities = trace_of(model, batch).logits.cpu().double().softmax(-1)
                found.update(zip(rows.tolist(), probabilities.tolist(), strict=True))
        return [
            Prediction(max(by_label, key=by_label.__getitem__), by_label)
            for row in range(len(examples))
            for by_label in [dict(zip(names, found[row], strict=True))]
        ]

    @overload
    def explain(
        self, texts: str, methods: Any = (), *, query: str | None = None, target: str = PREDICTED,
        versus: str | None = None, metrics: Any = (), seed: int | None = None,
    ) -> Explanation: ...  # fmt: skip
    @overload
    def explain(
        self, texts: list[str] | tuple[str, ...], methods: Any = (), *,
        query: str | Sequence[str] | None = None, target: str = PREDICTED, versus: str | None = None,
        metrics: Any = (), seed: int | None = None,
    ) -> Explanations: ...  # fmt: skip
    @overload
    def explain(
        self, *, methods: Any = (), example: str, query: str | None = None, target: str = PREDICTED,
        versus: str | None = None, metrics: Any = (), seed: int | None = None,
    ) -> Explanation: ...  # fmt: skip
    @overload
    def explain(
        self, *, methods: Any = (), example: list[str] | tuple[str, ...], target: str = PREDICTED,
        query: str | Sequence[str] | None = None, versus: str | None = None, metrics: Any = (),
        seed: int | None = None,
    ) -> Explanations: ...  # fmt: skip
    @overload
    def explain(
        self, texts: str | Sequence[str] | None = None, methods: Any = (), *,
        example: str | Sequence[str] | None = None, query: str | Sequence[str] | None = None,
        target: str = PREDICTED, versus: str | None = None, metrics: Any = (), seed: int | None = None,
        units: UnitsOfText = "words", answer: str | None = None, answer_length: int = ANSWER_LENGTH,
    ) -> Explanation | Explanations: ...  # fmt: skip
    def explain(
        self,
        texts: str | Sequence[str] | None = None,
        methods: Any = (),
        *,
        example: str | Sequence[str] | None = None,
        query: str | Sequence[str] | None = None,
        target: str = PREDICTED,
        versus: str | None = None,
        metrics: Any = (),
        seed: int | None = None,
        units: UnitsOfText = "words",
        answer: str | None = None,
        answer_length: int = ANSWER_LENGTH,
    ) -> Explanation | Explanations:
        """Explain one text or several, or examples of the task by their ids; see `attnx.explain`.

        Without `methods`: attention, if the model has it, and the run's explanations and references.
        """
        if (texts is None) == (example is None):
            raise UsageError("Give a text to explain, or the id of an example (--example ID), and not both.")
        plan = self._plan()
        tests = choose_tests(plan, methods, metrics, self.report, self.catalog, self.objects)
        one = isinstance(texts if example is None else example, str)
        explained = self._explained(texts, example, query)
        if units != "words":
            explained = in_units(plan, explained, units)
        for named in (*tests.explanations, *tests.references):
            named.component.check(explained)
        model = self.model(seed)
        seed = plan.spec.seeds[0] if seed is None else seed
        with errors_of(plan.model.title):
            split = Split(model, explained, self._device)
            shown = ExplainedTexts(
                split=split,
                label_names=self._label_names(model, split) if answer is None else (),
                labelled=texts is None,
                deletes="deletion" in {*plan.task.provides, *plan.model.provides},
                unknown=unknown_words(plan, self.data, explained),
                title=self._title,
                model_title=plan.model.title,
            )
            if answer is None:
                classes = explained_classes(target, versus, shown.label_names, labelled=texts is None)
                found = explain_examples(model, shown, tests, classes, seed=seed, progress=self.progress)
            else:
                asked = AskedAnswer(answer, versus, answer_length)
                on = (explained, tests, asked, shown, self._device)
                found = explain_answers(model, *on, seed=seed, progress=self.progress)
        if units != "words":
            called: UnitName = "sentence" if units == "sentences" else "paragraph"
            found = [explanation.model_copy(update={"unit": called}) for explanation in found]
        return found[0] if one else Explanations(title=self._title, explanations=tuple(found))

    def _explained(
        self,
        texts: str | Sequence[str] | None,
        example: str | Sequence[str] | None,
        query: str | Sequence[str] | None,
    ) -> list[Example]:
        if texts is None:
            ids = [example] if isinstance(example, str) else list(example or ())
            if not ids:
                raise UsageError("The list of examples is empty.")
            return [find_example(self.data, id_) for id_ in ids]
        several = [texts] if isinstance(texts, str) else list(texts)
        queries = [query] * len(several) if query is None or isinstance(query, str) else list(query)
        if len(queries) != len(several):
            raise UsageError(
                f"There are {len(several)} texts and {len(queries)} questions: give one for each."
            )
        return examples_of(self._plan(), self.data, several, queries)

    def _label_names(self, model: Model, split: Split) -> tuple[str, ...]:
        """The names of the classes; numbers, if neither the task nor the model names them."""
        if self.data.label_names:
            check_classes(model, split, self.data.label_names, self._plan().model.title)
            return self.data.label_names
        with evaluating(model):
            logits = trace_of(model, split.take(torch.tensor([0]))).logits  # [1, C]
        return tuple(map(str, range(logits.shape[-1])))

    def _plan(self) -> Plan:
        if self.plan is None:
            raise UsageError(
                "An object that was passed from Python took part in this run: its model cannot be made "
                "again. Its report and examples can be read."
            )
        return self.plan

    @property
    def _title(self) -> str:
        if self.report:
            return ", ".join(self.report.labels.values())
        parts = self._plan().trained
        return ", ".join(part.label for part in parts if not isinstance(part.given, UnlabelledTexts))

    @property
    def _device(self) -> torch.device:
        return choose_device(self._plan().spec.device)

    def _found_or_trained(self, plan: Plan, seed: int) -> Model:
        models = TrainedModels(self.data, self._device, Weights(), self.progress)
        recorded = self.report.provenance.weights_folders.get(seed, "") if self.report else ""
        if recorded:
            model = models.untrained(plan, seed)
            if models.find(model, recorded) is not None:
                return model.eval()
        if self.report is not None:
            message = f"The weights of seed {seed} are not stored any more: training again."
            warnings.warn(message, AttnxWarning, stacklevel=3)
        model, _ = models.trained(plan, seed)
        known = self.report.provenance.weights.get(seed) if self.report else None
        if known not in (None, tensors_hash(model.state_dict())):
            warnings.warn(
                f"Seed {seed}, trained again, gives another model than the report's: code, libraries or data "
                "have changed since then.",
                AttnxWarning,
                stacklevel=3,
            )
        return model.eval()
