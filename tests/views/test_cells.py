"""What a notebook shows of results and their parts: short, self-contained, and nothing of it executed."""

import re

import pytest
from views.test_every_page import audit, comparison, explain, planted, reproduction, study, sweep

from attnx.results.examples import Examples
from attnx.results.judgement.records import Ranking


@pytest.fixture(scope="module")
def cells(judged_report):
    parts = {
        "report": judged_report,
        "verdict": judged_report.verdicts[0],
        "ranking": Ranking(judged_report.ranking),
        "examples": judged_report.examples(),
        "comparison": comparison(),
        "sweep": sweep(),
        "study": study(judged_report),
        "reproduction": reproduction(),
        "audit": audit(),
        "planted": planted(),
        "explanation": explain(),
    }
    return {name: part._repr_html_() for name, part in parts.items()}


def test_every_cell_is_self_contained_and_changes_nothing_around_it(cells):
    for name, text in cells.items():
        assert text.count('<div class="attnx cell">') == 1, name
        assert "<script" not in text, name
        assert not re.search(r"url\(|@import|href=|src=", text), name
        style = re.search("<style>(.*?)</style>", text, re.DOTALL)[1]
        rules = re.sub(r"/\*.*?\*/|@media [^{]*\{", "", style, flags=re.DOTALL)
        selectors = {one.strip() for rule in re.findall(r"([^{}]+)\{", rules) for one in rule.split(",")}
        assert all(one.startswith(".attnx") for one in selectors if one), name


def test_cells_say_the_answer_with_its_number(cells, judged_report):
    assert "How faithful are attention and input-x-gradient?" in cells["report"]
    assert "Use loo: 97 %." in cells["report"]
    assert str(judged_report.summaries[0].interval) in cells["report"]
    assert "Weak, 21 % [11 %, 23 %]" in cells["verdict"]
    assert "97 %" in cells["ranking"]
    assert "(use this)" in cells["ranking"]
    assert "1 of 2 measures differ significantly." in cells["comparison"]
    assert "falls from 0.930 to 0.400" in cells["explanation"]
    assert isinstance(judged_report.examples(), Examples)
    assert cells["examples"].count('class="units"') == 6  # three examples by two methods


def test_a_verdict_does_not_name_the_kind_of_unit_and_a_study_asks_its_question(judged_report, cells):
    readable = judged_report.verdicts[0].model_copy(update={"heading": "interpretability"})
    assert "point at the marked parts?" in readable._repr_html_()
    assert "How much accuracy is lost when the model is trained with uniform attention" in cells["study"]


def test_a_planted_trigger_is_a_table_next_to_random_scores(cells):
    assert "Which explanations find what the model is known to use?" in cells["planted"]
    assert "attention 40 %; random scores 2 %." in cells["planted"]
    assert "(random scores)" in cells["planted"]
    assert "the model does not use the planted trigger" in planted(used=False)._repr_html_()


def test_the_ranking_of_a_report_that_is_read_back_is_a_ruler(judged_report):
    again = type(judged_report).from_json(judged_report.to_json())
    assert again.ranking == judged_report.ranking
    assert again.ranking._repr_html_() == Ranking(judged_report.ranking)._repr_html_()


def test_cells_are_readable_in_light_and_dark(open_file, findings, cells, tmp_path):
    page = tmp_path / "cells.html"
    body = "\n".join(f"<h2>{name}</h2>{text}" for name, text in cells.items() if name != "explanation")
    page.write_text(f"<html lang=en><title>t</title><main><h1>cells</h1>{body}</main>", encoding="utf-8")
    for scheme in ("light", "dark"):
        found = findings(open_file(page, scheme=scheme))
        assert not {"color-contrast", "nested-interactive", "aria-hidden-focus"} & found.keys(), found
