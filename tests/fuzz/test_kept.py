"""Whatever happened to what was kept, it is read as it was written, or not believed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from fuzzing import damaged, fuzzed
from hypothesis import strategies as st

import attnx
from attnx.errors import AttnxWarning, DataError
from attnx.results.report import Report
from attnx.results.study import StudyReport
from attnx.store import run_list
from attnx.store.kept_tensors import KeptTensors, list_kept
from attnx.store.runs import read_report, read_study, write_study
from attnx.store.seals import seal
from attnx.store.weights import Weights
from attnx.views.terminal.runs import print_runs

seeds = st.integers(0, 2**32)
TASK = "sdc-text:train=20,dev=10,test=10"
WEIGHTS = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(4)}
FOLDER = tempfile.TemporaryDirectory()


@cache
def kept() -> tuple[Path, Path, Report, StudyReport]:
    """A folder with a run and one with a study, made once."""
    root = Path(FOLDER.name)
    asked: dict[str, Any] = {"training": {"epochs": 1}, "progress": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(root / "home"))
        report = attnx.evaluate(TASK, metrics="nnz", **asked)
        found = attnx.study("uniform-attention", TASK, **asked)
        study = write_study(found, root / "studies")
    return root / "home" / "runs" / report.fingerprint, study, report, found


def one_damaged(folder: Path, seed: int) -> Path:
    """A copy of a folder with one file damaged, emptied, taken away, or a folder in its place."""
    copy = Path(tempfile.mkdtemp(dir=FOLDER.name)) / folder.name
    shutil.copytree(folder, copy)
    random_ = random.Random(seed)
    file = random_.choice(sorted(copy.iterdir()))
    act = random_.randrange(10)
    if act == 0:
        file.unlink()
    elif act == 1:
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(damaged(file.read_bytes(), seed))
    return copy


@fuzzed(40, seeds)
def test_a_damaged_run_is_what_it_was_or_not_believed(seed: int) -> None:
    folder, _, report, _ = kept()
    copy = one_damaged(folder, seed)
    found = read_report(copy)
    assert found is None or found == report
    if found is not None:
        with contextlib.suppress(DataError):
            assert found.examples().ids == report.examples().ids
    (line,) = run_list.list_runs(copy.parent) or [None]
    assert line is None or line.kind == ("run" if found is not None else "unreadable")
    shutil.rmtree(copy.parent)


@fuzzed(40, seeds)
def test_a_damaged_study_is_what_it_was_or_not_believed(seed: int) -> None:
    _, folder, _, study = kept()
    copy = one_damaged(folder, seed)
    found = read_study(copy)
    assert found is None or found == study
    shutil.rmtree(copy.parent)


plain = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5)
odd = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=3,
)


@fuzzed(60, seeds, odd, examples=((117057, ":0"), (65567, []), (14415, []), (14414, {})))
def test_a_report_of_anybodys_with_a_seal_is_shown_or_one_line(seed: int, value: Any) -> None:
    """Somebody else's report, sealed as ours are: whatever stands in a field, lists and pages stay whole."""
    folder, _, _, _ = kept()
    copy = Path(tempfile.mkdtemp(dir=FOLDER.name)) / folder.name
    shutil.copytree(folder, copy)
    fields = json.loads((copy / "report.json").read_text())
    random_, place = random.Random(seed), fields
    while True:
        key = random_.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or random_.random() < 0.2:
            place[key] = value
            break
        place = inner
    (copy / "report.json").write_text(json.dumps(fields), encoding="utf-8", errors="surrogatepass")
    (copy / "seal.json").unlink()
    seal(copy, str(fields.get("fingerprint")))
    assert len(run_list.list_runs(copy.parent)) == 1
    report = read_report(copy)
    if report is not None:
        report.to_markdown()
        assert "<script>alert" not in report.to_html()
        json.loads(report.to_json(), parse_constant=pytest.fail)
    shutil.rmtree(copy.parent)


@pytest.mark.filterwarnings("ignore::attnx.errors.AttnxWarning")  # of most damage
@fuzzed(60, seeds, st.booleans())
def test_damaged_weights_and_checkpoints_are_what_they_were_or_none(seed: int, unfinished: bool) -> None:
    root = Path(tempfile.mkdtemp(dir=FOLDER.name))
    store = Weights(root).checkpoints if unfinished else Weights(root)
    store.write("key", WEIGHTS, {"epoch": 3})
    (file,) = store.root.glob("key/*.safetensors")
    file.write_bytes(damaged(file.read_bytes(), seed))
    found = store.find("key")
    if found is not None:
        assert found[1] == {"epoch": 3}
        assert all(torch.equal(found[0][name], tensor) for name, tensor in WEIGHTS.items())
    shutil.rmtree(root)


def true_lines(root: Path) -> list[dict[str, Any]]:
    return [line.to_dict() for line in run_list.list_runs(root)]


@fuzzed(60, seeds, st.booleans(), odd)
def test_the_list_of_runs_is_true_whatever_its_cache_says(seed: int, sealed: bool, value: Any) -> None:
    """A cache that was damaged, or one with its right checksum and anything in a place of it."""
    folder, _, _, _ = kept()
    root = Path(tempfile.mkdtemp(dir=FOLDER.name))
    shutil.copytree(folder, root / folder.name)
    whole, file = true_lines(root), root / run_list.CACHE
    if sealed:
        stored = json.loads(file.read_text())
        lines, random_ = json.loads(stored["lines"]), random.Random(seed)
        place = lines[folder.name]["line"]
        place[random_.choice([*place, "other"])] = value
        if random_.random() < 0.2:
            lines = {folder.name: value} if random_.random() < 0.5 else value
        text = json.dumps(lines)
        stored |= {"lines": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
        file.write_text(json.dumps(stored))
        found = true_lines(root)
        assert [line["name"] for line in found] == [folder.name]
        assert [line.to_dict() for line in run_list.list_runs(root, cached=False)] == whole
        print_runs(run_list.list_runs(root), 0, "here")
    else:
        file.write_bytes(damaged(file.read_bytes(), seed))
        assert true_lines(root) == whole
    shutil.rmtree(root)


STATES = {"states": torch.arange(12.0).view(3, 4), "mask": torch.ones(3, dtype=torch.bool)}


@fuzzed(60, seeds)
def test_damaged_hidden_states_are_what_they_were_or_computed_again(seed: int) -> None:
    root = Path(tempfile.mkdtemp(dir=FOLDER.name))
    store = KeptTensors("states", root)
    assert store.keep("a1", STATES, {"rows": 3})
    (file,) = (one.path for one in list_kept("states", root))
    file.write_bytes(damaged(file.read_bytes(), seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttnxWarning)
        found = store.find("a1")
    if found is not None:
        assert found[1] == {"rows": 3}
        assert found[0].keys() == STATES.keys()
        assert all(torch.equal(found[0][name], tensor) for name, tensor in STATES.items())
    shutil.rmtree(root)
