"""Reads the text of registry.yaml and of plugins' fragments, without the cost of validation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PluginError
from .plain_yaml import load_yaml

if TYPE_CHECKING:
    from ..host.plugins import Plugin

_NOT_BLANK = re.compile(r"\s*[^#\s]")
_TOP = re.compile(r"(\w+):(?: +([^#\s].*))?$")
_ENTRY = re.compile(r"  ([A-Za-z][\w.+-]*):$")
# One sentence with a full stop on one line: not quoted, and not continued on the next line.
_SUMMARY = re.compile(r"    summary: (?!.*(?:: | #))([A-Za-z].* .*\.)$")


def registry_path() -> Path:
    """The path of registry.yaml: ATTNX_REGISTRY, inside the package, or at the root of a checkout."""
    package = Path(__file__).parent.parent
    given = os.environ.get("ATTNX_REGISTRY")
    packaged = package / "registry.yaml"
    return Path(given) if given else packaged if packaged.exists() else package.parent / "registry.yaml"


def registry_texts(plugins: Iterable[Plugin]) -> list[tuple[str, str]]:
    """The origin and text of registry.yaml, then of the fragments of plugins."""
    path = registry_path()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PluginError(f"Cannot read registry '{path}': {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PluginError(f"{path}: not valid UTF-8: {error}") from error
    fragments = [(f"Registry of plugin {p.title}", p.registry) for p in plugins if p.registry]
    return [(str(path), text), *fragments]


def parse_yaml(text: str, origin: str) -> Any:
    """YAML as plain data; an error names its origin."""
    try:
        return load_yaml(text)
    except ValueError as error:
        raise PluginError(f"{origin}: not valid YAML: {error}") from error


def summaries(plugins: Iterable[Plugin], section: str) -> dict[str, str] | None:
    """Names and summaries of a section; None if the text does not have that structure."""
    found: dict[str, str] = {}
    for origin, text in registry_texts(plugins):
        scanned = scan_summaries(text, section)
        parsed = _parsed_summaries(text, origin, section) if scanned is None else scanned
        if parsed is None:
            return None
        found |= parsed
    return found


def scan_default(name: str) -> str:
    """A default of registry.yaml for a help text; empty if it is not found."""
    try:
        text = registry_path().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # the error is raised when it is needed
        return ""
    section = re.search(r"^defaults:\n((?:[ #].*\n|\n)*)", text, re.MULTILINE)
    found = section and re.search(rf"^  {name}: +(\[[^\]]*\]|[\w.+:=-]+)", section[1], re.MULTILINE)
    return found[1].strip("[]") if found else ""


def scan_summaries(text: str, section: str) -> dict[str, str] | None:
    """Names and summaries of a section, read line by line; None if its layout is not the usual one."""
    found: dict[str, str] = {}
    here = name = above = ""
    for line in filter(_NOT_BLANK.match, text.splitlines()):
        top, entry, summary = _TOP.match(line), _ENTRY.match(line), _SUMMARY.match(line)
        if top:
            here, name = top[1], ""
            if here == section and top[2]:
                return None
        elif here == section and entry:
            name = entry[1]
            found[name] = ""
        elif here == section and name and summary and not found[name]:
            found[name] = summary[1]
        elif here != section and line.startswith(" "):
            pass
        elif not line.startswith("    ") or "summary" in line or (_SUMMARY.match(above) and line[4] == " "):
            return None
        above = line
    return found if all(found.values()) else None


def _parsed_summaries(text: str, origin: str, section: str) -> dict[str, str] | None:
    data = parse_yaml(text, origin)
    entries = (data.get(section) or {}) if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        return None
    shaped = all(
        isinstance(entry, dict) and isinstance(entry.get("summary"), str) for entry in entries.values()
    )
    return {str(name): entry["summary"] for name, entry in entries.items()} if shaped else None
