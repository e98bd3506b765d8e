"""Tables of papers as a user runs them: sweep or study in, published beside measured, claims decided."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnx
from attnx.api.reproduce import reproduce_plan
from attnx.components import experiments
from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.registry.experiments import SIZES, Column
from attnx.registry.text import registry_path
from attnx.request.experiment import plan_experiment
from attnx.results.formatting import duration
from attnx.run.reproducing.published_studies import StudyJob, StudyResult, run_study_job
from attnx.run.reproducing.reproduction import _estimate_of_studies
from attnx.run.reproducing.training_check import TrainingJob, check_training
from attnx.run.workers.executors import Workers
from attnx.store.home import home
from attnx.store.runs import Runs

TINY = """
  tiny:
    summary: Two ways to attend to points.
    source: 'A paper, table 1'
    task: sdc-2d
    metrics: [focus, nnz]
    columns:
      accuracy: {measure: accuracy, scale: 0.01}
      nnz: {measure: nnz}
    rows:
      soft: {model: fcam, projection: softmax, published: {accuracy: 40, nnz: 4.5}}
      sparse: {model: fcam, projection: sparsemax, published: {nnz: 1.9}}
      large: {model: fcam, projection: hard}
    claims:
      - {says: Softmax spreads its weight wider, column: nnz, higher: soft, than: sparse}
      - {says: Sparsemax spreads its weight wider, column: nnz, higher: sparse, than: soft}
    draws: [focus]
    ours: [everything]
    small:
      {tasks: {'sdc-2d:train=60,dev=20': test=40}, rows: [soft], training: {epochs: 1}, seeds: 0-1}
    standard:
      {tasks: {'sdc-2d:train=60,dev=20': test=40}, rows: [soft, sparse], training: {epochs: 2}, seeds: 0-1}
  tiny-study:
    summary: What equal weights cost.
    source: 'A paper, table 2'
    study: uniform-attention
    columns:
      trained: {setting: trained attention, measure: accuracy}
      uniform: {setting: uniform attention, measure: accuracy}
    rows:
      plane: {task: sdc-2d, model: fcam, published: {trained: 0.9}}
    claims:
      - {says: Attention helps, greater: [trained, uniform]}
    standard: {tasks: {'sdc-2d:train=60,dev=20': 'test=40'}, training: {epochs: 2}, seeds: 0-1}
  tiny-missing:
    summary: Sentences that nobody has here.
    source: 'A paper, table 3'
    metrics: [nnz]
    columns: {nnz: {measure: nnz}}
    rows:
      sst: {task: sst, model: average-add}
  tiny-failing:
    summary: A learning rate that is far too high.
    source: 'A paper, table 5'
    task: sdc-2d
    metrics: [nnz]
    columns: {nnz: {measure: nnz}}
    rows:
      fine: {model: fcam}
      wild: {model: fcam, training: {learning_rate: 1.0e+30, epochs: 9}}
      same: {model: fcam}
    standard: {tasks: {'sdc-2d:train=60,dev=20': test=40}, training: {epochs: 1}, seeds: '0'}
  tiny-partly:
    summary: Points that all have, and sentences that nobody has here.
    source: 'A paper, table 4'
    metrics: [nnz]
    columns: {nnz: {measure: nnz}}
    rows:
      both: {task: [sdc-2d, sst]}
    standard: {tasks: {'sdc-2d:train=60,dev=20': test=40, sst: ''}, training: {epochs: 1}, seeds: '0'}
"""


@pytest.fixture(autouse=True)
def _tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = tmp_path / "registry.yaml"
    registry.write_text(registry_path().read_text().replace("\nexperiments:\n", f"\nexperiments:{TINY}", 1))
    monkeypatch.setenv("ATTNX_REGISTRY", str(registry))
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ATTNX_DATA", raising=False)


def _attention(examples: Any, number: int, seed: int) -> Any:
    return examples[number].seen[seed].scores["attention"]


def kept(*patterns: str) -> dict[Path, int]:
    found = [path for pattern in patterns for path in home().rglob(pattern)]
    return {path: path.stat().st_mtime_ns for path in found}


def test_a_table_is_run_told_and_written_and_nothing_is_done_twice(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnx.results.judgement.undertrained.LEAST_MOVED", 0)  # two epochs move little
    code, out, err = cli("reproduce", "tiny", "--executor", "in-process")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "A paper, table 1: Two ways to attend to points."
    assert "sdc-2d:train=60,dev=20: 60 train, 20 dev, 40 test" in lines
    assert any(line.startswith("soft ") and line.endswith("(4.50)") and "(.40)" in line for line in lines)
    assert "Softmax spreads its weight wider: holds" in lines
    assert "Sparsemax spreads its weight wider: does not hold" in lines
    assert "not run: large: not part of the size 'standard'" in lines
    assert "our choice: everything" in lines
    assert max(map(len, lines)) <= 100

    folder = home() / "reproductions" / "tiny-standard"
    found = json.loads((folder / "reproduction.json").read_text())
    assert found["command"] == "attnx reproduce tiny"
    report = next(r for r in map(Runs().find, found["runs"]) if r and r.labels["projection"] == "softmax")
    theirs = report.select("nnz")
    assert [v["mean"] for v in found["values"] if (v["row"], v["column"]) == ("soft", "nnz")] == [theirs.mean]
    accuracy = sum(quality.accuracy for quality in report.quality) / 2
    (shown,) = (v for v in found["values"] if (v["row"], v["column"]) == ("soft", "accuracy"))
    assert (shown["mean"], shown["published"]) == (pytest.approx(accuracy), pytest.approx(0.4))
    assert "- **holds**: Softmax spreads its weight wider." in (folder / "reproduction.md").read_text()
    page = (folder / "reproduction.html").read_text()
    assert "does not hold" in page
    assert page.count("<figure") == 3  # one curve of both rows, and the course of training of each
    assert "soft: focus over training" in page
    assert not re.search(r"""(src|href)=["']?https?:""", page)

    before = kept("*.safetensors", "report.json")
    assert cli("reproduce", "tiny", "--executor", "in-process")[0] == 0
    assert kept("*.safetensors", "report.json") == before


def test_models_that_did_not_learn_decide_nothing_and_say_so(tmp_path: Path) -> None:
    registry = tmp_path / "registry.yaml"
    registry.write_text(registry.read_text().replace("accuracy: 40, nnz: 4.5", "accuracy: 95, nnz: 4.5"))
    found = attnx.reproduce("tiny", executor="in-process", progress=False)
    assert {claim.status for claim in found.claims} == {"undertrained"}
    soft = next(model for model in found.trained if model.row == "soft")
    assert soft.accuracy == pytest.approx(found.value("soft", "accuracy").mean)
    assert soft.undertrained.startswith(f"accuracy {soft.accuracy:.2f}; published 0.95")
    assert "would decide it: more epochs or more training data" in " ".join(found.to_text().split())


def test_a_smoke_test_claims_nothing(cli: Any) -> None:
    code, out, err = cli("reproduce", "tiny", "--size", "small", "--executor", "in-process")
    assert code == 0, err
    assert "no claim is decided at this size" in out
    assert "holds" not in out
    found = json.loads((home() / "reproductions" / "tiny-small" / "reproduction.json").read_text())
    assert found["claims"] == []
    assert found["command"] == "attnx reproduce tiny --size small"


def test_how_far_attention_moved_is_its_distance_from_the_untrained_model() -> None:
    """An untrained model has not moved; a trained one by half the sum of absolute differences."""
    spec = plan_experiment("tiny", Catalog.installed().registry.experiments["tiny"]).cells[0].asked
    still = spec.model_copy(update={"training": {"epochs": 0}})
    assert check_training(TrainingJob(still.model_dump_json(), None, ())).moved == 0
    found = check_training(TrainingJob(spec.model_dump_json(), None, ()))
    untrained, trained = (
        attnx.evaluate(
            "sdc-2d:train=60,dev=20", "fcam", metrics=["nnz"], seeds=[0, 1], limit="test=40", progress=False,
            training={"epochs": epochs},
        ).examples()
        for epochs in (0, 2)
    )  # fmt: skip
    each = [
        np.abs(np.subtract(_attention(trained, number, seed), _attention(untrained, number, seed))).sum() / 2
        for seed in range(2)
        for number in range(40)
    ]
    assert found.moved == pytest.approx(np.mean(each), rel=1e-3)
    labels = list(trained.labels)
    assert found.constant == max(labels.count(label) for label in set(labels)) / 40


def test_a_column_may_be_a_point_of_a_curve() -> None:
    catalog = Catalog.installed()
    experiment = catalog.registry.experiments["tiny"]
    at_half = experiment.model_copy(
        update={"columns": {"above": Column(measure="focus", at=0.5)}, "claims": (), "rows": {
            "soft": experiment.rows["soft"].model_copy(update={"published": {}})
        }}
    )  # fmt: skip
    plan = plan_experiment("tiny", at_half, "small")
    found = reproduce_plan(plan, catalog, workers=Workers("in-process"))
    report = Runs().find(found.runs[0])
    assert report is not None
    curves = [c for c in report.curves if (c.kind, c.explanation) == ("metric", "attention")]
    assert found.value("soft", "above").seeds == tuple(c.y[c.x.index(0.5)] for c in curves)


def test_only_some_tasks_and_rows_are_run_and_the_command_says_which() -> None:
    experiment = Catalog.installed().registry.experiments["jain-wallace-table-2"]
    some = plan_experiment("jain-wallace-table-2", experiment, tasks=["sst"], seeds=[0, 1])
    assert {cell.row.split()[0] for cell in some.cells} == {"sst"}
    assert some.command == "attnx reproduce jain-wallace-table-2 --task sst --seeds 0,1"
    assert "20news cnn-add" in some.not_asked
    assert "agnews cnn-add" in some.left_out
    one = plan_experiment("jain-wallace-table-2", experiment, rows=["sst cnn-add"])
    assert [cell.row for cell in one.cells] == ["sst cnn-add"]
    assert one.command == "attnx reproduce jain-wallace-table-2 --row 'sst cnn-add'"
    for wrong in ({"tasks": ["ssst"]}, {"rows": ["sst"]}, {"tasks": ["20news"], "rows": ["sst cnn-add"]}):
        with pytest.raises(UsageError, match="jain-wallace-table-2"):
            plan_experiment("jain-wallace-table-2", experiment, **wrong)


def test_a_size_gives_options_to_models_and_a_task_may_have_its_own() -> None:
    known = Catalog.installed().registry.experiments
    table = plan_experiment("jain-wallace-table-2", known["jain-wallace-table-2"])
    asked = {cell.row: cell.asked for cell in table.cells}
    news, babi = asked["20news cnn-add"], asked["babi-1 cnn-add"]
    assert news.model is not None
    assert babi.model is not None
    assert (news.model.name, news.model.options) == ("cnn-add-jw", {"embeddings": "glove-50d"})
    assert news.training["patience"] == 4
    assert "embeddings" not in babi.model.options
    assert babi.training["patience"] > 4


def test_a_study_is_run_and_its_weights_are_taken_again() -> None:
    found = attnx.reproduce("tiny-study", executor="in-process", progress=False)
    assert found.value("plane", "trained").published == 0.9
    assert found.value("plane", "uniform").cells == 1
    (claim,) = found.claims
    first, second = (found.value("plane", column).mean or 0.0 for column in ("trained", "uniform"))
    assert claim.compared[0].difference == pytest.approx(first - second)
    before = kept("*.safetensors")
    again = attnx.reproduce("tiny-study", executor="in-process", progress=False)
    assert again.values == found.values
    assert kept("*.safetensors") == before


def test_a_study_leaves_its_last_line_where_it_is_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("attnx.progress.LONG", -1.0)  # every stage is a long one
    (cell,) = plan_experiment("tiny-study", experiments()["tiny-study"]).cells
    path = tmp_path / "line"
    job = StudyJob(cell.studies[0], cell.asked.model_dump_json(), None, (), line=str(path))
    run_study_job(job)
    assert path.read_text().startswith("running the model: done in")


def test_the_time_of_studies_is_estimated_from_that_of_the_table(cli) -> None:
    _, _, err = cli("reproduce", "tiny-study", "--executor", "in-process")
    assert "no time estimate: this table has not been timed yet" in err
    plan = plan_experiment("wen-table-4", experiments()["wen-table-4"], tasks=["sst"], seeds="0-9")
    minutes = plan.experiment.size("standard").minutes or 0.0
    said = _estimate_of_studies(plan, Workers("local", 1))
    assert f"about {duration(60 * minutes * 2 * 2 / 3)}" in said  # one of three tasks, ten seeds of five


def test_what_goes_to_a_worker_and_back_can_be_sent() -> None:
    job = StudyJob("uniform-attention", "{}", None, ())
    assert pickle.loads(pickle.dumps(job)) == job
    found = StudyResult({("a", "b"): np.ones((2, 3))}, "task", {"test": "3"}, "folder")
    assert pickle.loads(pickle.dumps(found)).values["a", "b"].shape == (2, 3)


def test_missing_data_is_one_line_that_says_where_to_put_it(cli) -> None:
    code, _, err = cli("reproduce", "tiny-missing")
    assert code == 4
    assert len(err.splitlines()) == 1
    assert "train.txt" in err
    assert "--data-dir" in err


def test_a_row_of_which_a_part_cannot_be_run_says_so() -> None:
    found = attnx.reproduce("tiny-partly", executor="in-process", progress=False)
    assert found.value("both", "nnz").cells == 1
    (left,) = found.left_out
    assert left.rows == ("part of both",)
    assert "train.txt" in left.reason


def test_a_row_that_fails_is_left_out_with_its_error_and_the_others_have_their_runs() -> None:
    found = attnx.reproduce("tiny-failing", seeds=[4], executor="in-process", progress=False)
    assert found.rows == ("fine", "same")
    assert found.value("fine", "nnz").mean == found.value("same", "nnz").mean
    assert (found.seeds, len(found.runs)) == ((4,), 1)  # two rows that ask for the same share a run
    (left,) = found.left_out
    assert left.rows == ("wild",)
    assert "diverged" in left.reason
    assert found.folder == home() / "reproductions" / "tiny-failing-standard"
    assert (found.folder / "reproduction.html").is_file()


def test_mistakes_are_one_line(cli) -> None:
    assert cli("reproduce", "tinny")[::2] == (
        2,
        "error: Unknown experiment 'tinny'. Did you mean 'tiny'? See 'attnx reproduce --list'.\n",
    )
    code, _, err = cli("reproduce", "tiny", "--size", "papr")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "'paper'" in err


def test_every_experiment_has_all_sizes_and_their_cells_make_sense() -> None:
    """What `--list` promises can be run: options, limits, seeds and studies of all sizes resolve."""
    from attnx.request.resolve import find_part, resolve
    from attnx.request.spec import Choice

    catalog = Catalog.installed()
    for name, experiment in catalog.registry.experiments.items():
        if name.startswith("tiny"):
            continue
        for size in SIZES:
            assert experiment.size(size).minutes is not None, name
            asked = plan_experiment(name, experiment, size)
            assert asked.cells, name
            for cell in asked.cells:
                resolve(cell.asked, catalog)
                for study in cell.studies:
                    find_part(catalog, "study", Choice.parse(study))


def test_a_row_takes_the_options_of_its_own_task_and_those_of_the_size() -> None:
    known = Catalog.installed().registry.experiments
    table = plan_experiment("jain-wallace-table-2", known["jain-wallace-table-2"], "small")
    (news,) = (cell for cell in table.cells if cell.row == "20news cnn-add")
    assert news.asked.task is not None
    assert news.asked.task.options == {"split": "pooled", "max_length": "100"}
    experiment = known["wen-table-3"]
    (news,) = (c for c in plan_experiment("wen-table-3", experiment, "paper").cells if c.row == "20news")
    assert news.studies == ("adversarial-model:divergences=0.001,adversaries=unfrozen",)  # twice their 5e-4
    with pytest.raises(UsageError, match="Cannot read seeds"):
        plan_experiment("wen-table-3", experiment, seeds="one")
    assert plan_experiment("wen-table-3", experiment, seeds="3,1").seeds == (3, 1)
    assert plan_experiment("wen-table-3", experiment, seeds=[3, 1]).seeds == (3, 1)


@pytest.mark.parametrize("columns", [80, 100])
def test_the_list_of_experiments_fits_the_terminal(
    columns: int, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = cli("reproduce", "--list")
    assert code == 0
    assert "sdc-table-2" in out
    assert max(map(len, out.splitlines())) <= columns
