"""The schema of registry.yaml: defaults, named models, datasets, experiments and audit results."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import AttnxWarning, PluginError
from .datasets import Dataset
from .experiments import Experiment
from .text import parse_yaml, registry_texts

if TYPE_CHECKING:
    from ..host.plugins import Plugin


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Composition(_Section):
    """A named model: a model component with its options, projection and training settings."""

    model: str
    summary: str
    options: dict[str, Any] = Field(default_factory=dict)
    projection: str = ""
    training: dict[str, Any] = Field(default_factory=dict)
    citation: str = ""


class Defaults(_Section):
    """Defaults of a request; an empty one must be given."""

    task: str = ""
    projection: str = ""
    explanations: tuple[str, ...] = ()  # the first that a model supports; the first of all is its attention
    baselines: tuple[str, ...] = ()  # in every report; verdicts compare with the first
    repairs: dict[str, tuple[str, ...]] = {}  # methods made of another one, ranked with it
    alternatives: tuple[str, ...] = ()  # ranked next to the explanations of every run with a verdict
    planted: tuple[
        str, ...
    ] = ()  # explanations that must find a planted trigger: those that a model supports


class AuditCases(_Section):
    """Cases of the audit: tasks whose important units are known, models, and explanations."""

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    deception: float  # weight of the penalty that makes attention misleading
    right: str
    degraded: tuple[str, ...]  # from slightly wrong to completely wrong
    uninformative: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def explanations(self) -> tuple[str, ...]:
        return (self.right, *self.degraded, *self.uninformative, *self.wrong)

    @property
    def ladder(self) -> tuple[tuple[str, ...], ...]:
        """From right to wrong; only the first degraded one is certainly better than uninformative ones."""
        return ((self.right,), self.degraded[:1], self.uninformative, self.wrong)

    @property
    def course(self) -> tuple[str, ...]:
        return (self.right, *self.degraded)


class Audited(_Section):
    """The audit result of a metric."""

    inversions: int = Field(ge=0)  # comparisons in which it preferred the wrong explanation
    comparisons: int = Field(ge=0)

    @property
    def share(self) -> float:
        return self.inversions / self.comparisons if self.comparisons else 0.0


class Registry(_Section):
    """The content of registry.yaml and of the registry fragments of plugins."""

    schema_: Literal[1] = Field(alias="schema")
    defaults: Defaults = Defaults()  # only in registry.yaml, not in fragments
    models: dict[str, Composition] = Field(default_factory=dict)
    experiments: dict[str, Experiment] = Field(default_factory=dict)
    datasets: dict[str, Dataset] = Field(default_factory=dict)
    audit: dict[str, Audited] = Field(default_factory=dict)  # by metric
    audit_cases: AuditCases | None = None


def read_registry(plugins: Iterable[Plugin]) -> Registry:
    """Read registry.yaml and the fragments of all plugins, and join them."""
    plugins = tuple(plugins)
    (path, text), *fragments = registry_texts(plugins)
    joined = parse_registry(text, path)
    for origin, fragment in fragments:  # a broken fragment does not affect the others
        try:
            joined = _join(joined, parse_registry(fragment, origin), origin)
        except PluginError as error:
            warnings.warn(f"{error}; this plugin's registry entries are ignored.", AttnxWarning, stacklevel=2)
    names = {c.name for plugin in plugins for c in plugin.components if c.kind == "model"}
    for name in names & set(joined.models):
        raise PluginError(f"{path}: models.{name}: a named model must not have the name of a component")
    return joined


@lru_cache(maxsize=64)  # a worker needs it for every cell, and parsing takes a tenth of a second
def parse_registry(text: str, origin: str) -> Registry:
    """Parse and validate registry text; an error names the file and the key."""
    try:
        return Registry.model_validate(parse_yaml(text, origin))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "top level"
        raise PluginError(f"{origin}: {where}: {first['msg']}") from error


def _join(first: Registry, second: Registry, origin: str) -> Registry:
    for section in ("models", "experiments", "datasets", "audit"):
        for name in getattr(first, section).keys() & getattr(second, section).keys():
            raise PluginError(f"{origin}: registry entry {section}.{name} is defined twice")
    if second.defaults != Defaults():
        raise PluginError(f"{origin}: defaults: not allowed in a plugin")
    if first.audit_cases and second.audit_cases:
        raise PluginError(f"{origin}: registry entry audit_cases is defined twice")
    return Registry(
        schema=first.schema_,
        defaults=first.defaults,
        models=first.models | second.models,
        experiments=first.experiments | second.experiments,
        datasets=first.datasets | second.datasets,
        audit=first.audit | second.audit,
        audit_cases=first.audit_cases or second.audit_cases,
    )
