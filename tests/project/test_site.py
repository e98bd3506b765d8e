"""What the site is made of: pages have a place, links lead to pages, the reference has every component."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from attnx.cli.app import app
from attnx.host.catalog import Catalog
from manual.command_pages import command_page
from manual.component_pages import PAGES, component_pages
from manual.project_files import ROOT, linked_files, rewritten, site_path

MADE = ("reference/", "project/")


class _AnyTag(yaml.SafeLoader):
    """MkDocs allows tags of Python in its settings."""


_AnyTag.add_multi_constructor("", lambda *_: None)


def named(entries: list[Any]) -> list[str]:
    """The pages of a navigation."""
    found: list[str] = []
    for entry in entries:
        ((_, inside),) = entry.items()
        found += named(inside) if isinstance(inside, list) else [inside]
    return found


SETTINGS = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _AnyTag)


def test_every_page_has_a_place_in_the_navigation() -> None:
    assert "index.md" in named(SETTINGS["nav"])
    listed = named(SETTINGS["nav"])
    assert len(set(listed)) == len(listed)
    missing = [page for page in listed if not page.startswith(MADE) and not (ROOT / "docs" / page).is_file()]
    assert set(missing) <= {"language-models.md", "methods.md"}  # left out of the site until they are there


def test_nothing_is_asked_of_other_hosts() -> None:
    assert SETTINGS["theme"]["font"] is False
    assert "offline" not in str(SETTINGS["plugins"])  # its search asks for a script
    assert "extra_javascript" not in SETTINGS
    assert "extra_css" not in SETTINGS


def test_the_reference_describes_every_component() -> None:
    catalog = Catalog.installed()
    pages = dict(component_pages(catalog))
    assert set(pages) < set(named(SETTINGS["nav"]))
    for plural in PAGES:
        kind = "study" if plural == "studies" else plural[:-1]
        for component in catalog.of_kind(kind):  # type: ignore[arg-type]
            if component.distribution == "attnx":
                assert f"{{ #{component.name} }}" in pages[f"reference/{plural}.md"]
    focus = pages["reference/metrics.md"].partition("{ #comprehensiveness }")[2].partition("\n## ")[0]
    for fact in ("**range**", "higher is better", "**cost**", "comparisons", "DeYoung et al.", "`bins`"):
        assert fact in focus


def test_the_reference_describes_every_command() -> None:
    page = command_page()
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert f"{{ #attnx-{name} }}" in page
    assert "`--plugin`" in page
    assert "`--require`" in page


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("inputs.md", "[a](../examples/10_own_module.py)", "[a](project/examples/10_own_module.py.md)"),
        ("plugins.md", "[a](../examples/attnx-sharp)", "[a](project/examples/attnx-sharp/index.md)"),
        ("plugins.md", "[a](verdict.md#b)", "[a](verdict.md#b)"),
        ("project/CONTRIBUTING.md", "[a](docs/releases.md)", "[a](../releases.md)"),
        ("plugins.md", "[a](data)", "a"),
        ("plugins.md", "[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("plugins.md", "[a](no_such_page.md)", "[a](no_such_page.md)"),
    ],
)
def test_links_to_files_of_the_project_lead_to_their_pages(page: str, link: str, expected: str) -> None:
    assert rewritten(link, page) == expected


def test_what_a_page_links_to_outside_the_docs_becomes_a_page() -> None:
    page = ROOT / "docs" / "plugins.md"
    found = linked_files(page.read_text(encoding="utf-8"), page)
    assert ROOT / "examples" / "attnx-sharp" in found
    assert site_path(Path(ROOT / "SECURITY.md")) == "project/SECURITY.md"


def test_the_settings_of_the_host_are_valid() -> None:
    for file in [*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml"]:
        assert yaml.safe_load(file.read_text(encoding="utf-8"))
    matrix = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]["tests"]["strategy"]
    assert matrix["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    version = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
