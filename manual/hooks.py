"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from attnx.host.catalog import Catalog  # noqa: E402
from manual.api_pages import api_pages  # noqa: E402
from manual.command_pages import command_page  # noqa: E402
from manual.component_pages import component_pages  # noqa: E402
from manual.project_files import every_project_page, rewritten  # noqa: E402

MADE = ("reference/", "project/")  # pages that are not files of docs/


def on_config(config: Any) -> Any:
    """Leave out entries of the navigation whose page does not exist, and add pages that it does not name."""
    docs = Path(config.docs_dir)
    config.nav = with_every_page(config.nav, sorted(path.name for path in docs.glob("*.md")))
    return config


def with_every_page(entries: list[Any], pages: list[str]) -> list[Any]:
    """A navigation of the pages that exist; those that it does not name are at the end."""
    kept = _existing(entries, pages)
    more = [page for page in pages if page not in str(kept)]
    titles = [page.removesuffix(".md").replace("_", " ").replace("-", " ").capitalize() for page in more]
    further = [{title: page} for title, page in zip(titles, more, strict=True)]
    return [*kept, {"More": further}] if further else kept


def _existing(entries: list[Any], pages: list[str]) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        ((title, inside),) = entry.items()
        if isinstance(inside, list):
            kept.append({title: _existing(inside, pages)})
        elif inside.startswith(MADE) or inside in pages:
            kept.append(entry)
    return kept


def on_files(files: Files, config: Any) -> Files:
    """Add the reference pages and the files of the project that pages link to."""
    docs = {ROOT / "docs" / file.src_uri: file.content_string for file in files.documentation_pages()}
    pages = every_project_page(
        {"project/CONTRIBUTING.md": (ROOT / "CONTRIBUTING.md").read_text()},
        lambda: docs | {ROOT / "CONTRIBUTING.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")},
    )
    pages |= dict(component_pages(Catalog.installed()))
    pages |= dict(api_pages())
    pages["reference/commands.md"] = command_page()
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files outside docs/ into links to their pages."""
    uri = page.file.src_uri
    return markdown if uri.startswith(MADE) else rewritten(markdown, uri)
