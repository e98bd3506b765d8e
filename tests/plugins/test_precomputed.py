"""`precomputed`: scores laid out by unit from every kind of file, and every fault of a file named."""

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from explained_models import MODELS, explain

from attnx.formulas import settled
from attnx.host.cards import Component
from attnx.host.catalog import Catalog
from attnx.plugin import AttnxWarning, DataError, Example, UsageError
from attnx.request.spec import validate_options
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx.testing.checking import check_component
from attnx_baselines import attnx_importances
from attnx_baselines.options import PrecomputedOptions
from attnx_baselines.precomputed import Precomputed

Scores = dict[str, Any]
CARD = next(card for card in attnx_importances() if card.name == "precomputed")


def write_jsonl(folder: Path, scores: Scores) -> Path:
    path = folder / "scores.jsonl"
    path.write_text("".join(json.dumps({"id": i, "scores": s}) + "\n" for i, s in scores.items()))
    return path


def write_gz(folder: Path, scores: Scores) -> Path:
    path = folder / "scores.jsonl.gz"
    path.write_bytes(gzip.compress(write_jsonl(folder, scores).read_bytes()))
    return path


def write_npz(folder: Path, scores: Scores) -> Path:
    path = folder / "scores.npz"
    np.savez(path, **{id_: np.array(values) for id_, values in scores.items()})
    return path


every_kind = pytest.mark.parametrize("write", [write_jsonl, write_gz, write_npz])
Write = Callable[[Path, Scores], Path]


def scores_of(examples: Sequence[Example]) -> Scores:
    """Different numbers for every unit of every example, negative ones among them."""
    return {
        e.id: [100.0 * row + i - 2.5 for i in range(len(e.units))] for row, e in enumerate(examples, start=1)
    }


def precomputed(path: Path) -> Precomputed:
    return Precomputed(PrecomputedOptions(file=path))


@every_kind
@pytest.mark.parametrize("make", ["toy", "words", "bilstm"])
def test_every_unit_gets_the_score_of_its_own_position(write: Write, make: str, tmp_path: Path) -> None:
    model, data = MODELS[make]()
    given = scores_of(data.test)
    method = precomputed(write(tmp_path, given))
    for examples in (data.test, data.test[::-1], data.test[2:4]):
        trace, found = explain(model, examples, method)
        for row, example in enumerate(examples):
            assert found[row][trace.batch.mask[row]].tolist() == given[example.id]
        assert (found[~trace.batch.mask] == 0).all()


def test_laws(tmp_path: Path) -> None:
    assert_conforms("importance", precomputed(write_jsonl(tmp_path, scores_of(toy_data().test))))


def test_ids_are_compared_as_text_and_empty_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('\n{"id": 7, "scores": [1, 2]}\n\n')
    _, found = explain(ToyModel(), [Example("7", ("one", "two"), 0)], precomputed(path))
    assert found.tolist() == [[1, 2]]


def test_an_example_without_units_takes_no_scores(tmp_path: Path) -> None:
    method = precomputed(write_jsonl(tmp_path, {"none": [], "one": [3]}))
    examples = [Example("one", ("one",), 0), Example("none", (), 0)]
    assert explain(ToyModel(), examples, method)[1].tolist() == [[3], [0]]


# What is wrong with a file.


@every_kind
def test_a_missing_example_is_named(write: Write, tmp_path: Path) -> None:
    given = scores_of(toy_data().test)
    del given["toy-3"]
    path = write(tmp_path, given)
    with pytest.raises(DataError, match=rf"^{path} has no scores for example 'toy-3'"):
        explain(ToyModel(), toy_data().test, precomputed(path))


@every_kind
def test_a_wrong_count_is_named(write: Write, tmp_path: Path) -> None:
    path = write(tmp_path, {**scores_of(toy_data().test), "toy-1": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=rf"^{path} has 3 scores for example 'toy-1', which has 2 units"):
        explain(ToyModel(), toy_data().test, precomputed(path))


@every_kind
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_named(write: Write, bad: float, tmp_path: Path) -> None:
    path = write(tmp_path, {**scores_of(toy_data().test), "toy-1": [1.0, bad]})
    with pytest.raises(DataError, match=rf"^{path}: .* example 'toy-1' must be finite; number 1 is not"):
        precomputed(path)


@pytest.mark.parametrize("bad", [["a", "b"], 3, [[1, 2]], [[1], [2, 3]], None, [True, False], ["1", "2"]])
def test_scores_that_are_not_a_list_of_numbers_are_named(bad: Any, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"toy-0": bad})
    with pytest.raises(DataError, match=rf"^{path}: the scores of example 'toy-0' must be a list of numbers"):
        precomputed(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", ": expected a JSON object, found a list"),
        ('{"id": "x"}', ": expected"),
        ('{"scores": [1]}', ": expected"),
        ("{", ", column 2: not valid JSON"),
        ("3", ": expected a JSON object, found a int"),
    ],
)
def test_a_line_of_another_form_is_named_by_its_number(line: str, message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"toy-0": [1]})
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=rf"^'{path}', line 2{message}"):
        precomputed(path)


def test_an_example_given_twice_is_named(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"toy-0": [1]})
    path.write_text(path.read_text() * 2)
    with pytest.raises(DataError, match="example 'toy-0' twice"):
        precomputed(path)


@pytest.mark.parametrize("name", ["scores.jsonl.gz", "scores.npz"])
@pytest.mark.parametrize("content", [b"neither", b"", "cut"])
def test_a_damaged_file_is_named(name: str, content: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content == "cut":
        whole = (write_gz if name.endswith(".gz") else write_npz)(tmp_path, scores_of(toy_data().test))
        path.write_bytes(whole.read_bytes()[:-30])
    else:
        assert isinstance(content, bytes)
        path.write_bytes(content)
    with pytest.raises(DataError, match=rf"^'?{path}'? (cannot be read|cannot be unpacked|has no scores)"):
        precomputed(path)


def test_a_single_array_is_not_an_npz_file(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", np.zeros(3))
    path = (tmp_path / "scores.npy").rename(tmp_path / "scores.npz")
    with pytest.raises(DataError, match=rf"^{path} cannot be read as an NPZ file"):
        precomputed(path)


def test_an_array_of_objects_is_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, x=np.array([{}, None], dtype=object))
    with pytest.raises(DataError, match=rf"^{path} cannot be read as an NPZ file"):
        precomputed(path)


@pytest.mark.parametrize(
    ("file", "message"),
    [("absent.jsonl", "does not point to a file"), ("scores.csv", "end in .jsonl, .jsonl.gz or .npz")],
)
def test_a_file_that_cannot_serve_is_refused_before_the_run(file: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("")
    with pytest.raises(UsageError, match=rf"option 'file' of importance 'precomputed': .*{message}"):
        validate_options(PrecomputedOptions, {"file": str(tmp_path / file)}, "importance 'precomputed'")


def test_options_are_those_of_the_bytes_so_that_a_changed_file_is_another_run(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"toy-0": [1]})
    first = PrecomputedOptions(file=path)
    assert first.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert PrecomputedOptions.model_validate(first.model_dump(mode="json")) == first
    write_jsonl(tmp_path, {"toy-0": [2]})
    assert PrecomputedOptions(file=path) != first
    with pytest.raises(UsageError, match=rf"option 'sha256' of it: .*{path} has sha256 \w+"):
        validate_options(PrecomputedOptions, first.model_dump(mode="json"), "it")


# Numbers that single precision cannot hold, and files that hold more than they seem to.


@every_kind
@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1 + 1e-9, 1 + 2e-9, 1 + 3e-9], "differ by less than a millionth of their size"),
        ([1e9, 1e9 + 1, 1e9 + 3], "differ by less than a millionth of their size"),
        ([1e300, 1.0, 2.0], "too large: the largest is 1e"),
        ([-1e300, 1.0, 2.0], "too large: the largest is 1e"),
        ([1e-300, 2e-300, 0.0], "too small: the largest is 2e-300"),
        ([1e-40, 2e-40, 0.0], "too small: the largest is 2e-40"),
    ],
)
def test_scores_that_would_collapse_are_refused(
    write: Write, scores: list[float], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=said) as refused:
        precomputed(write(tmp_path, {"a": scores, "b": scores[::-1]}))
    assert "\n" not in str(refused.value)


@every_kind
@pytest.mark.parametrize(
    "scores",
    [
        [0.5, 0.5, 0.5],
        [0.1 + 0.2, 0.3, 0.3],  # equal but for the rounding of double precision
        [float(np.float32(1) + np.float32(k) * np.finfo(np.float32).eps) for k in range(3)],  # of single
        [1e-50, 0.9, 0.1],  # nothing next to the others
        [1e29, 1.0, -1e29],
        [1e-29, 2e-29, 0.0],
        [0, 0, 0],
        [1, 2, 3],
    ],
)
def test_scores_that_single_precision_holds_are_read(
    write: Write, scores: list[float], tmp_path: Path
) -> None:
    example = Example("a", ("one", "two", "three"), 0)
    _, found = explain(ToyModel(), [example], precomputed(write(tmp_path, {"a": scores})))
    single = torch.tensor([scores], dtype=torch.float32)
    assert found.tolist() == settled(single, torch.ones(1, 3, dtype=torch.bool)).tolist()


def test_a_few_examples_that_collapse_are_a_warning(tmp_path: Path) -> None:
    given = {**{f"x{n}": [1.0, 2.0] for n in range(4)}, "close": [1 + 1e-9, 1 + 2e-9]}
    with pytest.warns(AttnxWarning, match="1 of 5 examples, the first is 'close', .* count as equal"):
        precomputed(write_jsonl(tmp_path, given))


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    about = {"descr": "<f8", "fortran_order": False, "shape": (40 * 2**20,)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as array,
    ):
        np.lib.format.write_array_header_1_0(array, about)
        for _ in range(40):
            array.write(bytes(8 * 2**20))
    assert path.stat().st_size < 2_000_000
    with pytest.raises(DataError, match=r"MB would unpack to 33[0-9] MB"):
        precomputed(path)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("shape", [(10**13,), (2, 10**12), (10**30,)])
def test_an_array_that_says_it_is_huge_is_refused(
    version: tuple[int, int], shape: tuple[int, ...], tmp_path: Path
) -> None:
    content = io.BytesIO()
    write = (
        np.lib.format.write_array_header_1_0 if version == (1, 0) else np.lib.format.write_array_header_2_0
    )
    write(content, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(tmp_path / "scores.npz", "w") as archive:
        archive.writestr("x.npy", content.getvalue() + bytes(16))
    with pytest.raises(
        DataError, match=r"cannot be read as an NPZ file: 'x.npy' says it has 1?0?2?\d+ numbers"
    ):
        precomputed(tmp_path / "scores.npz")


# The conformance kit.


def test_a_component_that_needs_options_is_reported_as_not_checked() -> None:
    component = Component(CARD, "importance", "baselines", "attnx", "0")
    verdicts = check_component(Catalog(()), component).laws
    assert not any(verdict.failure for verdict in verdicts)
    assert str(verdicts[0]).endswith(" ok")
    assert len(verdicts) > 1
    assert all(str(verdict).endswith("not checked: needs options: file") for verdict in verdicts[1:])


def test_scores_are_kept_on_the_kind_of_number_that_attention_has(tmp_path: Path) -> None:
    model = ToyModel().double()
    _, found = explain(model, toy_data().test, precomputed(write_jsonl(tmp_path, scores_of(toy_data().test))))
    assert found.dtype == torch.float64
