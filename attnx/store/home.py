"""The folder of everything attnx keeps."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """The folder of everything attnx keeps: ATTNX_HOME, or the user's cache folder."""
    given = os.environ.get("ATTNX_HOME")
    return Path(given) if given else platformdirs.user_cache_path("attnx")
