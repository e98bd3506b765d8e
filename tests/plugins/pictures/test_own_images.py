"""COCO's files and folders of one's own images: what is read, and what is refused in one line."""

import json

import numpy as np
import pytest
from PIL import Image

from attnx.host.catalog import Catalog
from attnx.plugin import DataError, Source, UsageError
from attnx_pictures.coco_captions import CocoCaptions
from attnx_pictures.image_folder import ImageFolder
from attnx_pictures.options import CocoOptions, ImageFolderOptions

COCO = CocoOptions(images=6, grid=2, patch=4, min_count=1)


def picture(path, width=40, height=20):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


@pytest.fixture
def coco(tmp_path):
    """Seven training images and two others: a dog in the right half of each, and a man somewhere."""
    for half, numbers in (("train", range(7)), ("val", range(10, 12))):
        images = [{"id": i, "file_name": f"{i}.png"} for i in numbers]
        for image in images:
            picture(tmp_path / f"{half}2017" / image["file_name"])
        captions = [{"image_id": i, "caption": "A man, with 2 dogs!"} for i in numbers]
        boxes = [{"image_id": i, "category_id": 18, "bbox": [20, 0, 20, 20]} for i in numbers]
        annotations = tmp_path / "annotations"
        annotations.mkdir(exist_ok=True)
        (annotations / f"captions_{half}2017.json").write_text(
            json.dumps({"images": images, "annotations": captions})
        )
        (annotations / f"instances_{half}2017.json").write_text(
            json.dumps({"categories": [{"id": 18, "name": "dog"}], "annotations": boxes})
        )
    return tmp_path


def load_coco(folder, options=COCO):
    return CocoCaptions(options).load(Source(folder, Catalog.installed().registry.datasets))


def test_coco_words_of_objects_have_the_boxes_of_the_objects(coco):
    data = load_coco(coco)
    assert data.label_names == (".", "a", "dogs", "man", "with")
    (dogs,) = data.test
    assert dogs.query == ("a", "man", "with")
    assert dogs.rationale == (False, True, False, True)  # the right half of two by two patches
    assert not any(data.train[0].rationale)  # `a` names nothing
    assert len(data.train) == 6 * 5


def test_coco_takes_features_computed_elsewhere(coco, tmp_path):
    file = tmp_path / "features.npz"
    np.savez(file, **{str(i): np.full((4, 3), i, dtype="f4") for i in [*range(7), 10, 11]})
    data = load_coco(coco, COCO.model_copy(update={"features": file}))
    assert data.features.shape == (8 * 4, 3)
    assert data.features[data.test[0].rows[0], 0] == int(data.test[0].id.split(".")[0])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "annotations" / "instances_val2017.json").unlink(), "no annotations/instances_val"),
        (lambda f: (f / "annotations" / "captions_val2017.json").write_text("{"), "cannot be read as JSON"),
        (lambda f: [p.write_bytes(b"no") for p in (f / "val2017").iterdir()], "does not decode as an image"),
    ],
)
def test_coco_folders_that_lack_something_are_refused(coco, damage, message):
    damage(coco)
    with pytest.raises(DataError, match=message):
        load_coco(coco)


def test_a_folder_without_annotations_is_refused(tmp_path):
    with pytest.raises(DataError, match="annotations"):
        load_coco(tmp_path)


def own(folder, *lines, **options):
    file = folder / "labels.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return ImageFolder(ImageFolderOptions(file=file, grid=2, patch=4, **options)).load(Source())


def line(i, **more):
    return {"image": f"{i}.png", "label": "cat" if i % 2 else "dog", **more}


@pytest.fixture
def folder(tmp_path):
    for i in range(10):
        picture(tmp_path / f"{i}.png")
    return tmp_path


def test_own_images_are_cut_and_marked(folder):
    data = own(folder, *(line(i, id=f"mine {i}", boxes=[[0, 0, 20, 10]]) for i in range(10)))
    everything = [*data.train, *data.dev, *data.test]
    assert (len(data.train), len(data.dev), len(data.test)) == (8, 1, 1)
    assert {example.id for example in everything} == {f"mine {i}" for i in range(10)}
    assert everything[0].rationale == (True, False, False, False)
    assert data.features.shape == (40, 3, 4, 4)


def test_own_splits_are_kept(folder):
    data = own(folder, line(0, split="train"), line(1, split="test"), line(2, split="dev"))
    assert [len(part) for part in (data.train, data.dev, data.test)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"boxes": [[30, 0, 20, 10]]}, "line 2: the box .* is outside its image of 40 x 20"),
        ({"boxes": [[0, 0, 0, 10]]}, "a box is"),
        ({"boxes": "everywhere"}, "'boxes' must be a list"),
        ({"image": "gone.png"}, "There is no image"),
        ({"label": ""}, "'label' must be a text"),
        ({"split": "tset"}, "Did you mean 'test'"),
    ],
)
def test_own_images_that_are_wrong_are_refused_in_one_line(folder, wrong, message):
    with pytest.raises(DataError, match=message):
        own(folder, line(0, split="train"), {**line(1, split="train"), **wrong})


def test_an_image_folder_without_a_file_says_how(folder):
    with pytest.raises(UsageError, match="image-folder:file=PATH"):
        ImageFolder(ImageFolderOptions()).load(Source())
