"""A page describes the components of the catalog it is given, and loads no plugins by itself."""

import pytest

import attnx
from attnx.api.evaluate import evaluate_spec
from attnx.host.catalog import Catalog
from attnx.request.spec import RunSpec
from attnx.store.runs import PAGE

SPEC = {"task": "sdc-text:train=60,dev=30,test=40", "training": {"epochs": 1}, "metrics": ["kendall"]}
FORMULA = "τ_b = (P − Q)"  # of kendall, from its documentation


@pytest.fixture
def no_loading(monkeypatch):
    """Fails the test that loads plugins a second time."""
    catalog = Catalog.installed()

    def refuse(*_):
        raise AssertionError("plugins are loaded again")

    monkeypatch.setattr(Catalog, "installed", refuse)
    return catalog


def test_a_run_is_stored_with_the_catalog_that_it_was_resolved_with(no_loading, tmp_path):
    outcome = evaluate_spec(RunSpec.model_validate(SPEC), no_loading, out=tmp_path)
    assert FORMULA in (outcome.folder / PAGE).read_text(encoding="utf-8")


def test_a_plugin_that_is_switched_off_is_not_on_the_page(tmp_path):
    outcome = evaluate_spec(RunSpec.model_validate(SPEC), Catalog.installed(), out=tmp_path)
    without = outcome.report.to_html(Catalog.installed(("agreement",)))
    assert FORMULA not in without
    assert FORMULA in outcome.report.to_html()


def test_view_rebuilds_a_page_without_the_plugins_that_are_switched_off(cli, tmp_path):
    attnx.evaluate(**SPEC, out=tmp_path, progress=False)
    (page,) = tmp_path.glob(f"*/{PAGE}")
    page.unlink()
    code, out, _ = cli("--without", "agreement", "view", page.parent.name, "--out", str(tmp_path))
    assert (code, out.strip()) == (0, str(page))
    assert FORMULA not in page.read_text(encoding="utf-8")
