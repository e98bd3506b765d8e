from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_checkpoints import save

Saved = Callable[[str], Path]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The folder of a tiny checkpoint of that kind, made when it is first asked for."""
    root = tmp_path_factory.mktemp("checkpoints")

    def find(kind: str) -> Path:
        folder = root / kind
        return folder if folder.exists() else save(kind, folder)

    return find
