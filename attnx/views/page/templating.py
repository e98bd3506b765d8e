"""The templates of pages with their filters, one stylesheet and one script."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...escaping import printable
from ...results.formatting import format_number
from ...results.judgement.family_wording import STATUS_IN_WORDS, row_in_words, sees_in_words
from ...results.judgement.headings import HEADINGS
from ...results.judgement.wording import GRADE_WORDS, grade_in_words, percent
from ..palette import css_variables, tone
from .direction import isolated, isolated_within

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from ...results.judgement.records import Verdict

TEMPLATES: Final = Path(__file__).parent / "templates"
STYLES: Final = ("page.css", "tables.css", "examples.css", "scores.css", "answer.css")
MARKS: Final = {"supported": "↑", "contradicted": "↓", "chance": "≈", "unknown": "?"}
GRADE_MARKS: Final = {
    "misleading": "✗",
    "random": "✗",
    "weak": "◔",
    "partial": "◑",
    "good": "◕",
    "strong": "●",
    "unknown": "?",
}


def render(template: str, **context: Any) -> str:
    """A template with its context; every text in it is escaped."""
    return _environment().get_template(template).render(**context)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "number": format_number,
        "words": row_in_words,
        "sentence": lambda text: isolated_within(text[:1].upper() + text[1:]),
        "text": isolated_within,
        "bdi": isolated,
        "question": _question,
        "grade": grade_in_words,
        "percent": percent,
        "sees": sees_in_words,
        "tone": tone,
    }
    environment.globals |= {
        "status": STATUS_IN_WORDS,
        "marks": MARKS,
        "grades": GRADE_WORDS,
        "grade_marks": GRADE_MARKS,
        "style": Markup(css_variables() + "".join(map(_file, STYLES))),
        "cell_style": Markup(css_variables() + _file("scores.css") + _file("cell.css")),
        "script": Markup(_file("browser.js")),
        "answer_style": Markup(_file("answer.css")),
        "answer_script": Markup(_file("answer.js")),
    }
    return environment


def _question(verdict: Verdict, unit: str) -> Markup:
    from markupsafe import Markup

    question = Markup(HEADINGS[verdict.heading])
    return question.format(explanation=isolated(verdict.explanation), units=f"{unit}s")


def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _finalize(value: Any) -> Any:
    """Control characters of a text made visible; what is markup is ours."""
    return printable(value, lines=True) if type(value) is str else value
