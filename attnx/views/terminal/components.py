"""Plain-text pages about components and plugins, none wider than 100 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from ...errors import UsageError, did_you_mean
from ...host.cards import CAPABILITIES, KINDS, Component
from ...host.catalog import Catalog
from ...host.plugins import Plugin
from ...registry.text import summaries

if TYPE_CHECKING:
    from ...registry.experiments import Experiment
    from ...registry.schema import Composition

WIDEST = 100
PLURALS = {"studies" if kind == "study" else f"{kind}s": kind for kind in KINDS}


def listing(catalog: Catalog, kind: str | None = None) -> str:
    """Names and summaries of one kind, or of all."""
    kinds = [*PLURALS, "experiments"]
    if kind is not None and kind not in kinds:
        raise UsageError(f"Unknown kind '{kind}'.{did_you_mean(kind, kinds)} Kinds: {', '.join(kinds)}.")
    sections = [_section(catalog, plural) for plural in (kinds if kind is None else [kind])]
    return "\n\n".join(section for section in sections if section) or f"No {kind} are installed."


def _section(catalog: Catalog, plural: str) -> str:
    kind = PLURALS.get(plural)
    rows = [(c.name, c.summary) for c in catalog.of_kind(kind)] if kind else []
    if plural in ("models", "experiments"):
        named = summaries(catalog.plugins, plural)  # validating the registry would double the time
        rows += named.items() if named is not None else _validated_summaries(catalog, plural)
    return "\n".join([plural, *columns(sorted(rows))]) if rows else ""


def _validated_summaries(catalog: Catalog, section: str) -> list[tuple[str, str]]:
    """The same from the validated registry, which says what is wrong with it."""
    return [(name, entry.summary) for name, entry in getattr(catalog.registry, section).items()]


def describe(catalog: Catalog, name: str) -> str:
    """Everything known about a name, without importing its component."""
    pages = [_component_page(component, catalog) for component in catalog.find_any(name)]
    if name in catalog.registry.models:
        pages.append(_composition_page(name, catalog.registry.models[name]))
    if name in catalog.registry.experiments:
        pages.append(_experiment_page(name, catalog.registry.experiments[name]))
    if not pages:
        known = {key for _, key in catalog.components} | {
            *catalog.registry.models,
            *catalog.registry.experiments,
        }
        raise UsageError(f"Unknown name '{name}'.{did_you_mean(name, known)} See 'attnx list'.")
    return "\n\n".join(pages)


def _component_page(component: Component, catalog: Catalog) -> str:
    card, needs, provides = component.card, component.needs, component.provides
    rows = [("provided by", component.provider)]
    rows += [("needs", _capabilities(needs))] if needs else []
    rows += [("provides", _capabilities(provides))] if provides else []
    rows += [("usually with", ", ".join(card.recommends))] if card.recommends else []
    dataset = catalog.registry.datasets.get(component.dataset)
    if dataset:
        rows.append(("data", "; or ".join(source.title for source in dataset.sources) or "local files only"))
        rows.append(("local files", f"{component.dataset}/ in --data-dir or ATTNX_DATA: {dataset.expects}"))
    audited = catalog.registry.audit.get(card.name) if component.kind == "metric" else None
    if audited:
        wrong = f"{audited.inversions} of {audited.comparisons} comparisons"
        rows.append(("in the audit", f"preferred the wrong explanation in {wrong}"))
    rows += [("citation", card.citation)] if card.citation else []
    lines = [f"{card.name} ({component.kind})", *_wrap(component.summary), ""]
    for paragraph in filter(None, component.definition().split("\n\n")):
        drawn = "\n " in paragraph  # laid out by hand: a formula, a list
        lines += [*(paragraph.split("\n") if drawn else _wrap(" ".join(paragraph.split()))), ""]
    lines += columns(rows)
    options = component.load_options()
    if options is not None:
        example = next(iter(options.model_fields), "key")
        lines += ["", f"options, e.g. {card.name}:{example}=value", *columns(_option_rows(options))]
    return "\n".join(lines)


def _option_rows(options: Any) -> list[tuple[str, str]]:
    rows = []
    for key, field in options.model_fields.items():
        said = [_type_name(field.annotation)]
        if field.is_required():
            said.append("required")
        elif field.default not in (None, ""):
            default = field.default
            said.append(f"default {'+'.join(map(str, default)) if isinstance(default, tuple) else default}")
        rows.append((key, f"{', '.join(said)}: {field.description or ''}".rstrip(": ")))
    return rows


def _type_name(annotation: Any) -> str:
    """A type in a user's words: the values of a literal, the parts of a union, the item of a tuple."""
    origin, inside = get_origin(annotation), [a for a in get_args(annotation) if a is not type(None)]
    if origin is Literal:
        return " | ".join(map(str, inside))
    if origin is Annotated:
        return _type_name(inside[0])
    if origin is tuple:
        return f"{_type_name(inside[0])}+..."
    if inside:
        return " | ".join(map(_type_name, inside))
    return {"Path": "path", "str": "text"}.get(annotation.__name__, annotation.__name__)


def _composition_page(name: str, composition: Composition) -> str:
    rows = [("model", composition.model)]
    rows += [(key, _pairs(value)) for key in ("options", "training") if (value := getattr(composition, key))]
    rows += [(key, value) for key in ("projection", "citation") if (value := getattr(composition, key))]
    return "\n".join([f"{name} (named model)", *_wrap(composition.summary), "", *columns(rows)])


def _experiment_page(name: str, experiment: Experiment) -> str:
    rows = [("source", experiment.source), ("study", ", ".join(experiment.study))]
    rows += [("metrics", ", ".join(experiment.metrics)), ("task", ", ".join(experiment.task))]
    rows += [("rows", ", ".join(experiment.rows)), ("columns", ", ".join(experiment.columns))]
    rows += [("claim", claim.says) for claim in experiment.claims]
    rows += [("our choice", said) for said in experiment.ours]
    rows = [(name, value) for name, value in rows if value]
    return "\n".join([f"{name} (experiment)", *_wrap(experiment.summary), "", *columns(rows)])


def plugin_table(catalog: Catalog) -> str:
    """Every plugin with what it provides, or why it failed to load."""
    rows = [(plugin.title, _plugin_summary(plugin)) for plugin in catalog.plugins]
    return "\n".join(["plugins", *columns(rows)]) if rows else "No plugins are installed."


def _plugin_summary(plugin: Plugin) -> str:
    if plugin.failure:
        return f"BROKEN: {plugin.failure}"
    counts = {plural: sum(c.kind == kind for c in plugin.components) for plural, kind in PLURALS.items()}
    said = ", ".join(f"{count} {plural}" for plural, count in counts.items() if count) or "nothing"
    return f"{said}; SLOW: {plugin.slow}" if plugin.slow else said


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


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())
