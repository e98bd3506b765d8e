"""A mistake is one line on stderr and an exit code; nothing is printed, written or computed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnx
from attnx.errors import DataError, UsageError
from attnx.testing import toy_data
from attnx.types import TaskData

Cli = Callable[..., tuple[int, str, str]]
Refuse = Callable[..., str]

TINY = "train=8,dev=4,test=4"
USAGE, DATA = 2, 4  # exit codes


@pytest.fixture
def refuse(cli: Cli, home: Path) -> Refuse:
    """Runs `attnx evaluate`, sees that it is refused as it should be, and returns what it said."""

    def run(expected: int, *arguments: str) -> str:
        code, out, err = cli(*arguments)
        assert (code, out) == (expected, ""), err
        (line,) = err.splitlines()
        assert line.startswith("error: ")
        assert [path for path in home.rglob("*") if path.is_file()] == []
        return line.removeprefix("error: ")

    return run


# On the command line.

MISTAKES = [
    ("--task sdc-digit", "Unknown task 'sdc-digit'. Did you mean 'sdc-digits'? Available: "),
    ("--model fcma", "Unknown model 'fcma'. Did you mean 'fcam'?"),
    ("--model fcam-lineal", "Did you mean 'fcam-linear'?"),
    ("--projection sofmax", "Unknown projection 'sofmax'. Did you mean 'softmax'?"),
    ("--explanation atention", "Unknown importance 'atention'. Did you mean 'attention'?"),
    ("--reference randm", "Unknown importance 'randm'. Did you mean 'random'?"),
    ("--metric fokus", "Unknown metric 'fokus'. Did you mean 'focus'?"),
    ("--metric zzzzzz", "Unknown metric 'zzzzzz'. Available: "),
    ("--task=", "Unknown task ''"),
    ("--model fcam:widht=3", "Unknown option 'widht' of model 'fcam'. Did you mean 'width'? Available: "),
    ("--projection sparsemax:lam=0", "Unknown option 'lam' of projection 'sparsemax'. Available: none."),
    ("--task sst --train deception=1", "Training with deception needs known important units (a rationale)"),
    ("--train deception=-1", "Bad value '-1' for option 'deception' of training: "),
    ("--train epoch=3", "Unknown option 'epoch' of training. Did you mean 'epochs'?"),
    ("--model fcam:width=wide", "Bad value 'wide' for option 'width' of model 'fcam': "),
    ("--model fcam:width=0", "Bad value '0' for option 'width' of model 'fcam': "),
    ("--model fcam:focus=deep", "Bad value 'deep' for option 'focus' of model 'fcam': "),
    ("--projection sparsegen:lam=1", "Bad value '1' for option 'lam' of projection 'sparsegen': "),
    ("--projection sparsegen:lam=nan", "option 'lam' of projection 'sparsegen'"),
    ("--projection entmax:alpha=1,learned=true", "the options of projection 'entmax'"),
    ("--projection sparsegen:lam", "Cannot read 'lam' in 'sparsegen:lam'. Write options as NAME:key=value"),
    ("--projection sparsegen:lam=0,lam=0.5", "Option 'lam' is given twice"),
    ("--model my_net.py:model", "Use objects of your own in Python: attnx.evaluate(task, model)."),
    ("--model hf-classifier", "Option 'checkpoint' of model 'hf-classifier' is required: a folder"),
    ("--train epochs=-1", "Bad value '-1' for option 'epochs' of training"),
    ("--train learning_rate=inf", "Bad value 'inf' for option 'learning_rate' of training"),
    ("--train epochs", "Cannot read 'epochs'"),
    ("--seeds one", "Cannot read seeds 'one'. Write e.g. 0,1,2 or 0-9."),
    ("--seeds=", "Cannot read seeds ''"),
    ("--seeds -1", "Cannot read seeds '-1'"),
    ("--seeds 3-1", "Seeds '3-1' are empty"),
    ("--seeds 1,1", "name a seed twice"),
    ("--seeds 0-99999999999999999999", "the maximum is 10000"),
    ("--seeds 99999999999999999999", "Bad value 99999999999999999999 for seeds.0"),
    ("--limit 0", "Cannot read limit '0'. Write a positive number, or e.g. train=500,"),
    ("--limit train=5,train=6", "Limit 'train=5,train=6' gives train twice: keep one of them."),
    ("--limit few", "Cannot read limit 'few'"),
    ("--limit trian=3", "Cannot read limit 'trian=3'"),
    ("--limit train=3,test", "Cannot read limit 'train=3,test'"),
    ("--metric focus --metric focus", "The metric 'focus' is given twice."),
    ("--explanation uniform --explanation uniform", "The explanation 'uniform' is given twice."),
    ("--tasks sdc", "No such option: --tasks"),
    ("--seeds", "requires an argument"),
    ("sdc", "unexpected extra argument"),
    ("--device warp", "Device 'warp' is not available here; use --device auto or cpu."),
    ("--device cuda:99", "Device 'cuda:99' is not available here"),
    (f"--task sdc-2d:{TINY} --model fcam:focus=oracle", "focus=oracle needs a task with a known perfect"),
    (f"--task sdc-2d:{TINY} --model fcam:focus=cnn", "a cnn needs segments that are images"),
    (f"--task sdc-text:{TINY} --model fcam:classifier=cnn", "a cnn needs segments that are images"),
    (f"--task sdc-2d:{TINY} --model fcam:layer=3", "layer=3: the focus network has 2 hidden layers"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "said"), MISTAKES, ids=[asked for asked, _ in MISTAKES])
def test_a_mistake_on_the_command_line_is_refused(asked: str, said: str, refuse: Refuse) -> None:
    assert said in refuse(USAGE, "evaluate", *asked.split())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["evalute"], "No such command 'evalute'. Did you mean 'evaluate'?"),
        (["--frsh"], "No such option: --frsh"),
        (["info"], "Missing argument 'NAME'"),
        (["info", "sofmax"], "Unknown name 'sofmax'. Did you mean 'softmax'? See 'attnx list'."),
        (["list", "taks"], "Unknown kind 'taks'. Did you mean 'tasks'?"),
        (["check", "sofmax"], "Nothing named 'sofmax' to check. Did you mean 'softmax'?"),
    ],
)
def test_a_mistake_in_another_command_is_refused(asked: list[str], said: str, refuse: Refuse) -> None:
    assert said in refuse(USAGE, *asked)


def test_an_error_of_several_lines_is_said_in_one(refuse: Refuse, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise DataError("first\nsecond")

    monkeypatch.setattr("attnx.request.parsing.read_request", fail)
    assert refuse(DATA, "evaluate") == "first second"


def test_runs_that_cannot_be_written_are_refused_before_anything_is_computed(
    refuse: Refuse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(*_: Any) -> None:
        raise AssertionError("the run was computed")

    monkeypatch.setattr("attnx.run.evaluation.compute_report", compute)
    (tmp_path / "file").write_text("not a folder")
    said = refuse(USAGE, "evaluate", "--out", str(tmp_path / "file" / "runs"))
    assert said.startswith(f"Cannot write to '{tmp_path}/file/runs': ")
    assert "--out" in said


# Pairings.


class Bare:
    """Toy sentences without rationales."""

    provides = ("words",)

    def load(self, source: Any) -> TaskData:
        return toy_data()

    def sample(self) -> TaskData:
        return toy_data()


def test_an_impossible_pairing_is_refused_with_what_would_work(
    refuse: Refuse, install: Callable[..., Any]
) -> None:
    """By its source alone: the task itself cannot be imported."""
    card = "Card('bare', 'bare_plugin.task:Bare', recommends=('fcam-words',))"
    task = "1 / 0\nclass Bare:\n    'Bare.'\n    provides = ('words',)\n"
    install("bare", f"@hookimpl\ndef attnx_tasks():\n    return [{card}]\n", task=task)
    said = refuse(USAGE, "evaluate", "--task", "bare", "--metric", "focus")
    assert said.startswith(
        "Metric 'focus' needs known important units (a rationale) for every example ('rationale'), which "
        "task 'bare' with model 'fcam-words' does not provide. These do: "
    )
    assert "sdc-digits" in said


def test_an_impossible_pairing_of_objects_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Metric 'focus' needs known important units .* task 'Bare'"):
        attnx.evaluate(Bare(), "fcam-words", metrics=["focus"], progress=False)


def test_a_task_without_a_usual_model_asks_for_one() -> None:
    with pytest.raises(UsageError, match=r"Task 'Bare' recommends no model\. Name one with --model"):
        attnx.evaluate(Bare(), progress=False)


def test_a_metric_that_compares_asks_for_a_reference(refuse: Refuse, install: Callable[..., Any]) -> None:
    card = "Card('compare', 'compare_plugin:Compare')"
    metric = "class Compare:\n    'Compares.'\n    needs = ('reference',)\n"
    install("compare", f"{metric}@hookimpl\ndef attnx_metrics():\n    return [{card}]\n")
    said = refuse(USAGE, "evaluate", "--metric", "compare")
    assert said.endswith("Name one with --reference.")


def test_a_run_without_any_metric_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from attnx.host.catalog import Catalog

    catalog = Catalog.installed()
    monkeypatch.setattr(Catalog, "of_kind", lambda self, kind: [])
    monkeypatch.setattr(Catalog, "installed", classmethod(lambda cls, without=(): catalog))
    with pytest.raises(UsageError, match="No installed metric works for task 'sdc-digits'"):
        attnx.evaluate(progress=False)


# The spec file.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task: [", "is not valid YAML"),
        ("just words", "must be a mapping of keys to values, e.g. 'seeds: [0, 1]'."),
        ("", "must be a mapping"),
        ("taks: sdc", "unknown key 'taks'. Did you mean 'task'? Keys: task, model,"),
        ("7: sdc", "unknown key '7'"),
        ("task: 7", "task: "),
        ("task: {nam: sdc}", "No value is given for {file}: task.name."),
        ("task: {name: sdc, option: {}}", "Unknown key {file}: task.option."),
        ("metrics: 3", "metrics: "),
        ("seeds: 3", "seeds: "),
        ("seeds: []", "seeds: "),
        ("seeds: [0, -1]", "seeds.1: "),
        ("seeds: [1, 1]", "a seed is given twice"),
        ("limit: {trian: 3}", "Unknown key {file}: limit.trian."),
        ("limit: -3", "Cannot read limit '-3'"),
        ("training: [1]", "training: "),
        ("training: {epochs: many}", "Bad value 'many' for option 'epochs' of training"),
        ("device: [cpu]", "device: "),
        ("model: {name: fcam, options: {width: [3]}}", "option 'width' of model 'fcam'"),
        ("task: {name: sdc, options: {background: [{centre: [0, 0, 0]}]}}", "the same number of values"),
        ("task: {name: sdc, options: {background: [{middle: [0, 0]}]}}", "option 'background.0.centre'"),
    ],
)
def test_a_bad_spec_is_refused(text: str, said: str, refuse: Refuse, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    line = refuse(USAGE, "evaluate", "--spec", str(file))
    assert said.replace("{file}", str(file)) in line
    if said.endswith(": "):
        assert line.startswith("Bad value ")
        assert f" for {file}: {said}" in line


def test_a_spec_that_cannot_be_read_is_refused(refuse: Refuse, tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    said = refuse(USAGE, "evaluate", "--spec", str(missing))
    assert said == f"Cannot read spec '{missing}': No such file or directory."
    assert "Is a directory" in refuse(USAGE, "evaluate", "--spec", str(tmp_path))
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    assert "is not valid YAML" in refuse(USAGE, "evaluate", "--spec", str(tmp_path / "bytes.yaml"))


# The points of task sdc.


def _points(**changes: Any) -> dict[str, Any]:
    return {"points": np.zeros((30, 2)), "classes": np.arange(30) % 3} | changes


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"points": np.zeros((30, 2))}, "is not an NPZ file with arrays 'points' and 'classes'"),
        (_points(points=np.array([{}] * 30)), "is not an NPZ file with arrays"),
        (_points(points=np.array(["far"] * 30)), "'points' must be finite numbers"),
        (_points(points=np.full((30, 2), np.nan)), "'points' must be finite numbers"),
        (_points(points=np.array(3.0)), "'points' must be finite numbers"),
        (_points(points=np.zeros((29, 2))), "'classes' must give one of 0..k for each point"),
        (_points(classes=np.array(["a"] * 30)), "'classes' must give one of 0..k"),
        (_points(classes=np.zeros((30, 1), int)), "'classes' must give one of 0..k"),
        (_points(classes=np.arange(30) % 2), "k at least 2"),
        (_points(classes=np.arange(30) % 3 - 1), "'classes' must give one of 0..k"),
        (_points(classes=2 * (np.arange(30) % 3)), "all used"),
        (_points(classes=np.repeat([0, 1, 2], [20, 7, 3])), "every class needs 4 points"),
    ],
)  # fmt: skip
def test_unusable_points_are_refused(arrays: Any, said: str, refuse: Refuse, tmp_path: Path) -> None:
    file = tmp_path / "points.npz"
    np.savez(file, **arrays)
    line = refuse(DATA, "evaluate", "--task", f"sdc:file={file},{TINY}")
    assert str(file) in line
    assert said in line


@pytest.mark.parametrize("content", ["empty", "text", "pickle", "array", "cut short", "damaged"])
def test_a_file_that_is_not_npz_is_refused(content: str, refuse: Refuse, tmp_path: Path) -> None:
    file = tmp_path / "points.npz"
    np.savez_compressed(file, **_points(points=np.random.default_rng(0).normal(size=(30, 2))))
    whole = file.read_bytes()
    file.write_bytes(
        {
            "empty": b"",
            "text": b"x,y\n1,2\n",
            "pickle": pickle.dumps({"points": [1]}),
            "array": b"",
            "cut short": whole[: len(whole) // 2],
            "damaged": whole[:60] + bytes(40) + whole[100:],
        }[content]
    )
    if content == "array":
        with file.open("wb") as stream:
            np.save(stream, np.zeros(3))
    line = refuse(DATA, "evaluate", "--task", f"sdc:file={file},{TINY}")
    assert line.startswith(f"'{file}' is not an NPZ file with arrays 'points' and 'classes': ")


def test_points_that_are_not_there_are_refused(refuse: Refuse, tmp_path: Path) -> None:
    said = refuse(DATA, "evaluate", "--task", f"sdc:file={tmp_path}/none.npz")
    assert said == f"Cannot read '{tmp_path}/none.npz' for task 'sdc': No such file or directory."
    assert "Is a directory" in refuse(DATA, "evaluate", "--task", f"sdc:file={tmp_path}")
