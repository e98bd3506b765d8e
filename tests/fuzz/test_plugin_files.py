"""A plugin that is a single file, damaged: its components are listed and described, or the file is named."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path

from fuzzing import damaged, fuzzed
from hypothesis import strategies as st

import attnx
from attnx.errors import AttnxWarning, PluginError, UsageError
from attnx.host.plugin_files import forget_files

FOLDER = tempfile.TemporaryDirectory()
PLAIN = b'''"""Metrics of our own."""
from pydantic import Field

from attnx.plugin import Card, Evidence, Measure, Metric, Options, hookimpl


class TopOptions(Options):
    top: int = Field(1, ge=1, description="how many units count")


class TopPart(Metric):
    """Share of the explanation that its top units hold."""

    family = "shape"
    needs = ("reference",)
    measures = (Measure("top-part", "none", (0, 1)),)

    def __init__(self, options: TopOptions) -> None:
        self.top = options.top

    def __call__(self, evidence: Evidence):
        return evidence.explanation.values.amax(1)
'''
HOOKS = (
    PLAIN
    + b"""

@hookimpl
def attnx_metrics():
    return [Card("renamed", f"{__name__}:TopPart", options=f"{__name__}:TopOptions", citation="a page")]
"""
)


@fuzzed(40, st.integers(0, 2**32), st.booleans())
def test_damaged_plugin_files(seed: int, hooks: bool) -> None:
    file = Path(FOLDER.name) / "odd_metrics.py"
    file.write_bytes(damaged(HOOKS if hooks else PLAIN, seed))
    said: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", AttnxWarning)
            warnings.simplefilter("ignore", SyntaxWarning)
            attnx.components.use(file)
            for metric in attnx.components.list("metrics"):
                if re.match("top|renamed|odd", metric.name):
                    attnx.components.info(metric.name)
        said = [str(one.message) for one in noted if issubclass(one.category, AttnxWarning)]
    except (PluginError, UsageError) as error:
        said = [str(error)]
    finally:
        forget_files()
    for line in said:
        assert line.strip()
        assert "\n" not in line
        assert "Traceback" not in line
