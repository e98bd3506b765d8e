"""Texts in memory: every form gives the same examples as a file with the same rows."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import attnx
from attnx.data.loading import Source, load_data
from attnx.host.catalog import Catalog
from attnx.request.arguments import Arguments
from attnx.request.spec import Limit

ROWS = [(f"text number {n} is {'fine' if n % 3 else 'poor'}", "up" if n % 3 else "down") for n in range(40)]
FRAME = pd.DataFrame(ROWS, columns=["text", "label"])


def data_of(given):
    asked = Arguments(Catalog.installed())
    choice = asked.choice("task", given)
    return load_data(asked.objects["task", choice.name].thing, Source(), Limit())


def texts_of(data):
    return {s: [(e.units, e.label) for e in getattr(data, s)] for s in ("train", "dev", "test")}


@pytest.fixture(scope="module")
def of_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *ROWS])
    return texts_of(load_data(Catalog.installed().find("task", "csv").load()(_csv(path)), Source(), Limit()))


def _csv(path):
    return Catalog.installed().find("task", "csv").load_options()(file=path)


@pytest.mark.parametrize(
    "given",
    [
        FRAME,
        ([text for text, _ in ROWS], [label for _, label in ROWS]),
        (tuple(text for text, _ in ROWS), np.array([label for _, label in ROWS])),
        {"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]},
        (FRAME.rename(columns={"text": "review"}), {"text": "review"}),
    ],
    ids=["frame", "lists", "tuple and array", "columns", "frame with options"],
)
def test_every_form_gives_the_examples_of_a_file(given, of_file):
    assert texts_of(data_of(given)) == of_file


class Dataset:
    """What is used of `datasets.Dataset`: names of columns, columns, and names of classes."""

    def __init__(self, columns, classes=None):
        self.columns = columns
        self.column_names = list(columns)
        self.features = {"label": SimpleNamespace(names=classes)}

    def __getitem__(self, name):
        return self.columns[name]


Dataset.__module__ = "datasets.arrow_dataset"


def test_a_datasets_object_gives_the_same_and_its_class_names(of_file):
    columns = {"text": [t for t, _ in ROWS], "label": [1 if label == "up" else 0 for _, label in ROWS]}
    assert texts_of(data_of(Dataset(columns, ["down", "up"]))) == of_file
    assert data_of(Dataset(columns)).label_names == ("0", "1")


def test_splits_of_a_dictionary_are_kept():
    data = data_of({"train": FRAME[:20], "validation": FRAME[20:30], "test": FRAME[30:]})
    assert [len(split) for split in (data.train, data.dev, data.test)] == [20, 10, 10]
    assert data.test[0].units == tuple(ROWS[30][0].split())


def test_numbers_of_numpy_and_pandas_are_labels():
    frame = FRAME.assign(label=[1.0 if label == "up" else 0.0 for label in FRAME.label])
    assert data_of(frame).label_names == ("0", "1")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (FRAME.rename(columns={"label": "labels"}), "no column 'label'. Did you mean 'labels'"),
        ((["a text"], ["x", "y"]), "tuple of 1 and 2"),
        ({"trian": FRAME}, "Unknown split 'trian'. Did you mean 'train'"),
        ((FRAME, {"txt": "text"}), "Unknown option 'txt' of a task from a DataFrame. Did you mean 'text'"),
    ],
)
def test_a_mistake_is_one_line_with_what_there_is(given, message):
    with pytest.raises(attnx.UsageError) as raised:
        data_of(given)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", [None, float("nan"), 3])
def test_a_text_that_is_missing_names_its_row(text):
    frame = FRAME.assign(text=[text, *FRAME.text[1:]])
    with pytest.raises(attnx.DataError, match="row 1: the text must be a string"):
        data_of(frame)
