"""Files of the project outside docs/ that a page links to, as pages of the site."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<!\\)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".csv": "text", ".cff": "yaml"}


def site_path(file: Path) -> str:
    """The page of the site that shows a file or folder of the project."""
    inside = file.relative_to(ROOT).as_posix()
    if inside.startswith("docs/"):
        return inside.removeprefix("docs/")
    if file.is_dir():
        return f"project/{inside}/index.md"
    return f"project/{inside}" if file.suffix == ".md" else f"project/{inside}.md"


def source_of(path: str) -> Path:
    """The file of the project that a page of the site shows."""
    if not path.startswith("project/"):
        return ROOT / "docs" / path
    inside = path.removeprefix("project/")
    return next(
        found
        for found in (
            ROOT / inside.removesuffix("/index.md"),
            ROOT / inside.removesuffix(".md"),
            ROOT / inside,
        )
        if found.exists()
    )


def rewritten(markdown: str, page: str) -> str:
    """The text of a page, with links to files of the project turned into links to their pages."""
    return LINK.sub(lambda found: _link(found, page), markdown)


def linked_files(markdown: str, file: Path) -> list[Path]:
    """The files outside docs/ that a text of the project links to."""
    folder = file if file.is_dir() else file.parent
    found = [Path(os.path.normpath(folder / link[2])) for link in LINK.finditer(markdown) if _ours(link[2])]
    return [one for one in found if one.exists() and ROOT / "docs" not in one.parents and one != ROOT]


def _ours(href: str) -> bool:
    return bool(href) and "://" not in href and not href.startswith(("mailto:", "/"))


def _link(found: re.Match[str], page: str) -> str:
    words, href, anchor = found[1], found[2], found[3] or ""
    source = source_of(page)
    target = Path(os.path.normpath((source if source.is_dir() else source.parent) / href))
    if not _ours(href) or not target.exists():
        return found[0]
    if ROOT not in target.parents or (target.is_dir() and ROOT / "docs" in target.parents):
        return words  # a folder of data, which the site copies and does not show
    if page == site_path(source) and _beside(source, target):
        return found[0]
    return f"[{words}]({posixpath.relpath(site_path(target), posixpath.dirname(page) or '.')}{anchor})"


def _beside(source: Path, target: Path) -> bool:
    """Whether both are in docs/, where links are as the site has them."""
    docs = ROOT / "docs"
    return docs in source.parents and docs in target.parents


def page_of(file: Path) -> str:
    """The text of the page that shows a file or a folder."""
    if file.is_dir():
        inside = sorted(one for one in file.rglob("*") if one.is_file() and not _private(one))
        lines = [f"# {file.relative_to(ROOT).as_posix()}", ""]
        return "\n".join(
            [*lines, *(f"- [{one.relative_to(file)}]({one.relative_to(file)})" for one in inside)]
        )
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return content
    language = LANGUAGES.get(file.suffix, "text")
    return f"# {file.name}\n\n```{language}\n{content}\n```\n"


def _private(file: Path) -> bool:
    return any(
        part.startswith((".", "__pycache__")) for part in file.relative_to(ROOT).parts
    ) or file.suffix in (
        ".pyc",
        ".png",
    )


def every_project_page(pages: dict[str, str], start: Callable[[], dict[Path, str]]) -> dict[str, str]:
    """All pages of project files that can be reached from these texts."""
    waiting = [file for path, content in start().items() for file in linked_files(content, path)]
    found = dict(pages)
    while waiting:
        file = waiting.pop()
        path = site_path(file)
        if path in found:
            continue
        found[path] = page_of(file)
        waiting += linked_files(found[path], file)
    return {path: rewritten(content, path) for path, content in found.items()}
