"""What a class declares is read from its source as Python would find it, and nothing is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnx.errors import PluginError
from attnx.host.cards import KINDS, Card, Component, Kind
from attnx.host.catalog import Catalog
from attnx.host.sources import _OPENING

Install = Callable[..., Path]


def component(target: str, kind: Kind = "metric") -> Component:
    return Component(Card("it", target), kind, "own", "attnx-own", "1.2")


WAYS = {
    "a tuple": "needs = ('a', 'b')",
    "nothing": "pass",
    "an annotation": "needs: ClassVar[tuple[str, ...]] = ('a',)",
    "an annotation alone": "needs: ClassVar[tuple[str, ...]]",
    "what it inherits": "pass\nclass It(Parent): 'Doc.'",
    "more than it inherits": "needs = ('c',)\nclass It(Parent):\n    needs = (*Parent.needs, 'd')",
    "a constant": "needs = WORDS",
    "a constant of a neighbour": "needs = (*neighbour.WORDS, 'c', *FAR)",
    "a constant of two names": "needs = FIRST",
    "a parent next door": "pass\nclass It(neighbour.Near): 'Doc.'",
    "a parent next door that was imported there": "pass\nclass It(Again): 'Doc.'",
    "a parent with a parameter": "pass\nclass It(Of[int]): 'Doc.'",
    "the nearer of two parents": "pass\nclass It(Left, Right): 'Doc.'",
    "a protocol": "pass\nclass It(attnx.plugin.Model): 'Doc.'",
    "a protocol's parent": "pass\nclass It(SplitMetric): 'Doc.'",
    "a parent of torch's": "needs = ('a',)\nclass It(nn.Module, Parent): 'Doc.'",
    "a later word": "needs = ('a',)\n    needs = ('b',)",
    "a condition": "pass\nif True:\n    class It:\n        needs = ('a',)",
}
MODULE = """
from typing import ClassVar, Generic, TypeVar
import attnx
from attnx.plugin import SplitMetric
from torch import nn
from . import neighbour
from .neighbour import FAR, Again

WORDS = ("x", "y")
FIRST = SECOND = ("z",)
T = TypeVar("T")

class Parent:
    needs = ("p",)
    provides = ["q"]

class Of(Generic[T]):
    needs = ("o",)

class Left(Parent):
    pass

class Right(Parent):
    needs = ("r",)

class It:
    "Doc."
    {}
"""
NEIGHBOUR = """
from .inner.further import WORDS as FAR, Further as Again
WORDS = ("n",)
class Near(Again):
    "Near."
"""
FURTHER = "WORDS = ('f',)\nclass Further:\n    needs = WORDS\n    provides = ('far',)\n"


def write(package: Path, body: str) -> None:
    (package / "it.py").write_text(body)
    (package / "neighbour.py").write_text(NEIGHBOUR)
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("1 / 0\n")  # nobody imports it to look inside
    (package / "inner" / "further.py").write_text(FURTHER)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_read_is_what_the_class_has(way: str, install: Install) -> None:
    package = install("own", "")
    write(package, MODULE.format(WAYS[way]))
    found = component("own_plugin.it:It")
    read = found.needs, found.provides
    assert "own_plugin.it" not in sys.modules
    (package / "inner" / "__init__.py").write_text("")
    loaded = import_module("own_plugin.it").It
    assert read == (tuple(getattr(loaded, "needs", ())), tuple(getattr(loaded, "provides", ())))


UNREADABLE = {
    "needs = tuple('ab')": "13",
    "needs = ('a',) if WORDS else ()": "13",
    "needs = NOWHERE": "13",
    "needs = WORDS[:1]": "13",
    "needs = (*'ab',)": "13",
    "needs, provides = (), ()": "13",
    "needs = ('a',)\n    needs += ('b',)": "14",
    "@property\n    def needs(self): return ()": "14",
    "pass\nclass It(make()): pass": "14",
    "pass\nclass It(Starred): pass": "14",
}


@pytest.mark.parametrize("body", UNREADABLE)
def test_what_only_running_would_tell_is_refused_with_its_place(body: str, install: Install) -> None:
    package = install("own", "")
    text = "\n" * 8 + f"WORDS = ('w',)\nfrom .more import *\n\nclass It:\n    {body}\n"
    (package / "it.py").write_text(text)
    with pytest.raises(PluginError) as refused:
        _ = component("own_plugin.it:It").needs
    said = str(refused.value)
    assert said.startswith(
        "The metric 'it' of plugin own (attnx-own 1.2): 'needs' of 'own_plugin.it:It' cannot"
    )
    assert f"({package}/it.py:{UNREADABLE[body]})" in said


def test_a_class_says_its_own_whatever_its_base(install: Install) -> None:
    install("own", "", it="class It(make()):\n    needs = ('a',)\n")
    assert component("own_plugin.it:It").needs == ("a",)


def test_names_that_mean_each_other_are_refused(install: Install) -> None:
    install("own", "", it="from .at import X\nclass It:\n    needs = X\n", at="from .it import X\n")
    with pytest.raises(PluginError, match=r"'needs' of 'own_plugin.it:It' is defined in terms of itself"):
        _ = component("own_plugin.it:It").needs


@pytest.mark.parametrize("value", ["'attention'", "(1, 2)", "None"])
def test_a_declaration_of_another_type_is_refused(value: str, install: Install) -> None:
    install("own", "", it=f"class It:\n    needs = {value}\n    dataset = ('imdb',)\n")
    found = component("own_plugin.it:It", "task")
    with pytest.raises(
        PluginError, match=r"'dataset' of 'own_plugin.it:It' must be a string, not \('imdb',\)"
    ):
        _ = found.dataset
    if value != "None":
        with pytest.raises(
            PluginError, match=r"'needs' of 'own_plugin.it:It' must be a tuple of strings, not"
        ):
            _ = found.needs


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        ('"a", "none", (0, 1.5)', (("a", "none", (0, 1.5)),)),
        ('"a", "other", "none", (0, 1)', ()),
        ('"a", "none", (0, "1")', ()),
        ('"a", "none", 1', ()),
        ('1, "none", (0, 1)', ()),
    ],
)
def test_only_measures_of_the_right_types_are_shown(measure: str, shown: object, install: Install) -> None:
    install("own", "", it=f"class It:\n    measures = (Measure({measure}),)\n")
    assert component("own_plugin.it:It").measures() == shown


def test_a_class_that_is_made_and_not_written_is_imported(install: Install) -> None:
    install("own", "", it="It = type('It', (), {'needs': ('made',)})\n")
    assert component("own_plugin.it:It").needs == ("made",)


def test_a_run_is_not_refused_for_a_component_that_nobody_asked_for(install: Install) -> None:
    """The list of what would work leaves out what cannot be read."""
    from attnx.request.parsing import read_request
    from attnx.request.resolve import resolve

    hook = "@hookimpl\ndef attnx_tasks():\n    return [Card('lost', 'nowhere:Lost')]\n"
    install("own", hook)
    asked = {"task": "imdb", "model": "bilstm-add", "metrics": "focus"}
    with pytest.raises(Exception, match=r"needs known important units .* These do: .*sdc-digits"):
        resolve(read_request(asked, None), Catalog.installed())


# The first line.

LINES = {
    '    """Says it."""': "Says it.",
    '    """Says it.\n\n    And more.\n    """': "Says it.",
    '    """ Says it. """': "Says it.",
    '    """\n    Says it.\n    """': "Says it.",
    "    'Says it.'": "Says it.",
    '    r"""Says \\it."""': "Says \\it.",
    '    """Says \\"it\\"."""': 'Says "it".',
    '    # a comment\n    """Says it."""': "Says it.",
    '    word = 1\n    """Says nothing."""': "",
    "    pass": "",
}
HEADERS = {"one": "class It:", "two": "class It(\n    object,\n):", "six": "class It:  # it"}


@pytest.mark.parametrize("body", LINES)
def test_the_summary_is_the_first_line_of_the_docstring(body: str, install: Install) -> None:
    for name, header in HEADERS.items():
        install(name, "", it=f'"""A module."""\n\n\nclass Other:\n    """Another."""\n\n\n{header}\n{body}\n')
        assert component(f"{name}_plugin.it:It").summary == LINES[body]


def test_a_class_is_found_where_it_was_imported_from(install: Install) -> None:
    install("own", "from .it import It\n", it='class It:\n    """Says it."""\n    needs = ("a",)\n')
    found = component("own_plugin:It")
    assert (found.summary, found.needs) == ("Says it.", ("a",))


@given(st.text(st.characters(exclude_categories=["C"]), max_size=40))
def test_any_docstring_is_read_as_python_reads_it(said: str) -> None:
    source, scope = f'class It:\n    """{said}"""\n', dict[str, type]()
    try:
        exec(source, scope)
    except SyntaxError:  # no docstring at all
        return
    scanned = dict(_OPENING.findall(source)).get("It", "").strip()
    assert scanned in ("", (scope["It"].__doc__ or "").strip().partition("\n")[0].strip())


# What is installed.


def test_a_declaration_costs_no_import_of_its_class() -> None:
    before = set(sys.modules)
    for kind in KINDS:
        for found in Catalog.installed().of_kind(kind):
            assert found.summary
            assert all(isinstance(word, str) for word in (*found.needs, *found.provides, found.dataset))
    imported = set(sys.modules) - before
    assert {name for name in imported if name.startswith("attnx_") and "." in name} == set()
