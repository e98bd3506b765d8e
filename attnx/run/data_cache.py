"""The data of a plan; a worker that carries out one cell after the other does not load it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

from ..data.loading import Source, load_data
from ..request.plan import Plan
from ..request.spec import canonical_json
from ..types import TaskData

if TYPE_CHECKING:
    from ..protocols import ClassNamingModel


def load_data_of(plan: Plan, source: Source) -> TaskData:
    """Load the data of a plan: for a trained model all of it as test examples, with the model's classes."""
    classes = None
    if not plan.trains and "own-classes" in plan.model.provides:
        model = cast("ClassNamingModel", plan.model.make())
        classes = partial(model.class_names, plan.model.options)
    return load_data(
        plan.task.make(),
        source,
        plan.spec.limit,
        raw_text=plan.reads_raw_text,
        trains=plan.trains,
        classes=classes,
    )


class DataCache:
    """The data that was loaded last, by the request for it."""

    def __init__(self) -> None:
        self.most = 0  # datasets that are cached: none unless a worker asks for it, because files may change
        self.data: dict[str, TaskData] = {}

    def load(self, plan: Plan, source: Source) -> TaskData:
        """The data of a plan, from memory if it is there."""
        key = _key(plan, source)
        if key in self.data:
            return self.data[key]
        data = load_data_of(plan, source)
        if self.most and all(part.component is not None for part in plan.task.with_inner):
            self.data[key] = data
            while len(self.data) > self.most:
                del self.data[next(iter(self.data))]
        return data

    @contextmanager
    def replaced(self, plan: Plan, source: Source, data: TaskData) -> Iterator[None]:
        """Use other data for a plan, for a while."""
        with self.restored():
            self.data = {_key(plan, source): data}
            yield

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Afterwards the cache is what it was before."""
        most, data = self.most, dict(self.data)
        try:
            yield
        finally:
            self.most, self.data = most, data


def _key(plan: Plan, source: Source) -> str:
    asked = [
        plan.task.choice.model_dump(mode="json"),
        plan.spec.limit.model_dump(),
        str(source.directory),
        plan.reads_raw_text,
        plan.trains,
        None if plan.trains else plan.model.choice.model_dump(mode="json"),  # whose classes are the labels
    ]
    return canonical_json(asked)


data_cache = DataCache()
