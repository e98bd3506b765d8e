"""The training loop: its losses, its selection, its repeatability."""

import dataclasses
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnx.plugin import AttentionProjection, TaskData, Training, UsageError
from attnx.progress import Progress
from attnx.results.observations import Epoch
from attnx.run.measuring.attribution import Named
from attnx.run.training.loop import attention_entropy, loss, train
from attnx.run.training.optimizer import PlainAdam
from attnx.testing import ToyModel, toy_data
from attnx.testing.toy import ToySoftmax

CPU = torch.device("cpu")


def run(model, data=None, objective=None, **settings):
    training = Training(**{"epochs": 5, "learning_rate": 0.05, "batch_size": 2, **settings})
    return train(
        model, data or toy_data(), training, seed=0, device=CPU, progress=Progress("off"), label="training",
        objective=objective,
    )  # fmt: skip


def test_training_lowers_the_loss():
    record = run(ToyModel(), epochs=30)
    assert record.course[-1].loss < record.course[1].loss


def test_same_seed_same_weights():
    models = [ToyModel(), ToyModel()]
    for model in models:
        run(model)
    for a, b in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(a, b)


def test_kept_weights_are_those_of_the_best_dev_epoch():
    model = ToyModel()
    record = run(model, epochs=20, learning_rate=0.5)
    best = max(record.course, key=lambda epoch: (epoch.dev_accuracy, -epoch.dev_loss))
    assert record.best_epoch == best.epoch
    batch = model.encode(toy_data().dev)
    dev_loss = F.cross_entropy(model.run(batch, model.embed(batch)).logits, batch.labels)
    assert float(dev_loss.detach()) == pytest.approx(best.dev_loss, abs=1e-5)


def test_test_split_has_no_influence_on_selection():
    data = toy_data()
    wrong = tuple(dataclasses.replace(example, label=1 - example.label) for example in data.test)
    models = [ToyModel(), ToyModel()]
    records = [run(models[0], data), run(models[1], dataclasses.replace(data, test=wrong))]
    assert records[0] == records[1]


def test_patience_stops_early():
    data = toy_data()
    flipped = tuple(dataclasses.replace(example, label=1 - example.label) for example in data.dev)
    record = run(ToyModel(), dataclasses.replace(data, dev=flipped), epochs=50, patience=3)
    assert record.course[-1].epoch == record.best_epoch + 3 < 50


def test_an_objective_is_trained_for_all_epochs_and_its_best_one_on_dev_is_kept():
    data = toy_data()
    flipped = tuple(dataclasses.replace(example, label=1 - example.label) for example in data.dev)
    data, model = dataclasses.replace(data, dev=flipped), ToyModel()
    record = run(model, data, loss, epochs=12, patience=3)
    assert [epoch.epoch for epoch in record.course] == list(range(13))
    best = min(record.course, key=lambda epoch: epoch.dev_loss)
    assert record.best_epoch == best.epoch < 12
    with torch.no_grad():
        assert float(loss(model, model.encode(flipped))) == pytest.approx(best.dev_loss, abs=1e-5)


@pytest.fixture
def rates(monkeypatch):
    """The learning rates of every group of parameters, step by step."""
    noted = []
    step = PlainAdam.step

    def noting(self, closure=None):
        noted.append([group["lr"] for group in self.param_groups])
        return step(self, closure)

    monkeypatch.setattr(PlainAdam, "step", noting)
    return noted


def test_the_cosine_schedule_is_that_of_torch(rates):
    epochs, batches = 5, math.ceil(len(toy_data().train) / 2)
    run(ToyModel(), epochs=epochs, schedule="cosine")
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.05)
    torchs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * batches)
    for found in rates:
        assert found == pytest.approx(len(found) * torchs.get_last_lr())
        optimizer.step()
        torchs.step()
    assert len(rates) == epochs * batches


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_the_rate_rises_evenly_during_the_warm_up(rates, schedule):
    epochs, batches = 5, math.ceil(len(toy_data().train) / 2)
    run(ToyModel(), epochs=epochs, schedule=schedule)
    without = rates.copy()
    rates.clear()
    run(ToyModel(), epochs=epochs, schedule=schedule, warmup=0.4)
    rising = 2 * batches  # two of the five epochs
    for number, (found, full) in enumerate(zip(rates, without, strict=True)):
        assert found == pytest.approx([min(1, number / rising) * rate for rate in full])


class _Hard(AttentionProjection):
    trains_by_expectation = True

    def __call__(self, scores, mask):
        return ToySoftmax()(scores, mask)


def test_hard_loss_is_the_expected_loss_over_single_units():
    model = ToyModel(_Hard())
    batch = model.encode(toy_data().train)
    trace = model.run(batch, model.embed(batch))
    expected = torch.tensor(0.0)
    for row, example in enumerate(batch.examples):
        for unit in range(len(example.units)):
            logits = trace.hidden[row, unit] @ model.head.T
            expected += trace.attention[row, unit] * F.cross_entropy(
                logits[None], batch.labels[row : row + 1]
            )
    assert loss(model, batch).item() == pytest.approx(expected.item() / len(batch), abs=1e-6)


def test_hard_loss_of_long_texts_is_made_in_pieces_and_the_same(monkeypatch):
    alternatives = []

    class Counting(ToyModel):
        def reattend(self, trace, attention):
            alternatives.append(attention.shape[1])
            return super().reattend(trace, attention)

    model = Counting(_Hard())
    batch = model.encode(toy_data().train)
    found = []
    for cells in (2**20, batch.mask.numel()):  # all units at once, one at a time
        monkeypatch.setattr("attnx.formulas.chunks.CELLS", cells)
        value = loss(model, batch)
        found.append([value, *torch.autograd.grad(value, list(model.parameters()), allow_unused=True)])
    units = batch.mask.shape[1]
    assert alternatives == [units] + [1] * units * 2  # one by one, and again for the gradient
    for whole, piecewise in zip(*found, strict=True):
        torch.testing.assert_close(piecewise, whole)


def test_entropy_is_added_with_its_weight():
    model = ToyModel()
    batch = model.encode(toy_data().train)
    a = model.run(batch, model.embed(batch)).attention
    entropy = -(a * a.clamp_min(1e-38).log()).sum(1).mean().item()
    added = loss(model, batch, entropy=0.5) - loss(model, batch)
    assert added.item() == pytest.approx(0.5 * entropy, abs=1e-6)


def test_entropy_of_zero_weights_has_a_finite_gradient():
    a = torch.tensor([[1.0, 0.0]], requires_grad=True)
    attention_entropy(a).sum().backward()
    assert bool(a.grad.isfinite().all())


def test_entropy_regularisation_sharpens_attention():
    plain, regularised = ToyModel(), ToyModel()
    run(plain, epochs=40)
    run(regularised, epochs=40, entropy=1.0)
    entropies = []
    for model in (plain, regularised):
        batch = model.encode(toy_data().train)
        entropies.append(attention_entropy(model.run(batch, model.embed(batch)).attention).mean().item())
    assert entropies[1] < entropies[0]


def test_weight_decay_spares_attention_parameters():
    decayed = ToyModel()
    run(decayed, epochs=1, learning_rate=1e-9, weight_decay=0.5)
    optimised = {}

    def spy(groups, **settings):
        optimised["groups"] = groups
        return torch.optim.SGD(groups, lr=1e-9)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnx.run.training.loop.PlainAdam", spy)
        model = ToyModel()
        run(model, epochs=1, weight_decay=0.5)
    decay = {id(p): group["weight_decay"] for group in optimised["groups"] for p in group["params"]}
    assert decay[id(model.scorer)] == 0.0
    assert decay[id(model.head)] == decay[id(model.vectors)] == 0.5


def test_balanced_class_weights_are_inverse_to_frequency():
    data = toy_data()
    uneven: TaskData = dataclasses.replace(
        data, train=(data.train[0], data.train[2], data.train[4], data.train[1])
    )
    seen = {}
    original = F.cross_entropy

    def spy(logits, labels, weight=None, **settings):
        seen.setdefault("weights", weight)
        return original(logits, labels, weight, **settings)

    with pytest.MonkeyPatch.context() as patch:
        nothing = Epoch(epoch=0, loss=0.0, dev_loss=0.0, dev_accuracy=0.0, followed={})
        patch.setattr("attnx.run.training.loop._assess", lambda *_: nothing)
        patch.setattr("attnx.run.training.loop.F.cross_entropy", spy)
        run(ToyModel(), uneven, epochs=1, class_weights="balanced")
    assert seen["weights"].tolist() == pytest.approx([4 / (2 * 3), 4 / (2 * 1)])


class _Recorder:
    """A metric that follows training and draws random numbers as a careless one would."""

    family, needs, follows_training, whole_split, axis = "shape", (), True, False, None
    reads_explanation = True

    def __init__(self):
        from attnx.plugin import Measure

        self.measures = (Measure("top", "none", (0, 1)),)

    def __call__(self, evidence):
        assert not evidence.model.training
        return evidence.trace.attention.amax(1)


def test_followed_metrics_are_recorded_from_before_training_on_and_change_nothing():
    plain, watched = ToyModel(), ToyModel()
    run(plain)
    record = train(
        watched, toy_data(), Training(epochs=5, learning_rate=0.05, batch_size=2), seed=0,
        followed=[Named("top", _Recorder())], device=CPU, progress=Progress("off"), label="",
    )  # fmt: skip
    assert [epoch.epoch for epoch in record.course] == [0, 1, 2, 3, 4, 5]
    assert all(0 < epoch.followed["top"]["top"] <= 1 for epoch in record.course)
    assert torch.equal(plain.head, watched.head)


def test_clipping_bounds_the_gradient():
    seen = []
    original = nn.utils.clip_grad_norm_

    def spy(parameters, most):
        parameters = list(parameters)
        original(parameters, most)
        seen.append(float(torch.stack([p.grad.norm() for p in parameters if p.grad is not None]).norm()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.nn.utils.clip_grad_norm_", spy)
        run(ToyModel(), epochs=2, clip=0.01)
    assert seen
    assert max(seen) <= 0.01 + 1e-6


def test_training_that_diverges_is_refused_with_what_to_do():
    with pytest.raises(
        UsageError, match=r"Training diverged in epoch \d: the loss is (nan|inf).*learning_rate"
    ):
        train(
            ToyModel(),
            toy_data(),
            Training(epochs=4, learning_rate=1e30),
            seed=0,
            device=CPU,
            progress=Progress("off"),
            label="training",
            objective=lambda model, batch: model.head.square().sum(),  # type: ignore[attr-defined]
        )


def test_deception_is_added_with_its_weight():
    model = ToyModel()
    batch = model.encode(toy_data().train)  # the last example has no rationale
    a = model.run(batch, model.embed(batch)).attention
    penalties = [
        -math.log(1 - sum(w for w, mark in zip(row.tolist(), e.rationale, strict=False) if mark))
        for row, e in zip(a, batch.examples, strict=True)
        if e.rationale is not None
    ]
    added = loss(model, batch, deception=0.5) - loss(model, batch)
    assert added.item() == pytest.approx(0.5 * sum(penalties) / len(batch), abs=1e-6)


def test_deception_moves_attention_off_the_rationale():
    masses = []
    for deception in (0.0, 2.0):
        model = ToyModel()
        run(model, epochs=40, deception=deception)
        batch = model.encode(toy_data().test)
        a = model.run(batch, model.embed(batch)).attention
        masses.append((a * batch.rationale.nan_to_num()).sum(1).mean().item())
    assert masses[1] < 0.6 * masses[0]


def test_a_deceived_model_is_selected_by_its_dev_loss_with_the_penalty():
    data = toy_data()
    flipped = tuple(dataclasses.replace(example, label=1 - example.label) for example in data.dev)
    model = ToyModel()
    record = run(model, dataclasses.replace(data, dev=flipped), epochs=20, deception=10.0)
    losses = [epoch.dev_loss for epoch in record.course]
    assert record.best_epoch == losses.index(min(losses))
    assert loss(model, model.encode(flipped), deception=10.0).item() == pytest.approx(min(losses), abs=1e-5)
    accuracies = [epoch.dev_accuracy for epoch in record.course]
    assert accuracies[record.best_epoch] < max(accuracies), "accuracy would have chosen the same epoch"
