"""Hugging Face models from the command line to the report."""

from __future__ import annotations

import random
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoints import SENTENCES, data, save

import attnx
from attnx.plugin import UsageError
from attnx.store.home import home
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

INTERVENTIONS = ("permutation", "delta-js", "flip-fraction", "decision-flip")
EVERYTHING = (
    "attention gradient gradient-hidden attention-gradient loo rollout gradient-rollout attention-norm "
    "cls-attention integrated-gradients"
).split()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of sentences in which one word decides: yes where there is a five, no where there is a four."""
    rng = random.Random(0)
    folder = tmp_path_factory.mktemp("planted")
    lines = ["text,label"]
    for number in range(300):
        words = rng.choices(["one", "two", "three", "onetwo", "twothree"], k=rng.randint(2, 6))
        words.insert(rng.randrange(len(words)), "five" if number % 2 else "four")
        lines.append(f"{' '.join(words)},{'yes' if number % 2 else 'no'}")
    (folder / "planted.csv").write_text("\n".join(lines) + "\n")
    return folder / "planted.csv"


def evaluate(task: Path, model: str, **settings: Any) -> attnx.Report:
    return attnx.evaluate(f"csv:file={task}", model, progress=False, out=None, **settings)


def test_another_layer_is_read_without_training_again(planted: Path, tmp_path: Path) -> None:
    folder = save("encoder", tmp_path / "encoder", initializer_range=0.1)

    def run(reading: str, **training: Any) -> attnx.Report:
        settings = {"epochs": 1, "learning_rate": 0.001, **training}
        model = f"hf-classifier:checkpoint={folder},{reading}"
        return evaluate(planted, model, metrics=["entropy"], limit=20, training=settings)

    kept = home() / "weights"
    before = set(kept.glob("[!.]*")) if kept.is_dir() else set()
    reports = [run(reading) for reading in ("layer=0,head=1", "layer=1,query=mean", "layer=-1")]
    assert len(set(kept.glob("[!.]*")) - before) == 1
    assert len({report.select("entropy").mean for report in reports}) == 3
    assert len({tuple(report.provenance.weights.items()) for report in reports}) == 1
    run("layer=0,head=1", entropy=0.1)  # a training that looks at attention
    run("layer=1", entropy=0.1)
    assert len(set(kept.glob("[!.]*")) - before) == 3


def test_a_classifier_is_fine_tuned_and_every_test_runs_on_one_layer(planted: Path, tmp_path: Path) -> None:
    folder = save("encoder", tmp_path / "encoder", initializer_range=0.1)  # of a size that learns
    model = f"hf-classifier:checkpoint={folder},layer=1"
    report = evaluate(
        planted,
        model,
        explanations=EVERYTHING,
        references=["gradient", "loo"],
        metrics=[
            *INTERVENTIONS,
            "kendall",
            "comprehensiveness",
            "sufficiency",
            "mi-kendall",
            "contextualisation",
        ],
        training={"epochs": 8, "learning_rate": 2e-3},
        limit="train=200,dev=30,test=12",
    )
    assert report.quality[0].accuracy > 0.9
    assert report.spec.model is not None
    chosen = report.spec.model.options
    assert (chosen["layer"], chosen["head"], chosen["query"], chosen["pieces"]) == (1, "mean", None, "sum")
    assert report.spec.projection is None
    for measure in ("median", "delta-js", "never", "neither", "contextualisation"):
        assert report.select(measure).n == 12, measure
    assert {summary.explanation for summary in report.summaries if summary.metric == "comprehensiveness"} >= {
        *EVERYTHING
    }


def test_a_language_model_learns_a_planted_task_and_attends_to_the_word_that_decides(
    planted: Path, saved: Any
) -> None:
    report = evaluate(
        planted,
        f"hf-causal:checkpoint={saved('language-model')},labels=no+yes,template={{text}} it is",
        explanations=["attention", "loo", "gradient-rollout"],
        metrics=["comprehensiveness", "permutation"],
        training={"epochs": 8, "learning_rate": 2e-3},
        limit="train=200,dev=30,test=20",
    )
    assert report.quality[0].accuracy > 0.9
    found = report.select("aopc", metric="comprehensiveness", explanation="loo")
    assert (found.mean or 0) > (found.baselines["random"] or 0) + 0.1
    assert report.select("median").n == 20


def test_a_trained_classifier_is_measured_as_it_is(planted: Path, saved: Any) -> None:
    report = evaluate(
        planted,
        f"hf-classifier:checkpoint={saved('classifier')}",
        metrics=["entropy"],
        training={"epochs": 0},
        seeds=[0, 1],
        limit="train=20,dev=10,test=10",
    )
    assert [quality.epochs for quality in report.quality] == [0, 0]
    assert any(warning.kind == "same-model" for warning in report.warnings)
    assert not any(warning.kind == "untrained" for warning in report.warnings)


def test_texts_that_were_cut_are_told(planted: Path, saved: Any) -> None:
    report = evaluate(
        planted,
        f"hf:checkpoint={saved('encoder')},longest=8",
        metrics=["entropy"],
        training={"epochs": 1},
        limit="train=40,dev=10,test=40",
    )
    assert any(warning.kind == "cut-off" for warning in report.warnings)


@pytest.mark.parametrize("model", ["hf", "hf-classifier"])
def test_a_question_is_read_beside_its_text(model: str, tmp_path: Path, saved: Any) -> None:
    rows = [f"one two,{who},{label}" for who, label in [("four", "no"), ("five", "yes")] * 10]
    (tmp_path / "asked.csv").write_text("\n".join(["text,asked,label", *rows]) + "\n")
    task = f"csv:file={tmp_path / 'asked.csv'},query=asked"
    asked = {"metrics": ["entropy"], "training": {"epochs": 0}, "progress": False}
    report = attnx.evaluate(task, f"{model}:checkpoint={saved('encoder')}", **asked)
    assert report.select("entropy").mean > 0


def test_a_projection_that_a_classifier_cannot_use_is_refused(planted: Path, saved: Any) -> None:
    with pytest.raises(UsageError, match="projection"):
        evaluate(planted, f"hf-classifier:checkpoint={saved('classifier')}", projection="sparsemax")


@pytest.mark.parametrize(
    ("script", "kind", "more"),
    [
        ("08_own_classifier.py", "classifier", []),
        ("09_own_language_model.py", "language-model", ["no+yes"]),
    ],
)
def test_the_example_for_a_checkpoint_of_ones_own_runs(
    script: str,
    kind: str,
    more: list[str],
    planted: Path,
    saved: Any,
    tmp_path: Path,
    monkeypatch: Any,
    capsys: Any,
) -> None:
    path = Path(__file__).parents[3] / "examples" / script
    few = tmp_path / "few.csv"
    few.write_text("".join(planted.read_text().splitlines(keepends=True)[:61]))
    monkeypatch.setattr(sys, "argv", [str(path), str(saved(kind)), str(few), *more])
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 6
    assert not any("nan" in line for line in printed)


@pytest.mark.parametrize("arguments", [["info", "hf"], ["list"], ["evaluate", "--model", "hf:chekpoint=x"]])
def test_transformers_is_not_imported_to_answer(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom attnx.cli.app import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'torch', 'transformers'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=1200
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_trained_instance_is_measured_as_its_checkpoint_is(saved: Any, tmp_path: Path) -> None:
    rows = [f"{text},{label}" for text, label in zip(SENTENCES * 2, ("no", "yes") * 6, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    task = f"csv:test={tmp_path / 'a.csv'}"
    options = HfClassifierOptions(checkpoint=str(saved("classifier")))
    made = HfClassifier(data(), options)
    quiet: Any = {"metrics": "none", "progress": False}
    by_name = attnx.evaluate(
        task, f"hf-classifier:checkpoint={saved('classifier')}", training={"epochs": 0}, **quiet
    )
    assert attnx.evaluate(task, made, **quiet).quality[0].accuracy == by_name.quality[0].accuracy
