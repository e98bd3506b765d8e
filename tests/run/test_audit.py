"""The audit from names to a report, on one small case; and verdicts where the answer is known."""

from __future__ import annotations

from typing import Any

import pytest

import attnx
from attnx.api.audit import audit_metrics
from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.views.terminal.audit import print_audit
from attnx.views.terminal.tables import screen

TASKS = ("sdc-text", "planted-pronouns", "planted-distractors")
SMALL = "sdc-text:train=500,dev=100,test=100"


@pytest.fixture(scope="module")
def report() -> attnx.AuditReport:
    catalog = Catalog.installed()
    cases = catalog.registry.audit_cases
    assert cases is not None
    vars(catalog)["registry"] = catalog.registry.model_copy(
        update={"audit_cases": cases.model_copy(update={"models": ("cnn-small",)})}
    )
    metrics = ["comprehensiveness", "plausibility", "adversarial-attention", "entropy", "eraser"]
    return audit_metrics(metrics, catalog, tasks=[SMALL], seeds=(0, 1))


def test_models_are_verified_to_use_the_deciding_words(report: attnx.AuditReport) -> None:
    assert [(m.kind, m.seed) for m in report.verification] == [
        ("honest", 0), ("deceived", 0), ("honest", 1), ("deceived", 1)
    ]  # fmt: skip
    for model in report.verification:
        assert model.verified
        assert model.without_deciding < 0.65 < 0.9 < model.without_others
        assert (model.attention_on_deciding > 0.3) == (model.kind == "honest")


def test_deleting_units_prefers_no_wrong_explanation(report: attnx.AuditReport) -> None:
    rows = {row.metric: row for row in report.rows if row.headline}
    erasure, people, model = (rows[n] for n in ("comprehensiveness", "plausibility", "adversarial-attention"))
    assert erasure.inversions == people.inversions == 0
    assert erasure.comparisons == 2 * 22
    assert erasure.degradation < -0.8
    assert (erasure.deceived.noticed, model.reads, model.comparisons) == (2, "models", 2)
    assert rows["eraser"].comparisons <= 22  # over trainings, not in each
    assert report.silent == ("entropy",)


def test_the_audit_is_readable_in_100_columns(
    report: attnx.AuditReport, capsys: pytest.CaptureFixture[str]
) -> None:
    console = screen()
    console.width = 100
    print_audit(report, console)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("comprehensiveness") and "0 of 44" in line for line in lines)
    assert any("sdc-text" in line and "cnn-small" in line for line in lines)
    assert any(line.endswith("verified 2 of 2") for line in lines)


def test_a_report_of_an_audit_survives_json(report: attnx.AuditReport) -> None:
    assert attnx.AuditReport.model_validate_json(report.to_json()) == report


def test_a_task_whose_deciding_units_are_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="needs known important units"):
        attnx.audit("comprehensiveness", tasks="planted-pronouns:labels=permuted", progress=False)


def test_what_is_not_there_is_refused_before_any_training(cli: Any) -> None:
    code, out, err = cli("audit", "comprehensivenes")
    assert (code, out) == (2, "")
    assert "Did you mean 'comprehensiveness'?" in err
    code, _, err = cli("audit", "--task", "planted-pronoun")
    assert code == 2
    assert "Did you mean 'planted-pronouns'?" in err


def verdicts(
    task: str, sizes: str, *, deception: float = 0.0, chance: bool = False, **asked: Any
) -> dict[str, str]:
    """What three trainings say of attention and of random scores."""
    labels = ",labels=permuted" if chance else ""
    found = attnx.evaluate(
        f"{task}:{sizes}{labels}",
        "cnn-small",
        explanations=["attention", "random:seed=1"],
        training={"deception": deception},
        seeds=(0, 1, 2),
        progress=False,
        **asked,
    )
    return {v.explanation: v.grade for v in found.verdicts if v.heading == "faithfulness"}


def test_the_verdict_tells_honest_attention_from_deceived_on_a_planted_task() -> None:
    asked = {"sizes": "train=400,dev=60,test=80", "metrics": ["faithfulness"]}
    honest = verdicts("sdc-text", **asked)
    assert honest["attention"] in ("good", "strong")
    assert honest["random:seed=1"] == "random"
    assert verdicts("sdc-text", deception=1.0, **asked)["attention"] == "misleading"


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_verdicts_where_the_answer_is_known(task: str) -> None:
    """3 seeds, 600 test examples, honest, deceived and useless models."""
    asked: dict[str, Any] = {"sizes": "train=800,dev=200,test=600", "metrics": ["faithfulness"]}
    honest, deceived = verdicts(task, **asked), verdicts(task, deception=1.0, **asked)
    assert honest["attention"] in ("good", "strong")
    assert deceived["attention"] == "misleading"
    assert {honest["random:seed=1"], deceived["random:seed=1"]} == {"random"}
    assert verdicts(task, chance=True, **asked) == {"attention": "unknown", "random:seed=1": "unknown"}


@pytest.mark.slow
def test_the_audit_of_the_registry_is_what_an_audit_finds() -> None:
    """Erasure, which headings follow, on all cases: no inversion, as registry.yaml says."""
    known = Catalog.installed().registry.audit
    found = attnx.audit(["comprehensiveness", "sufficiency"], progress=False)
    assert {name: (n, of) for name, n, of in found.by_metric()} == {
        name: (known[name].inversions, known[name].comparisons)
        for name in ("comprehensiveness", "sufficiency")
    }
