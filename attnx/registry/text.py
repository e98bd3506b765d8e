"""The text of registry.yaml and of plugins' fragments, read without the cost of validating it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ..errors import PluginError

if TYPE_CHECKING:
    from ..host.plugins import Plugin


def registry_path() -> Path:
    """Where registry.yaml is: named by ATTNX_REGISTRY, packaged, or at the root of a checkout."""
    package = Path(__file__).parent.parent
    given = os.environ.get("ATTNX_REGISTRY")
    packaged = package / "registry.yaml"
    return Path(given) if given else packaged if packaged.exists() else package.parent / "registry.yaml"


def registry_texts(plugins: Iterable[Plugin]) -> list[tuple[str, str]]:
    """Where each registry text comes from, and the text: the project's first, then the plugins'."""
    path = registry_path()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PluginError(f"cannot read registry {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PluginError(f"{path}: not valid UTF-8: {error}") from error
    fragments = [(f"registry of plugin {p.title}", p.registry) for p in plugins if p.registry]
    return [(str(path), text), *fragments]


def parse_yaml(text: str, origin: str) -> Any:
    """YAML as plain data; an error says where the text came from."""
    try:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise PluginError(f"{origin}: not valid YAML: {' '.join(str(error).split())}") from error


def summaries(plugins: Iterable[Plugin], section: str) -> dict[str, str] | None:
    """Names and summaries of a section, or None where the text has not even that shape."""
    found: dict[str, str] = {}
    for origin, text in registry_texts(plugins):
        data = parse_yaml(text, origin)
        entries = (data.get(section) or {}) if isinstance(data, dict) else None
        if not isinstance(entries, dict):
            return None
        for name, entry in entries.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("summary"), str):
                return None
            found[str(name)] = entry["summary"]
    return found
