"""`attnx data`: list, locate, fetch and delete datasets."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .catalog import installed_catalog
from .completion import dataset_names
from .export_data import export
from .options import DataDir, Json

if TYPE_CHECKING:
    from ..data.access import Source

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


data_app.command()(export)


@data_app.command("list", epilog="Examples: attnx data list; attnx data list --json")
def list_datasets(data_dir: DataDir = None, json: Json = False) -> None:
    """List all known datasets and their local status."""
    from ..data.dataset_status import dataset_statuses

    found = dataset_statuses(_source(data_dir))
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
    source = _source(data_dir)
    found = source.where(name)
    if found is None:
        raise source.missing(name)
    typer.echo(found.folder)


@data_app.command(epilog="Example: attnx data fetch imdb")
def fetch(name: Name, data_dir: DataDir = None) -> None:
    """Download a dataset if it is not here; print its folder.

    Its source, checksum and licence are printed too.
    """
    found = _source(data_dir).fetch(name)
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
    from ..data.access import Source
    from ..data.cache import Cache
    from ..data.dataset_status import size_in_words
    from ..store.home import home

    source = Source(datasets=installed_catalog().registry.datasets)
    chosen = source.datasets if name is None else {name: source.dataset(name)}
    cache = Cache(home() / "data")
    sources = [s for dataset in chosen.values() for s in dataset.sources]
    folders = {found for s in sources if (found := cache.find(s))}
    also = sorted(
        other
        for other, dataset in source.datasets.items()
        if other not in chosen and any(cache.find(s) in folders for s in dataset.sources)
    )
    freed = sum(cache.remove(s) for s in sources)
    if name is None:
        freed += cache.remove_rest()
    shared = f"; also deleted, because they share the download: {', '.join(also)}" if also else ""
    typer.echo(f"freed {size_in_words(freed)} in {cache.root}{shared}")


def _source(data_dir: Path | None) -> "Source":
    from ..api.setup import find_source
    from ..progress import Progress

    return find_source(installed_catalog(), data_dir, Progress())
