"""Published values are shown for the findings they belong to, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from attnx.errors import PluginError
from attnx.host.catalog import Catalog
from attnx.plugin import Finding, Source
from attnx.progress import Progress
from attnx.registry.experiments import Claim, Experiment
from attnx.registry.schema import parse_registry
from attnx.request.resolve import find_part, resolve
from attnx.request.spec import Choice, RunSpec
from attnx.run.lab import Lab
from attnx.store.weights import Weights
from attnx_retraining.adversarial_model import AdversarialModel


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.installed()


def lab_of(catalog: Catalog, task: str = "sst", **fields: Any) -> Lab:
    asked = RunSpec.model_validate({"task": task, "model": "bilstm-add", **fields})
    part = find_part(catalog, "study", Choice.parse("adversarial-model"))
    plan = resolve(asked, catalog)
    return Lab(asked, plan, part, catalog, torch.device("cpu"), Source(), Weights(), Progress())


def published(
    catalog: Catalog, experiment: str, column: str, *others: str, task: str = "sst", **fields: Any
) -> float | None:
    lab = lab_of(catalog, task, **fields)
    settings = [lab.variant(model=other) for other in others]
    nothing = Finding("setting", "measure", "none", np.zeros((1, 1)))
    found = lab.with_published(nothing, experiment, column, settings)
    assert (found.published is None) == (found.source == "")
    assert found.published == lab.published(experiment, column, settings)
    return found.published


def test_the_old_name_of_with_published_works_with_a_warning(catalog: Catalog) -> None:
    lab = lab_of(catalog, "20news")
    nothing = Finding("setting", "measure", "none", np.zeros((1, 1)))
    with pytest.warns(DeprecationWarning, match="`beside` of Lab is now `with_published`") as seen:
        found = lab.beside(nothing, "meister-table-3", "accuracy")
    assert seen[0].filename == __file__
    assert found.published == 0.91


def test_published_values_are_shown_for_the_same_task_and_model(catalog: Catalog) -> None:
    assert published(catalog, "meister-table-3", "accuracy", task="20news") == 0.91
    assert published(catalog, "meister-table-2", "entropy of gradient") == -0.866
    sparse = published(catalog, "meister-table-2", "entropy of gradient", projection="sparsemax")
    assert sparse == -0.866  # the sweep sets its own
    assert published(catalog, "meister-table-2", "entropy of gradient", task="sst:files=jw") == -0.866
    assert published(catalog, "wen-table-2", "fixed attention", task="20news") == 1.32
    assert published(catalog, "wen-table-2", "fixed representation") == -0.02
    assert published(catalog, "wen-table-3", "tvd") == 0.072  # 0.036 of half our TVD


def test_a_value_of_several_models_is_shown_for_each_of_them_and_no_others(catalog: Catalog) -> None:
    gains = [catalog, "wen-table-5", "share that gains"]
    assert published(*gains, "bilstm-dot", "mlp-dot") == pytest.approx(19 / 21)
    assert published(*gains, "bilstm-add") == pytest.approx(20 / 21)
    assert published(*gains, "bilstm-add", "bilstm-dot") is None
    assert published(*gains, "average-dot") is None
    assert published(*gains, "bilstm-dot", task="rotten-tomatoes") is None


@pytest.mark.parametrize(
    "other",
    [
        {"task": "rotten-tomatoes"},
        {"task": "20news:groups=space+med"},
        {"model": "bilstm-dot"},
        {"model": "cnn-add"},
        {"model": "bilstm-add:hidden=2"},
        {"projection": "sparsemax"},
    ],
)
def test_no_published_value_is_shown_for_another_task_model_or_projection(
    catalog: Catalog, other: dict[str, str]
) -> None:
    assert published(catalog, "wen-table-2", "fixed attention", **other) is None
    assert published(catalog, "meister-table-3", "accuracy", **other) is None
    assert published(catalog, "wen-table-3", "accuracy", **other) is None


@pytest.mark.parametrize("name", Catalog.installed().registry.experiments)
def test_every_experiment_names_what_there_is(catalog: Catalog, name: str) -> None:
    """Tasks, models, projections, studies and metrics of the grid resolve, and claims hold as published."""
    experiment = catalog.registry.experiments[name]
    for row in experiment.rows.values():
        for study in experiment.study:
            find_part(catalog, "study", Choice.parse(experiment.filled(study, row)))
        for task, model in product(experiment.tasks(row), row.model or (None,)):
            asked = {"task": task, "model": model, "projection": row.projection or None}
            grid = {"metrics": experiment.metrics, "references": experiment.references}
            if experiment.explanations:
                grid["explanations"] = experiment.explanations
            resolve(RunSpec.model_validate({**asked, **grid, "training": row.training}), catalog)
    if any(row.published for row in experiment.rows.values()):
        for claim in experiment.claims:
            published = (experiment.value(row, claim.column) for row in experiment.rows.values())
            drawn = claim.column and all(value is None for value in published)  # a figure, without numbers
            assert drawn or holds(experiment, claim), claim.says


def holds(experiment: Experiment, claim: Claim) -> bool:
    """Whether the paper's own values are as it says."""

    def values(column: str, names: Iterable[str] = ()) -> list[float]:
        rows = [experiment.rows[name] for name in names or claim.rows or experiment.rows]
        return [found for row in rows if (found := experiment.value(row, column)) is not None]

    if claim.higher:
        return min(values(claim.column, claim.higher)) > max(values(claim.column, claim.than))
    if claim.greater:
        rows = [experiment.rows[name] for name in claim.rows or experiment.rows]
        pairs = ([experiment.value(row, column) for column in claim.greater] for row in rows)
        return all(a > b for a, b in pairs if a is not None and b is not None)
    if claim.above is not None:
        return min(values(claim.column)) > claim.above
    return claim.below is not None and max(values(claim.column)) < claim.below


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{says: No., column: c}", "one of above, below, greater and higher"),
        ("{says: No., column: c, above: 0, below: 1}", "one of above, below, greater and higher"),
        ("{says: No., above: 0}", "a claim needs a column"),
        ("{says: No., column: d, above: 0}", "'d' is not a column of the experiment"),
        ("{says: No., column: c, higher: [r], than: [s]}", "'s' is not a row of the experiment"),
        ("{says: No., column: c, higher: [r]}", "higher and than belong together"),
        ("{says: No., column: c, rows: [s], above: 0}", "'s' is not a row of the experiment"),
    ],
)
def test_a_claim_that_says_nothing_is_refused(claim: str, message: str) -> None:
    table = (
        f"{{summary: A., source: B, columns: {{c: {{measure: m}}}}, rows: {{r: {{}}}}, claims: [{claim}]}}"
    )
    with pytest.raises(PluginError, match=message):
        parse_registry(f"schema: 1\nexperiments: {{t: {table}}}", "here")


def test_a_setting_that_the_paper_does_not_give_is_chosen_by_row(catalog: Catalog) -> None:
    table = catalog.registry.experiments["meister-table-5"]
    found = {
        name: table.filled(table.columns["unfrozen jsd"].setting, row) for name, row in table.rows.items()
    }
    assert found["sst bilstm-add"] == "unfrozen, λ = 0.01"
    assert found["imdb bilstm-add"] == "unfrozen, λ = 0.001"
    assert table.filled(table.study[1], table.rows["imdb bilstm-add"]).count("divergences=0.001,") == 1
    assert table.value(table.rows["sst bilstm-add"], "lambda") is None  # nothing is shown as published


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{chosen: {c: 1}}", "'c' can be chosen only in a given column"),
        ("{chosen: {l: 1}, published: {l: 2}}", "'l' can be chosen only in a given column"),
        ("{chosen: {d: 1}}", "'d' is not a column of the experiment"),
    ],
)
def test_a_result_and_a_published_setting_cannot_be_chosen(row: str, message: str) -> None:
    columns = "{c: {measure: m}, l: {measure: n, given: true}}"
    table = f"{{summary: A., source: B, columns: {columns}, rows: {{r: {row}}}}}"
    with pytest.raises(PluginError, match=message):
        parse_registry(f"schema: 1\nexperiments: {{t: {table}}}", "here")


def test_values_of_wen_are_shown_only_at_their_lambda_on_our_scale(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Theirs is 5.25e-4 with a TVD of half of ours for two classes: .036 is .072 here."""
    asked = RunSpec.model_validate({"task": "sst", "model": "bilstm-add"})
    part = find_part(catalog, "study", Choice.parse("adversarial-model"))
    lab = Lab(
        asked, resolve(asked, catalog), part, catalog, torch.device("cpu"), Source(), Weights(), Progress()
    )
    rows = [Finding("", measure, "none", np.zeros((1, 1))) for measure in ("jsd", "tvd", "accuracy")]
    monkeypatch.setattr(
        AdversarialModel, "_compared", lambda _, __, name, *___: [replace(row, setting=name) for row in rows]
    )
    monkeypatch.setattr("attnx_retraining.adversarial_model._on_dev", lambda *_: (0.0, 0.0))
    made = dict.fromkeys(("frozen", "unfrozen"), lambda *_: None)
    monkeypatch.setattr("attnx_retraining.adversarial_model.KINDS", made)
    found = {
        (finding.setting, finding.measure): finding.published
        for options in ("", ":distance=jsd", ":divergences=0.000525")
        for kind in ("frozen", "unfrozen")
        for study in [find_part(catalog, "study", Choice.parse(f"adversarial-model{options}")).make()]
        for finding in study._swept(lab, kind, [None])
        if finding.published is not None or not options
    }
    assert {key: value for key, value in found.items() if value is not None} == {
        ("unfrozen, λ = 0.00105", "jsd"): 0.316,
        ("unfrozen, λ = 0.00105", "tvd"): 0.072,
        ("unfrozen, λ = 0.00105", "accuracy"): 0.82,
    }
    assert ("unfrozen, λ = 0.01", "tvd") in found
