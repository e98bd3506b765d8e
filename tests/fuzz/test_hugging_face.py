"""A Hugging Face folder after an accident, or with strange settings, is a model or one line."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing import damaged, fuzzed
from hypothesis import strategies as st
from tiny_checkpoints import data, save

from attnx.errors import AttnxError, PluginError
from attnx.run.measuring.attribution import trace_of
from attnx.run.measuring.output_checks import check_trace
from attnx.run.plugin_errors import errors_of
from attnx.testing.toy import ToySoftmax
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

FOLDER = tempfile.TemporaryDirectory()
ODD = [None, -1, 0, 1, 10**9, 1.5, "text", [], {}, True, "relu", "nonsense", ["a"], {"0": "x"}]


@cache
def whole() -> Path:
    return save("classifier", Path(FOLDER.name) / "whole")


def check(folder: Path) -> None:
    """A model that gives possible numbers, or one line, of the data or of the model."""
    said: AttnxError | None = None
    try:
        with errors_of("model 'hf-classifier'"):
            model = HfClassifier.build(data(), ToySoftmax(), HfClassifierOptions(checkpoint=str(folder)))
            check_trace(trace_of(model, model.encode(data().test)), model.provides, "model 'hf-classifier'")
    except AttnxError as error:
        said = error
    if said is not None:
        assert str(said).strip()
        assert not isinstance(said, PluginError) or "model 'hf-classifier'" in str(said)
    shutil.rmtree(folder)


def copied() -> Path:
    copy = Path(tempfile.mkdtemp(dir=FOLDER.name)) / "copy"
    shutil.copytree(whole(), copy)
    return copy


@fuzzed(8, st.integers(0, 2**32))
def test_damaged_folders(seed: int) -> None:
    copy = copied()
    file = random.Random(seed).choice(sorted(copy.iterdir()))
    file.write_bytes(damaged(file.read_bytes(), seed))
    check(copy)


@fuzzed(8, st.integers(0, 2**32), st.sampled_from(ODD))
def test_settings_of_anybodys(seed: int, value: Any) -> None:
    copy = copied()
    config = json.loads((copy / "config.json").read_text())
    config[random.Random(seed).choice(sorted(config))] = value
    (copy / "config.json").write_text(json.dumps(config))
    check(copy)
