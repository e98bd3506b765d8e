"""What all results offer under the same names, and the page that describes their fields."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

import attnx
from attnx.request.cell_choices import CellChoices
from attnx.results.audit import AuditedModel, AuditReport, AuditRow, Noticed
from attnx.results.caution import CautionKind
from attnx.results.judgement.cautions import few_seeds
from attnx.results.planting.report import (
    PlantedExample,
    PlantedReport,
    PlantedTrigger,
    Recovery,
    TriggerCheck,
)
from attnx.results.provenance import Record
from attnx.results.reproduction import ClaimFound, ColumnShown, Compared, Measured, Reproduction
from attnx.results.result import SCHEMA, Result
from attnx.results.sweep import SweepReport, rows_of

METHODS = ("to_json", "to_frame", "to_text", "to_markdown", "to_html", "figures", "save", "schema")
SMALL = {"task": "sdc-text:train=60,dev=30,test=40", "training": {"epochs": 1}, "progress": False}
DOCS = Path(__file__).parents[2] / "docs" / "report.md"


def audit():
    noticed = Noticed(of=3, noticed=2, fooled=1)
    row = AuditRow(
        metric="kendall:variant=c", name="kendall", measure="tau", family="agreement", reference="loo",
        headline=True, reads="explanations", comparisons=30, inversions=2, correct=25, degradation=-0.9,
        monotone=1, courses=3, deceived=noticed, randomised=noticed,
    )  # fmt: skip
    model = AuditedModel(
        task="planted-pronouns", model="bilstm-add", kind="honest", seed=0, accuracy=0.95,
        without_deciding=0.5, without_others=0.94, attention_on_deciding=0.6, verified=True,
    )  # fmt: skip
    return AuditReport(
        tasks=("planted-pronouns",), models=("bilstm-add",), seeds=(0,), examples=40,
        ladder=(("oracle",), ("random",)), course=("oracle", "random"), verification=(model,), rows=(row,),
        silent=("nnz",), environment={}, seconds=1.0,
    )  # fmt: skip


def planted():
    check = TriggerCheck(
        trigger=0, seed=0, texts=40, own_accuracy=0.75, followed=1.0, swapped=0.95, without=0.25,
        alone=(0.3, 0.4), counted=25, verified=True,
    )  # fmt: skip
    row = Recovery(
        explanation="integrated-gradients", found=0.96, low=0.9, high=1.0, average_precision=0.98,
        average_precision_low=0.95, average_precision_high=1.0, texts=25, share=0.8, share_low=0.7,
        share_high=0.9, grades=("strong",),
    )  # fmt: skip
    example = PlantedExample(
        id="row-1", trigger=0, seed=0, units=("a", "<b>", "x | y"), marked=(1, 2), label="yes",
        own_label="no", scores={"integrated-gradients": (0.1, -0.5, None)},
        found={"integrated-gradients": True},
    )  # fmt: skip
    words = {"no": ("zebra", "le|mon"), "yes": ("<b>", "piano")}
    return PlantedReport(
        task="csv:file=a|b.csv", model="bilstm-add", kind="paired", share=0.3, seeds=(0,),
        triggers=(PlantedTrigger(number=0, words=words, said="planted"),), checks=(check,), chance=0.02,
        rows=(row,), examples=(example,), data={}, plugins=(), environment={},
        warnings=few_seeds(1), seconds=1.0,
    )  # fmt: skip


def reproduction():
    value = Measured(
        row="one", column="accuracy", mean=0.75, low=0.7, high=0.8, seeds=(0.75,), cells=1, published=0.8
    )
    compared = Compared(what="one − 0.5", difference=0.25, low=0.2, high=0.3, status="open")
    return Reproduction(
        experiment="table-1", summary="A table.", source="Paper, Table 1", size="standard",
        command="attnx reproduce table-1", date="2026-01-31", seeds=(0,), data={"csv:file=a:b": "9 test"},
        training={}, columns=(ColumnShown(name="accuracy", digits=2, given=False),), rows=("one",),
        values=(value,), left_out=(), ours=(), runs=(), seconds=1.0,
        claims=(
            ClaimFound(
                says="more than half", status="open", compared=(compared,), missing=0,
                reason="one seed", next_step="at least three seeds",
            ),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One result of every kind, by the name of its class."""
    report = attnx.evaluate(**SMALL, explanations=["attention", "gradient"], metrics=["kendall", "nnz"])
    study = attnx.study("uniform-attention", **SMALL, out=tmp_path_factory.mktemp("studies"))
    asked = CellChoices(task=report.spec.task, model=report.spec.model)
    sweep = SweepReport(rows=tuple(rows_of(report, asked)), refused=(), failed=(), seconds=1.0, workers=0)
    run = attnx.load(report.fingerprint)
    explained = run.explain("a <b> man | woman", metrics="comprehensiveness", target="all")
    several = run.explain(["a <b> man | woman", "a | b"], metrics="comprehensiveness")
    found = [report, study, sweep, attnx.compare(report), reproduction(), audit(), explained, several]
    found.append(planted())
    return {type(result).__name__: result for result in found}


KINDS = (
    "Report", "StudyReport", "SweepReport", "Comparison", "Reproduction", "AuditReport", "Explanation",
    "Explanations", "PlantedReport",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_has_the_same_methods(results, kind, tmp_path):
    result = results[kind]
    assert isinstance(result, Result)
    assert not [name for name in METHODS if not callable(getattr(result, name))]
    assert type(result).from_json(result.to_json()) == result
    assert json.loads(result.to_json())["schema"] == SCHEMA
    assert set(type(result).schema()["properties"]) == set(json.loads(result.to_json()))
    assert len(result.to_frame()) == len(result.records()) > 0
    assert len(repr(result)) < 300
    assert str(result) == repr(result)
    text = result.to_text(width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert result.to_html().startswith("<!doctype html>")
    assert result._repr_html_()
    place = result.save(tmp_path / "a" / "folder")
    written = {path.name for path in place.iterdir()}
    stem = type(result).file_stem
    figures = {f"{figure.name}.svg" for figure in result.figures()}
    assert written == {f"{stem}.json", f"{stem}.md", f"{stem}.html", *figures}
    assert (place / f"{stem}.md").read_text(encoding="utf-8") == result.to_markdown()


def test_rows_in_markdown_have_as_many_cells_as_their_head(results):
    """Texts with pipes and tags in them do not break a table."""
    for result in results.values():
        for table in re.findall(r"(?:^\|.*\n)+", result.to_markdown(), re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(counts) == 1, table


def test_a_study_is_drawn_with_a_figure_for_every_measure_of_several_settings(results):
    figures = results["StudyReport"].figures()
    assert "uniform-attention-accuracy" in {figure.name for figure in figures}


def test_a_claim_that_is_open_is_called_inconclusive_with_the_reason():
    found = reproduction()
    said = "more than half: inconclusive (one seed; would decide it: at least three seeds)"
    assert said in " ".join(found.to_text().split())
    assert "- **inconclusive**: more than half." in found.to_markdown()
    assert "csv:file=a:b: 9 test" in found.to_text()


def records():
    """Every record that a result is made of, by name."""
    found, waiting = {}, list(Result.__subclasses__())
    while waiting:
        record = waiting.pop()
        if record.__name__ in found or not record.__module__.startswith("attnx.results"):
            continue
        found[record.__name__] = record
        for field in record.model_fields.values():
            names = re.findall(r"attnx\.results\.\w+\.(\w+)", repr(field.annotation))
            waiting += [one for one in _subclasses(Record) if one.__name__ in names]
    return found


def _subclasses(of):
    for one in of.__subclasses__():
        yield one
        yield from _subclasses(one)


def test_the_page_of_results_describes_exactly_the_fields_there_are():
    page = DOCS.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    found = records()
    assert len(found) > 30
    for name, record in found.items():
        rows = re.findall(r"^\| (`.*?) \|", sections[name], re.MULTILINE)
        described = [field for row in rows for field in re.findall(r"`(\w+)`", row)]
        fields = [field.alias or key for key, field in record.model_fields.items()]
        assert sorted(described) == sorted(fields), name
    kinds = set(re.findall(r"`([a-z-]+)`", sections["Caution"])) - {"kind", "about", "text"}
    assert kinds == set(get_args(CautionKind))
