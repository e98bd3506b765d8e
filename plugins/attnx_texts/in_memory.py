from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attnx.plugin import DataError, Source, Task, TaskData, UsageError, did_you_mean

from .corpus import ALL, make_data
from .in_memory_options import InMemoryOptions
from .label_names import SENTIMENT
from .preprocessing import splitter_of
from .rows import Row, Rows, RowStream, check_label
from .samples import make_sample

SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "valid": "dev", "test": "test"}
WANTED = (
    "give a DataFrame or a dataset with the columns 'text' and 'label', two lists (texts, labels), or a "
    "dictionary of these by split, such as {'train': ..., 'test': ...}"
)

Columns = Mapping[str, Sequence[Any]]  # by name, all of one length


class TextsInMemory(Task):
    """Labelled texts that the caller has in memory; without splits they are divided 80/10/10 at random."""

    provides = ("words",)

    def __init__(self, splits: Mapping[str, Columns], options: InMemoryOptions) -> None:
        self.splits, self.options = splits, options

    def load(self, source: Source) -> TaskData:
        sources = {
            split: Rows(f"{split} texts", self._rows(columns, f"{split} texts"))
            for split, columns in self.splits.items()
        }
        return make_data(sources, self.options, None, {"kind": "in memory"}, raw_text=source.raw_text)

    def units_of(self, text: str) -> tuple[str, ...]:
        return splitter_of(self.options, tokenised=False).split(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return splitter_of(self.options, tokenised=False).locate(text)

    def sample(self) -> TaskData:
        return make_sample(SENTIMENT)

    def _rows(self, columns: Columns, origin: str) -> RowStream:
        options = self.options
        texts, labels = columns[options.text], columns[options.label]
        queries = columns[options.query] if options.query else [None] * len(texts)
        ids = columns[options.id] if options.id else [None] * len(texts)
        for index, (text, label, query, id_) in enumerate(zip(texts, labels, queries, ids, strict=True)):
            where = f"'{origin}', row {index + 1}"
            if not isinstance(text, str) or not (query is None or isinstance(query, str)):
                raise DataError(f"{where}: the text must be a string, not {type(text).__name__}.")
            own = _id(id_, where) if options.id else ""
            yield Row(index, index + 1, text, _label(label, where), query=query, id=own)


def task_of(given: Any, options: InMemoryOptions) -> TextsInMemory:
    """The task of a table, of texts and labels, or of a dictionary of these by split."""
    if _is_splits(given):
        unknown = [name for name in given if name not in SPLITS]
        if unknown:
            near = did_you_mean(str(unknown[0]), SPLITS)
            raise UsageError(f"Unknown split '{unknown[0]}'.{near} Splits: {', '.join(SPLITS)}.")
        return TextsInMemory({SPLITS[name]: _columns(part, options) for name, part in given.items()}, options)
    return TextsInMemory({ALL: _columns(given, options)}, options)


def _is_splits(given: Any) -> bool:
    """Whether this is a mapping of tables, not one table of columns."""
    return isinstance(given, Mapping) and not any(_is_column(value) for value in given.values())


def _is_column(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, tuple) and bool(value) and isinstance(value[0], str))


def _columns(table: Any, options: InMemoryOptions) -> Columns:
    """The columns that are used, as lists."""
    if isinstance(table, tuple):
        if len(table) != 2 or len(table[0]) != len(table[1]):
            sizes = f" of {len(table[0])} and {len(table[1])}" if len(table) == 2 else ""
            raise UsageError(f"Cannot read texts from a tuple{sizes}: {WANTED}.")
        return {options.text: list(table[0]), options.label: list(table[1])}
    named = getattr(table, "column_names", getattr(table, "columns", table))
    if not isinstance(named, Iterable) or not hasattr(table, "__getitem__"):
        raise UsageError(f"Cannot read texts from a {type(table).__name__}: {WANTED}.")
    known = [str(name) for name in named]
    wanted = [name for name in (options.text, options.label, options.query, options.id) if name]
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"There is no column '{name}'.{did_you_mean(name, known)} Columns: {', '.join(known)}. Name "
                "them as options, e.g. (data, {'text': 'review', 'label': 'stars'})."
            )
        if known.count(name) > 1:
            raise UsageError(f"Column '{name}' occurs twice: rename one of them.")
    columns = {name: _named_classes(table, name) for name in wanted}
    for name, values in columns.items():
        if len(values) != len(columns[options.text]):
            raise UsageError(
                f"Column '{name}' has {len(values)} values, but '{options.text}' has "
                f"{len(columns[options.text])}: give one for every text."
            )
    return columns


def _named_classes(table: Any, name: str) -> Sequence[Any]:
    """A column as a list; numbers of classes that a dataset has names for are these names."""
    values = list(table[name])
    names = getattr(getattr(table, "features", {}).get(name), "names", None)
    return [names[value] for value in values] if names else values


def _label(label: Any, where: str) -> str:
    """A label as text; numbers of numpy and pandas read like those of Python."""
    found = label.item() if hasattr(label, "item") else label
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int | str) or found == "":
        raise DataError(f"{where}: the label must be a name or a whole number, not {found!r}.")
    return check_label(str(found), where)


def _id(given: Any, where: str) -> str:
    """The caller's own id of a text."""
    found = given.item() if hasattr(given, "item") else given
    if isinstance(found, bool) or not isinstance(found, int | str) or not str(found).strip():
        raise DataError(f"{where}: the id must be a string or a whole number, and not empty, not {found!r}.")
    return str(found).strip()
