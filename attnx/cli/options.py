"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from ..registry.text import scan_default
from .completion import names_of


def usual(name: str) -> str:
    """What is taken where an option is not given, for its help."""
    return scan_default(name) or "none"


Task = Annotated[
    str | None, typer.Option(help=f"Task.  [default: {usual('task')}]", autocompletion=names_of("task"))
]
Model = Annotated[
    str | None,
    typer.Option(
        help="Model or named composition.  [default: what the task recommends]",
        autocompletion=names_of("model"),
    ),
]
Projection = Annotated[
    str | None,
    typer.Option(
        help=f"From scores to attention.  [default: the model's, or {usual('projection')}]",
        autocompletion=names_of("projection"),
    ),
]
Seeds = Annotated[str | None, typer.Option(help="Training seeds, as 0,1,2 or 0-9.  [default: 0]")]
Limit = Annotated[
    str | None,
    typer.Option(metavar="N", help="At most N examples of each split, or train=N,dev=N,test=N."),
]
Train = Annotated[
    str | None,
    typer.Option(metavar="K=V,...", help="Training settings, as epochs=20,learning_rate=0.01."),
]
DataDir = Annotated[Path | None, typer.Option(help="Folder with local data.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda, ...  [default: auto]")]
Out = Annotated[Path | None, typer.Option(help="Folder of runs.  [default: runs in ATTNX_HOME]")]
Executor = Annotated[str, typer.Option(help="local: worker processes of this machine; dask: a Dask cluster.")]
Scheduler = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Dask scheduler, as tcp://host:8786.  [default: its own]")
]
