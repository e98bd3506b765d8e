"""Plugins from outside: what they announce is found, and whatever they break is said to be theirs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attnx import hookspecs
from attnx.errors import PluginError, UsageError
from attnx.host.cards import KINDS, Adapter
from attnx.host.catalog import Catalog
from attnx.host.plugins import HOOK_OF_KIND, Plugin
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.views.components import about_plugins
from attnx.views.terminal.components import plugin_table

Cli = Callable[..., tuple[int, str, str]]
Install = Callable[..., Path]

HOOKS = {
    name: hook
    for name, hook in vars(hookspecs).items()
    if inspect.isfunction(hook) and hasattr(hook, "attnx_spec")
}


def announcing(hook: str, *names: str) -> str:
    """The body of a plugin whose hook returns a card for each name; nothing behind them is ever imported."""
    cards = ", ".join(f"Card({name!r}, f'{{__name__}}:Nothing')" for name in names)
    nothing = "class Nothing:\n    'Does nothing.'\n"
    return f"{nothing}@hookimpl\ndef {hook}():\n    return [{cards}]\n"


def returning(hook: str, value: str) -> str:
    return f"@hookimpl\ndef {hook}():\n    return {value}\n"


FRAGMENT = "schema: 1\nmodels:\n  fcam-tiny: {model: fcam, summary: A tiny one., options: {width: 2}}\n"
ADAPTER = Adapter("task", ("fresh_plugin.code:Box",), "fresh_plugin.code:task_of")
USES: dict[str, Callable[[Catalog], bool]] = {
    "attnx_tasks": lambda catalog: catalog.find("task", "fresh").plugin == "fresh",
    "attnx_models": lambda catalog: catalog.find_model("fresh")[0].plugin == "fresh",
    "attnx_projections": lambda catalog: catalog.find("projection", "fresh").plugin == "fresh",
    "attnx_importances": lambda catalog: catalog.find("importance", "fresh").plugin == "fresh",
    "attnx_metrics": lambda catalog: catalog.find("metric", "fresh").plugin == "fresh",
    "attnx_studies": lambda catalog: catalog.find("study", "fresh").plugin == "fresh",
    "attnx_drawings": lambda catalog: catalog.find("drawing", "fresh").plugin == "fresh",
    "attnx_adapters": lambda catalog: [p.name for p in catalog.plugins if ADAPTER in p.adapters] == ["fresh"],
    "attnx_registry": lambda catalog: catalog.find_model("fcam-tiny")[0].name == "fcam",
}


def installed(name: str) -> Plugin:
    (found,) = [plugin for plugin in Catalog.installed().plugins if plugin.name == name]
    return found


# The hooks.


def test_every_hook_is_documented_and_tested_here() -> None:
    assert HOOKS
    assert [name for name, hook in HOOKS.items() if not (hook.__doc__ or "").strip()] == []
    assert set(HOOKS) == set(USES)
    assert set(HOOK_OF_KIND) == set(KINDS)
    assert set(HOOK_OF_KIND.values()) < set(HOOKS)


@pytest.mark.parametrize("hook", USES)
def test_what_a_hook_announces_is_in_the_catalog(hook: str, install: Install) -> None:
    bodies = {
        "attnx_registry": returning(hook, repr(FRAGMENT)),
        "attnx_adapters": returning(hook, f"[{ADAPTER!r}]"),
    }
    install("fresh", bodies.get(hook, announcing(hook, "fresh")))
    assert USES[hook](Catalog.installed())


def test_a_component_knows_its_plugin_distribution_and_version(install: Install) -> None:
    install("fresh", announcing("attnx_tasks", "fresh"), version="4.5")
    found = Catalog.installed().find("task", "fresh")
    assert found.provider == "fresh (attnx-fresh 4.5)"


def test_loading_plugins_calls_no_target(install: Install) -> None:
    install("fresh", announcing("attnx_tasks", "fresh"), code="raise AssertionError")
    assert not Catalog.installed().warnings
    assert "fresh_plugin.code" not in sys.modules


def test_a_plugin_may_implement_nothing(install: Install, cli: Cli) -> None:
    install("idle", "")
    code, out, err = cli("plugins")
    assert (code, err) == (0, "")
    assert any("idle (attnx-idle 1.2)" in line and "nothing" in line for line in out.splitlines())


# What a plugin can break.

BROKEN = {
    "import failure": ("import no_such_module_anywhere", "import failed: ModuleNotFoundError"),
    "import of several lines": ("raise ImportError('one\\ntwo\\n\\n  three')", "ImportError: one two three"),
    "syntax": ("def (:", "import failed: SyntaxError"),
    "misspelled hook": (
        announcing("attnx_taks", "x"),
        "misspelled hook: PluginValidationError",
    ),
    "hook with arguments": (
        "@hookimpl\ndef attnx_tasks(config):\n    return []",
        "import failed: PluginValidationError",
    ),
    "hook that raises": (returning("attnx_tasks", "1 / 0"), "hook 'attnx_tasks' failed: ZeroDivisionError"),
    "not a card": (
        returning("attnx_metrics", "['accuracy']"),
        "hook 'attnx_metrics' must return a list of attnx.plugin.Card, got 'accuracy'",
    ),
    "a class": (
        "class Mine:\n    pass\n" + returning("attnx_metrics", "[Mine]"),
        "hook 'attnx_metrics' must return a list of attnx.plugin.Card, got <class",
    ),
    "not a list": (returning("attnx_models", "5"), "hook 'attnx_models'"),
    "generator that raises": (
        "@hookimpl\ndef attnx_tasks():\n    yield 1 / 0\n",
        "hook 'attnx_tasks' failed: ZeroDivisionError",
    ),
    "registry that is no text": (returning("attnx_registry", "{'schema': 1}"), "hook 'attnx_registry'"),
    "exit on import": ("import sys\nsys.exit(7)", "import failed: SystemExit"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_plugin_is_one_warning_and_to_blame_for_unknown_names(
    fault: str, install: Install, cli: Cli
) -> None:
    body, reason = BROKEN[fault]
    install("broken", body, version="0.9")
    code, out, err = cli("list", "projections")
    assert code == 0
    assert "softmax" in out
    (line,) = err.splitlines()
    assert line.startswith("warning: Plugin broken (attnx-broken 0.9) is ignored: ")
    assert reason in line
    code, out, err = cli("evaluate", "--task", "quite-unheard-of")
    assert (code, out) == (3, "")
    warning, error = err.splitlines()
    assert warning == line
    assert error.startswith("error: Unknown task 'quite-unheard-of'")
    assert "broken (attnx-broken 0.9)" in error
    assert reason in error


def test_a_near_miss_beside_a_broken_plugin_is_still_a_typing_error(install: Install, cli: Cli) -> None:
    install("broken", "import no_such_module_anywhere")
    code, _, err = cli("evaluate", "--task", "sdc-digit")
    assert code == 2
    assert "Did you mean 'sdc-digits'?" in err.splitlines()[-1]


def test_a_broken_plugin_keeps_no_other_from_working(install: Install) -> None:
    install("broken", announcing("attnx_tasks", "half") + returning("attnx_metrics", "1 / 0"))
    install("sound", announcing("attnx_tasks", "whole"))
    catalog = Catalog.installed()
    assert catalog.find("task", "whole")
    assert installed("broken").components == ()
    with pytest.raises(PluginError):
        catalog.find("task", "nothing-like-it")


def test_the_list_of_plugins_shows_what_is_broken(install: Install, cli: Cli) -> None:
    install("broken", "import no_such_module_anywhere")
    code, out, _ = cli("plugins")
    assert code == 0
    assert "broken (attnx-broken 1.2)" in out
    assert "BROKEN: import failed: ModuleNotFoundError" in " ".join(out.split())


def test_a_card_whose_target_cannot_be_imported_is_a_plugin_error(install: Install, cli: Cli) -> None:
    card = "Card('bad', 'bad_plugin.code:Bad')"
    install("bad", returning("attnx_tasks", f"[{card}]"), code="raise ImportError('a library\\nis missing')")
    code, out, err = cli("evaluate", "--task", "bad", "--model", "fcam")
    assert (code, out) == (3, "")
    (line,) = err.splitlines()
    assert line.startswith("error: The task 'bad' of plugin bad (attnx-bad 1.2) cannot be imported from")
    assert "ImportError: a library is missing" in line


def test_a_card_whose_options_cannot_be_imported_is_a_plugin_error(install: Install, cli: Cli) -> None:
    card = "Card('bad', 'bad_plugin:Bad', options='bad_plugin:NoOptions')"
    install("bad", returning("attnx_projections", f"[{card}]"))
    code, out, err = cli("evaluate", "--projection", "bad")
    assert (code, out) == (3, "")
    assert (
        "projection 'bad' of plugin bad (attnx-bad 1.2) cannot be imported from 'bad_plugin:NoOptions'" in err
    )


# Names that are claimed twice.


def test_a_name_claimed_twice_is_one_warning_while_nobody_asks(install: Install, cli: Cli) -> None:
    install("rival", announcing("attnx_projections", "softmax"))
    code, _, err = cli("list", "tasks")
    assert code == 0
    (line,) = err.splitlines()
    assert line.startswith("warning: Two plugins provide the projection 'softmax': projections (attnx ")
    assert "and rival (attnx-rival 1.2)" in line


@pytest.mark.parametrize("asked", [["evaluate", "--projection", "softmax"], ["info", "softmax"]])
def test_asking_for_a_name_claimed_twice_names_both(
    asked: tuple[str, ...], install: Install, cli: Cli
) -> None:
    install("rival", announcing("attnx_projections", "softmax"))
    code, out, err = cli(*asked)
    assert (code, out) == (3, "")
    last = err.splitlines()[-1]
    assert last.startswith("error: Two plugins provide the projection 'softmax'")
    assert "projections (attnx " in last
    assert "rival (attnx-rival 1.2)" in last
    assert "--without rival" in last


def test_switching_one_rival_off_settles_it(install: Install, cli: Cli) -> None:
    install("rival", announcing("attnx_projections", "softmax"))
    assert cli("--without", "rival", "info", "softmax")[0] == 0
    assert "rival (attnx-rival 1.2)" in cli("--without", "projections", "info", "softmax")[1]


def test_one_name_may_be_used_for_different_kinds(install: Install) -> None:
    install("twin", announcing("attnx_tasks", "twin") + announcing("attnx_models", "twin"))
    catalog = Catalog.installed()
    assert catalog.warnings == []
    assert {component.kind for component in catalog.find_any("twin")} == {"task", "model"}


# Switching off.


def test_a_plugin_can_be_switched_off(install: Install, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    install("broken", "import no_such_module_anywhere")
    install("fresh", announcing("attnx_tasks", "fresh"))
    assert len(cli("list", "tasks")[2].splitlines()) == 1
    code, out, err = cli("--without", "broken", "--without", "fresh", "list", "tasks")
    assert (code, err) == (0, "")
    assert "fresh" not in out
    monkeypatch.setenv("ATTNX_WITHOUT", "broken,fresh")
    assert cli("list", "tasks") == (0, out, "")


def test_any_built_in_can_be_switched_off() -> None:
    for plugin in Catalog.installed().plugins:
        rest = Catalog.installed([plugin.name])
        assert plugin.name not in {other.name for other in rest.plugins}
        assert len(rest.plugins) == len(Catalog.installed().plugins) - 1


@pytest.mark.parametrize("plugin", [plugin.name for plugin in Catalog.installed().plugins])
def test_a_run_without_a_built_in_is_planned_or_refused_for_that_reason(plugin: str) -> None:
    asked = RunSpec.model_validate({"metrics": ["kendall"], "model": "bilstm-add", "task": "sdc-text"})
    for spec in (RunSpec(), asked):
        plan = resolve(spec, Catalog.installed())
        asked_for = (*plan.tests.metrics, *plan.tests.references) if spec.metrics else ()
        needed = (plan.task, plan.model, plan.projection, *plan.tests.explanations, *asked_for)
        if plugin not in {part.component.plugin for part in needed if part.component}:
            resolve(spec, Catalog.installed([plugin]))
            continue
        reason = rf"belongs to plugin {plugin} \(attnx .*which is switched off \(--without, ATTNX_WITHOUT\)"
        with pytest.raises(UsageError, match=reason):
            resolve(spec, Catalog.installed([plugin]))


def test_without_the_baselines_another_explanation_is_measured_and_nothing_stands_beside_it() -> None:
    spec = RunSpec.model_validate({"explanations": ["gradient"]})
    plan = resolve(spec, Catalog.installed(["baselines"]))
    assert (plan.tests.baselines, plan.chance) == ((), "")


def test_a_name_that_is_switched_off_by_the_environment_says_so(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNX_WITHOUT", "sdc")
    for asked in (["evaluate"], ["study", "uniform-attention"], ["evaluate", "--model", "fcam-mlp"]):
        code, out, err = cli(*asked)
        assert (code, out) == (2, "")
        assert "error: The task 'sdc-digits' belongs to plugin sdc (attnx " in err


def test_datasets_of_a_plugin_go_with_it(install: Install, cli: Cli) -> None:
    fragment = "{schema: 1, datasets: {rare: {summary: Rare., licence: CC0-1.0}}}"
    install("more", f"@hookimpl\ndef attnx_registry():\n    return {fragment!r}\n")
    assert "rare" in cli("data", "list")[1]
    code, out, _ = cli("--without", "more", "data", "list")
    assert (code, "rare" in out) == (0, False)
    code, _, err = cli("--without", "more", "data", "where", "rare")
    assert (code, "Unknown dataset 'rare'" in err) == (4, True)


def test_switching_off_does_not_last(cli: Cli) -> None:
    assert "softmax" not in cli("--without", "projections", "list")[1]
    assert "softmax" in cli("list")[1]


def test_switching_off_what_is_not_installed_suggests_the_nearest(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = cli("--without", "projection", "list")
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("error: Cannot switch off plugin 'projection'")
    assert "Did you mean 'projections'?" in line
    monkeypatch.setenv("ATTNX_WITHOUT", "sdcc")
    with pytest.raises(UsageError, match="Did you mean 'sdc'"):
        Catalog.installed()


def test_a_heavy_import_is_named(install, monkeypatch):
    monkeypatch.setattr("attnx.host.plugins.HEAVY", ("wave",))
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    install("heavy", "import wave\n")
    (plugin,) = [plugin for plugin in Catalog.installed().plugins if plugin.name == "heavy"]
    assert plugin.slow.startswith("its import loads wave")
    assert "SLOW: its import loads wave" in " ".join(plugin_table(about_plugins(Catalog((plugin,)))).split())
