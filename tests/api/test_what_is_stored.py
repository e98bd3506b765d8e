"""What the command line lists, shows and deletes is a function in Python, with the same arguments."""

from __future__ import annotations

import os
import shutil
import time
import webbrowser
from datetime import timedelta
from pathlib import Path

import pytest

import attnx
from attnx.errors import AttnxWarning, DataError, UsageError

TASK = "sdc-text:train=20,dev=10,test=12"
SMALL = {"training": {"epochs": 1}, "progress": False, "metrics": "nnz"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs, the first of them a day old."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_HOME", str(folder))
        old = attnx.evaluate(TASK, **SMALL)
        new = attnx.evaluate(TASK, seeds=[1], **SMALL)
    day_ago = time.time() - 86_400
    os.utime(folder / "runs" / old.fingerprint / "report.json", (day_ago, day_ago))
    return folder, old, new


@pytest.fixture
def kept(made, home):
    shutil.copytree(made[0], home)
    return made[1:]


def test_runs_are_listed_newest_first_with_their_folders(kept, home):
    old, new = kept
    found = attnx.runs.list()
    assert [run.name for run in found] == [new.fingerprint, old.fingerprint]
    assert [run.folder for run in found] == [home / "runs" / run.name for run in found]
    assert found[0].labels == new.labels
    assert attnx.runs.list(last=1) == found[:1]
    assert attnx.runs.list(last=0) == ()
    with pytest.raises(UsageError, match="must be 0 or more"):
        attnx.runs.list(last=-1)
    assert attnx.runs.folders() == (home / "runs", home / "studies")


def test_a_list_that_was_moved_with_its_runs_names_the_new_folders(kept, home, tmp_path):
    attnx.runs.list()  # writes the list that is read from now on
    shutil.move(home / "runs", tmp_path / "moved")
    assert {run.folder.parent for run in attnx.runs.list(out=tmp_path / "moved")} == {tmp_path / "moved"}
    assert attnx.runs.folders(out=tmp_path / "moved") == (tmp_path / "moved",)


def test_a_report_is_shown_again_and_knows_its_folder(kept, home):
    old, _ = kept
    found = attnx.runs.show(old.fingerprint[:8])
    assert found.to_json() == old.to_json()
    assert found.folder == home / "runs" / old.fingerprint
    (found.folder / "report.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        attnx.runs.show(found.folder)


def test_a_page_is_written_when_it_is_missing_and_opened_when_asked(kept, home, monkeypatch):
    old, _ = kept
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = home / "runs" / old.fingerprint / "report.html"
    page.unlink()
    assert attnx.runs.view(old.fingerprint) == page
    assert page.is_file()
    assert opened == []
    assert attnx.runs.view(open=True) == home / "index.html"
    assert opened == [(home / "index.html").as_uri()]


def test_tables_are_texts_and_figures_are_files(kept, home, tmp_path):
    old, _ = kept
    text = attnx.runs.export(old.fingerprint, "csv", into=tmp_path / "table.csv")
    assert text == (tmp_path / "table.csv").read_text()
    assert text.startswith("metric,")
    files = attnx.runs.export(old.fingerprint, "svg", into=tmp_path / "figures")
    assert files
    assert set(files) == set((tmp_path / "figures").iterdir())
    with pytest.raises(UsageError, match="Unknown format 'gif'"):
        attnx.runs.export(old.fingerprint, "gif")


def test_runs_are_deleted_all_or_none_and_not_by_a_dry_run(kept, home):
    old, new = kept
    with pytest.raises(UsageError, match="no-such-run"):
        attnx.runs.delete(old.fingerprint, "no-such-run")
    folder = home / "runs" / old.fingerprint
    assert attnx.runs.delete(old.fingerprint, folder, dry_run=True) == (folder,)
    assert folder.is_dir()
    assert attnx.runs.delete(old.fingerprint) == (folder,)
    assert [run.name for run in attnx.runs.list()] == [new.fingerprint]


@pytest.mark.parametrize("age", ["12h", timedelta(hours=12)])
def test_an_age_is_a_text_or_a_time(kept, home, age):
    old, _ = kept
    assert attnx.runs.prune(older_than=age, dry_run=True) == (home / "runs" / old.fingerprint,)
    assert attnx.runs.prune(older_than=age, keep=2) == ()
    assert len(attnx.runs.prune(older_than=age)) == 1
    with pytest.raises(UsageError, match="Specify what to delete"):
        attnx.runs.prune()


def test_weights_that_no_readable_run_uses_are_deleted(kept, home):
    old, new = kept
    found = attnx.runs.weights()
    assert {run for one in found for run in one.runs} == {old.fingerprint, new.fingerprint}
    assert all(one.bytes == (one.folder / "weights.safetensors").stat().st_size for one in found)
    assert attnx.runs.weights(prune=True) == ()
    (home / "runs" / old.fingerprint / "report.json").write_text("{")
    with pytest.warns(AttnxWarning, match="1 stored reports cannot be read"):
        (unused,) = attnx.runs.weights(prune=True, dry_run=True)
    assert unused.folder.is_dir()
    with pytest.warns(AttnxWarning):
        assert attnx.runs.weights(prune=True) == (unused,)
    assert not unused.folder.exists()


def test_examples_of_a_task_are_records_and_lines(home, tmp_path):
    found = attnx.datasets.export(TASK, limit="test=3", out=tmp_path / "units.jsonl")
    assert [example.split for example in found] == ["train"] * 20 + ["dev"] * 10 + ["test"] * 3
    assert sum(found[0].rationale) > 0
    lines = (tmp_path / "units.jsonl").read_text().splitlines()
    assert lines == [example.to_json() for example in found]
    assert "query" not in lines[0]
    with pytest.raises(UsageError, match="Did you mean 'test'"):
        attnx.datasets.export(TASK, split="tset")
    with pytest.raises(UsageError, match="Cannot write"):
        attnx.datasets.export(TASK, out=tmp_path)


def test_a_dataset_in_a_folder_of_ones_own_is_found(home, tmp_path):
    (status,) = (one for one in attnx.datasets.list() if one.name == "imdb")
    assert status.folder is None
    with pytest.raises(DataError, match="'attnx data fetch imdb'"):
        attnx.datasets.where("imdb")
    registry = tmp_path / "registry.yaml"
    registry.write_text(
        "schema: 1\ndatasets:\n"
        "  notes: {summary: Notes., licence: mine, layout: notes.txt, files: [notes.txt]}\n"
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNX_REGISTRY", str(registry))
        asked = {"data_dir": tmp_path}
        assert [one.status for one in attnx.datasets.list(**asked)] == ["your folder"]
        assert attnx.datasets.where("notes", **asked) == tmp_path / "notes"
        fetched = attnx.datasets.fetch("notes", **asked)
        assert (fetched.folder, fetched.provenance["kind"]) == (tmp_path / "notes", "local")
        cleared = attnx.datasets.clear()
    assert (cleared.bytes, cleared.folder, cleared.also) == (0, home / "data", ())
    assert (tmp_path / "notes" / "notes.txt").is_file()


def test_what_is_installed_is_listed_and_described():
    tasks = attnx.components.list("tasks")
    assert "sst" in {one.name for one in tasks}
    assert {one.kind for one in tasks} == {"task"}
    assert set(tasks) < set(attnx.components.list())
    (found,) = attnx.components.info("sparsegen")
    assert isinstance(found, attnx.components.ComponentInfo)
    assert (found.kind, found.options[0].name) == ("projection", "lam")
    with pytest.raises(UsageError, match="Did you mean 'tasks'"):
        attnx.components.list("taks")
    with pytest.raises(UsageError, match="Did you mean 'sparsegen'"):
        attnx.components.info("sparsegn")
    names = {one.name for one in attnx.components.list("experiments")}
    assert names == set(attnx.components.experiments())


def test_a_plugin_that_is_switched_off_is_not_listed():
    everything = {plugin.name for plugin in attnx.components.plugins()}
    for without in ("sdc", ["sdc", "pictures"]):
        left = everything - set([without] if isinstance(without, str) else without)
        assert {plugin.name for plugin in attnx.components.plugins(without=without)} == left
    assert "fcam" not in {one.name for one in attnx.components.list("models", without="sdc")}
    with pytest.raises(UsageError, match="Cannot switch off plugin 'sdcc'"):
        attnx.components.list(without="sdcc")


def test_the_folder_of_a_dataset_still_has_its_old_name(monkeypatch):
    given = attnx.datasets.Fetched(Path("here"), {})
    monkeypatch.setattr(attnx.datasets, "fetch", lambda name: {"imdb": given}[name])
    with pytest.warns(DeprecationWarning, match="attnx.fetch_dataset is now attnx.datasets.fetch"):
        assert attnx.fetch_dataset("imdb") == Path("here")
