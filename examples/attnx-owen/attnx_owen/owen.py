from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, mean_embedding
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import OwenOptions

Array = np.ndarray[Any, Any]


class Owen(ImportanceMethod):
    """Owen values: Shapley values in which neighbouring units form coalitions, by shap's Partition explainer.

    Units are joined from left to right into a tree, and credit is shared within its branches. A unit that is
    absent has the mean embedding of its example. The scores add up to p(all units) − p(none). Signed:
    positive scores support the class.
    """

    signed = True
    target_use = "linear"

    def __init__(self, options: OwenOptions) -> None:
        self.evaluations = options.evaluations
        self.passes = options.evaluations

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        scores = torch.zeros_like(trace.embeddings[..., 0])  # [B, L]
        absent = mean_embedding(trace)  # [B, E]
        for row in range(len(trace.batch)):
            columns = trace.batch.mask[row].nonzero()[:, 0]  # [n]
            if len(columns):
                output = Presence(model, trace, row, columns, absent[row], int(target[row]))
                scores[row, columns] = torch.from_numpy(self._owen(output)).to(scores)
        return scores

    def _owen(self, output: "Presence") -> Array:
        """The Owen values of the units of one example [n]."""
        if output.units == 1:  # nothing to share
            both = output(np.array([[False], [True]]))
            return both[1:] - both[:1]
        import shap  # takes seconds

        explainer = shap.explainers.Partition(output, _masker(output.units))
        found = explainer(np.ones((1, output.units)), max_evals=self.evaluations, silent=True)
        values: Array = found.values[0]
        return values


class Presence:
    """The probability of a class, as a function of which units of an example are present."""

    def __init__(
        self, model: Model, trace: Trace, row: int, columns: Tensor, absent: Tensor, target: int
    ) -> None:
        self.model, self.trace, self.row, self.columns = model, trace, row, columns
        self.absent, self.target, self.units = absent, target, len(columns)

    def __call__(self, present: Array) -> Array:
        """[S, n] -> [S]."""
        kept = torch.from_numpy(np.asarray(present, dtype=bool)).to(self.columns.device)  # [S, n]
        batch = self.trace.batch.take(self.columns.new_full((len(kept),), self.row))
        x = (
            self.trace.embeddings[self.row, : batch.mask.shape[1]].detach().repeat(len(kept), 1, 1)
        )  # [S, L, E]
        x[:, self.columns] = torch.where(kept[..., None], x[:, self.columns], self.absent)
        with torch.no_grad():
            logits = self.model.run(batch, x).logits
        return logits.double().softmax(-1)[:, self.target].cpu().numpy()


def _masker(units: int) -> Any:
    """A masker of shap whose masks are the input of the function, and whose tree joins neighbours."""
    from shap.maskers import Masker

    class Chain(Masker):  # type: ignore[misc]
        shape = (1, units)
        # The tree as scipy writes one: the two parts that are joined, their distance, the size of the whole.
        clustering = np.array(
            [[0 if i == 0 else units + i - 1, i + 1, i + 1, i + 2] for i in range(units - 1)], dtype=float
        )

        def __call__(self, mask: Array, _: Array) -> tuple[Array]:
            return (mask[None].astype(float),)

        def mask_shapes(self, _: Array) -> list[tuple[int]]:
            return [(units,)]

        def invariants(self, _: Array) -> Array:
            return np.zeros((1, units), dtype=bool)

    return Chain()
