"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ..registry.text import scan_default
from ..request.keep_levels import Keep
from .completion import names_of


def registry_default(name: str) -> str:
    """The default of an option as registry.yaml has it, for the help text."""
    return scan_default(name) or "none"


Task = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Task: a dataset with labels (see 'attnx list tasks').  [default: {registry_default('task')}]",
        autocompletion=names_of("task"),
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Model (see 'attnx list models').  [default: the one the task recommends]",
        autocompletion=names_of("model"),
    ),
]
Projection = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Projection: how attention scores become weights.  "
        f"[default: the model's, or {registry_default('projection')}]",
        autocompletion=names_of("projection"),
    ),
]
Seeds = Annotated[
    str | None, typer.Option(metavar="SEEDS", help="Training seeds, e.g. 0,1,2 or 0-9.  [default: 0]")
]
Limit = Annotated[
    str | None,
    typer.Option(metavar="N", help="Use at most N examples of each split, or e.g. train=500,test=100."),
]
Train = Annotated[
    str | None,
    typer.Option(metavar="K=V,...", help="Training settings, e.g. epochs=20,learning_rate=0.01."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder with datasets of your own.  [default: ATTNX_DATA]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
Device = Annotated[
    str | None, typer.Option(metavar="DEVICE", help="auto, cpu, cuda, cuda:1, ...  [default: auto]")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder where runs are stored.  [default: runs in ATTNX_HOME]"),
]
Explanations = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Importance method to test, or FILE.py:FUNCTION of your own (repeatable).  "
        f"[default: the first available of {registry_default('explanations')}]",
        autocompletion=names_of("importance"),
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Importance method to compare with (repeatable).",
        autocompletion=names_of("importance"),
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Metric (repeatable); 'all' that apply, or 'none'.  [default: the standard set]",
        autocompletion=names_of("metric"),
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS|predicted|gold",
        help="Class to explain: its name, the predicted one, or the label.  [default: predicted]",
    ),
]
Versus = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="Explain why the class of --target and not this one."),
]
Sample = Annotated[
    str | None,
    typer.Option(
        metavar="N|all",
        help="Number of test examples for expensive metrics.  [default: set by a time budget]",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Compute again even if a run is already stored.")]
KeepLevel = Annotated[Keep, typer.Option(metavar="none|values|all", help="What to store of each example.")]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="in-process|local|dask",
        help="Where the work is done: in this process, in worker processes, or on a Dask cluster.",
    ),
]
Scheduler = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Dask scheduler, e.g. tls://host:8786.  [default: start one here]"),
]
TlsCa = Annotated[
    str, typer.Option("--tls-ca", metavar="FILE", help="Certificate authority of a scheduler with tls://.")
]
TlsCert = Annotated[str, typer.Option("--tls-cert", metavar="FILE", help="Certificate to show to it.")]
TlsKey = Annotated[str, typer.Option("--tls-key", metavar="FILE", help="Key of that certificate.")]
Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Use a scheduler on another machine without TLS: trust its network."),
]
