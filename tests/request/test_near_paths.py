"""A path that does not exist: the error names the nearest one that does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from attnx.data.access import Source
from attnx.errors import AttnxError, DataError, UsageError, did_you_mean_path
from attnx.request.parsing import read_request
from attnx.request.spec import validate_options
from attnx.store.find_by_name import find_by_name

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a few files and folders."""
    (tmp_path / "datasets" / "imdb").mkdir(parents=True)
    (tmp_path / "datasets" / "imdb" / "train.csv").write_text("text,label\n")
    (tmp_path / "models" / "minilm").mkdir(parents=True)
    (tmp_path / ".secrets").mkdir()
    (tmp_path / "spec.yaml").write_text("seeds: 0\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "folder", "near"),
    [
        ("datsets", True, "datasets"),
        ("Datasets2", True, "datasets"),
        ("datasets/imbd", True, "datasets/imdb"),
        ("datsets/imbd/trian.csv", False, "datasets/imdb/train.csv"),
        ("datasets/imdb/train.cvs", False, "datasets/imdb/train.csv"),
        ("datsets", False, ""),  # a folder where a file is wanted
        ("datasets/imdb/train.cvs", True, ""),
        ("datasets/imdb/train.csv", False, ""),  # it exists
        ("datasets/imdb/other", False, ""),
        ("datasets/imdb/glove.csv", False, ""),  # only its ending is the same
        ("elsewhere/imdb/train.csv", False, ""),
        ("secrets", True, ""),  # a hidden folder is not suggested
        ("spec.yaml/datasets", True, ""),
        ("", True, ""),
    ],
)
def test_the_nearest_path_is_suggested(given: str, folder: bool, near: str, here: Path) -> None:
    wanted = f" Did you mean '{Path(near)}'?" if near else ""
    assert did_you_mean_path(given, folder=folder) == wanted
    absolute = f" Did you mean '{here / near}'?" if near else ""
    assert did_you_mean_path(here / given, folder=folder) == absolute


def error(action: Callable[[], object], kind: type[AttnxError]) -> str:
    with pytest.raises(kind) as raised:
        action()
    return str(raised.value)


def test_a_data_directory(here: Path) -> None:
    said = error(lambda: Source(here / "datset"), DataError)
    assert said.endswith(f" Did you mean '{here / 'datasets'}'?")


def test_a_run_that_is_given_by_its_folder(here: Path) -> None:
    said = error(lambda: find_by_name("models/minlm", [], "run", here), UsageError)
    assert "Did you mean 'models/minilm'?" in said
    assert "models" not in error(lambda: find_by_name("model", [], "run", Path("x")), UsageError)


def test_a_spec(here: Path) -> None:
    assert "Did you mean 'spec.yaml'?" in error(lambda: read_request({}, Path("spce.yaml")), UsageError)


def test_an_option_that_must_be_a_file(here: Path) -> None:
    from attnx_baselines.options import PrecomputedOptions

    (here / "scores.jsonl").write_text("")
    said = error(lambda: validate_options(PrecomputedOptions, {"file": "score.jsonl"}, "it"), UsageError)
    assert said.endswith("Did you mean 'scores.jsonl'?")


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("--task", "csv:file=datasets/imbd/train.csv"), "datasets/imdb/train.csv"),
        (("--task", 'csv:file="datasets/imdb/train,.csv"'), "datasets/imdb/train.csv"),
        (("--task", "sdc-2d", "--data-dir", "datasts"), "datasets"),
        (("--task", "sdc-text", "--model", "bilstm-add:embeddings=datasets/imdb/tran.csv"),
         "datasets/imdb/train.csv"),
        (("--task", "sdc-text", "--model", "hf-classifier:checkpoint=./models/minlm"), "models/minilm"),
    ],
)  # fmt: skip
def test_the_command_line_names_the_nearest_path(
    arguments: tuple[str, ...], near: str, here: Path, cli: Cli
) -> None:
    code, out, err = cli("evaluate", *arguments)
    assert code in (2, 4)
    assert out == ""
    assert f"Did you mean '{near}'?" in err.splitlines()[-1]
