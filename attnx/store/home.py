"""The folder where attnx stores everything."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """The folder where attnx stores everything: ATTNX_HOME, or the user's cache folder."""
    given = os.environ.get("ATTNX_HOME")
    return Path(given) if given else platformdirs.user_cache_path("attnx")
