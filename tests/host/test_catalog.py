"""Components are found by kind and name, and what cannot be found is explained."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from attnx.errors import PluginError, UsageError, did_you_mean
from attnx.host.cards import CAPABILITIES, KINDS, Card, Component, Kind
from attnx.host.catalog import Catalog
from attnx.host.plugins import Plugin
from attnx.testing import LAWS, ToyModel
from attnx.testing.checking import check_by_name, check_component
from attnx.views.components import PLURALS, about, listed_names
from attnx.views.terminal.components import describe, listing

Cli = Callable[..., tuple[int, str, str]]


def component(name: str, kind: Kind = "model", plugin: str = "toys", **facts: Any) -> Component:
    facts = {"target": "attnx.testing.toy:ToyModel"} | facts
    return Component(Card(name, **facts), kind, plugin, f"attnx-{plugin}", "1")


def catalog_of(*components: Component, broken: str = "") -> Catalog:
    names = dict.fromkeys(c.plugin for c in components)
    plugins = [Plugin(n, f"attnx-{n}", "1", tuple(c for c in components if c.plugin == n)) for n in names]
    plugins += [Plugin("broken", "attnx-broken", "2", failure=broken)] if broken else []
    return Catalog(tuple(plugins))


# What is installed.


def test_nothing_that_is_installed_is_broken() -> None:
    assert Catalog.installed().warnings == []


@pytest.mark.parametrize("kind", KINDS)
def test_components_of_a_kind_are_in_order(kind: Kind) -> None:
    names = [c.name for c in Catalog.installed().of_kind(kind)]
    assert names == sorted(set(names))


def test_every_card_is_complete() -> None:
    """Needs are words that mean something, what is recommended exists."""
    catalog = Catalog.installed()
    known = {word for kind in KINDS for found in catalog.of_kind(kind) for word in found.provides}
    for kind in KINDS:
        for found in catalog.of_kind(kind):
            card = found.card
            assert set(found.needs) <= {*known, *CAPABILITIES}, card
            for name in card.recommends:
                if kind == "task":
                    assert catalog.find_model(name), card
                else:
                    assert catalog.find("importance", name), card


def test_every_option_of_an_installed_component_is_described() -> None:
    catalog = Catalog.installed()
    options = [found.load_options() for kind in KINDS for found in catalog.of_kind(kind)]
    fields = [field for cls in options if cls for field in cls.model_fields.items()]
    assert fields
    assert [name for name, field in fields if not field.description] == []


# Finding.


def test_a_component_is_found_by_kind_and_name() -> None:
    catalog = catalog_of(component("one"), component("one", "task"), component("two"))
    assert catalog.find("model", "one").kind == "model"
    assert catalog.find("task", "one").kind == "task"
    assert [c.name for c in catalog.of_kind("model")] == ["one", "two"]
    assert {c.kind for c in catalog.find_any("one")} == {"model", "task"}
    assert catalog.find_any("three") == []


def test_an_unknown_name_suggests_the_nearest_of_its_kind() -> None:
    catalog = catalog_of(component("banana"), component("bananas", "task"))
    with pytest.raises(UsageError, match=r"^Unknown model 'bannana'\. Did you mean 'banana'\? Available: "):
        catalog.find("model", "bannana")
    with pytest.raises(UsageError, match=r"^Unknown metric 'banana'\. Available: none\.$"):
        catalog.find("metric", "banana")


def test_an_unknown_name_may_be_the_fault_of_a_broken_plugin() -> None:
    catalog = catalog_of(component("banana"), broken="import failed: ImportError: no")
    with pytest.raises(PluginError, match=r"plugin broken \(attnx-broken 2\), which is broken: import"):
        catalog.find("model", "cherry")
    with pytest.raises(UsageError, match="Did you mean 'banana'"):
        catalog.find("model", "bananna")


def test_a_name_claimed_twice_is_refused_when_asked_for() -> None:
    catalog = catalog_of(component("one"), component("one", plugin="others"), component("two"))
    said = (
        "Two plugins provide the model 'one': toys (attnx-toys 1) and others (attnx-others 1). "
        "Switch one off, e.g. with --without others."
    )
    assert catalog.warnings == [said]
    assert catalog.find("model", "two")
    for find in (lambda: catalog.find("model", "one"), lambda: catalog.find_any("one")):
        with pytest.raises(PluginError) as refused:
            find()
        assert str(refused.value) == said


def test_a_named_model_is_its_component_and_its_choices() -> None:
    found, composition = Catalog.installed().find_model("fcam-linear")
    assert found.name == "fcam"
    assert composition is not None
    assert composition.options == {"focus": "linear", "classifier": "linear"}
    assert Catalog.installed().find_model("fcam")[1] is None


def test_an_unknown_model_suggests_named_models_too() -> None:
    with pytest.raises(UsageError, match="Did you mean 'fcam-linear'"):
        Catalog.installed().find_model("fcam-linaer")


def test_the_nearest_name_is_near() -> None:
    assert did_you_mean("sofmax", ["softmax", "sparsemax"]) == " Did you mean 'softmax'?"
    assert did_you_mean("zebra", ["softmax", "sparsemax"]) == ""
    assert did_you_mean("x", []) == ""


# Importing.


def test_a_component_is_imported_when_it_is_loaded() -> None:
    assert component("one").load() is ToyModel
    assert component("one").load_options() is None


@pytest.mark.parametrize("target", ["nowhere:Nothing", "attnx.errors:Nothing", "attnx.errors"])
def test_a_target_that_cannot_be_imported_is_a_plugin_error(target: str) -> None:
    with pytest.raises(PluginError, match=rf"model 'one' of plugin toys \(attnx-toys 1\).*'{target}'"):
        component("one", target=target).load()


# Lists and pages.


def test_everything_installed_is_listed(cli: Cli) -> None:
    code, out, err = cli("list")
    assert (code, err) == (0, "")
    assert all(len(line) <= 100 for line in out.splitlines())
    catalog = Catalog.installed()
    for plural, kind in PLURALS.items():
        section, names = cli("list", plural)[1], [found.name for found in catalog.of_kind(kind)]
        assert section.strip() in (out if names else f"No {plural} are installed.")
        assert all(f"\n  {name} " in section for name in names)
    assert all(f"  {name} " in out for name in catalog.registry.models)


@pytest.mark.parametrize("kind", KINDS)
def test_every_component_has_a_page(kind: Kind, cli: Cli) -> None:
    for found in Catalog.installed().of_kind(kind):
        code, out, err = cli("info", found.name)
        assert (code, err) == (0, "")
        assert f"{found.name} ({kind})" in out
        assert found.provider in out
        options = found.load_options()
        assert all(f"  {name} " in out for name in (options.model_fields if options else ()))
        assert all(len(line) <= 100 for line in out.splitlines())


# Checking by name; what the kit says of declarations.


def verdicts(of: Component) -> dict[str, str]:
    return {verdict.law: verdict.failure for verdict in check_component(Catalog(()), of).laws}


def test_a_class_whose_source_says_the_same_passes() -> None:
    assert not any(verdicts(component("toy")).values())


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("Late.__doc__ = 'Something else.'", "its source says summary 'Early.', the class 'Something else.'"),
        ("Late.needs = ('words',)", "its source says needs (), the class ('words',)"),
        ("Late.provides = ()", "its source says provides ('attention',"),
        ("Late.__doc__ = 'A sentence that goes\\non.'", "must begin with one sentence on a line of its own"),
    ],
)
def test_a_class_that_says_otherwise_once_it_is_imported_is_broken(
    after: str, said: str, install: Callable[..., Any]
) -> None:
    late = "from attnx.testing import ToyModel\nclass Late(ToyModel):\n    'Early.'\n"
    install("late", "", model=f"{late}\n{after}\n")
    assert said in verdicts(component("toy", target="late_plugin.model:Late"))["declarations"]


def test_a_dataset_that_the_source_does_not_name_is_a_broken_declaration(install: Callable[..., Any]) -> None:
    task = "from attnx.plugin import Task\nclass Late(Task):\n    'Early.'\nLate.dataset = 'imdb'\n"
    install("late", "", task=task)
    late = component("late", "task", target="late_plugin.task:Late")
    judged = check_component(Catalog(()), late).laws[0]
    assert judged.failure == "its source says dataset '', the class 'imdb'"


def test_a_component_whose_default_options_are_refused_is_broken(install: Callable[..., Any]) -> None:
    text = "from pydantic import Field\nfrom attnx.plugin import Options\nclass Size(Options):\n"
    install("sized", "", options=text + "    size: int = Field(0, gt=0, validate_default=True)\n")
    assert "has no default" in verdicts(component("toy", options="sized_plugin.options:Size"))["defaults"]


def test_a_component_that_demands_options_is_not_checked(install: Callable[..., Any]) -> None:
    install(
        "demanding", "", options="from attnx.plugin import Options\nclass Size(Options):\n    size: int\n"
    )
    toy = component("toy", options="demanding_plugin.options:Size")
    declarations, *others = check_component(Catalog(()), toy).laws
    assert str(declarations).endswith("ok")
    assert len(others) == sum(law.kind == "model" for law in LAWS)
    assert all(str(verdict).endswith("not checked: needs options: size") for verdict in others)


def test_a_model_that_no_installed_task_can_feed_is_a_plugin_error(install: Callable[..., Any]) -> None:
    dog = "from attnx.testing import ToyModel\nclass Dog(ToyModel):\n    'A dog.'\n    needs = ('smell',)\n"
    install("dog", "", model=dog)
    with pytest.raises(PluginError, match="no installed task provides what model 'toy' needs: smell"):
        verdicts(component("toy", target="dog_plugin.model:Dog"))


def test_checking_a_plugin_checks_all_its_components() -> None:
    catalog = catalog_of(component("toy"))
    by_plugin, by_distribution, by_name = (
        "\n".join(map(str, check_by_name(catalog, name))).splitlines()
        for name in ("toys", "attnx-toys", "toy")
    )
    assert by_plugin == by_distribution
    assert by_plugin == ["toys                         import               ok", *by_name]
    assert len(by_name) == 1 + sum(law.kind == "model" for law in LAWS)


def test_checking_a_broken_plugin_says_what_is_wrong_with_it() -> None:
    with pytest.raises(PluginError, match=r"plugin broken \(attnx-broken 2\): import failed"):
        list(check_by_name(catalog_of(broken="import failed: ImportError: no"), "broken"))


def test_checking_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'toys'"):
        list(check_by_name(catalog_of(component("toy")), "tyos"))


def test_a_broken_law_is_printed_and_is_exit_code_1(cli: Cli, install: Callable[..., Any]) -> None:
    card = "Card('half', 'half_plugin.half:Half')"
    install(
        "half",
        f"@hookimpl\ndef attnx_projections():\n    return [{card}]",
        half="from attnx.testing.toy import ToySoftmax\n"
        "class Half(ToySoftmax):\n"
        "    'Half of softmax.'\n"
        "    def __call__(self, scores, mask):\n"
        "        return super().__call__(scores, mask) / 2\n",
    )
    code, out, err = cli("check", "half")
    assert (code, err) == (1, "")
    assert len(out.splitlines()) == 2 + sum(law.kind == "projection" for law in LAWS)  # import, declarations
    assert [line.split()[1] for line in out.splitlines() if "FAILED" in line] == ["simplex"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("csv", r"file +path: one file"),
        ("mi-kendall", r"clusters +int \| paper, default 50: clusters"),
        ("mi-kendall", r"max_ranks +int: largest number of ranks"),
        ("comprehensiveness", r"bins +float\+\.\.\., default 1\+5\+10\+20\+50: shares"),
        ("adversarial-model", r"distance +kl \| jsd, default kl: "),
        ("sdc", r"segments +int, default 9: "),
    ],
)
def test_the_options_of_a_component_are_described_in_plain_words(name: str, line: str) -> None:
    assert re.search(rf"^  {line}", describe(about(Catalog.installed(), name)), re.MULTILINE)


def test_a_page_holds_what_the_class_says_of_itself() -> None:
    page = describe(about(Catalog.installed(), "delta-js"))
    assert "\n\nΔJS = JS(p, q_{i*}) − JS(p, q_r) in nats, where i* is the explanation's top unit" in page
    assert page.count("How much more the output changes") == 1


@pytest.mark.parametrize("target", ["no_such_module:Toy", "attnx.no_such:Toy", "attnx.testing.toy:NoSuch"])
def test_what_cannot_be_found_is_listed_and_refused_when_asked_for(target: str) -> None:
    catalog = catalog_of(component("toy", target=target))
    listed = " ".join(
        listing(listed_names(catalog, "models")["models"]).split()
    )  # long lines are folded to the terminal's width
    assert f"(the source of {target} was not found)" in listed
    with pytest.raises(PluginError, match=f"'toy' of plugin toys .* cannot be imported from '{target}'"):
        describe(about(catalog, "toy"))
