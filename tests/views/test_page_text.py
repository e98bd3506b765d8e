"""Text on pages: its direction, the terms it uses, and the marks and colours that stand for numbers."""

import pytest

from attnx.results.explanation import Explanation
from attnx.results.report import Summary
from attnx.views.page.direction import is_right_to_left, isolated, isolated_within
from attnx.views.page.glossary import terms_of
from attnx.views.page.strips import Scale, strip_of
from attnx.views.score_colours import ON_DARK, ON_LIGHT, css_variables, on_white


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["12", "(", "שלום", "film"], True),
        (["سيئ"], True),
        (["film", "שלום"], False),
        (["12", "!?"], False),
        ([], False),
        (["中", "שלום"], False),
    ],
)
def test_the_first_letter_decides_the_direction_of_a_text(words, expected):
    assert is_right_to_left(words) is expected


def test_every_right_to_left_passage_of_a_sentence_is_isolated_and_nothing_else():
    text = isolated_within("always predicting 'לא טוב' (0.7) <b> & 'كلمة'")
    assert text == (
        "always predicting &#39;<bdi>לא טוב</bdi>&#39; (0.7) &lt;b&gt; &amp; &#39;<bdi>كلمة</bdi>&#39;"
    )
    assert isolated_within("plain words\n2 lines") == "plain words\n2 lines"


def test_a_name_cannot_leave_its_isolation():
    assert isolated("</bdi>\u202eevil\u2069") == "<bdi>&lt;/bdi&gt;\\u202eevil\\u2069</bdi>"


def test_a_terminal_has_the_hues_of_a_page():
    assert on_white(0) == "#ffffff"
    for share, hue in ((1, ON_LIGHT.above), (-1, ON_LIGHT.below)):
        mixed = [round(255 + (part - 255) * ON_LIGHT.strongest) for part in hue]
        assert on_white(share) == "#{:02x}{:02x}{:02x}".format(*mixed)
    style = css_variables()
    light, dark = style.split("@media")
    for part, colours in ((light, ON_LIGHT), (dark, ON_DARK)):
        assert f"--above: {' '.join(map(str, colours.above))};" in part
        assert f"--below: {' '.join(map(str, colours.below))};" in part


def test_a_report_explains_the_terms_it_uses_and_no_others(full_report):
    terms = {term.name: term.meaning for term in terms_of(full_report)}
    assert {"random baseline", "interval", "comprehensiveness", "AOPC", "Kendall's τ (tau)"} <= set(terms)
    assert "sufficiency" not in terms
    assert "rationale" not in terms
    assert "training runs" in terms["interval"]
    assert all("word" in terms[name] for name in ("comprehensiveness", "leave-one-out (loo)"))


def test_a_baseline_without_a_value_does_not_change_the_mark_of_the_next(full_report):
    row = next(s for s in full_report.summaries if s.mean is not None)
    assert isinstance(row, Summary)
    row = row.model_copy(update={"mean": 0.5, "baselines": {"uniform": 1.0, "random": None}})
    strip = strip_of(row, Scale(0, 1))
    assert strip.marks == (("random", None), ("uniform", 96.0))


def test_the_cell_of_a_notebook_has_no_ids_and_styles_nothing_outside_itself():
    shown = Explanation(
        title="t", id="", units=("a",), query=None, label=None, seed=0, predicted="p",
        probabilities={"p": 1.0}, scores={"attention": (0.5,)}, left_out=(),
    )._repr_html_()  # fmt: skip
    assert " id=" not in shown
    style = shown.partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if "{" in line and not line.startswith(("/*", "@"))]
    assert rules
    assert all(rule.strip().startswith(".attnx") for rule in rules)
