"""What is asked for, as data: read from text, checked once, and named by its content."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from attnx.errors import UsageError
from attnx.request.parsing import MOST_SEEDS, parse_seeds, read_request
from attnx.request.spec import (
    Choice,
    Limit,
    Options,
    RunSpec,
    Training,
    canonical_json,
    digest,
    validate_options,
)

NAMES = st.text("abcdefghij-", min_size=1).filter(str.strip)
VALUES = st.text() | st.text('", =:+\n\\a')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)

# Names with options.


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("fcam", "fcam", {}),
        ("fcam:", "fcam", {}),
        ("fcam:width=5", "fcam", {"width": "5"}),
        (" fcam : width = 5 , focus = mlp ", "fcam", {"width": "5", "focus": "mlp"}),
        ("fcam:width=5,", "fcam", {"width": "5"}),
        ("csv:file=/a:b=c", "csv", {"file": "/a:b=c"}),
        ("fcam:width=", "fcam", {"width": ""}),
        ('csv:file="a,b.csv"', "csv", {"file": "a,b.csv"}),
        ('csv:file= "a, b.csv" , label=x', "csv", {"file": "a, b.csv", "label": "x"}),
        ('csv:file=" a",label="say ""no"", twice"', "csv", {"file": " a", "label": 'say "no", twice'}),
        ('csv:delimiter=",",file=C:\\a\\b.csv', "csv", {"delimiter": ",", "file": "C:\\a\\b.csv"}),
        ('csv:file=5" disk.csv', "csv", {"file": '5" disk.csv'}),
        ('csv:file=""', "csv", {"file": ""}),
    ],
)
def test_a_choice_is_read(text: str, name: str, options: dict[str, str]) -> None:
    assert Choice.parse(text) == Choice(name=name, options=options)


@pytest.mark.parametrize(
    "text",
    [
        "fcam:width", "fcam:=5", "fcam:width=5,mlp", "fcam:width=5,width=6",
        'csv:file="a,b', 'csv:file="a"b,c', 'csv:file="',
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"in '{text}'"):
        Choice.parse(text)


def test_a_comma_without_quotes_is_refused_with_the_quotes_that_it_needs() -> None:
    with pytest.raises(UsageError) as refused:
        Choice.parse("csv:file=a,b.csv")
    assert str(refused.value) == (
        "Cannot read 'b.csv' in 'csv:file=a,b.csv'. Write options as NAME:key=value,key=value. "
        "A value with a comma must be in double quotes: 'key=\"a,b\"'."
    )
    with pytest.raises(UsageError, match="Cannot read 'file=\"a,b' in"):
        Choice.parse('csv:file="a,b')


@given(NAMES, st.dictionaries(NAMES, VALUES))
def test_a_label_reads_back_as_the_same_choice(name: str, options: dict[str, str]) -> None:
    choice = Choice(name=name, options=options)
    assert Choice.parse(choice.label) == choice


def test_a_label_is_what_a_person_would_type() -> None:
    assert Choice(name="softmax").label == "softmax"
    assert Choice(name="fcam", options={"width": 5, "focus": "mlp"}).label == "fcam:width=5,focus=mlp"
    assert Choice(name="csv", options={"file": "a,b.csv"}).label == 'csv:file="a,b.csv"'
    assert Choice(name="cnn", options={"kernels": (1, 3)}).label == "cnn:kernels=1+3"


# Seeds and limits.


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("0", (0,)), ("0,1,2", (0, 1, 2)), ("0-3", (0, 1, 2, 3)), ("7,0-1", (7, 0, 1)), ("4-4", (4,))],
)
def test_seeds_are_read(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "0--3", "1-", "2-1", "1,1", "0-3,2", "1.5", "0-9" * 9])
def test_seeds_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="eeds '"):
        parse_seeds(text)


def test_there_is_an_end_to_seeds() -> None:
    assert len(parse_seeds(f"1-{MOST_SEEDS}")) == MOST_SEEDS
    with pytest.raises(UsageError, match="too many"):
        parse_seeds(f"0-{MOST_SEEDS}")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5", Limit(train=5, dev=5, test=5)),
        ("train=5", Limit(train=5)),
        ("test=2,train=5", Limit(train=5, test=2)),
    ],
)
def test_limits_are_read(text: str, limit: Limit) -> None:
    assert Limit.parse(text) == limit


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1.5", "x", "train", "train=0", "trian=1", "train=1,2", "all=3"]
)
def test_limits_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"Cannot read limit '{text}'"):
        Limit.parse(text)


# Options.


class Shape(Options):
    size: int = Field(3, gt=0)
    form: Literal["round", "square"] = "round"


def test_options_are_read_from_text() -> None:
    assert validate_options(Shape, {"size": "4"}, "model 'm'") == Shape(size=4)
    assert validate_options(Options, {}, "model 'm'") == Options()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"sise": 3},
            r"^Unknown option 'sise' of model 'm'\. Did you mean 'size'\? Available: size, form\.$",
        ),
        ({"size": "big"}, r"^Bad value 'big' for option 'size' of model 'm': .*integer.*\.$"),
        ({"size": 0}, r"^Bad value 0 for option 'size' of model 'm': .*greater than 0\.$"),
        ({"form": "flat"}, r"^Bad value 'flat' for option 'form' of model 'm': .*'round' or 'square'\.$"),
    ],
)
def test_bad_options_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        validate_options(Shape, given, "model 'm'")


def test_options_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Shape().size = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    "setting",
    [
        {"epochs": -1}, {"epochs": 1.5}, {"learning_rate": 0}, {"learning_rate": float("inf")},
        {"batch_size": 0}, {"weight_decay": -1}, {"patience": -1}, {"entropy": float("nan")},
        {"clip": float("inf")}, {"class_weights": "some"}, {"momentum": 1},
    ],
)  # fmt: skip
def test_bad_training_settings_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(setting))):
        validate_options(Training, setting, "training")


# Specs.


def test_a_request_is_the_file_with_the_command_line_in_its_place(tmp_path: Any) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text("task: sdc-2d\nmodel: fcam:width=5\nseeds: 0-2\nlimit: 9\ntraining: {epochs: 3}\n")
    read = read_request({"task": "sdc", "training": "epochs=4,clip=1"}, file)
    assert read.task == Choice(name="sdc")
    assert read.model == Choice(name="fcam", options={"width": "5"})
    assert read.seeds == (0, 1, 2)
    assert read.limit == Limit(train=9, dev=9, test=9)
    assert read.training == {"epochs": "4", "clip": "1"}
    assert read_request({}, None) == RunSpec()


@pytest.mark.parametrize(
    "fields",
    [
        {"seeds": ()}, {"seeds": (-1,)}, {"seeds": (2**32,)}, {"seeds": (1, 1)}, {"seeds": ("a",)},
        {"task": 3}, {"limit": 3}, {"tasks": "sdc"},
    ],
)  # fmt: skip
def test_bad_specs_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        RunSpec.model_validate(fields)


def test_a_spec_survives_its_own_json() -> None:
    spec = RunSpec.model_validate({"task": "sdc:train=5", "metrics": ["focus"], "seeds": [3, 1], "limit": {}})
    assert RunSpec.model_validate_json(spec.canonical()) == spec


# Names by content.


@given(st.dictionaries(st.text(), JSON, max_size=6), st.randoms())
def test_the_order_of_options_does_not_matter(options: dict[str, Any], random: Any) -> None:
    keys = list(options)
    random.shuffle(keys)
    first, second = (
        RunSpec(task=Choice(name="sdc", options=given)).canonical()
        for given in (options, {key: options[key] for key in keys})
    )
    assert first == second


@given(JSON, JSON)
def test_different_values_have_different_json(first: Any, second: Any) -> None:
    """Numbers that are equal and written differently, as 1 and 1.0 or True, are different here."""
    assert (canonical_json(first) == canonical_json(second)) == (repr(first) == repr(second)) or (
        first == second
    )


@given(JSON)
def test_json_is_read_back(value: Any) -> None:
    import json

    assert json.loads(canonical_json(value)) == value


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_digests_tell_lists_of_texts_apart(first: list[str], second: list[str]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)


def test_a_digest_knows_where_a_text_ends() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert len(digest("x")) == 16


@pytest.mark.parametrize(
    "change",
    [
        {"task": "sdc-2d"}, {"model": "fcam"}, {"model": "fcam:width=5"}, {"projection": "softmax"},
        {"explanations": ["uniform"]}, {"references": ["uniform"]}, {"metrics": ["focus"]},
        {"training": {"epochs": 2}}, {"seeds": [1]}, {"seeds": [1, 0]}, {"limit": {"test": 3}},
        {"device": "cpu"},
    ],
)  # fmt: skip
def test_everything_in_a_spec_is_in_its_json(change: dict[str, Any]) -> None:
    assert RunSpec.model_validate(change).canonical() != RunSpec().canonical()
