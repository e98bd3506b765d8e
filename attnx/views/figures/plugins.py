"""The figures of plugins, drawn from the data that a run stored for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import AttnxError, PluginError
from ...host.cards import Component
from ...host.catalog import Catalog
from .figure import ReportFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...types import DrawingData


def plugin_figures(
    drawn: Mapping[str, Mapping[str, DrawingData]], catalog: Catalog | None = None
) -> list[ReportFigure]:
    """One for each drawing whose plugin is installed."""
    catalog = catalog or Catalog.installed()
    found = []
    for name, kept in drawn.items():
        if ("drawing", name) in catalog.components:
            component = catalog.find("drawing", name)
            made = component.load()()
            found.append(
                ReportFigure(
                    name,
                    made.title,
                    made.caption,
                    made.size,
                    partial(_draw, of=component, by=made, kept=kept),
                )
            )
    return found


def _draw(figure: Figure, of: Component, by: Any, kept: Mapping[str, DrawingData]) -> None:
    try:
        by.draw(figure, kept)
    except AttnxError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise PluginError(
            f"drawing '{of.name}' of plugin {of.provider} failed: {type(error).__name__}: {reason}; "
            "--debug shows more."
        ) from error
