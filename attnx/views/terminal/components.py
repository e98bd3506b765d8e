"""Plain-text pages about components and plugins, none wider than 100 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...host.cards import CAPABILITIES
from ..components import (
    ComponentInfo,
    ExperimentInfo,
    ListedName,
    NamedModelInfo,
    OptionInfo,
    PluginInfo,
)

WIDEST = 100


def listing(found: Iterable[ListedName], section: str | None = None) -> str:
    """Names and summaries of one section, such as tasks, or of all."""
    texts = [
        "\n".join([title, *columns([(one.name, one.summary) for one in names])])
        for title, names in groupby(found, key=lambda one: one.section)
    ]
    return "\n\n".join(texts) or f"No {section} are installed."


def describe(found: Iterable[ComponentInfo | NamedModelInfo | ExperimentInfo]) -> str:
    """Everything known about a name."""
    return "\n\n".join(map(_page, found))


def _page(found: ComponentInfo | NamedModelInfo | ExperimentInfo) -> str:
    body = _component_lines(found) if isinstance(found, ComponentInfo) else columns(_rows(found))
    return "\n".join([f"{found.name} ({found.kind})", *_wrap(found.summary), "", *body])


def _component_lines(found: ComponentInfo) -> list[str]:
    lines = []
    for paragraph in filter(None, found.definition.split("\n\n")):
        drawn = "\n " in paragraph  # laid out by hand: a formula, a list
        lines += [*(paragraph.split("\n") if drawn else _wrap(" ".join(paragraph.split()))), ""]
    rows = [("provided by", found.plugin)]
    rows += [("needs", _capabilities(found.needs))] if found.needs else []
    rows += [("provides", _capabilities(found.provides))] if found.provides else []
    rows += [("usually with", ", ".join(found.recommends))] if found.recommends else []
    if found.dataset:
        rows.append(("data", "; or ".join(found.sources) or "local files only"))
        rows.append(("local files", f"{found.dataset}/ in --data-dir or ATTNX_DATA: {found.local_files}"))
    if found.audit:
        wrong = f"{found.audit.inversions} of {found.audit.comparisons} comparisons"
        rows.append(("in the audit", f"preferred the wrong explanation in {wrong}"))
    rows += [(f"measure {measure.name}", measure.in_words) for measure in found.measures]
    rows += [("costs", found.cost)] if found.cost else []
    rows += [("cannot tell", found.cannot)] if found.cannot else []
    rows += [("citation", found.citation)] if found.citation else []
    lines += columns(rows)
    if found.options:
        first = found.options[0].name
        lines += ["", f"options, e.g. {found.name}:{first}=value", *columns(_option_rows(found.options))]
    written = next((option.name for option in found.options if option.type in ("path", "text")), "")
    if written:
        said = f"A value with a comma must be in double quotes: '{found.name}:{written}=\"a,b\"'."
        lines += ["", *_wrap(said)]
    return lines


def _option_rows(options: Sequence[OptionInfo]) -> list[tuple[str, str]]:
    rows = []
    for option in options:
        said = [option.type]
        if option.required:
            said.append("required")
        elif option.default not in (None, ""):
            several = isinstance(option.default, tuple)
            said.append(f"default {'+'.join(map(str, option.default)) if several else option.default}")
        rows.append((option.name, f"{', '.join(said)}: {option.description}".rstrip(": ")))
    return rows


def _rows(found: NamedModelInfo | ExperimentInfo) -> list[tuple[str, str]]:
    if isinstance(found, NamedModelInfo):
        rows = [("model", found.model), ("options", _pairs(found.options))]
        rows += [("training", _pairs(found.training)), ("projection", found.projection)]
        rows.append(("citation", found.citation))
    else:
        rows = [("source", found.source), ("study", ", ".join(found.study))]
        rows += [("metrics", ", ".join(found.metrics)), ("task", ", ".join(found.task))]
        rows += [("rows", ", ".join(found.rows)), ("columns", ", ".join(found.columns))]
        rows += [("claim", said) for said in found.claims]
        rows += [("our choice", said) for said in found.our_choices]
    return [(name, value) for name, value in rows if value]


def plugin_table(plugins: Iterable[PluginInfo]) -> str:
    """Every plugin with what it provides, or why it failed to load."""
    rows = [
        (f"{found.name} ({found.distribution} {found.version})", _plugin_summary(found)) for found in plugins
    ]
    return "\n".join(["plugins", *columns(rows)]) if rows else "No plugins are installed."


def _plugin_summary(found: PluginInfo) -> str:
    if found.failure:
        return f"BROKEN: {found.failure}"
    said = ", ".join(f"{count} {plural}" for plural, count in found.counts.items()) or "nothing"
    return f"{said}; SLOW: {found.slow}" if found.slow else said


def plugin_trace(plugins: Iterable[PluginInfo]) -> str:
    """Every import and hook of every plugin: how long it took, what it offered and where it is written."""
    lines, total = ["plugins, with the milliseconds of every import and hook"], 0.0
    for found in plugins:
        spent = 1000 * sum(call.seconds for call in found.calls)
        total += spent
        lines.append(f"  {found.name} ({found.distribution} {found.version}) {spent:.1f} ms")
        lines += _wrap(f"    BROKEN: {found.failure}") if found.failure else []
        lines += [
            f"    {call.hook:<18} {1000 * call.seconds:>7.2f} ms  {call.offered or '':>3}  {call.origin}"
            for call in found.calls
        ]
    return "\n".join([*lines, f"  all together {total:.1f} ms"])


def columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Two columns: names on the left, text wrapped on the right."""
    left = min(max((len(name) for name, _ in rows), default=0), 36, width() // 3)
    lines = []
    for name, text in rows:
        wrapped = _wrap(text, width() - left - 4) or [""]
        if len(name) > left:  # a line of its own, so that what follows stays in its column
            lines.append(f"  {name}")
            wrapped = ["", *wrapped]
        else:
            lines.append(f"  {name:<{left}}  {wrapped[0]}".rstrip())
        lines += [f"  {'':<{left}}  {line}" for line in wrapped[1:]]
    return lines


def width() -> int:
    """The width of the terminal, or of COLUMNS, at most 100 characters."""
    return min(WIDEST, max(40, shutil.get_terminal_size((WIDEST, 0)).columns))


def _wrap(text: str, columns: int = 0) -> list[str]:
    return textwrap.wrap(text, columns or width(), break_on_hyphens=False)


def _capabilities(names: Sequence[str]) -> str:
    return "; ".join(CAPABILITIES.get(name, name) for name in names)


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())
