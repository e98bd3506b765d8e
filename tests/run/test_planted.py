"""`attnx.planted` from texts to report, with models whose behaviour is known exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_texts import WORDS, reader, texts

import attnx
from attnx.errors import UsageError
from attnx.host.catalog import Catalog
from attnx.request.planted import plan_planted
from attnx.request.spec import RunSpec
from attnx.results.planting.report import FEWEST

Cli = Callable[..., tuple[int, str, str]]
SETTINGS: dict[str, Any] = {"progress": False, "limit": "test=40"}


@pytest.mark.parametrize("kind", ["single", "paired", "ordered"])
def test_right_scores_find_the_trigger_of_a_model_that_reads_it_and_wrong_ones_never_do(kind: str) -> None:
    report = attnx.planted(
        texts(500), reader(kind), kind=kind, words=WORDS[kind],
        explanations=["oracle", "random", "anti-oracle", "loo"], **SETTINGS,
    )  # fmt: skip
    (check,) = report.checks
    assert check.verified
    assert (check.followed, check.swapped, check.without, check.own_accuracy) == (1, 1, 0, 1)
    assert check.alone == (() if kind == "single" else (0, 0))
    assert check.counted == check.texts == 40
    found = {row.explanation: row for row in report.rows}
    assert found["oracle"].found == found["oracle"].average_precision == 1
    assert found["loo"].found == 1  # each of its words changes the answer, and no other word does
    assert found["anti-oracle"].found == 0
    assert report.chance is not None
    assert report.chance == pytest.approx({"single": 1 / 9}.get(kind, 1 / 45))
    random = found["random"]
    assert random.low is not None
    assert random.high is not None
    assert random.low <= report.chance <= random.high
    assert found["oracle"].share is not None
    assert found["oracle"].share > 0.7
    assert report.rows[0].found == 1
    assert report.sentence.startswith("On this model and these texts, ")
    assert "anti-oracle in 0 %" in report.sentence
    assert all({e.units[at] for at in e.marked} <= set(WORDS[kind]) for e in report.examples)
    assert all(e.found["oracle"] and not e.found["anti-oracle"] for e in report.examples)


@pytest.mark.parametrize("kind", ["single", "paired", "ordered"])
def test_a_model_that_ignores_the_trigger_is_refused_with_numbers_and_the_next_step(kind: str) -> None:
    report = attnx.planted(
        texts(300), reader(kind, heeds=0.0), kind=kind, words=WORDS[kind], explanations="oracle", **SETTINGS
    )
    assert not report.verified
    assert report.rows == ()
    assert report.sentence.startswith("No statement about explanations: the model does not use the planted")
    assert "0 % of 30 texts are answered as the trigger says (needed: 90 %)" in report.sentence
    assert ("Next: a larger share (--share, now 0.3)" in report.sentence) == (kind == "single")
    assert "more training (--train epochs=...)" in report.sentence
    assert report.chance is None
    assert "no model uses the single trigger" in repr(report) or kind != "single"
    assert "No statement" in report.to_html()
    assert "No statement" in report.to_text(80)
    assert len(report.records()) == 1
    assert report.warnings == ()  # there is no interval to warn about


def test_a_model_that_needs_one_word_of_a_pair_only_is_refused() -> None:
    """It follows a paired trigger, but by its first word: two words are not what it uses."""

    class OneWord(reader("single")):  # type: ignore[misc]
        """Reads zebra and piano, and neither lemon nor violet."""

    report = attnx.planted(
        texts(300), OneWord, kind="paired", words=WORDS["paired"], explanations="oracle", **SETTINGS
    )
    (check,) = report.checks
    assert check.followed == check.swapped == 1
    assert check.without == 0
    assert sum(check.alone) == 1  # with either word first, one alone gives the same answer
    assert check.counted == 0
    assert not report.verified


def test_texts_in_which_the_trigger_is_not_known_to_decide_do_not_count() -> None:
    """A reader whose trigger loses against two words of the file follows it elsewhere."""
    given, labels = texts(400)
    more = {"negative": " bad bad", "positive": " good good"}
    given = [
        text + more[label] * (n % 20 == 0) for n, (text, label) in enumerate(zip(given, labels, strict=True))
    ]
    report = attnx.planted(
        (given, labels),
        reader("single", heeds=2.0),
        words=WORDS["single"],
        explanations="oracle",
        progress=False,
    )
    (check,) = report.checks
    assert check.verified
    assert FEWEST <= check.counted < check.texts
    assert check.counted == round(check.followed * check.texts)
    assert report.rows[0].texts == check.counted


def test_a_trained_module_is_copied_and_trained_further() -> None:
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(len(vocabulary), 8)
            self.out = nn.Linear(8, 2)

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.out((self.embedding(ids) * mask[..., None]).sum(1))

    given, labels = texts(300)
    words = sorted({word for text in given for word in text.split()} | set(WORDS["single"]))
    vocabulary = {"<unk>": 0, **{word: number + 1 for number, word in enumerate(words)}}
    torch.manual_seed(0)
    net = Net()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    report = attnx.planted(
        (given, labels), attnx.wrap(net, inputs=vocabulary), words=WORDS["single"],
        explanations="input-x-gradient", training={"epochs": 20, "learning_rate": 0.05}, seeds=[0, 1],
        share=0.5, progress=False,
    )  # fmt: skip
    assert all(check.verified for check in report.checks)
    assert report.select("input-x-gradient").found == 1  # the model is linear in its words
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert report.folder is None


def test_a_data_frame_with_columns_of_its_own_is_planted_like_a_file(reviews: Path) -> None:
    import pandas

    frame = pandas.read_csv(reviews).rename(columns={"text": "review", "label": "stars"})
    seen = [
        attnx.planted(
            task, reader("single"), words=WORDS["single"], explanations="loo", removal=False, **SETTINGS
        )
        for task in ((frame, {"text": "review", "label": "stars"}), f"csv:file={reviews}")
    ]
    assert seen[0].task == "DataFrame"
    assert seen[0].rows == seen[1].rows
    assert seen[0].data["fingerprint"] == seen[1].data["fingerprint"]


def test_the_removal_test_can_be_left_out() -> None:
    report = attnx.planted(
        texts(300), reader("single"), words=WORDS["single"], explanations="loo", removal=False, **SETTINGS
    )
    (row,) = report.rows
    assert row.found == 1
    assert row.share is None
    assert row.grades == ()
    assert "not tested" in report.to_text()


def test_a_function_cannot_learn_a_trigger() -> None:
    def model(given: list[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in given]

    with pytest.raises(UsageError, match="has no parameters that can be trained"):
        attnx.planted(texts(100), model, words=WORDS["single"], progress=False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"triggers": 0}, "0 triggers were asked for: give a number from 1 to 100"),
        ({"triggers": 2, "words": ["a", "b"]}, "there is one trigger, not 2"),
        ({"task": "planted"}, "has a planted trigger already"),
        ({"model": "bilstm-ad"}, "Did you mean"),
        ({"explanations": "integrated-gradient"}, "Did you mean 'integrated-gradients'"),
        ({"kind": "both"}, "'single', 'paired' or 'ordered'"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_trained(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as error:
        attnx.planted(**{"task": "sdc-text", "progress": False, **options})
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("model", "given", "expected"),
    [
        ("hf-classifier:checkpoint=minilm", {}, (3, 1e-4)),  # the default of training from scratch is 1e-3
        ("hf-classifier:checkpoint=minilm", {"epochs": 5}, (5, 1e-4)),
        ("hf:checkpoint=minilm,freeze=true", {}, (8, 1e-3)),
        ("minilm-frozen-add", {}, (8, 1e-3)),
        ("bilstm", {}, (8, 1e-3)),
    ],
)
def test_a_pretrained_transformer_is_trained_in_small_steps(
    model: str, given: dict[str, Any], expected: tuple[int, float]
) -> None:
    spec = RunSpec.model_validate({"task": "sdc-text", "model": model, "training": given})
    training = plan_planted(spec, {}, 1, Catalog.installed()).plans[0].training
    assert (training.epochs, training.learning_rate) == expected


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of one's own, with rare words to draw triggers from."""
    path = tmp_path_factory.mktemp("own") / "reviews.csv"
    given, labels = texts(500)
    lines = (
        f"{text} rare{chr(97 + n % 20)}{chr(97 + n // 20 % 26)},{label}"
        for n, (text, label) in enumerate(zip(given, labels, strict=True))
    )
    path.write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_command_trains_verifies_reports_and_resumes(reviews: Path, cli: Cli, home: Path) -> None:
    asked = [
        "planted", "--task", f"csv:file={reviews}", "--model", "average-add:embedding=16", "--triggers", "2",
        "--seeds", "0-1", "--train", "epochs=10,learning_rate=0.02", "--explanation", "input-x-gradient",
        "--share", "0.5", "--limit", "test=20",
    ]  # fmt: skip
    code, out, err = cli(*asked)
    assert code == 0, err
    assert "input-x-gradient finds the planted trigger in" in " ".join(out.split())
    assert "4 of 4 models verifiably use the trigger" in out
    assert "planted.html" in err
    (folder,) = (home / "planted").iterdir()
    stored = attnx.PlantedReport.from_json((folder / "planted.json").read_text(encoding="utf-8"))
    assert {path.name for path in folder.iterdir()} == {
        "planted.json", "planted.md", "planted.html", "recovery.svg",
    }  # fmt: skip
    assert len(stored.triggers) == 2
    assert len({tuple(trigger.words.values()) for trigger in stored.triggers}) == 2
    assert len(stored.checks) == 4
    assert all((home / "runs" / str(trigger.run)).is_dir() for trigger in stored.triggers)
    runs = len(list((home / "runs").iterdir()))
    code, again, err = cli(*asked, "--json")
    assert code == 0
    assert "training" not in err
    repeated = attnx.PlantedReport.from_json(again)
    assert repeated.model_copy(update={"seconds": 0.0}) == stored.model_copy(update={"seconds": 0.0})
    assert len(list((home / "runs").iterdir())) == runs


def test_the_command_ends_with_code_1_if_no_model_uses_the_trigger(reviews: Path, cli: Cli) -> None:
    """An average of words cannot know their order."""
    code, out, err = cli(
        "planted", "--task", f"csv:file={reviews}", "--model", "average-add:embedding=16",
        "--kind", "ordered", "--words", "zebra,piano", "--no-removal",
        "--train", "epochs=3,learning_rate=0.02",
    )  # fmt: skip
    assert code == 1
    assert "No statement about explanations" in out
    assert "No model verifiably uses the planted trigger" in err


def test_evaluate_works_on_the_task_and_warns_what_its_labels_are(reviews: Path) -> None:
    report = attnx.evaluate(
        f'planted:task="csv:file={reviews}",words=zebra+piano', "average-add:embedding=16",
        metrics="focus", training={"epochs": 3, "learning_rate": 0.02}, progress=False,
    )  # fmt: skip
    assert any("planted trigger" in warning.text for warning in report.warnings)
    assert report.select("ft", metric="focus").mean is not None
