"""Text that is not ours is shown as it is, wherever it goes."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from attnx.escaping import latex, markdown, printable, script_json


def test_a_terminal_gets_no_control_characters():
    assert printable("a\x1b[31mb\r\x07\u202e\ud800") == r"a\x1b[31mb\r\x07\u202e\ud800"
    assert printable("a\nb\t", lines=True) == "a\nb\\t"
    assert printable("é ↑ 中 🎬") == "é ↑ 中 🎬"


@given(st.text())
def test_printable_text_is_one_line_that_can_be_encoded(text):
    shown = printable(text)
    shown.encode("utf-8")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", shown)
    assert len(shown.splitlines()) <= 1


def test_markdown_gets_no_markup_no_tag_and_no_row():
    assert markdown("<script>|x|\n*b* [a](b)") == r"&lt;script&gt;\|x\|\\n\*b\* \[a\](b)"


def test_latex_gets_no_command():
    assert latex(r"\input{x} 5% a_b $ ~ ^ #") == (
        r"\textbackslash{}input\{x\} 5\% a\_b \$ \textasciitilde{} \textasciicircum{} \#"
    )


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_json_in_a_script_reads_back_and_cannot_end_it(value):
    text = script_json(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value
