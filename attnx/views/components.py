"""What is known about components, named models, experiments and plugins, as records."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from ..errors import UsageError, did_you_mean
from ..host.cards import KINDS, Component, Kind
from ..host.catalog import Catalog
from ..host.plugins import HookCall, Plugin
from ..registry.text import summaries

if TYPE_CHECKING:
    from ..registry.experiments import Experiment
    from ..registry.schema import Composition

PLURALS: dict[str, Kind] = {"studies" if kind == "study" else f"{kind}s": kind for kind in KINDS}
SECTIONS = (*PLURALS, "experiments")


@dataclass(frozen=True, slots=True)
class ListedName:
    """One line of a list: a component, a named model or an experiment."""

    kind: str  # one of KINDS, "named model" or "experiment"
    name: str
    summary: str

    @property
    def section(self) -> str:
        """The part of the list that it belongs to, such as tasks; a named model is among the models."""
        kind = self.kind.removeprefix("named ")
        return next((plural for plural, of in PLURALS.items() if of == kind), "experiments")


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """One option of a component."""

    name: str
    type: str
    required: bool
    default: Any  # as JSON has it; None if it is required
    description: str


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """One measure of a metric."""

    name: str
    direction: str  # "up", "down" or "none": which way is better
    low: float | None  # None where there is no bound
    high: float | None

    @classmethod
    def of(cls, name: str, direction: str, bounds: tuple[float, float]) -> MeasureInfo:
        """The measure as JSON can hold it."""
        low, high = (end if math.isfinite(end) else None for end in bounds)
        return cls(name, direction, low, high)

    @property
    def in_words(self) -> str:
        """Its range, and which end is better."""
        low, high = (None if end is None else f"{end:g}".replace("-", "−") for end in (self.low, self.high))
        if low and high:
            span = f"{low} to {high}"
        else:
            span = f"{low} or more" if low else f"{high} or less" if high else "any number"
        better = {"up": "higher is better", "down": "lower is better"}
        return f"{span}, {better.get(self.direction, 'neither end is better')}"


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """In how many comparisons of the audit a metric preferred the wrong explanation."""

    inversions: int
    comparisons: int


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """The description of a component."""

    kind: str
    name: str
    summary: str
    definition: str  # the rest of its docstring
    plugin: str
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    recommends: tuple[str, ...] = ()
    dataset: str = ""
    sources: tuple[str, ...] = ()  # where its dataset can be downloaded
    local_files: str = ""  # what a folder of its dataset must have
    audit: AuditCounts | None = None
    measures: tuple[MeasureInfo, ...] = ()  # of a metric, unless they depend on its options
    cost: str = ""
    cannot: str = ""  # what its results cannot tell
    citation: str = ""
    options: tuple[OptionInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedModelInfo:
    """A model of the registry: a component with options and training settings."""

    name: str
    summary: str
    model: str
    options: Mapping[str, Any]
    training: Mapping[str, Any]
    projection: str
    citation: str
    kind: str = "named model"


@dataclass(frozen=True, slots=True)
class ExperimentInfo:
    """A table or figure of a paper."""

    name: str
    summary: str
    source: str
    study: tuple[str, ...]
    metrics: tuple[str, ...]
    task: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    claims: tuple[str, ...]
    our_choices: tuple[str, ...]
    kind: str = "experiment"


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin with how many components of each kind it has, or why it failed to load."""

    name: str
    distribution: str
    version: str
    counts: Mapping[str, int] = field(default_factory=dict)  # by plural of the kind, and adapters
    failure: str = ""
    slow: str = ""  # why its import is slow, if it is
    calls: tuple[HookCall, ...] = ()  # its import and its hooks in their order, if they were asked for


def listed_names(catalog: Catalog, section: str | None = None) -> dict[str, list[ListedName]]:
    """Names and summaries by section, such as tasks; of one section, or of all."""
    if section is not None and section not in SECTIONS:
        nearest = did_you_mean(section, SECTIONS)
        raise UsageError(f"Unknown kind '{section}'.{nearest} Kinds: {', '.join(SECTIONS)}.")
    return {one: _listed(catalog, one) for one in (SECTIONS if section is None else [section])}


def _listed(catalog: Catalog, section: str) -> list[ListedName]:
    kind = PLURALS.get(section)
    found = [ListedName(kind, c.name, c.summary) for c in catalog.of_kind(kind)] if kind else []
    if section in ("models", "experiments"):
        named = summaries(catalog.plugins, section)  # validating the registry would double the time
        if named is None:  # it is broken: validating says what is wrong
            named = {name: entry.summary for name, entry in getattr(catalog.registry, section).items()}
        other = "named model" if section == "models" else "experiment"
        found += [ListedName(other, name, summary) for name, summary in named.items()]
    return sorted(found, key=lambda listed: (listed.name, listed.summary))


def about(catalog: Catalog, name: str) -> list[ComponentInfo | NamedModelInfo | ExperimentInfo]:
    """Everything that has this name, without importing a component."""
    found: list[ComponentInfo | NamedModelInfo | ExperimentInfo] = [
        _component(component, catalog) for component in catalog.find_any(name)
    ]
    models, experiments = catalog.registry.models, catalog.registry.experiments
    if name in models:
        found.append(_named_model(name, models[name]))
    if name in experiments:
        found.append(_experiment(name, experiments[name]))
    if not found:
        known = {key for _, key in catalog.components} | {*models, *experiments}
        raise UsageError(f"Unknown name '{name}'.{did_you_mean(name, known)} See 'attnx list'.")
    return found


def _component(component: Component, catalog: Catalog) -> ComponentInfo:
    card = component.card
    dataset = catalog.registry.datasets.get(component.dataset)
    audited = catalog.registry.audit.get(card.name) if component.kind == "metric" else None
    options = component.load_options()
    return ComponentInfo(
        kind=component.kind,
        name=card.name,
        summary=component.summary,
        definition=component.definition(),
        plugin=component.provider,
        needs=tuple(component.needs),
        provides=tuple(component.provides),
        recommends=tuple(card.recommends),
        dataset=component.dataset if dataset else "",
        sources=tuple(source.title for source in dataset.sources) if dataset else (),
        local_files=dataset.expects if dataset else "",
        audit=AuditCounts(audited.inversions, audited.comparisons) if audited else None,
        measures=tuple(MeasureInfo.of(*measure) for measure in component.measures()),
        cost=component.cost,
        cannot=component.cannot,
        citation=card.citation,
        options=tuple(_option(name, field) for name, field in options.model_fields.items())
        if options
        else (),
    )


def _option(name: str, field: Any) -> OptionInfo:
    return OptionInfo(
        name=name,
        type=_type_name(field.annotation),
        required=field.is_required(),
        default=None if field.is_required() else field.get_default(call_default_factory=True),
        description=field.description or "",
    )


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


def _named_model(name: str, composition: Composition) -> NamedModelInfo:
    return NamedModelInfo(
        name=name,
        summary=composition.summary,
        model=composition.model,
        options=composition.options,
        training=composition.training,
        projection=composition.projection,
        citation=composition.citation,
    )


def _experiment(name: str, experiment: Experiment) -> ExperimentInfo:
    return ExperimentInfo(
        name=name,
        summary=experiment.summary,
        source=experiment.source,
        study=tuple(experiment.study),
        metrics=tuple(experiment.metrics),
        task=tuple(experiment.task),
        rows=tuple(experiment.rows),
        columns=tuple(experiment.columns),
        claims=tuple(claim.says for claim in experiment.claims),
        our_choices=tuple(experiment.ours),
    )


def about_plugins(catalog: Catalog, *, trace: bool = False) -> list[PluginInfo]:
    """Every plugin, also those that failed to load; with `trace`, every call of a hook."""
    return [_plugin(plugin, trace) for plugin in catalog.plugins]


def _plugin(plugin: Plugin, trace: bool) -> PluginInfo:
    counts = {plural: sum(c.kind == kind for c in plugin.components) for plural, kind in PLURALS.items()}
    counts["adapters"] = len(plugin.adapters)
    return PluginInfo(
        plugin.name,
        plugin.distribution,
        plugin.version,
        {plural: count for plural, count in counts.items() if count},
        plugin.failure,
        plugin.slow,
        plugin.calls if trace else (),
    )


def to_json(records: Iterable[Any]) -> str:
    """Records as JSON: a list with one object for each."""
    return json.dumps([asdict(record) for record in records], indent=2, default=str) + "\n"
