"""registry.yaml holds choices and facts; whatever is wrong with it is said with file and key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from attnx.errors import PluginError, UsageError
from attnx.host.cards import Card, Component
from attnx.host.catalog import Catalog
from attnx.host.plugins import Plugin
from attnx.registry import text as registry_text
from attnx.registry.schema import parse_registry, read_registry
from attnx.registry.text import registry_path, scan_default, scan_summaries
from attnx.request.parsing import read_request
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a registry of this text in the place of the project's."""

    def write(text: str) -> Path:
        file = tmp_path / "registry.yaml"
        file.write_text(text)
        monkeypatch.setenv("ATTNX_REGISTRY", str(file))
        return file

    return write


def plugin(name: str, fragment: str = "", *models: str) -> Plugin:
    components = tuple(
        Component(Card(model, "nowhere:Nothing"), "model", name, f"attnx-{name}", "1") for model in models
    )
    return Plugin(name, f"attnx-{name}", "1", components, registry=fragment)


def fragment(section: str, name: str) -> str:
    facts = {
        "models": "{model: fcam, summary: A model.}",
        "datasets": "{summary: Data., licence: CC0-1.0}",
        "experiments": "{summary: A table., source: 'a paper, table 1', columns: {}, rows: {soft: {}}}",
    }
    return f"schema: 1\n{section}: {{{name}: {facts[section]}}}"


# The project's own.


def test_the_project_registry_is_at_the_root_of_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTNX_REGISTRY", raising=False)
    assert registry_path() == Path(__file__).parents[2] / "registry.yaml"
    assert parse_registry(registry_path().read_text(encoding="utf-8"), "it").models


def test_a_packaged_registry_is_preferred_to_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_text, "__file__", str(tmp_path / "attnx" / "registry" / "text.py"))
    assert registry_path() == tmp_path / "registry.yaml"
    (tmp_path / "attnx").mkdir()
    (tmp_path / "attnx" / "registry.yaml").write_text("schema: 1")
    assert registry_path() == tmp_path / "attnx" / "registry.yaml"


def test_every_composition_of_the_project_can_be_asked_for() -> None:
    """Its model is installed, and its options, projection and training are valid."""
    catalog = Catalog.installed()
    assert catalog.registry.models
    for name, composition in catalog.registry.models.items():
        needs = set(catalog.find("model", composition.model).needs)
        task = next(task.name for task in catalog.of_kind("task") if needs <= {*task.provides})
        plan = resolve(read_request({"task": task, "model": name}, None), catalog)
        assert plan.spec.model is not None
        assert plan.spec.model.name == composition.model
        assert composition.options.items() <= plan.spec.model.options.items()
        assert composition.training.items() <= plan.spec.training.items()


def test_what_the_user_says_goes_before_the_composition() -> None:
    asked = {"task": "sdc-2d", "model": "fcam-linear:focus=mlp", "training": "epochs=3"}
    plan = resolve(read_request(asked, None), Catalog.installed())
    assert plan.spec.model is not None
    assert (plan.spec.model.options["focus"], plan.spec.model.options["classifier"]) == ("mlp", "linear")
    assert (plan.training.epochs, plan.training.learning_rate) == (3, 0.02)


# Defaults.


def test_what_nobody_says_the_registry_does() -> None:
    plan = resolve(RunSpec(), Catalog.installed())
    assert (plan.task.label, plan.projection.label) == ("sdc-digits", "softmax")
    assert [part.label for part in plan.tests.explanations] == [plan.own] == ["attention"]
    assert [part.label for part in plan.tests.baselines] == ["random", "uniform"]
    assert plan.chance == "random"


def test_other_defaults_make_another_run(own: Callable[[str], Path]) -> None:
    own(
        "schema: 1\ndefaults: {task: sdc-text, projection: sparsemax, explanations: [gradient], "
        "baselines: [uniform, random]}"
    )
    plan = resolve(RunSpec.model_validate({"model": "mlp"}), Catalog.installed())
    assert (plan.task.label, plan.projection.label, plan.own) == ("sdc-text", "sparsemax", "gradient")
    assert ([part.label for part in plan.tests.baselines], plan.chance) == (["uniform", "random"], "uniform")


def test_without_a_default_the_user_is_asked(own: Callable[[str], Path]) -> None:
    own("schema: 1")
    asked = {"task": "sdc-text", "model": "mlp", "projection": "softmax", "explanations": ["attention"]}
    plan = resolve(RunSpec.model_validate(asked), Catalog.installed())
    assert (plan.tests.baselines, plan.chance, plan.own) == ((), "", "")
    for left_out, option in {
        "task": "task",
        "projection": "projection",
        "explanations": "explanation",
    }.items():
        spec = RunSpec.model_validate({key: value for key, value in asked.items() if key != left_out})
        with pytest.raises(UsageError, match=rf"No {option} is given .* Name one with --{option}\."):
            resolve(spec, Catalog.installed())


def test_a_help_page_scans_the_defaults_that_the_registry_has(own: Callable[[str], Path]) -> None:
    names = ("task", "projection", "explanations")
    assert [scan_default(name) for name in names] == ["sdc-digits", "softmax", "attention, gradient, loo"]
    own("schema: 1\ndefaults:\n  # of mine\n\n  task: mine  # rare\nmodels:\n  projection: no\n")
    assert [scan_default(name) for name in names] == ["mine", "", ""]


# Reading.


def test_a_registry_needs_nothing_but_its_schema() -> None:
    empty = parse_registry("schema: 1", "here")
    assert (empty.models, empty.datasets, empty.experiments) == ({}, {}, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: [", "not valid YAML"),
        ("", "top level: "),
        ("models: {}", "schema: "),
        ("schema: 2", "schema: "),
        ("schema: 1\nmodles: {}", "modles: "),
        ("schema: 1\nmodels: {mine: {model: fcam, summary: Mine., opions: {}}}", "models.mine.opions: "),
        ("schema: 1\nmodels: {mine: {model: [fcam], summary: Mine.}}", "models.mine.model: "),
        ("schema: 1\nmodels: {mine: fcam}", "models.mine: "),
        ("schema: 1\ndatasets: {mine: {summary: Mine., licence: 3}}", "datasets.mine.licence: "),
        ("schema: 1\nexperiments: {mine: {summary: Mine.}}", "experiments.mine.source: "),
        ("schema: 1\nmodels: {fcam: {model: fcam, summary: Mine.}}", "models.fcam: "),
        ("schema: 1\nmodels: !!python/name:os.system {}", "not valid YAML"),
    ],
)
def test_a_broken_registry_is_refused_with_file_and_key(
    text: str, said: str, own: Callable[[str], Path], cli: Cli, home: Path
) -> None:
    file = own(text)
    code, out, err = cli("evaluate", "--model", "fcam-mlp")
    assert (code, out) == (3, "")
    (line,) = err.splitlines()
    assert line.startswith(f"error: {file}: {said}")
    assert not home.exists()


def test_a_registry_that_cannot_be_read_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNX_REGISTRY", str(tmp_path / "none.yaml"))
    said = f"error: Cannot read registry '{tmp_path}/none.yaml': No such file or directory.\n"
    assert cli("list") == (3, "", said)


def test_a_registry_that_is_not_text_is_refused(own: Callable[[str], Path], cli: Cli) -> None:
    file = own("")
    file.write_bytes(b"schema: 1 # \xff\n")
    code, _, err = cli("list")
    assert code == 3
    assert err.startswith(f"error: {file}: ")


# Listing without a parser.


@pytest.mark.parametrize("section", ["models", "experiments", "no-such-section"])
def test_the_project_registry_is_scanned_as_it_is_parsed(section: str) -> None:
    text = registry_path().read_text(encoding="utf-8")
    parsed = yaml.safe_load(text).get(section) or {}
    assert scan_summaries(text, section) == {name: entry["summary"] for name, entry in parsed.items()}


PLAIN = """schema: 1
models:
  one:
    model: fcam
    summary: A model.

  # more
  two:
    summary: Two it is.
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("models:\n", "datasets:\n  three: {}\nmodels:\n"),
        ("  # more\n", "    options: {focus: linear,\n      layer: 1}\n"),
    ],
)
def test_the_usual_layout_is_scanned(old: str, new: str) -> None:
    assert scan_summaries(PLAIN.replace(old, new, 1), "models") == {"one": "A model.", "two": "Two it is."}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A model.", "'A model.'"),
        ("A model.", "A model. # Mine."),
        ("A model.", "A model\n      of two lines."),
        ("A model.", "A model.\n      Of two lines."),
        ("A model.", ">\n      A model."),
        ("A model.", "Model: one."),
        ("A model.", "12."),
        ("    summary: A model.", "    options: {summary: A model.}"),
        ("    summary: A model.", "    options:\n      summary: An option."),
        ("    model: fcam\n    summary", "      model: fcam\n      summary"),
        ("  one:\n", "  'one':\n"),
        ("  one:\n", "  one: &one\n"),
        ("    summary: Two it is.", "    <<: {summary: Two it is.}"),
        ("  two:\n    summary: Two it is.", "  two: {summary: Two it is.}"),
        ("models:\n", "'models':\n"),
        ("models:\n", "models: {}\n"),
        ("models:\n", "models: # of ours\n"),
        ("schema: 1", "schema: [1,\n2]"),
        ("schema: 1", "{"),
        ("schema: 1\nmodels:\n", "Just words.\n"),
    ],
)
def test_any_other_layout_is_left_to_the_parser(old: str, new: str) -> None:
    assert old in PLAIN
    assert scan_summaries(PLAIN.replace(old, new), "models") is None


# Joining.


@pytest.mark.parametrize("section", ["models", "datasets", "experiments"])
def test_a_fragment_adds_to_the_registry(section: str) -> None:
    joined = read_registry([plugin("extra", fragment(section, "extra-one"))])
    alone = read_registry([])
    assert set(getattr(joined, section)) == {*getattr(alone, section), "extra-one"}
    for other in {"models", "datasets", "experiments"} - {section}:
        assert getattr(joined, other) == getattr(alone, other)


@pytest.mark.parametrize("section", ["models", "datasets", "experiments"])
def test_an_entry_given_twice_is_refused(section: str) -> None:
    both = [plugin(name, fragment(section, "same")) for name in ("first", "second")]
    with pytest.warns(UserWarning, match=rf"registry entry {section}\.same is defined twice"):
        joined = read_registry(both)
    assert getattr(joined, section)["same"]  # the first one's stays


def test_an_entry_given_twice_names_the_plugin() -> None:
    both = [plugin(name, fragment("models", "same")) for name in ("first", "second")]
    with pytest.warns(UserWarning, match=r"second \(attnx-second 1\)"):
        read_registry(both)


def test_a_composition_may_not_shadow_a_component() -> None:
    with pytest.raises(PluginError, match=r"models\.same: a named model must not have the name"):
        read_registry([plugin("first", fragment("models", "same")), plugin("second", "", "same")])
