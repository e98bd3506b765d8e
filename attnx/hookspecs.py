"""The hooks a plugin may implement; each returns cheap data and imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from .host.cards import Adapter, Card

GROUP = "attnx"
hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def attnx_tasks() -> list[Card]:
    """Announce tasks: labelled examples made of units."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_models() -> list[Card]:
    """Announce models: classifiers that pool units by attention."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_projections() -> list[Card]:
    """Announce projections: from scores to a point on the simplex."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_importances() -> list[Card]:
    """Announce importance methods: a score for every unit."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_metrics() -> list[Card]:
    """Announce metrics: one value for every example, from the evidence about it."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_studies() -> list[Card]:
    """Announce studies: questions that take more than one trained model to answer."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_drawings() -> list[Card]:
    """Announce drawings: figures of a trained model on its data."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_adapters() -> list[Adapter]:
    """List functions that make a task, a model or an importance method of objects, such as a DataFrame."""
    raise AssertionError("a hook specification is never called")


@hookspec
def attnx_registry() -> str:
    """Contribute a registry fragment, as YAML text in the shape of registry.yaml."""
    raise AssertionError("a hook specification is never called")
