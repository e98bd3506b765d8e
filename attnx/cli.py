"""The command line: results on stdout, progress and warnings on stderr, errors in one line.

Heavy modules are imported inside commands, so that help, lists and mistakes answer at once.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_data import data_app
from .errors import AttnxError

if TYPE_CHECKING:
    from .catalog import Catalog

app = typer.Typer(
    name="attnx",
    help="Tell whether attention weights, or any other importance scores, can be read as an explanation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for a help page would double its time
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(data_app, name="data")
_without: list[str] = []

Name = Annotated[str, typer.Argument(help="A component or a named model.")]
Task = Annotated[str | None, typer.Option(help="Task.  [default: sdc-digits]")]
Model = Annotated[
    str | None, typer.Option(help="Model or named composition.  [default: what the task recommends]")
]
Projection = Annotated[
    str | None, typer.Option(help="From scores to attention.  [default: the model's, or softmax]")
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


def main() -> None:
    """Run the command line; every foreseen failure is one line and an exit code."""
    try:
        code = app(standalone_mode=False)
    except AttnxError as error:
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        _fail(f"{error.format_message()} Try 'attnx --help'.", error.exit_code)
    if code == 130:
        _fail("interrupted; finished parts are kept, nothing is left half-written", 130)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> None:
    print("error:", " ".join(message.split("\n")), file=sys.stderr)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"attnx {version('attnx')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="PLUGIN", help="Switch a plugin off (repeatable); also ATTNX_WITHOUT=a,b."),
    ] = None,
) -> None:
    _without[:] = without or []


def _catalog() -> "Catalog":
    """The installed components; what is broken and not asked for is one line each."""
    from .catalog import Catalog

    catalog = Catalog.installed(_without)
    for warning in catalog.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return catalog


@app.command()
def evaluate(
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    explanation: Annotated[
        list[str] | None,
        typer.Option(help="Importance method under test (repeatable).  [default: attention]"),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(help="Importance method to compare with (repeatable)."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric (repeatable).  [default: all cheap ones that apply]"),
    ] = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    spec: Annotated[Path | None, typer.Option(help="YAML file with any of the above.")] = None,
    data_dir: DataDir = None,
    out: Out = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute even if the run is stored.")] = False,
    json: Json = False,
    device: Device = None,
) -> None:
    """Evaluate a model's explanations on a task and print the report.

    Options of a component follow its name: NAME:key=value,key=value.

    Examples:

      attnx evaluate --task imdb --model bilstm-add --metric kendall

      attnx evaluate --task sdc-2d --model fcam-mlp --projection sparsegen:lam=0.5 --seeds 0,1,2

      attnx evaluate --task sdc-error-mode-1 --metric focus --seeds 0-9 --json
    """
    from .requests import read_request
    from .resolve import resolve

    asked = {
        "task": task,
        "model": model,
        "projection": projection,
        "explanations": explanation,
        "references": reference,
        "metrics": metric,
        "seeds": seeds,
        "limit": limit,
        "training": train,
        "device": device,
    }
    request = read_request({key: value for key, value in asked.items() if value not in (None, [])}, spec)
    catalog = _catalog()
    plan = resolve(request, catalog)

    from .data import Source
    from .evaluator import carry_out
    from .progress import Progress
    from .render import print_report
    from .store import Runs, home

    progress = Progress()
    source = Source.configured(catalog.registry.datasets, home() / "data", data_dir, progress)
    outcome = carry_out(plan, runs=Runs(out), source=source, fresh=fresh, progress=progress)
    if json:
        sys.stdout.write(outcome.report.to_json())
        return
    print_report(outcome.report)
    state = "stored run, nothing computed" if outcome.stored else "run"
    print(f"{state}: {outcome.folder}/report.md", file=sys.stderr)


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="Study, with its options as NAME:key=value.")],
    task: Task = None,
    model: Model = None,
    projection: Projection = None,
    seeds: Seeds = None,
    limit: Limit = None,
    train: Train = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of studies.  [default: studies in ATTNX_HOME]")
    ] = None,
    json: Json = False,
    device: Device = None,
) -> None:
    """Carry out a study that trains more than one model, reusing weights that are there.

    Examples:

      attnx study uniform-attention --task sdc-2d --seeds 0-4

      attnx study adversarial-model --task imdb --model bilstm-add --limit 2000
    """
    from .requests import read_request
    from .spec import Choice

    asked = {"task": task, "model": model, "projection": projection}
    asked |= {"seeds": seeds, "limit": limit, "training": train, "device": device}
    request = read_request({key: value for key, value in asked.items() if value}, None)
    catalog = _catalog()
    chosen = Choice.parse(name)
    catalog.find("study", chosen.name)

    from .data import Source
    from .progress import Progress
    from .render import print_study
    from .store import home
    from .studies import carry_out_study

    progress = Progress()
    source = Source.configured(catalog.registry.datasets, home() / "data", data_dir, progress)
    report, folder = carry_out_study(chosen, request, catalog, source, progress, out)
    if json:
        sys.stdout.write(report.to_json())
        return
    print_study(report)
    print(f"study: {folder}/study.json", file=sys.stderr)


@app.command("list")
def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(help="tasks, models, projections, importances, metrics, studies or experiments."),
    ] = None,
) -> None:
    """List components and named models, all or of one kind.

    Examples:

      attnx list

      attnx list tasks
    """
    from .listing import listing

    print(listing(_catalog(), kind))


@app.command()
def info(name: Name) -> None:
    """Show what a component does, its options, what it needs and who provides it.

    Examples:

      attnx info fcam

      attnx info sparsegen
    """
    from .listing import describe

    print(describe(_catalog(), name))


@app.command()
def plugins() -> None:
    """List installed plugins and what is wrong with those that are broken."""
    from .listing import plugin_table

    print(plugin_table(_catalog()))


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A component, or a plugin or its distribution.")],
) -> None:
    """Run the laws that a component, or all of a plugin, is bound by.

    Examples:

      attnx check softmax

      attnx check sdc
    """
    from .testing import check_named

    passed = True
    for result in check_named(_catalog(), name):
        print(result)
        passed = passed and not result.failure
    if not passed:
        raise typer.Exit(1)


@app.command()
def runs(out: Out = None) -> None:
    """List finished runs, newest first."""
    from .listing import run_table
    from .store import Runs

    print(run_table(Runs(out)))
