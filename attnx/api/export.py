"""`attnx.runs.export`: tables and figures of runs, studies, sweeps and comparisons for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from ..disk import write_file
from ..errors import UsageError
from .setup import installed_here

if TYPE_CHECKING:
    from ..results.result import Result
    from .arguments import Names


@overload
def export(
    run: str | Path | Sequence[str | Path],
    to: Literal["latex", "csv", "markdown"] = "latex",
    *,
    what: Literal["measures", "ranking"] | None = None,
    metrics: Names = (),
    explanations: Names = (),
    into: str | Path | None = None,
    out: str | Path | None = None,
    without: Names = (),
) -> str: ...
@overload
def export(
    run: str | Path | Sequence[str | Path],
    to: Literal["svg", "pdf", "png"],
    *,
    into: str | Path | None = None,
    out: str | Path | None = None,
    without: Names = (),
) -> tuple[Path, ...]: ...
def export(
    run: str | Path | Sequence[str | Path],
    to: Literal["latex", "csv", "markdown", "svg", "pdf", "png"] = "latex",
    *,
    what: Literal["measures", "ranking"] | None = None,
    metrics: Names = (),
    explanations: Names = (),
    into: str | Path | None = None,
    out: str | Path | None = None,
    without: Names = (),
) -> str | tuple[Path, ...]:
    """Export a table or the figures of a stored result or of a comparison. Nothing is evaluated again.

    Args:
        run: its name, the first characters of its name, or its folder; several runs are compared.
        to: "latex", "csv" or "markdown" for a table, "svg", "pdf" or "png" for figures.
        what: "measures", or "ranking" for how faithful each explanation is; by default measures, of a sweep
            the ranking, and in Markdown the whole report if nothing is chosen.
        metrics: the metrics to keep in a table, one name or several; by default all.
        explanations: the explanations to keep in a table, one name or several; by default all.
        into: the file of a table, by default none; the folder of figures, by default `figures`.
        out: the folder of runs; by default `runs`, `studies` and the others in ATTNX_HOME.
        without: plugins that draw no figures, one name or several.

    Returns:
        The text of a table; the files of figures.

    Raises:
        UsageError: there is no such run, format, metric or explanation, or nothing of that kind.
        DataError: the report is damaged, edited, or from another version.
    """
    from ..views.export import FIGURES, TABLES, to_text, write_figures
    from ..views.export_tables import WHATS

    if to not in (*TABLES, *FIGURES):
        raise UsageError(f"Unknown format '{to}'. Available: {', '.join((*TABLES, *FIGURES))}.")
    if what is not None and what not in WHATS:
        raise UsageError(f"Unknown table '{what}'. Available: {', '.join(WHATS)}.")
    result = _exported(run, out)
    kept, shown = ((names,) if isinstance(names, str) else names for names in (metrics, explanations))
    if to != "svg" and to != "pdf" and to != "png":
        text = to_text(result, to, what, kept, shown)
        if into is not None:
            write_file(Path(into), text)
        return text
    written = write_figures(result, to, Path(into or "figures"), installed_here(without))
    if not written:
        raise UsageError(
            "There are no figures. A run has some if one of its metrics draws one, or if its examples are "
            "stored (--keep all); a study, if a measure has several settings; a comparison has none."
        )
    return tuple(written)


def _exported(run: str | Path | Sequence[str | Path], out: str | Path | None) -> Result:
    """The stored result of that name; the comparison of several runs."""
    if not isinstance(run, str | Path):
        if len(run) != 1:
            from .compare import compare

            return compare(*run, out=out)
        run = run[0]
    from ..store.saved_reports import load_saved
    from ..store.sweeps import find_result

    folder = Path(out) if out else None
    try:
        return load_saved(str(run), folder)
    except UsageError:
        found = find_result(str(run), folder)
        if found is None:
            raise
        return found
