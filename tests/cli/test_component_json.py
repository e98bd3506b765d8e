"""`--json` of the commands that describe components, plugins and datasets has what their text has."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from attnx.host.catalog import Catalog
from attnx.views.components import SECTIONS, about, listed_names, to_json

Cli = Callable[..., tuple[int, str, str]]


def read(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = cli(*arguments, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out, parse_constant=pytest.fail)  # NaN and Infinity are not JSON
    assert isinstance(found, list)
    return found


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("section", [None, *SECTIONS])
def test_a_list_has_the_names_and_summaries_of_its_text(section: str | None, cli: Cli) -> None:
    arguments = ("list", section) if section else ("list",)
    found = read(cli, *arguments)
    text = cli(*arguments)[1]
    assert {tuple(one) for one in found} == {("kind", "name", "summary")}
    rows = [line for line in text.splitlines() if line.startswith("  ") and line[2] != " "]
    assert [line.split()[0] for line in rows] == [one["name"] for one in found]
    assert all(in_one_line(one["summary"]) in in_one_line(text) for one in found)


def test_a_named_model_and_a_component_have_different_kinds(cli: Cli) -> None:
    kinds = {one["name"]: one["kind"] for one in read(cli, "list", "models")}
    assert (kinds["fcam"], kinds["fcam-linear"]) == ("model", "named model")
    assert {one["kind"] for one in read(cli, "list", "experiments")} == {"experiment"}


def test_a_wrong_kind_is_refused_with_json_too(cli: Cli) -> None:
    code, out, err = cli("list", "taks", "--json")
    assert (code, out) == (2, "")
    assert "Did you mean 'tasks'?" in err


def test_info_has_the_options_with_types_and_defaults(cli: Cli) -> None:
    (found,) = read(cli, "info", "sparsegen")
    text = cli("info", "sparsegen")[1]
    assert (found["kind"], found["name"]) == ("projection", "sparsegen")
    assert all(in_one_line(found[key]) in in_one_line(text) for key in ("summary", "plugin", "citation"))
    options = {option["name"]: option for option in found["options"]}
    assert options
    for name, option in options.items():
        assert f"  {name}" in text
        assert option["description"] in in_one_line(text)
        assert f"default {option['default']}" in text


def test_info_has_the_audit_of_a_metric_and_the_files_of_a_task(cli: Cli) -> None:
    (metric,) = read(cli, "info", "kendall")
    said = f"{metric['audit']['inversions']} of {metric['audit']['comparisons']} comparisons"
    assert said in in_one_line(cli("info", "kendall")[1])
    (task,) = read(cli, "info", "imdb")
    text = in_one_line(cli("info", "imdb")[1])
    assert task["sources"]
    assert all(source in text for source in task["sources"])
    assert f"{task['dataset']}/ in --data-dir or ATTNX_DATA: {task['local_files']}" in text


def test_info_of_named_models_and_experiments(cli: Cli) -> None:
    (model,) = read(cli, "info", "fcam-linear")
    assert (model["kind"], model["model"]) == ("named model", "fcam")
    assert model["options"]["focus"] == "linear"
    (experiment,) = read(cli, "info", "meister-table-2")
    assert experiment["kind"] == "experiment"
    text = in_one_line(cli("info", "meister-table-2")[1])
    assert all(in_one_line(claim) in text for claim in experiment["claims"])


def test_everything_installed_is_valid_json() -> None:
    catalog = Catalog.installed()
    names = {one.name for names in listed_names(catalog).values() for one in names}
    for name in names:
        for found in json.loads(to_json(about(catalog, name)), parse_constant=pytest.fail):
            assert found["name"] == name


def test_datasets_have_the_status_of_the_text(cli: Cli) -> None:
    found = read(cli, "data", "list")
    text = cli("data", "list")[1]
    assert [one["name"] for one in found] == sorted(one["name"] for one in found)
    for one in found:
        shown = next(line for line in text.splitlines() if line.startswith(f"  {one['name']} "))
        assert one["status"] in shown
        if one["bytes"]:
            assert f"{one['bytes'] / 1e6:.0f} MB" in shown or f"{one['bytes'] / 1e3:.0f} kB" in shown
        assert (one["folder"] is not None) == (one["status"] in ("downloaded", "your folder"))


def test_plugins_say_how_many_components_they_have(cli: Cli, install: Any) -> None:
    install("broken", "raise ValueError('no luck')")
    code, out, _ = cli("plugins", "--json")
    assert code == 0
    found = {one["name"]: one for one in json.loads(out)}
    assert "no luck" in found["broken"]["failure"]
    text = cli("plugins")[1]
    for name, plugin in found.items():
        shown = next(line for line in text.splitlines() if line.startswith(f"  {name} ("))
        assert all(f"{count} {plural}" in in_one_line(text) for plural, count in plugin["counts"].items())
        assert plugin["version"] in shown
