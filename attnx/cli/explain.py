"""`attnx explain`: the importance scores of the words of texts, or of examples."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from ..disk import write_file
from ..errors import UsageError, did_you_mean
from .completion import names_of
from .global_options import installed_catalog
from .options import DataDir, Device, Limit, Model, Out, Projection, Train, Versus
from .plugin_output import prints_aside


def explain(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]...", help="The texts to explain.  [default: one, read from standard input]"
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Stored run: its name, the first characters of its name, or its folder."
        ),
    ] = None,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Explain this example of the task instead of a text (repeatable)."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The question about the text, for tasks that have one.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Importance method, or FILE.py:FUNCTION of your own (repeatable).  "
            "[default: attention and the methods of the run]",
            autocompletion=names_of("importance"),
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="CLASS|predicted|gold|all",
            help="Class to explain: its name, the predicted one, the label of an --example, or all classes.",
        ),
    ] = "predicted",
    versus: Versus = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Metric of each text (repeatable), next to its value for random scores.",
            autocompletion=names_of("metric"),
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Training seed of the model.  [default: the run's first]")
    ] = None,
    units: Annotated[
        str,
        typer.Option(
            metavar="words|sentences|paragraphs",
            help="What is scored and removed; sentences and paragraphs for a model that reads raw texts.",
        ),
    ] = "words",
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="generated|TEXT",
            help="Explain an answer of a language model, piece by piece: its own (generated), or this text. "
            "--versus is then another answer.",
        ),
    ] = None,
    answer_length: Annotated[
        int, typer.Option(metavar="N", min=1, help="Most pieces of a generated answer.")
    ] = 20,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Task that the model is trained on, if no --run is given. A complete classifier needs none.",
            autocompletion=names_of("task"),
        ),
    ] = None,
    model: Model = None,
    projection: Projection = None,
    limit: Limit = None,
    train: Train = None,
    data_dir: DataDir = None,
    out: Out = None,
    device: Device = None,
    json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a self-contained HTML page.")
    ] = None,
) -> None:
    """Show which words of a text matter, by several methods.

    Words are coloured by attention and by other importance methods. The prediction and the effect of
    removing each word are shown too. The model comes from a stored run (--run), or from --task and --model;
    it is trained first if no weights are stored. Several texts are explained together.

    Examples:

      attnx explain --run 3f2a "a dull and tedious film"

      attnx explain --run 3f2a --example test-000007 --method gradient --method loo

      attnx explain --run 3f2a "a dull film" "a witty film" --method lime --metric comprehensiveness

      attnx explain --run 3f2a "a dull film" --method lime --target negative --versus positive

      attnx explain --model smollm2-chat "What is the capital of France?" --answer generated --method loo

      echo "a witty film" | attnx explain --task rotten-tomatoes --model bilstm-add
    """
    from ..api.explain import explained_model
    from ..api.own_methods import methods_given
    from ..request.parsing import read_request

    asked: dict[str, Any] = {
        "task": task,
        "model": model,
        "projection": projection,
        "limit": limit,
        "training": train,
    }
    asked |= {"device": device, "seeds": None if seed is None or run else str(seed)}
    given = {key: value for key, value in asked.items() if value is not None}
    fixed = given.keys() - {"device", "seeds"}
    loaded = prints_aside(explained_model)(
        run,
        read_request(given, None) if fixed else None,
        installed_catalog(),
        device=device,
        data_dir=data_dir,
        out=out,
    )
    if texts in (None, [], ["-"]) and not example:
        texts = [_standard_input()]
    found = prints_aside(loaded.explain)(
        _one_or_several(texts),
        methods_given(method),
        example=_one_or_several(example),
        query=query,
        target=target,
        versus=versus,
        metrics=metric or (),
        seed=seed,
        units=_units(units),
        answer=answer,
        answer_length=answer_length,
    )
    if html is not None:
        write_file(html, found.to_html())
        print(f"page: {html}", file=sys.stderr)
    if json:
        sys.stdout.write(found.to_json())
    elif html is None:
        from ..results.explanation import Explanations
        from ..views.terminal.explanation import print_explanation, print_explanations

        print_explanations(found) if isinstance(found, Explanations) else print_explanation(found)


def _units(given: str) -> Literal["words", "sentences", "paragraphs"]:
    """What a unit is, checked."""
    known = ("words", "sentences", "paragraphs")
    if given not in known:
        raise UsageError(f"--units {given}: choose one of {', '.join(known)}.{did_you_mean(given, known)}")
    return cast("Literal['words', 'sentences', 'paragraphs']", given)


def _one_or_several(given: list[str] | None) -> str | list[str] | None:
    """One text gives an explanation, several give a list of them."""
    return (given[0] if len(given) == 1 else given) if given else None


def _standard_input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "No text is given. Write it after the command, or name an example with --example ID."
        )
    return sys.stdin.read()
