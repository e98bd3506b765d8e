"""`attnx explain`: one text, or one example, coloured by what each method says it was for."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..disk import write_file
from ..errors import UsageError
from .catalog import installed_catalog
from .completion import names_of
from .options import DataDir, Device, Limit, Model, Out, Projection, Task, Train

if TYPE_CHECKING:
    from ..run.loaded_run import Run


def explain(
    text: Annotated[
        str | None, typer.Argument(help="The text; - or nothing reads it from standard input.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="A finished run: its name, the beginning of it, or its folder.")
    ] = None,
    example: Annotated[str | None, typer.Option(metavar="ID", help="An example of the task instead.")] = None,
    query: Annotated[str | None, typer.Option(help="What is asked of the text, where the task asks.")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Importance method (repeatable).  [default: attention and the run's own]",
            autocompletion=names_of("importance"),
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the model.  [default: the run's first]")] = None,
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    limit: Limit = None,
    train: Train = None,
    data_dir: DataDir = None,
    out: Out = None,
    device: Device = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page that needs nothing else.")] = None,
) -> None:
    """Colour one text by attention and other methods, with the prediction and what leaving units out does.

    The model is that of a run, or of --task and --model, trained first where no weights are kept.

    Examples:

      attnx explain --run 3f2a "a dull and tedious film"

      attnx explain --run 3f2a --example test-000007 --method gradient --method loo

      echo "a witty film" | attnx explain --task rotten-tomatoes --model bilstm-add
    """
    asked = {"task": task, "model": model, "projection": projection, "limit": limit, "training": train}
    asked |= {"device": device, "seeds": None if seed is None or run else str(seed)}
    given = {key: value for key, value in asked.items() if value is not None}
    loaded = _of_run(run, given, data_dir, out) if run else _of_names(given, data_dir)
    if text in (None, "-") and example is None:
        text = _standard_input()
    found = loaded.explain(text, example=example, query=query, methods=method or (), seed=seed)
    if html is not None:
        write_file(html, found.to_html())
        print(f"page: {html}", file=sys.stderr)
    if json:
        sys.stdout.write(found.to_json())
    elif html is None:
        from ..views.terminal.explanation import print_explanation

        print_explanation(found)


def _of_run(run: str, given: dict[str, str], data_dir: Path | None, out: Path | None) -> "Run":
    from ..api.load import load_run

    for name in given:
        if name != "device":
            raise UsageError(f"A run has its own {name}: give --run, or --task and --model.")
    return load_run(run, installed_catalog(), out=out, data_dir=data_dir)


def _of_names(given: dict[str, str], data_dir: Path | None) -> "Run":
    from ..api.load import model_of_spec
    from ..request.parsing import read_request

    if "task" not in given:
        raise UsageError("Say whose explanation: --run RUN (see 'attnx runs'), or --task and --model.")
    return model_of_spec(read_request(dict(given), None), installed_catalog(), data_dir=data_dir)


def _standard_input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("Give a text to explain, or the id of an example (--example ID).")
    return sys.stdin.read()
