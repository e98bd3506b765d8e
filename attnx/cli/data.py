"""`attnx data`: list, locate, fetch and delete datasets, and export the examples of a task."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from .completion import dataset_names
from .global_options import switched_off
from .options import DataDir, Json, Limit

if TYPE_CHECKING:
    from ..data.exported import Split

data_app = typer.Typer(
    help="List, locate, fetch and delete datasets.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A dataset (see 'attnx data list').",
        show_default=False,
        autocompletion=dataset_names,
    ),
]


@data_app.callback()
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@data_app.command("list", epilog="Examples: attnx data list; attnx data list --json")
def list_datasets(data_dir: DataDir = None, json: Json = False) -> None:
    """List all known datasets and their local status."""
    from .. import datasets

    found = datasets.list(data_dir=data_dir, without=switched_off)
    if json:
        from ..views.components import to_json

        sys.stdout.write(to_json(found))
        return
    from ..views.terminal.components import columns

    width = max(len(one.name) for one in found)
    typer.echo("datasets and local status")
    typer.echo("\n".join(columns([(f"{one.name:<{width}}  {one.label}", one.summary) for one in found])))


@data_app.command(epilog="Example: ls $(attnx data where imdb)")
def where(name: Name, data_dir: DataDir = None) -> None:
    """Print the folder of a dataset; download nothing."""
    from .. import datasets

    typer.echo(datasets.where(name, data_dir=data_dir, without=switched_off))


@data_app.command(epilog="Example: attnx data fetch imdb")
def fetch(name: Name, data_dir: DataDir = None) -> None:
    """Download a dataset if it is not here; print its folder.

    Its source, checksum and licence are printed too.
    """
    from .. import datasets

    found = datasets.fetch(name, data_dir=data_dir, without=switched_off)
    typer.echo(found.folder)
    for key, value in found.provenance.items():
        if key != "folder":
            typer.echo(f"  {key}: {value}")


@data_app.command(epilog="Examples: attnx data clear imdb; attnx data clear")
def clear(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A dataset.  [default: all downloads]",
            show_default=False,
            autocompletion=dataset_names,
        ),
    ] = None,
) -> None:
    """Delete downloads; your own folders are never touched."""
    from .. import datasets
    from ..data.dataset_status import size_in_words

    cleared = datasets.clear(name, without=switched_off)
    also = ", ".join(cleared.also)
    shared = f"; also deleted, because they share the download: {also}" if also else ""
    typer.echo(f"freed {size_in_words(cleared.bytes)} in {cleared.folder}{shared}")


@data_app.command()
def export(
    task: Annotated[
        str,
        typer.Argument(metavar="TASK", help="A task; options follow as NAME:key=value.", show_default=False),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write.  [default: standard output]")
    ] = None,
    split: Annotated[str, typer.Option(metavar="train|dev|test|all", help="Which split.")] = "all",
    limit: Limit = None,
    data_dir: DataDir = None,
) -> None:
    """Write the examples of a task as JSON lines.

    Each line has id, split, units (words, or image patches), label, and query and rationale if the task has
    them. To test scores of your own, compute one number per unit, write lines {"id": ..., "scores": [...]}
    and pass the file with --explanation precomputed:file=SCORES.

    Example:

      attnx data export imdb --split test --out units.jsonl
    """
    from .. import datasets

    chosen = cast("Split", split)  # a wrong one is refused with the others
    found = datasets.export(task, split=chosen, limit=limit, data_dir=data_dir, out=out, without=switched_off)
    if out is None:
        sys.stdout.writelines(f"{example.to_json()}\n" for example in found)
    else:
        print(f"{len(found)} examples written: {out}", file=sys.stderr)
