"""A finished run, loaded again: its report, its examples, and its model to use."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch

from ..data.loading import Source
from ..errors import AttnxWarning, UsageError
from ..host.catalog import Catalog
from ..progress import Progress
from ..protocols import Model
from ..request.plan import Plan
from ..request.resolve import find_part, require_capabilities
from ..request.spec import Choice
from ..results.examples import Examples
from ..results.explanation import Explanation
from ..results.report import Report
from ..store.weights import Weights, tensors_hash
from ..types import Example, TaskData
from .data_cache import load_data_of
from .device import choose_device
from .evaluation_mode import evaluating
from .explanation import explain_example
from .measuring.attribution import Named, trace_of
from .measuring.splits import Split, batches
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
        return load_data_of(plan, self.source)

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
        examples = [self._example(text, query) for text in ([texts] if isinstance(texts, str) else texts)]
        model, names = self.model(seed), self.data.label_names
        found: dict[int, list[float]] = {}
        with evaluating(model):
            for rows, batch in batches(Split(model, examples, self._device)):
                probabilities = trace_of(model, batch).logits.cpu().double().softmax(-1)
                found.update(zip(rows.tolist(), probabilities.tolist(), strict=True))
        return [
            Prediction(max(by_label, key=by_label.__getitem__), by_label)
            for row in range(len(examples))
            for by_label in [dict(zip(names, found[row], strict=True))]
        ]

    def explain(
        self,
        text: str | None = None,
        *,
        example: str | None = None,
        query: str | None = None,
        methods: Sequence[str] = (),
        seed: int | None = None,
    ) -> Explanation:
        """Explain one text, or one example of the task by its id.

        Without `methods`: attention, if the model has it, and the run's explanations and references.
        """
        if (text is None) == (example is None):
            raise UsageError("Give a text to explain, or the id of an example (--example ID), and not both.")
        plan = self._plan()
        named = [self._named(name) for name in methods or self._usual_methods(plan)]
        model = self.model(seed)
        explained = self._example(text, query) if text is not None else self._find(example or "")
        return explain_example(
            model,
            explained,
            named,
            seed=plan.spec.seeds[0] if seed is None else seed,
            label_names=self.data.label_names,
            labelled=text is None,
            deletes="deletion" in {*plan.task.provides, *plan.model.provides},
            device=self._device,
            title=self._title,
            unknown=self._unknown(explained),
        )

    def _plan(self) -> Plan:
        if self.plan is None:
            raise UsageError(
                "An object that was passed from Python took part in this run: its model cannot be made "
                "again. Its report and examples can be read."
            )
        return self.plan

    @property
    def _title(self) -> str:
        named = self.report.labels.values() if self.report else (p.label for p in self._plan().trained)
        return ", ".join(named)

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

    def _example(self, text: str, query: str | None) -> Example:
        plan = self._plan()
        if "words" not in plan.task.provides:
            raise UsageError(
                f"Task '{plan.task.label}' is not made of words: explain one of its examples by id instead."
            )
        task = plan.task.make()
        units = task.units_of(text)
        if not units:
            raise UsageError("The text is empty.")
        asks = any(example.query is not None for example in self.data.train[:1])
        if asks != (query is not None):
            raise UsageError(
                "Every text of this task comes with a question: give one with --query."
                if asks
                else "The texts of this task come without a question: leave the query out."
            )
        asked = None if query is None else task.units_of(query)
        spans = task.spans_of(text) if plan.reads_raw_text else ()
        if len(spans) != len(units):
            return Example("", units, 0, query=asked)
        return Example(
            "",
            tuple(text[start:end] for start, end in spans),
            0,
            query=asked,
            text=text,
            starts=tuple(start for start, _ in spans),
            query_text=query,
        )

    def _unknown(self, example: Example) -> tuple[str, ...]:
        """The words of an example that are not in the training texts, if the model knows only those."""
        plan = self._plan()
        if "words" not in plan.task.provides or "unseen-words" in plan.model.provides:
            return ()
        known = {word for other in self.data.train for word in _words(other)}
        return tuple(dict.fromkeys(word for word in _words(example) if word not in known))

    def _find(self, id_: str) -> Example:
        from ..errors import did_you_mean

        for split in (self.data.test, self.data.dev, self.data.train):
            for example in split:
                if example.id == id_:
                    return example
        ids = [example.id for example in self.data.test]
        raise UsageError(
            f"No example '{id_}' in this task.{did_you_mean(id_, ids)} Its test split has {len(ids)}, from "
            f"'{ids[0]}' to '{ids[-1]}'."
        )

    def _usual_methods(self, plan: Plan) -> list[str]:
        own = [plan.own] if plan.own and "attention" in plan.model.provides else []
        report = self.report
        asked = [c.method for c in report.costs if c.method not in report.baseline_names] if report else []
        return list(dict.fromkeys([*own, *asked])) or ["gradient"]

    def _named(self, name: str) -> Named:
        part = find_part(self.catalog, "importance", Choice.parse(name))
        require_capabilities(part, self._plan(), self.catalog)
        return Named.of(part)


def _words(example: Example) -> Iterator[str]:
    """The words of a text and its query; a unit may hold several."""
    return (word for unit in (*example.units, *(example.query or ())) for word in unit.split())
