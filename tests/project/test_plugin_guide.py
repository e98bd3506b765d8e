"""The examples of the guide for plugin authors do what the guide says they do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import attnx
from attnx.formulas import Randomness
from attnx.testing import MarkedToyModel, ToyModel, assert_conforms, toy_data

GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
Install = Callable[..., Path]


def example(name: str) -> Any:
    """A class of the guide."""
    made: dict[str, Any] = {}
    for block in BLOCKS:
        if "class " in block and "hookimpl" not in block:
            exec(block, made)
    return made[name]


@pytest.mark.parametrize("made_by", [ToyModel, MarkedToyModel])
def test_the_importance_method_is_the_gradient_of_the_log_probability(made_by: type[ToyModel]) -> None:
    """By finite differences in double precision."""
    model = made_by().double()
    batch = model.encode(toy_data().test)
    x = model.embed(batch).detach()
    target = torch.tensor([0, 1, 0, 1, 0, 1])

    def log_p(embeddings: torch.Tensor) -> torch.Tensor:
        logits = model.run(batch, embeddings).logits
        return logits.log_softmax(-1).gather(1, target[:, None])[:, 0].detach()

    slope = torch.zeros_like(x)
    for column in range(x.shape[1]):
        for entry in range(x.shape[2]):
            step = torch.zeros_like(x)
            step[:, column, entry] = 1e-6
            slope[:, column, entry] = (log_p(x + step) - log_p(x - step)) / 2e-6
    found = example("Saliency")()(model, model.run(batch, x), target, Randomness(0))
    torch.testing.assert_close(found, slope.norm(dim=-1) * batch.mask, atol=1e-6, rtol=1e-6)


def test_the_importance_method_is_evaluated_as_an_object() -> None:
    report = attnx.evaluate(
        "sdc-text:train=40,dev=20,test=20",
        "bilstm-add:embedding=4,hidden=4",
        explanations=example("Saliency")(),
        metrics="comprehensiveness",
        training={"epochs": 1},
        progress=False,
    )
    assert {s.explanation for s in report.summaries if not s.yardstick} == {"Saliency"}


def test_counting_columns_instead_of_units_is_found_by_the_laws() -> None:
    """What the comment of the example warns of."""
    (block,) = [block for block in BLOCKS if "class EarlyShare" in block]
    right = "(size * early).sum(1)"
    assert right in block
    made = {name: example(name) for name in ("ImportanceMethod", "Metric", "Measure", "Evidence", "torch")}
    made |= {name: example(name) for name in ("Model", "Trace", "Randomness")}
    exec(block.replace(right, "size[:, :3].sum(1)"), made)
    with pytest.raises(attnx.CheckFailed) as failed:
        assert_conforms("metric", made["EarlyShare"]())
    assert str(failed.value).split()[1] == "metric-special"
    assert ";" not in str(failed.value)


def database(rows: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE texts (text, label)")
    texts = [("a fine film", "good"), ("a dull film", "bad")]
    connection.executemany("INSERT INTO texts VALUES (?, ?)", [texts[row % 2] for row in range(rows)])
    return connection


@pytest.fixture
def tables(install: Install) -> None:
    """The plugin of the guide, installed."""
    (block,) = [block for block in BLOCKS if "attnx_adapters" in block]
    install("tables", block.replace("attnx_tables", "tables_plugin"))


@pytest.mark.usefixtures("tables")
def test_the_adapter_makes_a_task_of_a_database() -> None:
    report = attnx.evaluate(
        database(100),
        "bilstm-add:embedding=4,hidden=4",
        metrics="none",
        training={"epochs": 12, "learning_rate": 0.05},
        progress=False,
    )
    assert len(report.examples()) == 20
    assert report.quality[0].accuracy == 1.0


@pytest.mark.usefixtures("tables")
def test_an_error_of_the_adapters_task_reaches_the_user() -> None:
    with pytest.raises(attnx.DataError, match="The table has 4 texts; at least 10 are needed"):
        attnx.evaluate(database(4), "bilstm-add", progress=False)


def test_without_the_plugin_a_database_is_refused() -> None:
    with pytest.raises(attnx.UsageError, match="Connection"):
        attnx.evaluate(database(100), "bilstm-add", progress=False)  # type: ignore[arg-type]
