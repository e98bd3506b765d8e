"""Runs, studies and weights are listed quickly, shown, and cleared away."""

import json
import os
import shutil
import time

import pytest

import attnx
from attnx.store import run_list

SMALL = {"training": {"epochs": 1}, "progress": False, "keep": "values"}
TASK = "sdc-text:train=60,dev=30,test=40"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs and a study, made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(folder))
        first = attnx.evaluate(TASK, metrics=["kendall", "faithfulness"], references="loo", **SMALL)
        second = attnx.evaluate(TASK, metrics="nnz", projection="sparsemax", seeds=[0, 1], **SMALL)
        attnx.study("uniform-attention", TASK, training={"epochs": 1}, progress=False)
    now = time.time()
    (study,) = (folder / "studies").glob("[!.]*")
    for age, path in enumerate(
        [study, folder / "runs" / second.fingerprint, folder / "runs" / first.fingerprint]
    ):
        for file in path.glob("*.json"):
            os.utime(file, (now - age * 86_400, now - age * 86_400))
    return folder, first, second, study.name


@pytest.fixture
def kept(made, home):
    shutil.copytree(made[0], home)  # with its times
    return made[1:]


def test_runs_and_studies_are_listed_newest_first_with_numbers_and_verdict(kept, cli):
    first, second, study = kept
    code, out, err = cli("runs", "--json")
    lines = json.loads(out)
    assert (code, err) == (0, "")
    assert [line["name"] for line in lines] == [study, second.fingerprint, first.fingerprint]
    assert [line["kind"] for line in lines] == ["study", "run", "run"]
    assert lines[2]["labels"] == first.labels
    assert lines[2]["numbers"]["accuracy"] == pytest.approx(first.quality[0].accuracy)
    assert lines[2]["numbers"]["kendall tau with loo"] == first.select("tau", reference="loo").mean
    assert lines[2]["verdicts"] == {
        f"{v.explanation}, {v.heading}": v.grade for v in first.verdicts if v.share
    }
    assert sorted(lines[1]["weights"]) == sorted(second.provenance.weights_folders.values())
    _, out, _ = cli("runs")
    assert all(name in out for name in (first.fingerprint, second.fingerprint, study))
    assert max(map(len, out.splitlines())) <= 100
    _, out, _ = cli("runs", "--last", "1")
    assert "3 in " in out
    assert first.fingerprint not in out


def test_what_was_read_once_is_not_read_again_and_what_changed_is(kept, home, cli, monkeypatch):
    first, second, _ = kept
    whole = cli("runs", "--json")
    read = []
    monkeypatch.setattr(run_list, "read_saved", lambda folder: read.append(folder.name))
    assert cli("runs", "--json") == whole
    assert read == []
    os.utime(home / "runs" / first.fingerprint / "report.json", (1, 1))
    cli("runs", "--json")
    assert read == [first.fingerprint]
    monkeypatch.undo()
    monkeypatch.setenv("ATTNX_HOME", str(home))
    for text in ("{", "[]", '{"version": "0", "lines": {}}'):
        (home / "runs" / run_list.CACHE).write_text(text)
        _, out, _ = cli("runs", "--json")
        assert {line["name"] for line in json.loads(out)} >= {first.fingerprint, second.fingerprint}
        assert not any(line["kind"] == "unreadable" for line in json.loads(out))


@pytest.mark.parametrize("text", ["", "{", "null", '{"schema": 99}', "\x00\x00", "[" * 100_000])
def test_an_odd_report_is_one_line_and_the_others_are_listed(kept, home, cli, text):
    odd = home / "runs" / "0dd"
    odd.mkdir()
    (odd / "report.json").write_text(text)
    (home / "runs" / "0dder").mkdir()
    (home / "runs" / "0dder" / "report.json").mkdir()
    code, out, err = cli("runs", "--json")
    lines = {line["name"]: line for line in json.loads(out)}
    assert (code, err, len(lines)) == (0, "", 5)
    for name in ("0dd", "0dder"):
        assert (lines[name]["kind"], lines[name]["reason"][:21]) == ("unreadable", "The report is damaged")
    assert "2 cannot be read" in cli("runs")[1]
    code, _, err = cli("runs", "show", "0dd")
    assert (code, len(err.splitlines())) == (4, 1)
    assert cli("runs", "delete", "0dd")[0] == 0
    assert not odd.exists()


def test_a_run_and_a_study_are_shown_again(kept, cli):
    first, _, study = kept
    _, out, err = cli("runs", "show", first.fingerprint[:8])
    assert "kendall tau" in out
    assert first.fingerprint in err
    assert cli("runs", "show", first.fingerprint, "--json")[1] == first.to_json()
    assert "uniform-attention" in cli("runs", "show", study)[1]


def test_runs_are_deleted_all_or_none(kept, home, cli):
    first, second, study = kept
    code, _, err = cli("runs", "delete", first.fingerprint, "no-such-run")
    assert (code, len(err.splitlines())) == (2, 1)
    assert (home / "runs" / first.fingerprint).is_dir()
    assert "would delete" in cli("runs", "delete", first.fingerprint, "--dry-run")[1]
    assert (home / "runs" / first.fingerprint).is_dir()
    code, out, _ = cli("runs", "delete", first.fingerprint[:8], study)
    assert (code, len(out.splitlines())) == (0, 2)
    assert [line["name"] for line in json.loads(cli("runs", "--json")[1])] == [second.fingerprint]
    assert [path.name for path in (home / "runs").iterdir() if path.is_dir()] == [second.fingerprint]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        (["--keep", "1"], 1),
        (["--keep", "0"], 0),
        (["--older-than", "36h"], 2),
        (["--older-than", "1w"], 3),
        (["--older-than", "12h", "--keep", "2"], 2),
        (["--older-than", "12h"], 1),
        (["--keep", "1", "--dry-run"], 3),
    ],
)
def test_old_runs_are_pruned_and_the_newest_stay(kept, cli, asked, left):
    before = [line["name"] for line in json.loads(cli("runs", "--json")[1])]
    code, _, _ = cli("runs", "prune", *asked)
    assert code == 0
    assert [line["name"] for line in json.loads(cli("runs", "--json")[1])] == before[:left]


def test_pruning_says_what_it_needs(kept, cli):
    for asked in ([], ["--older-than", "soon"]):
        code, _, err = cli("runs", "prune", *asked)
        assert (code, len(err.splitlines())) == (2, 1)


def test_weights_that_no_run_names_are_pruned(kept, home, cli):
    first, second, _ = kept
    named = {*first.provenance.weights_folders.values(), *second.provenance.weights_folders.values()}
    rows = {row["name"]: row for row in json.loads(cli("runs", "weights", "--json")[1])}
    assert {name for name, row in rows.items() if row["runs"]} == named
    assert set(rows) == {path.name for path in (home / "weights").glob("[!.]*")}
    assert len(rows) > len(named)  # the study has trained others
    assert "not used by any run" in cli("runs", "weights")[1]
    cli("runs", "weights", "--prune", "--older-than", "1d")
    assert {path.name for path in (home / "weights").glob("[!.]*")} == set(rows)
    cli("runs", "weights", "--prune")
    assert {path.name for path in (home / "weights").glob("[!.]*")} == named
    cli("runs", "delete", second.fingerprint)
    cli("runs", "weights", "--prune")
    left = {path.name for path in (home / "weights").glob("[!.]*")}
    assert left == set(first.provenance.weights_folders.values())
