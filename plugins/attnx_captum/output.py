"""The model in the form Captum needs: a function from rows of tensors to one number per row."""

from typing import Literal

import torch
from torch import Tensor

from attnx.formulas import class_output, mean_embedding
from attnx.plugin import Model, Trace


class Output:
    """The explained output of rows of a batch, for any embeddings.

    The rows are an argument: Captum repeats it in the same way as the embeddings, in any order.
    """

    def __init__(
        self,
        model: Model,
        trace: Trace,
        target: Tensor,
        of: Literal["probability", "logit"],
        *,
        hold_attention: bool = False,
    ) -> None:
        self.model = model
        self.trace = trace
        self.target = target
        self.of = of
        self.hold_attention = hold_attention

    @property
    def rows(self) -> Tensor:
        """[B] every row once."""
        return torch.arange(len(self.target), device=self.target.device)

    def __call__(self, embeddings: Tensor, rows: Tensor) -> Tensor:
        """[R, L, E], [R] -> [R]."""
        batch = self.trace.batch.take(rows)
        columns = batch.mask.shape[1]
        held = self.trace.attention[rows, :columns] if self.hold_attention else None
        return self.explained(self.model.run(batch, embeddings[:, :columns], attention=held).logits, rows)

    def explained(self, logits: Tensor, rows: Tensor) -> Tensor:
        """[R] the explained number of logits [R, C]."""
        return class_output(logits.double(), self.target[rows], self.of)


def baseline_of(trace: Trace, kind: Literal["zero", "mean"]) -> Tensor:
    """Return [B, L, E] the baseline of absent units; every other column keeps its embedding."""
    x = trace.embeddings.detach()
    units = trace.batch.mask[..., None]  # [B, L, 1]
    if kind == "zero":
        return x.masked_fill(units, 0.0)
    return torch.where(units, mean_embedding(trace)[:, None], x)


def values_by_unit(found: Tensor, trace: Trace, absolute: bool) -> Tensor:
    """Return [B, L] from [B, L, E] or [B, L]: summed over the embedding, 0 off the mask."""
    values = found.detach().sum(-1) if found.ndim == 3 else found.detach()
    values = values.masked_fill(~trace.batch.mask, 0.0).to(trace.embeddings.dtype)
    return values.abs() if absolute else values
