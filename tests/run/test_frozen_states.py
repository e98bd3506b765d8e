"""The states of a frozen encoder are computed once, and training from them ends in the same weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_checkpoints import data, save
from torch import Tensor

import attnx
from attnx.plugin import Batch
from attnx.run.training import frozen_states
from attnx.run.training.checkpoints import learned_state, load_learned
from attnx.store.kept_tensors import list_kept
from attnx.store.weights import Weights
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_transformers.encoder import HfEncoder
from attnx_transformers.options import HfOptions

TASK = "sdc-text:train=60,dev=30,test=20"
EPOCHS = 3


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("encoder", tmp_path_factory.mktemp("frozen") / "tiny")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many examples went through the encoder of every call in training."""
    calls: list[int] = []
    hidden = HfEncoder._hidden

    def counted(self: HfEncoder, batch: Batch, embeddings: Tensor) -> Tensor:
        calls.append(len(batch))
        return hidden(self, batch, embeddings)

    monkeypatch.setattr(HfEncoder, "_hidden", counted)
    return calls


def weights(checkpoint: Path, home: Path, options: str = "", seed: int = 0) -> dict[str, Tensor]:
    """The trained weights of a run in a home of its own."""
    report = attnx.evaluate(
        TASK,
        f"hf:checkpoint={checkpoint}{options or ',freeze=true'}",
        metrics="nnz",
        seeds=[seed],
        training={"epochs": EPOCHS, "learning_rate": 0.01},
        progress=False,
        keep="none",
    )
    found = Weights(home / "weights").find(report.provenance.weights_folders[seed])
    assert found is not None
    return found[0]


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def change(name: str) -> Path:
        monkeypatch.setenv("ATTNX_HOME", str(tmp_path / name))
        return tmp_path / name

    return change


def test_weights_are_the_same_with_and_without_the_disk(
    checkpoint: Path, homes: Any, encoded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = homes("first")
    first = weights(checkpoint, home)
    assert len(list_kept("states")) == 2  # train and dev
    assert sum(encoded) >= 110  # and those of a trial
    shutil.rmtree(home / "weights")
    shutil.rmtree(home / "runs")
    encoded.clear()
    assert same(weights(checkpoint, home), first)
    assert sum(encoded) < 60  # the test split alone, and a trial of single examples
    monkeypatch.setenv("ATTNX_KEEP_GB", "0")
    assert same(weights(checkpoint, homes("second")), first)
    assert not list_kept("states")


def test_weights_are_those_of_training_that_computes_states_in_every_epoch(
    checkpoint: Path, homes: Any, encoded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = weights(checkpoint, homes("ours"))
    once = sum(encoded)
    monkeypatch.setattr(frozen_states, "MOST", 0)
    encoded.clear()
    theirs = weights(checkpoint, homes("theirs"))
    assert sum(encoded) >= once + (EPOCHS - 1) * 60
    for name, tensor in theirs.items():
        torch.testing.assert_close(ours[name], tensor, rtol=1e-3, atol=1e-4)


def test_other_seeds_and_scorers_share_states_and_other_pieces_do_not(checkpoint: Path, homes: Any) -> None:
    home = homes("shared")
    first = weights(checkpoint, home)
    assert not same(weights(checkpoint, home, seed=1), first)
    weights(checkpoint, home, ",freeze=true,scorer=dot")
    assert len(list_kept("states")) == 2
    weights(checkpoint, home, ",freeze=true,pieces=first")
    assert len(list_kept("states")) == 4


def test_an_encoder_that_is_trained_keeps_no_states(checkpoint: Path, homes: Any) -> None:
    weights(checkpoint, homes("trained"), ",freeze=false")
    assert not list_kept("states")


def test_what_is_frozen_is_in_no_checkpoint_and_what_is_learned_is_put_back(checkpoint: Path) -> None:
    options = HfOptions(checkpoint=str(checkpoint), freeze=True)
    model = HfEncoder.build(data(), Softmax(SoftmaxOptions()), options)
    before = {name: tensor.clone() for name, tensor in learned_state(model).items()}
    assert {name.partition(".")[0] for name in before} == {"scorer", "decoder"}
    with torch.no_grad():
        model.decoder.weight += 1
    model.train()
    assert (model.training, model.decoder.training, model.network.transformer.training) == (True, True, False)
    load_learned(model, before)
    assert same(learned_state(model), before)
