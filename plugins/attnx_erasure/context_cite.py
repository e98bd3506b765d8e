from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, at_once, logits_of_kept
from attnx.plugin import ImportanceMethod, Model, Trace

from .options import ContextCiteOptions

Array = np.ndarray[Any, np.dtype[np.float64]]


class ContextCite(ImportanceMethod):
    """ContextCite: weights of a sparse linear model of the log-odds when random halves are deleted.

    Each of 64 samples keeps every unit (a word, a sentence, ...) with probability ½ and deletes the
    others; at least one stays. The scores are the weights of a lasso, fitted to log p/(1 − p) of the class
    over the samples, on presences of mean 0 and variance 1, brought back to their scale. Signed: positive
    scores support the class; most are exactly 0 if few units matter. The only unit of an example gets 0.
    Costs one forward pass per sample, however long the text, so it is made for long inputs; with many more
    units than samples only the strongest are found.
    """

    needs = ("deletion",)
    signed = True

    def __init__(self, options: ContextCiteOptions) -> None:
        self.options = options
        self.passes = options.samples

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        batch, mask = trace.batch, trace.batch.mask
        drawn = random.to(f"seed {self.options.seed}").uniform(batch, self.options.samples)  # [B, S, L]
        drawn = drawn.masked_fill(~mask[:, None], 1.0)
        present = (drawn < 0.5) | (drawn == drawn.amin(2, keepdim=True)) & mask[:, None]  # [B, S, L]
        several = (mask.sum(1) > 1).nonzero()[:, 0]  # an only unit cannot be deleted
        values = torch.zeros(mask.shape, dtype=torch.float64)
        for rows in several.split(at_once(present[0].numel())):
            odds = self._log_odds(model, trace, target, rows, present[rows]).cpu().numpy()  # [R, S]
            for row, y in zip(rows.tolist(), odds, strict=True):
                units = mask[row].cpu()
                x = present[row][:, mask[row]].double().cpu().numpy()  # [S, n]
                values[row, units] = torch.from_numpy(_lasso(x, y, self.options.penalty))
        return values.to(trace.embeddings)

    def _log_odds(self, model: Model, trace: Trace, target: Tensor, rows: Tensor, present: Tensor) -> Tensor:
        """Return [R, S] the log-odds of the class with the units that are present [R, S, L]."""
        batch = trace.batch
        used = torch.arange(batch.mask.shape[1], device=rows.device) < batch.lengths[rows, None]  # [R, L]
        kept = present | (used & ~batch.mask[rows])[:, None]  # special columns stay
        at = rows[:, None].expand(kept.shape[:2]).flatten()  # [R·S]
        logits = logits_of_kept(model, batch, at, kept.flatten(0, 1)).double()  # [R·S, C]
        own = target[at][:, None]
        odds = logits.gather(1, own)[:, 0] - logits.scatter(1, own, -torch.inf).logsumexp(1)
        return odds.view(kept.shape[:2])


def _lasso(present: Array, y: Array, penalty: float) -> Array:
    """[n] the weights of units that are present [S, n] in a lasso of outputs y [S]."""
    from sklearn.linear_model import Lasso

    spread = present.std(0)
    spread[spread == 0] = 1.0  # a unit that was always, or never, there has no weight
    weights: Array = Lasso(alpha=penalty).fit((present - present.mean(0)) / spread, y).coef_ / spread
    return weights
