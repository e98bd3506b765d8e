"""The ruler of explanations in a terminal."""

from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from attnx.results.judgement.wording import GRADE_WORDS
from attnx.views.terminal.ruler import print_ruler


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("grade", GRADE_WORDS)
def test_the_grade_is_printed_whole_at_any_usual_width(columns: int, grade: str) -> None:
    ranked = SimpleNamespace(
        explanation="attention-x-gradient", share=-0.19, low=-0.24, high=-0.13, grade=grade, recommended=False
    )
    screen = StringIO()
    print_ruler([ranked], Console(file=screen, width=columns))
    _, line = screen.getvalue().splitlines()
    assert line.endswith(GRADE_WORDS[grade])
    assert len(line) <= columns
