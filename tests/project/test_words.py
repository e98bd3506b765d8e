"""Plain English: words that readers stumbled over stay out, and terms are explained where they first appear.

Covers what a user can read: docstrings and strings of the core and the built-in plugins, templates, README,
docs, the registry, and the real output of commands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import attnx

Cli = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).parents[2]
CODE = [*sorted((ROOT / "attnx").rglob("*.py")), *sorted((ROOT / "plugins").rglob("*.py"))]
TEMPLATES = sorted(
    path for path in (ROOT / "attnx/views/page/templates").iterdir() if path.suffix in {".html", ".js"}
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# A pattern, and what to write instead.
BANNED = {
    r"\bdear\b": "expensive",
    r"\banew\b": "again",
    r"\bhangs? on\b": "depends on",
    r"\btold\b(?! apart)": "reported, shown; or name who says what",
    r"\btells? of\b": "reports, shows",
    r"\bspeaks? of\b": "is about, covers",
    r"\bsays of\b": "reports about",
    r"(?<!here )\b(?:is|are) no (?!longer|more|better|worse)": "is not a",
    r"\bas --[a-z]": "e.g. --option",
    r"\bforetells?\b": "estimates",
    r"\bbe had\b": "be obtained",
    r"\btrainings\b": "training runs",
    r"\b(?:he|him|his|himself)\b": "they, you",
    r"\bcrew\b": "workers",
    r"\bworkshop\b": "trained models",
    r"\bblamed?\b": "names, attributes",
    r"(?<!`)\bbeside\b": "next to, compared with, in addition to",
    r"\buntold\b": "not noticed",
    r"\b(?:whence|thence|thither|thereof|hereof|herein)\b": "an ordinary word",
    r"\bas good as none\b": "not used",
    r"\bmeans one thing\b": "takes one value",
    r"\bmachine refused\b": "Cannot access",
}

# Where a banned word is right: the file, the pattern and the reason.
EXCEPTIONS = {
    (
        "plugins/attnx_audit/pronouns.py",
        r"\b(?:he|him|his|himself)\b",
    ): "the pronouns are what the task plants",
    ("plugins/attnx_sdc/text.py", r"\b(?:he|him|his|himself)\b"): "words of generated texts",
}

# Files that are still to be rewritten; their tests may fail. Remove a line when its files pass.

# Words that belong to a term, one of which must stand near its first use on a page.
EXPLAINED = {
    r"\bAOPC\b": r"average|mean",
    r"\bKendall's (?:tau|τ)": r"rank",
    r"\b[Ll]eave-one-out\b": r"without|delet|remov",
    r"\b[Cc]omprehensiveness\b": r"delet|remov|without",
    r"\b[Ss]ufficiency\b": r"\bonly\b|\balone\b|\bkeep",
    r"\brandom baselines?\b": r"random scores",
    r"\b[Pp]rojections?\b": r"scores? .{0,30}weights",
    r"\b[Rr]ationales?\b": r"mark|known|annotat",
}
AFTER, BEFORE = 260, 100  # characters around the first use in which the explanation must stand


@dataclass(frozen=True)
class Text:
    """A piece of text that a user can read, and where it is written."""

    path: str
    line: int
    words: str


def written_in(path: Path) -> Iterator[Text]:
    """The strings of a Python file, or the whole of another."""
    name, content = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield Text(name, 1, content)
        return
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Text(name, node.lineno, node.value)


def stumbles(text: Text) -> Iterator[str]:
    """Each banned word of a text as one line: the place, the words and what to write."""
    for pattern, better in BANNED.items():
        if (text.path, pattern) in EXCEPTIONS:
            continue
        for found in re.finditer(pattern, text.words, re.IGNORECASE):
            line = text.line + text.words.count("\n", 0, found.start())
            around = text.words[max(0, found.start() - 30) : found.end() + 30].replace("\n", " ")
            yield f"{text.path}:{line}: '{around}': write {better}"


def cases(paths: list[Path]) -> list[object]:
    """One test per file."""
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@pytest.mark.parametrize("path", cases([*CODE, *TEMPLATES, *PAGES, ROOT / "registry.yaml"]))
def test_no_banned_word(path: Path) -> None:
    assert [one for text in written_in(path) for one in stumbles(text)] == []


def test_every_exception_is_needed() -> None:
    for (path, pattern), reason in EXCEPTIONS.items():
        assert reason
        assert any(re.search(pattern, text.words, re.IGNORECASE) for text in written_in(ROOT / path))


@pytest.mark.parametrize(
    "words",
    ["the dear tests", "computed anew", "This is no run.", "seeds, as --seeds 0-2", "a user and his data"],
)
def test_the_scan_finds_what_it_looks_for(words: str) -> None:
    assert len(list(stumbles(Text("a page", 1, words)))) == 1


@pytest.mark.parametrize("words", ["There is no file 'a'.", "it is no longer used", "the same, as above"])
def test_the_scan_leaves_ordinary_sentences_alone(words: str) -> None:
    assert list(stumbles(Text("a page", 1, words))) == []


COMMANDS = (
    "--help",
    *(f"{name} --help" for name in ("evaluate", "explain", "compare", "view", "export", "sweep", "study")),
    *(
        f"{name} --help"
        for name in (
            "reproduce",
            "audit",
            "planted",
            "list",
            "info",
            "plugins",
            "check",
            "new",
            "runs",
            "data",
        )
    ),
    "list",
    "plugins",
    "data list",
    "reproduce --list",
    "runs",
    "runs show no-such-run",
    "info no-such-name",
    "evaluate --seeds x",
    "evaluate --seeds 0 --seeds 1",
    "evaluate --task sst --metric focus",
    "evaluate --task sdc-2d:train=20,dev=20,test=20 --train epochs=1",
    "data fetch no-such-data",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_banned_word_is_printed(command: str, cli: Cli, home: Path) -> None:
    code, out, err = cli(*command.split())
    assert code in (0, 2, 4)
    assert out or err
    assert [one for words in (out, err) for one in stumbles(Text(f"attnx {command}", 1, words))] == []


def prose(markdown: str) -> str:
    """A page without code, where names of components are not terms."""
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL))


def unexplained(page: str) -> list[str]:
    """The terms of a page whose first use has none of the words that explain it nearby."""
    missing = []
    for term, explanation in EXPLAINED.items():
        first = re.search(term, page)
        if first is None:
            continue
        near = page[max(0, first.start() - BEFORE) : first.start()] + page[first.end() : first.end() + AFTER]
        if not re.search(explanation, near.replace("\n", " ")):
            missing.append(f"{first[0]}: {near}")
    return missing


# `attnx reproduce` writes reproduced.md; results.md, which leads to it, explains its terms.
@pytest.mark.parametrize("path", cases([path for path in PAGES if path.name != "reproduced.md"]))
def test_a_page_explains_its_terms_where_they_first_appear(path: Path) -> None:
    assert unexplained(prose(path.read_text(encoding="utf-8"))) == []


def test_the_report_page_explains_its_terms() -> None:
    report = attnx.evaluate(
        "sdc-text:train=40,dev=20,test=20",
        explanations=["attention"],
        references=["loo"],
        metrics=["comprehensiveness", "sufficiency", "kendall"],
        training={"epochs": 1},
        progress=False,
    )
    page = re.sub(r"<(script|style).*?</\1>", "", report.to_html(), flags=re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    for term in (r"\brandom baseline\b", r"\bcomprehensiveness\b", r"\bsufficiency\b", r"\bleave-one-out\b"):
        explanation = next(
            meaning for name, meaning in EXPLAINED.items() if re.search(name, term.strip(r"\b"))
        )
        near = [words[found.start() : found.end() + AFTER] for found in re.finditer(term, words)]
        assert near, f"the page does not use {term}"
        assert any(re.search(explanation, text) for text in near), f"the page does not explain {term}"


def test_an_unexplained_term_is_found() -> None:
    assert unexplained("We report Kendall's τ of attention.")
    assert unexplained("Kendall's τ (agreement of two rankings, from −1 to 1) of attention.") == []
