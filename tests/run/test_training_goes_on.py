"""A training that is cut off goes on after its last epoch, and ends as if nothing had happened."""

import datetime
import json
import os

import pytest
import torch
from torch.nn import functional as F

from attnx.errors import AttnxWarning
from attnx.plugin import Training, UsageError
from attnx.progress import Progress
from attnx.run.training.loop import loss
from attnx.run.training.models import TrainedModels, seeded
from attnx.store.weights import Weights
from attnx.testing import ToyModel, toy_data

CPU = torch.device("cpu")
SETTINGS = Training(epochs=6, learning_rate=0.3, batch_size=2)


class Dropping(ToyModel):
    """Draws from torch's generator in every pass of training."""

    def embed(self, batch):
        return F.dropout(super().embed(batch), 0.3, self.training)


class CutOff(BaseException):
    """Ends a training as a signal does, for which nobody is prepared."""


def counted(passes, error=CutOff):
    """The loss of a model, which fails after so many passes of training."""
    left = passes

    def objective(model, batch):
        nonlocal left
        if torch.is_grad_enabled():  # not on dev
            if left == 0:
                raise error
            left -= 1
        return loss(model, batch)

    return objective


def train(weights, passes=-1, training=SETTINGS, keep="best", **settings):
    """Weights and record of a training, and how many passes it took."""
    models = TrainedModels(toy_data(), CPU, weights, Progress("off"))
    objective = counted(passes, **settings)
    with seeded(3):
        model = Dropping()
        record = models.find_or_train(
            model, "key", training, seed=3, label="training", objective=objective, keep=keep
        )
    return model.state_dict(), record


def whole(weights):
    """The header and the bytes of the file of weights; only the header's keys are in any order."""
    content = (weights.root / "key" / "weights.safetensors").read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


@pytest.fixture(autouse=True)
def every_epoch(monkeypatch):
    monkeypatch.setattr("attnx.run.training.checkpoints.SHARE", float("inf"))


@pytest.mark.parametrize("keep", ["best", "last"])
@pytest.mark.parametrize(
    "settings", [{}, {"patience": 2, "schedule": "cosine", "warmup": 0.3}, {"clip": 0.1, "weight_decay": 0.1}]
)
def test_a_training_cut_off_anywhere_ends_in_the_same_bytes(tmp_path, keep, settings):
    training = SETTINGS.model_copy(update=settings)
    undisturbed = Weights(tmp_path / "undisturbed")
    _, record = train(undisturbed, training=training, keep=keep)
    steps = -(-len(toy_data().train) // 2)
    total = (len(record.course) - 1) * steps
    for passes in range(total):
        weights = Weights(tmp_path / f"after {passes}")
        with pytest.raises(CutOff):
            train(weights, passes, training, keep)
        assert (weights.checkpoints.root / "key").exists() == (passes >= steps)
        left = total - passes // steps * steps  # from the last epoch that ended
        with pytest.raises(CutOff):
            train(weights, left - 1, training, keep)
        again = train(weights, -1, training, keep)
        assert whole(weights) == whole(undisturbed)
        assert again[1] == record
        assert list(weights.checkpoints.root.glob("*")) == []


def test_what_is_left_after_a_cut_is_not_done_again(tmp_path):
    weights = Weights(tmp_path)
    steps = -(-len(toy_data().train) // 2)
    with pytest.raises(CutOff):
        train(weights, 4 * steps + 1)
    train(weights, 2 * steps)  # two epochs are left, and no more passes than theirs


@pytest.mark.parametrize("damage", [lambda whole: whole[:-9], lambda whole: whole[:-1] + b"?", lambda _: b""])
def test_a_damaged_checkpoint_is_a_warning_and_training_starts_again(tmp_path, damage):
    undisturbed, weights = Weights(tmp_path / "undisturbed"), Weights(tmp_path / "cut")
    train(undisturbed)
    with pytest.raises(CutOff):
        train(weights, 12)
    place = weights.checkpoints.root / "key" / "weights.safetensors"
    place.write_bytes(damage(place.read_bytes()))
    with pytest.warns(AttnxWarning, match=f"The checkpoint in '{place.parent}' cannot be read .* beginning"):
        train(weights)
    assert whole(weights) == whole(undisturbed)


def test_a_checkpoint_that_cannot_be_written_stops_nothing(tmp_path):
    weights = Weights(tmp_path)
    weights.checkpoints.root.write_bytes(b"")
    with pytest.warns(AttnxWarning, match="The checkpoint could not be saved"):
        train(weights)
    assert weights.find("key") is not None


def test_a_training_that_diverged_leaves_no_checkpoint(tmp_path):
    weights = Weights(tmp_path)

    def diverging(model, batch):
        return loss(model, batch) * (float("nan") if weights.checkpoints.find("key") else 1.0)

    models = TrainedModels(toy_data(), CPU, weights, Progress("off"))
    with pytest.raises(UsageError, match="diverged in epoch 2"):
        models.find_or_train(ToyModel(), "key", SETTINGS, seed=0, label="training", objective=diverging)
    assert list(weights.checkpoints.root.glob("*")) == []


def test_a_checkpoint_left_behind_by_its_training_goes_when_the_weights_are_found(tmp_path):
    weights = Weights(tmp_path)
    train(weights)
    weights.checkpoints.write("key", {"x": torch.zeros(1)}, {})
    train(weights, 0)
    assert list(weights.checkpoints.root.glob("*")) == []


def test_checkpoints_take_their_share_of_time_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr("attnx.run.training.checkpoints.SHARE", 1e-9)
    weights, written = Weights(tmp_path), []
    monkeypatch.setattr("attnx.store.weights.write_file", lambda final, content: written.append(final))
    train(weights)
    assert len(written) == 1


def test_old_checkpoints_are_pruned(home, cli):
    checkpoints = Weights().checkpoints
    for key, days in (("old", 3), ("new", 0)):
        checkpoints.write(key, {"x": torch.zeros(1)}, {})
        then = datetime.datetime.now().timestamp() - days * 24 * 3600
        os.utime(checkpoints.root / key / "weights.safetensors", (then, then))
    assert cli("runs", "prune", "--older-than", "8d")[1] == "Nothing to delete.\n"
    assert cli("runs", "prune", "--keep", "1")[1] == f"deleted {checkpoints.root / 'old'}\n"
    assert [path.name for path in checkpoints.root.glob("*")] == ["new"]
    cli("runs", "prune", "--older-than", "0d")
    assert list(checkpoints.root.glob("*")) == []
