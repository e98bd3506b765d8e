"""The data of a plan; a worker that carries out cell after cell remembers what it loaded last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..data.loading import Source, load_data
from ..request.plan import Plan
from ..request.spec import canonical_json
from ..types import TaskData


class DataCache:
    """The data that was loaded last, by what was asked for."""

    def __init__(self) -> None:
        self.most = 0  # nothing is data_cache unless somebody says so: files may change
        self.data: dict[str, TaskData] = {}

    def load(self, plan: Plan, source: Source) -> TaskData:
        """The data of a plan, from memory where it is there."""
        key = _key(plan, source)
        if key in self.data:
            return self.data[key]
        data = load_data(plan.task.make(), source, plan.spec.limit, raw_text=plan.reads_raw_text)
        if self.most and plan.task.component is not None:
            self.data[key] = data
            while len(self.data) > self.most:
                del self.data[next(iter(self.data))]
        return data

    @contextmanager
    def instead(self, plan: Plan, source: Source, data: TaskData) -> Iterator[None]:
        """Take other data for that of a plan, for a while."""
        before, self.data = self.data, {_key(plan, source): data}
        try:
            yield
        finally:
            self.data = before


def _key(plan: Plan, source: Source) -> str:
    asked = [
        plan.task.choice.model_dump(mode="json"),
        plan.spec.limit.model_dump(),
        str(source.directory),
        plan.reads_raw_text,
    ]
    return canonical_json(asked)


data_cache = DataCache()
