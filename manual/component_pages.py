"""One reference page per kind of component, made from cards, source and registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from attnx.components import ComponentInfo, ExperimentInfo, NamedModelInfo, OptionInfo
from attnx.host.cards import CAPABILITIES, Component
from attnx.host.catalog import Catalog
from attnx.request.plan import Part
from attnx.request.spec import Options
from attnx.views.components import PLURALS, about

# The title of a page, and what a reader finds there.
PAGES = {
    "metrics": ("Metrics", "What is measured of an explanation. `--metric NAME`, or `metrics=` in Python."),
    "importances": (
        "Methods",
        "Importance methods: a score for every word or other unit. `--explanation NAME` tests one, and "
        "`--reference NAME` compares with one.",
    ),
    "tasks": ("Tasks", "Labelled examples. `--task NAME`."),
    "models": ("Models", "Classifiers, and compositions of them with a name. `--model NAME`."),
    "projections": (
        "Projections",
        "Functions that turn scores into attention weights. `--projection NAME`.",
    ),
    "studies": ("Studies", "Questions that take several trained models to answer. `attnx study NAME`."),
}
ARROWS = {"up": "higher is better", "down": "lower is better", "none": "neither way is better"}


def component_pages(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The path and the text of every page."""
    for plural, (title, intro) in PAGES.items():
        components = [one for one in catalog.of_kind(PLURALS[plural]) if one.distribution == "attnx"]
        entries = [(component, _info(catalog, component)) for component in components]
        lines = [f"# {title}", "", f"{intro} This page is made from the code.", ""]
        lines += _table(
            ["name", "what it does"], [[f"[{c.name}](#{c.name})", text(info.summary)] for c, info in entries]
        )
        for component, info in entries:
            lines += ["", *_section(component, info)]
        if plural == "models":
            lines += ["", *_named_models(catalog)]
        yield f"reference/{plural}.md", "\n".join(lines) + "\n"
    yield "reference/experiments.md", "\n".join(_experiments(catalog)) + "\n"


def _info(catalog: Catalog, component: Component) -> ComponentInfo:
    return next(
        found
        for found in about(catalog, component.name)
        if isinstance(found, ComponentInfo) and found.kind == component.kind
    )


def _section(component: Component, info: ComponentInfo) -> Iterator[str]:
    yield f"## {info.name} {{ #{info.name} }}"
    yield ""
    yield text(info.summary)
    yield ""
    yield from _definition(info.definition)
    facts = [*_facts(component, info)]
    if facts:
        yield from _table(["", ""], [[f"**{name}**", value] for name, value in facts])
        yield ""
    if info.options:
        yield from _table(
            ["option", "value", "meaning"],
            [[f"`{one.name}`", _value(one), text(one.description)] for one in info.options],
        )


def _definition(docstring: str) -> Iterator[str]:
    """The rest of a docstring: paragraphs, and what is laid out by hand as it is."""
    for paragraph in filter(None, docstring.split("\n\n")):
        if "\n " in paragraph or paragraph.startswith(" "):
            yield from ["```text", *paragraph.split("\n"), "```", ""]
        else:
            yield from [text(" ".join(paragraph.split())), ""]


def _facts(component: Component, info: ComponentInfo) -> Iterator[tuple[str, str]]:
    if component.kind in ("metric", "importance"):
        yield from _declared(component)
    if info.needs:
        yield "needs", _words(info.needs)
    if info.provides:
        yield "provides", _words(info.provides)
    if info.recommends:
        yield "usually with", ", ".join(f"`{name}`" for name in info.recommends)
    if info.dataset:
        yield "data", text("; or ".join(info.sources) or "local files only")
        yield "local files", f"`{info.dataset}/` in `--data-dir`: {text(info.local_files)}"
    if info.audit:
        wrong = f"{info.audit.inversions} of {info.audit.comparisons}"
        yield "in the audit", f"preferred the wrong explanation in {wrong} [comparisons](../audit.md)"
    if info.citation:
        yield "source", text(info.citation)


def _declared(component: Component) -> Iterator[tuple[str, str]]:
    """What a metric or method declares: ranges, cost, what it looks at."""
    made = _made(component)
    if component.kind == "metric":
        shown = [measure for measure in made.measures if measure.shown]
        yield (
            "range",
            "; ".join(
                f"{text(one.name)} [{', '.join(map(_number, one.bounds))}], {ARROWS[one.direction]}"
                for one in shown
            ),
        )
        yield "family", made.family
        yield "looks at", made.sees
    yield "cost", _passes(made.passes)
    if component.kind == "importance":
        yield "signs", "yes: a negative score speaks against the class" if made.signed else "none"
        yield (
            "the explained class",
            {
                "ignored": "makes no difference",
                "read": "is read",
                "linear": "is read; scores are linear in its output",
            }[made.target_use],
        )


def _made(component: Component) -> Any:
    """The component with its usual options; the class itself if a user must give some."""
    options = component.load_options() or Options
    if any(field.is_required() for field in options.model_fields.values()):
        return component.load()
    return Part(component.kind, component.name, options(), (), (), component).make()


def _passes(passes: Any) -> str:
    if passes == "units":
        return "one pass through the model for each unit"
    if not isinstance(passes, int | float):
        return "depends on its options"
    if passes == 0:
        return "no further pass through the model"
    return f"about {_number(passes)} pass{'' if passes == 1 else 'es'} through the model"


def _named_models(catalog: Catalog) -> Iterator[str]:
    yield "## Named models"
    yield ""
    yield "A model with options and training settings, under a name of its own."
    yield ""
    rows = []
    for name in sorted(catalog.registry.models):
        info = next(one for one in about(catalog, name) if isinstance(one, NamedModelInfo))
        options = ", ".join(f"{key}={value}" for key, value in info.options.items())
        rows.append([f"`{name}`", text(info.summary), f"`{info.model}`", text(options), text(info.citation)])
    yield from _table(["name", "what it is", "model", "options", "source"], rows)


def _experiments(catalog: Catalog) -> Iterator[str]:
    yield "# Experiments"
    yield ""
    yield (
        "Tables and figures of papers that one command repeats: `attnx reproduce NAME`. This page is made "
        "from the registry; [reproduced](../reproduced.md) has what came out."
    )
    yield ""
    found = []
    for name in sorted(catalog.registry.experiments):
        found.append(next(one for one in about(catalog, name) if isinstance(one, ExperimentInfo)))
    yield from _table(
        ["name", "what it repeats", "source", "claims"],
        [[f"`{one.name}`", text(one.summary), text(one.source), str(len(one.claims))] for one in found],
    )


def _value(option: OptionInfo) -> str:
    kind = text(option.type)
    if option.required:
        return f"{kind}, required"
    if option.default in (None, ""):
        return kind
    several = isinstance(option.default, tuple)
    return f"{kind}, default `{'+'.join(map(str, option.default)) if several else option.default}`"


def _words(names: Sequence[str]) -> str:
    return "; ".join(f"`{name}` ({CAPABILITIES.get(name, 'of its plugin')})" for name in names)


def _number(value: float) -> str:
    return {float("inf"): "∞", float("-inf"): "−∞"}.get(value, f"{value:g}".replace("-", "−"))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    line: Callable[[Sequence[str]], str] = lambda cells: f"| {' | '.join(cells)} |"  # noqa: E731
    return [line(head), line(["---"] * len(head)), *map(line, rows)]


def text(words: str) -> str:
    """Words that are not Markdown, safe in a paragraph and in a cell."""
    one_line = " ".join(words.split())
    return (
        re.sub(r"([\\*_\[\]<>|])", r"\\\1", one_line) if "`" not in one_line else one_line.replace("|", "\\|")
    )
