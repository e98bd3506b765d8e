from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from attnx.plugin import DataError, Source, Task, TaskData, UsageError, did_you_mean

from .corpus import make_data
from .label_names import SENTIMENT, Labels
from .options import HfDatasetOptions
from .preprocessing import splitter_of
from .rows import Row, Rows, RowStream, check_label
from .samples import make_sample


class HfDataset(Task):
    """Texts of a Hugging Face dataset, by its name on the hub or from a local folder.

    Needs the `datasets` library. A folder may hold what `save_to_disk` wrote, or data files that
    `load_dataset` understands.
    """

    provides = ("words",)

    def __init__(self, options: HfDatasetOptions) -> None:
        self.options = options

    def load(self, source: Source) -> TaskData:
        options = self.options
        if not options.name:
            raise UsageError("Task 'hf-dataset' needs hf-dataset:name=NAME, a dataset or a local folder.")
        library = _library()
        with _quiet(library):
            splits = _load(library, options, source)
        chosen = {"train": options.train, "dev": options.dev, "test": options.test}
        tables = {split: _split(splits, name, options) for split, name in chosen.items() if name}
        names = _class_names(tables["train"], options.label)
        sources = {
            split: Rows(f"{options.name} {chosen[split]}", _rows(table, options))
            for split, table in tables.items()
        }
        labels = Labels(names) if names else None
        said = {"kind": "huggingface", "name": options.name, "datasets": library.__version__}
        prints = {split: str(table._fingerprint) for split, table in tables.items()}
        return make_data(sources, options, labels, {**said, **prints}, raw_text=source.raw_text)

    def units_of(self, text: str) -> tuple[str, ...]:
        return splitter_of(self.options, tokenised=False).split(text)

    def spans_of(self, text: str) -> tuple[tuple[int, int], ...]:
        return splitter_of(self.options, tokenised=False).locate(text)

    def sample(self) -> TaskData:
        return make_sample(SENTIMENT)


def _library() -> Any:
    try:
        return import_module("datasets")
    except ImportError as error:
        raise UsageError(
            "Task 'hf-dataset' needs the library 'datasets': install it with pip install 'attnx[hf]'."
        ) from error


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Leave progress bars off: what is printed is not the task's to decide."""
    were_off = library.are_progress_bars_disabled()
    library.disable_progress_bars()
    try:
        yield
    finally:
        if not were_off:
            library.enable_progress_bars()


def _load(library: Any, options: HfDatasetOptions, source: Source) -> Any:
    """All splits of the dataset."""
    folder = Path(options.name)
    if source.offline and not folder.is_dir():
        raise source.data_error(f"There is no folder '{folder}', and ATTNX_OFFLINE forbids asking the hub.")
    try:
        if (folder / "dataset_dict.json").is_file():
            return library.load_from_disk(str(folder))
        if (folder / "state.json").is_file():
            raise DataError(f"'{folder}' holds one split alone; save a DatasetDict with train and test.")
        return library.load_dataset(options.name, options.config or None)
    except DataError:
        raise
    except Exception as error:  # the library raises whatever its many backends do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise source.data_error(f"Dataset '{options.name}' cannot be loaded: {reason}.") from error


def _split(splits: Any, name: str, options: HfDatasetOptions) -> Any:
    if name not in splits:
        known = ", ".join(splits)
        raise DataError(
            f"'{options.name}' has no split '{name}'.{did_you_mean(name, splits)} Splits: {known}."
        )
    table = splits[name]
    for option, column in (("text", options.text), ("label", options.label)):
        if column not in table.column_names:
            raise DataError(
                f"'{options.name}' has no column '{column}'.{did_you_mean(column, table.column_names)} "
                f"Columns: {', '.join(table.column_names)}. Choose one with {option}=COLUMN."
            )
    return table.select_columns([options.text, options.label])


def _class_names(table: Any, label: str) -> tuple[str, ...]:
    """The names of the classes, where the dataset declares them and numbers its labels."""
    return tuple(getattr(table.features.get(label), "names", None) or ())


def _rows(table: Any, options: HfDatasetOptions) -> RowStream:
    names = _class_names(table, options.label)
    for index, found in enumerate(table):
        text, label = found[options.text], found[options.label]
        where = f"'{options.name}', row {index + 1}"
        if not isinstance(text, str):
            raise DataError(f"{where}: column '{options.text}' must be a string, not {type(text).__name__}.")
        if isinstance(label, bool) or not isinstance(label, int | str) or label == "":
            raise DataError(f"{where}: column '{options.label}' must be a class, a whole number or a string.")
        if names and isinstance(label, int):
            if not 0 <= label < len(names):
                raise DataError(
                    f"{where}: class {label} is none of the {len(names)} of column '{options.label}'; "
                    "choose splits that are labelled."
                )
            label = names[label]
        yield Row(index, index + 1, text, label if names else check_label(str(label), where))
