"""The shape of the code base: sizes, names, public names, documentation."""

import re
import tomllib
from functools import cache
from pathlib import Path

import grimp
import pytest

import attnx
from attnx import hookspecs
from attnx.host.catalog import Catalog
from attnx.testing import LAWS

ROOT = Path(__file__).parents[2]
SOURCES = [*sorted((ROOT / "attnx").rglob("*.py")), *sorted((ROOT / "plugins").rglob("*.py"))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_is_one_page_with_a_name_that_says_something(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    assert path.stem not in {"utils", "helpers", "base", "common", "manager", "misc"}


def test_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = attnx.nothing


def test_every_hook_is_documented_for_plugin_authors():
    guide = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    hooks = [name for name in vars(hookspecs) if name.startswith("attnx_")]
    assert len(hooks) == 9
    for hook in hooks:
        assert f"`{hook}`" in guide


def test_the_guide_for_plugin_authors_states_every_law():
    guide = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| (\w+) \| `([\w-]+)` \| (.+) \|$", guide, re.MULTILINE)
    assert sorted(stated) == sorted((law.kind, law.name, law.statement) for law in LAWS)
    assert all(re.fullmatch(r"[A-Z`].*[.]", law.statement) for law in LAWS)


def test_every_component_has_a_summary_of_one_sentence():
    components = [claims[0] for claims in Catalog.installed().components.values()]
    assert len(components) > 15
    for component in components:
        assert re.fullmatch(r"\S.*[.]", component.summary), component.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", component.name)


def test_built_ins_are_registered_in_the_group_of_all_plugins():
    names = {plugin.name for plugin in Catalog.installed().plugins if plugin.distribution == "attnx"}
    folders = {path.name.removeprefix("attnx_") for path in (ROOT / "plugins").iterdir() if path.is_dir()}
    assert names == folders - {"__pycache__"}


PLUGINS = sorted(path.name for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists())


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("attnx", *PLUGINS, exclude_type_checking_imports=True)


def test_the_core_imports_no_plugin():
    for plugin in PLUGINS:
        assert not imports().find_shortest_chain("attnx", plugin, as_packages=True), plugin


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_imports_only_public_names_and_no_other_plugin(plugin):
    graph = imports()
    for module in {plugin, *graph.find_descendants(plugin)}:
        foreign = {
            m for m in graph.find_modules_directly_imported_by(module) if m.partition(".")[0] != plugin
        }
        assert foreign <= {"attnx.plugin", "attnx.formulas"}, module


def test_the_command_line_reaches_what_is_stored_and_installed_through_python_functions():
    """Shell completion alone looks for itself, because it must answer while a person types."""
    graph = imports()
    commands = graph.find_descendants("attnx.cli") - {"attnx.cli.completion"}
    reached = {
        (command, module)
        for command in commands
        for module in graph.find_modules_directly_imported_by(command)
        if module.split(".")[1] in {"store", "data", "wrapping", "testing"} or module == "attnx.host.catalog"
    }
    assert reached == {("attnx.cli.data", "attnx.data.dataset_status")}  # bytes in words


def test_no_room_has_more_files_than_a_reader_looks_through():
    for folder in {path.parent for path in SOURCES if ROOT / "attnx" in path.parents}:
        assert len([path for path in SOURCES if path.parent == folder]) <= 23, folder


def test_the_printed_tree_has_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    printed = re.findall(r"^  ([a-z_]+)/? {2,}\S", text, re.MULTILINE)
    found = {path.stem for path in (ROOT / "attnx").iterdir() if path.is_dir() or path.suffix == ".py"}
    assert sorted(printed) == sorted(name for name in found if not name.startswith("__"))


def test_the_printed_order_of_imports_is_that_of_the_contract():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```\n(cli > .*?)```", text, re.DOTALL)
    order = [sorted(re.findall(r"\w+", layer)) for layer in printed.split(">")]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    assert order == [sorted(layer.split(" | ")) for layer in contract["layers"]]
