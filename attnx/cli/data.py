"""`attnx data`: which datasets there are, where they are, fetching them and clearing them away."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError
from .catalog import installed_catalog
from .completion import dataset_names
from .export_data import export

if TYPE_CHECKING:
    from ..data.access import Source
    from ..registry.datasets import Dataset

data_app = typer.Typer(
    help="List, locate, fetch and clear the datasets that tasks are made of.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
Name = Annotated[
    str,
    typer.Argument(
        help="A dataset, as `attnx data list` names it.", show_default=False, autocompletion=dataset_names
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="A folder with datasets of your own.", envvar="ATTNX_DATA"),
]


@data_app.callback()
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


data_app.command()(export)


@data_app.command("list", epilog="Example: attnx data list")
def list_datasets(data_dir: DataDir = None) -> None:
    """Print every known dataset, and whether it is here or what fetching it takes."""
    from ..views.terminal.components import columns

    source = _source(data_dir)
    known = sorted(source.datasets.items())
    states = {name: _state(source, name, dataset) for name, dataset in known}
    width = max(len(name) for name, _ in known)
    typer.echo("datasets, and whether they are here")
    typer.echo(
        "\n".join(columns([(f"{name:<{width}}  {states[name]}", dataset.summary) for name, dataset in known]))
    )


@data_app.command(epilog="Example: ls $(attnx data where imdb)")
def where(name: Name, data_dir: DataDir = None) -> None:
    """Print the folder a dataset is in; nothing is downloaded."""
    source = _source(data_dir)
    found = source.where(name)
    if found is None:
        dataset = source.dataset(name)
        remedy = (
            f"get it with 'attnx data fetch {name}'"
            if dataset.sources
            else f"pass --data-dir or set ATTNX_DATA to a folder with {dataset.expects}"
        )
        raise DataError(f"Dataset '{name}' is not on this machine; {remedy}.")
    typer.echo(found.folder)


@data_app.command(epilog="Example: attnx data fetch imdb")
def fetch(name: Name, data_dir: DataDir = None) -> None:
    """Fetch a dataset unless it is here, and print its folder and where its bytes come from."""
    found = _source(data_dir).fetch(name)
    typer.echo(found.folder)
    for key, value in found.provenance.items():
        if key != "folder":
            typer.echo(f"  {key}: {value}")


@data_app.command(epilog="Example: attnx data clear imdb, or attnx data clear for everything.")
def clear(
    name: Annotated[
        str | None,
        typer.Argument(help="A dataset; without one, every download is deleted.", show_default=False),
    ] = None,
) -> None:
    """Delete downloads; a local folder of your own is never touched."""
    from ..data.access import Source
    from ..data.cache import Cache
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
    shared = f"; {', '.join(also)} came in the same download and went with it" if also else ""
    typer.echo(f"{_megabytes(freed)} freed in {cache.root}{shared}")


def _source(data_dir: Path | None) -> "Source":
    from ..api.setup import find_source
    from ..progress import Progress

    return find_source(installed_catalog(), data_dir, Progress())


def _state(source: "Source", name: str, dataset: "Dataset") -> str:
    """Where a dataset is, or what it takes to get it."""
    from ..registry.datasets import PackageSource

    try:
        found = source.where(name)
    except DataError:
        return "incomplete folder"
    if found is not None:
        return "yes" if found.provenance["kind"] != "local" else "your folder"
    if not dataset.sources:
        return "needs --data-dir"
    first = dataset.sources[0]
    by = first.index if isinstance(first, PackageSource) else "url"
    return f"no, {by} {_megabytes(first.bytes)}" if first.bytes else f"no, {by}"


def _megabytes(count: int) -> str:
    return f"{count / 1_000_000:.0f} MB" if count >= 1_000_000 else f"{count / 1000:.0f} kB"
