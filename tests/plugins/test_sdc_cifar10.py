"""CIFAR-10 mosaics: every layout of the files gives the same images, and no image serves two splits."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Source
from attnx_sdc.cifar10 import Cifar10, shrink
from attnx_sdc.cifar10_files import BATCHES, read_half
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import Cifar10Options, FcamOptions

SMALL = Cifar10Options(train=60, dev=20, test=30, pixels=8)


def images_and_labels(count=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8), np.arange(count) % 10


def write_png(folder, halves):
    for half, (images, labels) in halves.items():
        for name, part in zip(BATCHES[half], np.array_split(images, len(BATCHES[half])), strict=True):
            Image.fromarray(part.transpose(0, 2, 3, 1).reshape(len(part), 1024, 3)).save(
                folder / f"{name}.png"
            )
        (folder / f"{half}_labels.json").write_text(json.dumps(labels.tolist()))


def write_binary(folder, halves):
    for half, (images, labels) in halves.items():
        records = np.concatenate([labels[:, None].astype(np.uint8), images.reshape(len(images), -1)], axis=1)
        for name, part in zip(BATCHES[half], np.array_split(records, len(BATCHES[half])), strict=True):
            part.tofile(folder / f"{name}.bin")


def write_arrays(folder, halves):
    for half, (images, labels) in halves.items():
        np.savez(folder / f"{half}.npz", images=images.transpose(0, 2, 3, 1), labels=labels)


@pytest.fixture
def halves():
    return {"train": images_and_labels(), "test": images_and_labels(seed=1)}


@pytest.mark.parametrize("write", [write_png, write_binary, write_arrays])
def test_every_layout_gives_the_same_images_and_labels(tmp_path, halves, write):
    write(tmp_path, halves)
    for half, (images, labels) in halves.items():
        found, found_labels = read_half(tmp_path, half)
        assert np.array_equal(found, images)
        assert found_labels.tolist() == labels.tolist()


def load(folder, options=SMALL):
    return Cifar10(options).load(Source(folder, Catalog.installed().registry.datasets))


def test_no_image_serves_two_splits_and_units_are_named_by_class(tmp_path, halves):
    write_arrays(tmp_path, halves)
    data = load(tmp_path)
    rows = {
        split: {row for e in getattr(data, split) for row in e.rows} for split in ("train", "dev", "test")
    }
    assert not rows["train"] & rows["dev"]
    assert min(rows["test"]) >= 200  # the images of the test half follow those of train
    assert max(rows["train"] | rows["dev"]) < 200
    labels = np.concatenate([halves[half][1] for half in ("train", "test")])
    for example in data.train:
        position = example.rationale.index(True)
        assert labels[example.rows[position]] == example.label  # aeroplane, car and bird are 0, 1 and 2
        assert all(labels[row] > 2 for j, row in enumerate(example.rows) if j != position)
    assert data.label_names == ("airplane", "automobile", "bird")


def test_fewer_photographs_leave_those_of_test_as_they_are(tmp_path, halves):
    write_arrays(tmp_path, halves)
    data = load(tmp_path, SMALL.model_copy(update={"photographs": 120}))
    wanted = np.concatenate([shrink(halves["train"][0][:120], 8), shrink(halves["test"][0], 8)])
    assert np.array_equal(data.features.reshape(-1, 3, 8, 8), wanted)
    assert min(row for e in data.test for row in e.rows) >= 120
    assert max(row for e in (*data.train, *data.dev) for row in e.rows) < 120


def test_photographs_that_are_not_held_out_are_the_first_of_the_training_half_in_every_split(
    tmp_path, halves
):
    write_arrays(tmp_path, halves)
    data = load(tmp_path, SMALL.model_copy(update={"held_out": False, "photographs": 150}))
    images, labels = (half[:150] for half in halves["train"])
    assert np.array_equal(data.features.reshape(-1, 3, 8, 8), shrink(images, 8))
    rows = {
        split: {row for e in getattr(data, split) for row in e.rows} for split in ("train", "dev", "test")
    }
    assert rows["test"] & rows["train"]
    assert rows["dev"] & rows["train"]
    assert {e.rows for e in data.test}.isdisjoint({e.rows for e in data.train})  # other mosaics all the same
    for example in data.test:
        position = example.rationale.index(True)
        assert labels[example.rows[position]] == example.label
        assert all(labels[row] > 2 for j, row in enumerate(example.rows) if j != position)


def test_images_stay_bytes_until_a_model_looks_at_them(tmp_path, halves):
    write_arrays(tmp_path, halves)
    data = load(tmp_path)
    assert data.features.dtype == np.uint8
    torch.manual_seed(0)
    model = Fcam.build(data, lambda scores, mask: scores.softmax(1), FcamOptions(channels=2))
    batch = model.encode(data.test[:3])
    seen = model.embed(batch)
    expected = data.features[list(data.test[0].rows)].reshape(9, -1) / 127.5 - 1
    assert seen[0].numpy() == pytest.approx(expected, abs=1e-6)
    assert "vectors.table" not in model.state_dict()


def test_shrinking_takes_means():
    images, _ = images_and_labels(3)
    small = shrink(images, 16)
    assert small.shape == (3, 3, 16, 16)
    assert small[1, 2, 4, 5] == round(images[1, 2, 8:10, 10:12].mean())
    assert shrink(images, 32) is images


def test_the_size_of_the_paper_is_one_word():
    sizes = Cifar10Options(size="paper").sizes
    assert (sizes.train, sizes.test, sizes.segments, Cifar10Options(size="paper").side) == (
        30000,
        10000,
        9,
        32,
    )
    assert Cifar10Options(size="paper", train=100).sizes.train == 100


def damage_png(folder):
    (folder / "data_batch_3.png").write_bytes(b"not a picture")


def damage_labels(folder):
    (folder / "test_labels.json").write_text("[1, 2")


def damage_missing(folder):
    (folder / "test_batch.png").unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_png, "data_batch_3.png' does not decode as a picture"),
        (damage_labels, "Cannot read the labels"),
        (damage_missing, "cifar10"),
    ],
)
def test_damaged_files_are_named(tmp_path, halves, damage, message):
    write_png(tmp_path, halves)
    damage(tmp_path)
    with pytest.raises(DataError, match=message):
        load(tmp_path)


def test_a_class_without_images_is_refused(tmp_path, halves):
    images, labels = halves["test"]
    halves["test"] = images[labels != 1], labels[labels != 1]
    write_arrays(tmp_path, halves)
    with pytest.raises(DataError, match="no test image of 'automobile'"):
        load(tmp_path)


PAPER = """
import resource, sys
from pathlib import Path
import torch
from attnx.plugin import Source, Training
from attnx.data.loading import load_data
from attnx.host.catalog import Catalog
from attnx.request.spec import Limit
from attnx.run.measuring.attribution import trace_of
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.splits import Split, batches, shuffled
from attnx.run.training.loop import _optimizer, loss
from attnx_projections.options import SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_sdc.cifar10 import Cifar10
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import Cifar10Options, FcamOptions

task = Cifar10(Cifar10Options(size="paper"))
data = load_data(task, Source(Path(sys.argv[1]), Catalog.installed().registry.datasets), Limit())
model = Fcam.build(data, Softmax(SoftmaxOptions()), FcamOptions(channels=16))
device = torch.device("cpu")
split = Split(model, data.train, device)
with evaluating(model):
    trace_of(model, next(batches(split))[1])
optimizer = _optimizer(model.train(), Training())
for batch, _ in zip(shuffled(split, 64, torch.Generator()), range(2)):
    loss(model, batch).backward()
    optimizer.step()
print(len(split), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_thirty_thousand_mosaics_are_measured_and_trained_on_within_1500_megabytes(tmp_path):
    for half, count in (("train", 50_000), ("test", 10_000)):
        images, labels = images_and_labels(count)
        np.savez(tmp_path / f"{half}.npz", images=images.transpose(0, 2, 3, 1), labels=labels)
    done = subprocess.run(
        [sys.executable, "-c", PAPER, str(tmp_path)], capture_output=True, text=True, check=True, timeout=600
    )
    mosaics, kilobytes = map(int, done.stdout.split())
    assert mosaics == 30_000
    assert kilobytes < 1_500_000  # their photographs laid out by mosaic are 829 megabytes of bytes
