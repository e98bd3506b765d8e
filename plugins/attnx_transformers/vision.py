"""A vision transformer that reads patches: from examples to positions and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnx.plugin import Batch, Example, Source, TaskData, UsageError

from .checkpoints import Checkpoint
from .network import Network
from .options import CheckpointOptions
from .packing import Packing

KIND = "AutoModelForImageClassification"
USUAL = (0.5, 0.5, 0.5)  # mean and spread of pixels from 0 to 1, where the checkpoint does not say


class VisionNetwork(Network):
    """A vision transformer of transformers, run from embeddings of patches.

    The first column is the position that the classifier answers from. The embedding of a patch is its
    pixels, projected, and its place: a deleted patch is left out, and the others stay where they are.
    """

    pixels: Tensor
    mean: Tensor
    spread: Tensor

    def __init__(self, data: TaskData, options: CheckpointOptions, **settings: Any) -> None:
        nn.Module.__init__(self)
        assert data.features is not None
        checkpoint = Checkpoint.find(options, data.source or Source())
        self._load(checkpoint, KIND, options, **settings)
        self.left = self.takes_types = self.takes_positions = self.takes_global = self.alone = False
        self.takes_mask = True
        _check(self.transformer, data, options)
        mean, spread = _normalisation(checkpoint)
        flat = torch.from_numpy(data.features.reshape(len(data.features), -1))
        self.register_buffer("pixels", flat, persistent=False)  # [R, 3·p·p] of bytes
        per_pixel = data.features[0, 0].size
        for name, values in (("mean", mean), ("spread", spread)):
            self.register_buffer(name, torch.tensor(values).repeat_interleave(per_pixel), persistent=False)
        self._find_activations()

    @property
    def size(self) -> int:
        size: int = self.transformer.config.hidden_size
        return size

    def encode(self, examples: Sequence[Example]) -> Batch:
        units = np.array([[-1, *range(len(example.units))] for example in examples])  # [B, 1 + n]
        rows = np.array([[0, *(example.rows or ())] for example in examples])
        inputs = torch.from_numpy(np.stack([rows, np.zeros_like(rows)], axis=-1))  # [B, 1 + n, 2]
        unit_index = torch.from_numpy(units)
        return Batch.collate(
            examples,
            inputs=inputs,
            mask=unit_index >= 0,
            unit_index=unit_index,
            lengths=torch.full((len(examples),), units.shape[1]),
        )

    def embed(self, batch: Batch) -> Tensor:
        """[B, L, E]."""
        layer = self.transformer.base_model.embeddings
        pixels = self.pixels[batch.inputs[..., 0]] / 255  # [B, L, 3·p·p]
        projection = layer.patch_embeddings.projection
        seen = F.linear((pixels - self.mean) / self.spread, projection.weight.flatten(1), projection.bias)
        answering = (batch.unit_index < 0)[..., None]
        found: Tensor = torch.where(answering, layer.cls_token[0, 0], seen)
        return found + layer.position_embeddings[0, batch.unit_index + 1]

    def packed(self, batch: Batch) -> tuple[Packing, Tensor]:
        vectors = self.embed(batch)
        packing = self.packing(batch, vectors)
        return packing, packing.pack(vectors)

    def _probe(self) -> Tensor:
        noise = torch.randn(1, 4, self.size, generator=torch.Generator().manual_seed(0))
        return noise.to(self.transformer.device)

    def _call(self, vectors: Tensor, **more: Any) -> Any:
        """The output for vectors [B, T, E], in the place of what the model would make of pixels."""
        layer = self.transformer.base_model.embeddings
        layer.forward = lambda *_, **__: layer.dropout(vectors)
        try:
            return self.transformer(pixel_values=vectors, **more)
        finally:
            del layer.forward


def _check(transformer: Any, data: TaskData, options: CheckpointOptions) -> None:
    """Refuse a model that is built otherwise, and patches that are not the model's."""
    layer = getattr(transformer.base_model, "embeddings", None)
    parts = ("cls_token", "position_embeddings", "patch_embeddings", "dropout")
    if any(getattr(layer, part, None) is None for part in parts) or hasattr(layer, "distillation_token"):
        raise UsageError(
            f"checkpoint={options.checkpoint} ({type(transformer).__name__}) is not a vision transformer "
            "that can be read: one with patches, a position of its own for the answer, and learnt places."
        )
    assert data.features is not None
    config, units = transformer.config, len(data.train[0].units)
    pixels, grid = config.patch_size, config.image_size // config.patch_size
    if data.features.shape[1:] != (3, pixels, pixels) or units != grid * grid:
        raise UsageError(
            f"checkpoint={options.checkpoint} reads {grid} x {grid} patches of {pixels} pixels, the task has "
            f"{units} of {data.features.shape[-1]}: give the task grid={grid},patch={pixels}."
        )


def _normalisation(checkpoint: Checkpoint) -> tuple[Sequence[float], Sequence[float]]:
    """Mean and spread of each channel that the model was trained with."""
    from transformers.image_processing_base import ImageProcessingMixin

    try:
        said, _ = ImageProcessingMixin.get_image_processor_dict(checkpoint.place, local_files_only=True)
    except OSError:  # it has no such file
        said = {}
    return said.get("image_mean", USUAL), said.get("image_std", USUAL)
