"""Vision transformers: what stock transformers gives, patch by patch."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    AutoModelForImageClassification,
    ConvNextConfig,
    ConvNextForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

from attnx.plugin import UsageError
from attnx.testing import assert_conforms
from attnx_pictures.image_folder import ImageFolder
from attnx_pictures.options import ImageFolderOptions
from attnx_transformers.checkpoints import quiet
from attnx_transformers.classifier import HfClassifier
from attnx_transformers.options import HfClassifierOptions

GRID, PATCH = 4, 4
MEAN, SPREAD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)


def save_vit(folder, **settings):
    torch.manual_seed(0)
    config = ViTConfig(  # type: ignore[call-arg]
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, patch_size=PATCH,
        image_size=GRID * PATCH, initializer_range=0.5, num_labels=2, **settings,
    )  # fmt: skip
    with quiet():
        ViTForImageClassification(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": MEAN, "image_std": SPREAD}))
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_vit(tmp_path_factory.mktemp("vit"))


@pytest.fixture(scope="module")
def data():
    return ImageFolder(ImageFolderOptions()).sample()


@pytest.fixture(scope="module")
def model(folder, data):
    return HfClassifier.build(data, None, HfClassifierOptions(checkpoint=folder)).eval()


@pytest.fixture(scope="module")
def stock(folder):
    with quiet():
        return AutoModelForImageClassification.from_pretrained(folder, attn_implementation="eager").eval()


def pictures(data, examples):
    """[B, 3, S, S] as the stock model wants them, put together patch by patch."""
    whole = np.zeros((len(examples), 3, GRID * PATCH, GRID * PATCH), np.float32)
    for row, example in enumerate(examples):
        for unit, at in enumerate(example.rows):
            top, left = PATCH * (unit // GRID), PATCH * (unit % GRID)
            whole[row, :, top : top + PATCH, left : left + PATCH] = data.features[at]
    scaled = (whole / 255 - np.reshape(MEAN, (3, 1, 1))) / np.reshape(SPREAD, (3, 1, 1))
    return torch.from_numpy(scaled.astype(np.float32))


def test_it_answers_and_attends_as_the_stock_model_does(model, stock, data):
    examples = data.test[:5]
    batch = model.encode(examples)
    with torch.no_grad():
        trace = model.run(batch, model.embed(batch))
        wanted = stock(pixel_values=pictures(data, examples), output_attentions=True)
    assert torch.allclose(trace.logits, wanted.logits, atol=1e-4)
    of_patches = wanted.attentions[-1].mean(1)[:, 0, 1:]  # from the answering position to patches
    assert torch.allclose(trace.attention[:, 1:], of_patches / of_patches.sum(1, keepdim=True), atol=1e-5)
    assert (trace.attention[:, 0] == 0).all()


def test_a_deleted_patch_is_left_out_and_the_others_stay_in_their_places(model, stock, data):
    example, gone = data.test[0], [2, 9]
    batch = model.encode([example])
    kept = torch.tensor([[column for column in range(GRID**2 + 1) if column - 1 not in gone]])
    shorter = batch.keep(torch.tensor([0]), kept)
    with torch.no_grad():
        found = model.run(shorter, model.embed(shorter)).logits
        tokens = stock.vit.embeddings(pictures(data, [example]))[:, kept[0]]  # [1, 15, E]
        for layer in stock.vit.layers:
            tokens = layer(tokens)
        wanted = stock.classifier(stock.vit.layernorm(tokens)[:, 0])
    assert torch.allclose(found, wanted, atol=1e-4)


def test_it_keeps_the_laws_of_models(folder, data):
    model = HfClassifier.build(data, None, HfClassifierOptions(checkpoint=folder, head=0, layer=0)).eval()
    assert_conforms("model", model, data)


def test_patches_that_are_not_the_models_are_refused(folder, tmp_path, data):
    with pytest.raises(UsageError, match=r"reads 8 x 8 patches of 2 pixels.*give the task grid=8,patch=2"):
        HfClassifier.build(data, None, HfClassifierOptions(checkpoint=_saved_small(tmp_path)))


def _saved_small(folder):
    config = ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        patch_size=2,
        image_size=16,
    )
    with quiet():
        ViTForImageClassification(config).save_pretrained(folder)
    return str(folder)


def test_another_kind_of_image_model_is_refused_in_one_line(tmp_path, data):
    config = ConvNextConfig(num_channels=3, hidden_sizes=[4, 4, 4, 4], depths=[1, 1, 1, 1])
    with quiet():
        ConvNextForImageClassification(config).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"is not a vision transformer that can be read"):
        HfClassifier.build(data, None, HfClassifierOptions(checkpoint=str(tmp_path)))


def test_images_of_ones_own_are_evaluated_with_it(folder, tmp_path, home, cli):
    rng = np.random.default_rng(0)
    lines = []
    for number in range(30):
        label, left = ("left", 0) if number % 2 else ("right", 8)
        pixels = rng.integers(0, 60, (16, 16, 3), dtype=np.uint8)
        pixels[4:12, left : left + 8] = 255
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        lines.append({"image": f"{number}.png", "label": label, "boxes": [[left, 4, 8, 8]]})
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = f"image-folder:file={tmp_path / 'mine.jsonl'},grid={GRID},patch={PATCH}"
    code, out, err = cli(
        "evaluate", "--task", task, "--model", f"hf-classifier:checkpoint={folder},labels=LABEL_0+LABEL_1",
        "--explanation", "attention", "--explanation", "rollout", "--metric", "localisation",
        "--metric", "comprehensiveness", "--reference", "loo", "--metric", "kendall", "--train", "epochs=1",
    )  # fmt: skip
    assert code == 0, err
    assert "localisation cosine" in out
    assert "rollout" in out


def test_what_is_neither_words_nor_images_is_refused(folder, cli):
    code, _, err = cli("evaluate", "--task", "sdc-2d", "--model", f"hf-classifier:checkpoint={folder}")
    assert (code, err.splitlines()[-1]) == (
        2, "error: hf-classifier reads words, or images in patches: this task has neither.",
    )  # fmt: skip
