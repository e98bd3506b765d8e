"""Reports as a Python user meets them."""

from importlib.metadata import version

import pytest

import attnx

SMALL = {"task": "sdc-text:train=60,dev=30,test=40", "training": {"epochs": 1}, "progress": False}


@pytest.fixture(scope="module")
def report():
    return attnx.evaluate(**SMALL, metrics="kendall", references=["gradient", "loo"])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return attnx.study("uniform-attention", **SMALL, seeds="0-1", out=tmp_path_factory.mktemp("studies"))


def test_the_version_is_that_of_the_distribution():
    assert attnx.__version__ == version("attnx")


def test_one_name_is_a_list_of_one(report):
    assert [metric.name for metric in report.spec.metrics] == ["kendall"]


def test_a_number_of_seeds_is_refused_with_both_readings():
    with pytest.raises(attnx.UsageError, match=r"range\(3\) for 3 seeds, or \[3\]"):
        attnx.evaluate(**SMALL, seeds=3)


def test_an_interval_is_two_numbers_that_print_as_in_tables(report):
    row = report.select("tau", reference="loo")
    assert row.interval == (row.low, row.high)
    assert row.interval.low <= row.mean <= row.interval.high
    assert str(row.interval) in row.shown


def test_selecting_nothing_or_too_much_lists_what_there_is(report):
    with pytest.raises(KeyError) as refused:
        report.select("tau")
    assert str(refused.value) == (
        "No summaries of 'tau' for these arguments; choose one of: "
        "select('tau', metric='kendall', explanation='attention', reference='gradient'); "
        "select('tau', metric='kendall', explanation='attention', reference='loo'); "
        "select('tau', metric='kendall', explanation='gradient', reference='loo')"
    )
    with pytest.raises(KeyError, match="'ceiling', metric='kendall'"):
        report.select("no-such-measure", reference="loo")


def test_reprs_are_short(report, study):
    assert repr(report) == str(report)
    assert report.fingerprint in repr(report)
    assert len(repr(report)) < 250
    assert repr(study).startswith("<StudyReport uniform-attention: sdc-text")
    assert len(repr(study)) < 250


def test_a_study_has_the_surface_of_a_report(report, study):
    assert attnx.StudyReport.from_json(study.to_json()) == study
    assert len(study.to_frame()) == len(study.findings)
    assert "| gap | accuracy |" in study.to_markdown()
    finding = study.select("gap", "accuracy")
    assert finding.interval == (finding.low, finding.high)
    methods = {name for name in dir(report) if name.startswith("to_")}
    assert methods <= {name for name in dir(study) if name.startswith("to_")}


def test_a_report_that_was_not_stored_has_no_name_in_markdown(report):
    assert f"\nRun `{report.fingerprint}`. Projection softmax" in report.to_markdown()
    assert "\nProjection softmax" in report.model_copy(update={"fingerprint": ""}).to_markdown()
