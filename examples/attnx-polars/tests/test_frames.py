"""A data frame becomes a task: columns, splits, and one clear line for each mistake."""

from types import SimpleNamespace

import pytest
from attnx_polars.frame_task import task_of
from attnx_polars.options import FrameOptions

import attnx
from attnx.plugin import DataError, Source

TEXTS = [f"a {'fine' if n % 2 else 'dull'} film number {n}" for n in range(120)]
LABELS = ["good" if n % 2 else "bad" for n in range(120)]


class Frame:
    """What a frame of Polars is asked for; for tests without Polars."""

    def __init__(self, columns):
        self.columns = columns

    def collect_schema(self):
        return SimpleNamespace(names=lambda: list(self.columns))

    def select(self, names):
        return Frame({name: self.columns[name] for name in names})

    def drop_nulls(self):
        rows = [row for row in self.rows() if None not in row]
        return Frame(dict(zip(self.columns, zip(*rows, strict=True), strict=True)))

    def rows(self):
        return list(zip(*self.columns.values(), strict=True))


def loaded(columns, **options):
    return task_of(Frame(columns), FrameOptions(**options)).load(Source())


def test_rows_become_examples_of_three_splits():
    data = loaded({"review": [*TEXTS, None], "stars": [*LABELS, "good"]}, text="review", label="stars")
    assert data.label_names == ("bad", "good")
    every = [*data.train, *data.dev, *data.test]
    assert sorted(" ".join(example.units) for example in every) == sorted(TEXTS)
    assert all((example.units[1] == "fine") == (example.label == 1) for example in every)
    assert len(data.train) > 80


def test_a_column_may_say_which_split():
    splits = ["train"] * 100 + ["dev"] * 10 + ["test"] * 10
    data = loaded({"text": TEXTS, "label": LABELS, "part": splits}, split="part")
    assert (len(data.train), len(data.dev), len(data.test)) == (100, 10, 10)


@pytest.mark.parametrize(
    ("columns", "options", "reason"),
    [
        ({"text": TEXTS, "labels": LABELS}, {}, "no column 'label'. Did you mean 'labels'?"),
        ({"text": TEXTS[:2], "label": LABELS[:2]}, {}, "none of them is in"),
        ({"text": ["a"], "label": ["b"], "s": ["valid"]}, {"split": "s"}, "split 'valid' is not one of"),
    ],
)
def test_a_mistake_is_one_line(columns, options, reason):
    with pytest.raises(DataError) as error:
        loaded(columns, **options)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_frames_give_the_same_examples(lazy):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    columns = {"text": [*TEXTS, None], "label": [*LABELS, "good"]}
    frame = polars.DataFrame(columns)
    found = task_of(frame.lazy() if lazy else frame, FrameOptions()).load(Source())
    assert found.test == loaded(columns).test


@pytest.mark.slow
def test_attnx_takes_a_polars_frame():
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    frame = polars.DataFrame({"text": TEXTS, "label": LABELS})
    report = attnx.evaluate(frame, "average-add:embedding=8,hidden=8", metrics="none", training={"epochs": 1})
    assert report.quality
