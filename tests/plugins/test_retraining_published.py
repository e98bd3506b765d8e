"""Published values stand beside the findings they belong to, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attnx import Finding
from attnx.catalog import Catalog
from attnx.progress import Progress
from attnx.resolve import find_part, resolve
from attnx.spec import Choice, RunSpec
from attnx.studies import Lab
from attnx.testing import toy_data
from attnx_retraining.published import MEISTER_2, MEISTER_3, MEISTER_5, WEN_2, WEN_3


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.installed()


def published(catalog: Catalog, table: Any, *row: str, task: str = "sst", **fields: Any) -> float | None:
    asked = RunSpec.model_validate({"task": task, "model": "bilstm-add", **fields})
    part = find_part(catalog, "study", Choice.parse("adversarial-model"))
    lab = Lab(resolve(asked, catalog), catalog, toy_data(), torch.device("cpu"), Progress(), part, asked)
    found: Finding = table.beside(Finding("setting", "measure", "none", np.zeros((1, 1))), lab, *row)
    assert (found.published is None) == (found.source == "")
    return found.published


def test_published_values_stand_beside_the_same_task_and_model(catalog: Catalog) -> None:
    assert published(catalog, MEISTER_5, "frozen", "accuracy") == 0.76
    assert published(catalog, MEISTER_5, "unfrozen", "jsd", task="imdb", model="transformer-dot") == 0.64
    assert published(catalog, MEISTER_3, task="20news") == 0.91
    assert published(catalog, MEISTER_2) == -0.866
    assert published(catalog, MEISTER_2, projection="sparsemax") == -0.866  # the sweep sets its own
    assert published(catalog, WEN_2, "fixed attention", task="20news") == 1.32
    assert published(catalog, WEN_2, "fixed representation") == -0.02
    assert published(catalog, WEN_3, "unfrozen", "tvd") == 0.036
    assert published(catalog, MEISTER_2, task="sst:files=jw") == -0.866


@pytest.mark.parametrize(
    "other",
    [
        {"task": "rotten-tomatoes"},
        {"task": "20news:groups=space+med"},
        {"model": "bilstm-dot"},
        {"model": "cnn-add"},
        {"projection": "sparsemax"},
    ],
)
def test_nothing_is_published_beside_another_task_model_or_projection(
    catalog: Catalog, other: dict[str, str]
) -> None:
    assert published(catalog, WEN_2, "fixed attention", **other) is None
    assert published(catalog, MEISTER_3, **other) is None
