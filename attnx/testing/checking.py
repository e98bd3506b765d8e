"""Runs the laws on an installed component, on all components of a plugin, or on an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..errors import CheckFailed, PluginError, UsageError, did_you_mean
from ..host.cards import Component, Kind
from ..host.catalog import Catalog
from ..host.sources import locate
from ..protocols import Model
from ..request.plan import Part
from ..request.spec import Choice, Options, validate_options
from ..testing import device_laws, importance_laws, metric_laws, model_laws, projection_laws, task_laws  # noqa: F401
from ..types import TaskData
from .cases import check_cases
from .check_report import ComponentCheck, LawResult
from .laws import LAWS, Broken, Law, require
from .model_laws import ModelOnTask
from .toy import ToySoftmax, toy_data


def assert_conforms(kind: Kind, subject: Any, data: TaskData | None = None) -> None:
    """Assert that an object keeps every law of its kind; for the tests of a plugin.

    `attnx.check` runs the same laws and gives a report back instead of raising.

    Args:
        kind: what the object is: "task", "model", "projection", "importance" or "metric".
        subject: the object itself; a model must be built.
        data: the examples a model is tested on; by default a few made-up sentences.

    Raises:
        CheckFailed: the object breaks a law; the message has every one that it breaks.
        UsageError: there are no laws for this kind.
    """
    kinds = sorted({law.kind for law in LAWS})
    if kind not in kinds:
        raise UsageError(f"There are no laws for a '{kind}'. Kinds: {', '.join(kinds)}.")
    judged = ModelOnTask(subject, data or toy_data()) if kind == "model" else subject
    broken = [str(result) for result in law_results(kind, judged, type(subject).__name__) if result.failure]
    if broken:
        raise CheckFailed("; ".join(broken))


def law_results(kind: Kind, subject: Any, name: str) -> Iterator[LawResult]:
    """Test every law of a kind on a subject."""
    for law in LAWS:
        if law.kind == kind:
            yield _judge(law, subject, name)


def _judge(law: Law, subject: Any, name: str) -> LawResult:
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            law.test(subject)
    except Broken as broken:
        return LawResult(name, law.name, str(broken))
    except Exception as error:  # a component may raise anything; that breaks the law too
        return LawResult(name, law.name, f"raised {type(error).__name__}: {error}")
    return LawResult(name, law.name)


def check_by_name(catalog: Catalog, name: str) -> Iterator[ComponentCheck]:
    """Check the component of that name, or every component of the plugin of that name.

    Options may follow the name of a component: NAME:key=value.
    """
    choice = Choice.parse(name)
    if choice.options:
        found = catalog.find_any(choice.name)
        if len(found) != 1:
            raise UsageError(f"Options are for a single component, and '{choice.name}' is {len(found)}.")
        yield check_component(catalog, found[0], choice.options)
        return
    found = catalog.find_any(name)
    for plugin in catalog.plugins:
        if name in (plugin.name, plugin.distribution):
            if plugin.failure:
                raise PluginError(f"plugin {plugin.title}: {plugin.failure}")
            remark = f"SLOW: {plugin.slow}" if plugin.slow else "ok"
            yield ComponentCheck(plugin.name, "plugin", (LawResult(plugin.name, "import", remark=remark),))
            found += [component for component in plugin.components if component not in found]
    if not found:
        known = {key for _, key in catalog.components} | {plugin.name for plugin in catalog.plugins}
        raise UsageError(f"Nothing named '{name}' to check.{did_you_mean(name, known)}")
    for component in found:
        yield check_component(catalog, component)


def check_component(
    catalog: Catalog, component: Component, given: Mapping[str, Any] | None = None
) -> ComponentCheck:
    """Check one installed component with these options, or with its defaults."""
    return ComponentCheck(component.name, component.kind, tuple(_laws_of(catalog, component, given or {})))


def _laws_of(catalog: Catalog, component: Component, given: Mapping[str, Any]) -> Iterator[LawResult]:
    yield _declarations_law(component)
    options_class = component.load_options()
    required = _required(options_class)
    if required and not given:
        reason = f"needs options: {', '.join(required)}"
        bound = [law.name for law in LAWS if law.kind == component.kind]
        yield from (LawResult(component.name, name, unchecked=reason) for name in bound)
        return
    owner, usual = f"{component.kind} '{component.name}'", options_class or Options
    try:
        options = validate_options(usual, dict(given), owner) if given else usual()
    except ValueError as error:
        yield LawResult(component.name, "defaults", f"has no default options: {error}")
        return
    part = Part(component.kind, component.name, options, (), (), component)
    made = part.make()
    if component.kind == "model":
        data = _sample_for(catalog, component)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model: Model = made.build(data, ToySoftmax(), options).eval()  # as it is when it is measured
        yield from law_results("model", ModelOnTask(model, data), component.name)
    else:
        yield from law_results(component.kind, made, component.name)
    if component.kind == "metric":
        yield from cases_law(
            component.name,
            locate(component.card.target.partition(":")[0]),
            lambda more: replace(
                part, options=validate_options(usual, {**dict(given), **more}, owner)
            ).make(),
        )


def cases_law(name: str, module_file: str, make: Callable[[dict[str, Any]], Any]) -> Iterator[LawResult]:
    """The cases of a metric, if there is a YAML file of them next to its module."""
    file = Path(module_file).with_suffix(".yaml") if module_file else None
    if file is not None and file.is_file():
        statement = f"The metric gives the value of every case of {file.name}."
        yield _judge(Law("metric", "cases", statement, lambda _: check_cases(make, file)), None, name)


def _required(options: type[Options] | None) -> list[str]:
    """The options that only a user can give."""
    fields = options.model_fields if options else {}
    return [name for name, field in fields.items() if field.is_required()]


def _declarations_law(component: Component) -> LawResult:
    """What is read from the source is what the class says once it is imported."""
    loaded = component.load()
    summary = (loaded.__doc__ or "").strip().partition("\n")[0].strip()
    declared = {"summary": summary} | {name: getattr(loaded, name, ()) for name in ("needs", "provides")}
    declared |= {"dataset": getattr(loaded, "dataset", "")} if component.kind == "task" else {}
    try:
        require(
            summary.endswith("."),
            f"the docstring must begin with one sentence on a line of its own, not {summary!r}",
        )
        for name, said in declared.items():
            read = getattr(component, name)
            require(read == said, f"its source says {name} {read!r}, the class {said!r}")
    except Broken as broken:
        return LawResult(component.name, "declarations", str(broken))
    return LawResult(component.name, "declarations")


def _sample_for(catalog: Catalog, model: Component) -> TaskData:
    """The sample of a task that provides what the model needs: the toy task if nothing is needed."""
    needs = set(model.needs)
    if needs <= {"words"}:
        return toy_data()
    for task in catalog.of_kind("task"):
        if needs <= set(task.provides):
            options = task.load_options()
            made = Part("task", task.name, options() if options else Options(), (), (), task).make()
            return made.sample()
    raise PluginError(f"no installed task provides what model '{model.name}' needs: {', '.join(needs)}")
