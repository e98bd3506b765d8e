from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from attnx.formulas import logits_of_kept
from attnx.plugin import Batch, Example, Finding, Lab, Model, Study

from .removal_options import FFidelityOptions

Array = np.ndarray[Any, np.dtype[Any]]


class FFidelity(Study):
    """Whether removing the top units costs accuracy in a model that was trained on shortened examples.

    f is the model, f_r the same fine-tuned with a share β of the units (words, image patches, ...) removed at
    random, so that shortened examples are like its training examples. FFid⁺ = 1[f(x) = y] − E 1[f_r(x′) = y],
    where x′ is x with each of its top s of n units removed with probability min(α, βn/s), and y is the label;
    FFid⁻ is the same for the other n − s units. Both are means over shares s/n and draws. A good explanation
    has a high FFid⁺ and a low FFid⁻; random scores are shown for comparison. At least one unit stays.
    """

    needs = ("deletion",)
    cost = "one more training run per seed, and two forward passes per share, draw and explanation"
    cannot = (
        "which units f uses: f_r is another model, and may use others; and with a small β little is removed, "
        "so that differences are small and need many examples"
    )

    def __init__(self, options: FFidelityOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        names, options = self.options.compared, self.options
        lab.variant(explanations=names)  # refuses, before any training, what does not fit the model
        top: dict[str, list[Array]] = {name: [] for name in names}  # of [N], one per seed
        rest: dict[str, list[Array]] = {name: [] for name in names}
        right: list[Array] = []
        tuned_right: list[Array] = []
        for seed in lab.seeds:
            model = lab.model(seed)
            tuned = lab.train(
                copy.deepcopy(model),
                seed,
                f"fine-tuning with {options.beta:.0%} of the units removed",
                objective=self._objective,
                keep="last",
            )
            right.append(lab.outputs(model).correct.numpy())
            tuned_right.append(lab.outputs(tuned).correct.numpy())
            for name, scores in lab.scores(model, seed, names).items():
                left = self._accuracy(lab, tuned, [s.numpy() for s in scores], seed)  # [2, N]
                top[name].append(right[-1] - left[0])
                rest[name].append(right[-1] - left[1])
        return [
            Finding("model", "accuracy", "up", np.stack(right), bounds=(0, 1)),
            Finding("fine-tuned model", "accuracy", "up", np.stack(tuned_right), bounds=(0, 1)),
            *(Finding(name, "ffid-plus", "up", np.stack(top[name]), bounds=(-1, 1)) for name in names),
            *(Finding(name, "ffid-minus", "down", np.stack(rest[name]), bounds=(-1, 1)) for name in names),
        ]

    def _objective(self, model: Model, batch: Batch) -> Tensor:
        """The cross-entropy on examples of which a share of the units is removed at random."""
        mask = batch.mask
        used = torch.arange(mask.shape[1], device=mask.device) < batch.lengths[:, None]  # [B, L]
        drawn = torch.rand(mask.shape).to(mask.device).masked_fill(~mask, torch.inf)
        gone = mask & (drawn < self.options.beta)
        gone &= (mask & ~gone).any(1, keepdim=True)  # an example of which nothing would be left stays whole
        rows = torch.arange(len(mask), device=mask.device)
        return F.cross_entropy(logits_of_kept(model, batch, rows, used & ~gone), batch.labels)

    def _accuracy(self, lab: Lab, model: Model, scores: Sequence[Array], seed: int) -> Array:
        """[2, N] how often the model is right without some of the top units, and without others."""
        kept = [
            kept_places(values, self.options, np.random.default_rng([seed, row]))
            for row, values in enumerate(scores)
        ]  # N of [2, K, n]
        known: dict[tuple[int, bytes], int] = {}
        short: list[Example] = []
        for row, (example, masks) in enumerate(zip(lab.data.test, kept, strict=True)):
            for mask in masks.reshape(-1, masks.shape[-1]):
                if known.setdefault((row, mask.tobytes()), len(short)) == len(short):
                    short.append(example.keep(np.flatnonzero(mask).tolist()))
        correct = lab.outputs(model, short).correct.numpy()
        right = {at: correct[place] for at, place in known.items()}
        return np.array(
            [
                [
                    np.mean([right[row, mask.tobytes()] for mask in masks[side]])
                    for row, masks in enumerate(kept)
                ]
                for side in (0, 1)
            ]
        )


def kept_places(scores: Array, options: FFidelityOptions, rng: np.random.Generator) -> Array:
    """[2, K, n] which of n units stay, for every share and draw: among the top, and among the others.

    Equal scores are put in a random order; where all units would be removed, one of them stays.
    """
    n = len(scores)
    place = np.lexsort((rng.random(n), -scores)).argsort()  # [n] 0 for the highest score
    sides = []
    for inside in (True, False):
        of_shares = []
        for share in options.shares:
            s = int(np.ceil(n * share / 100 - 1e-9))
            among = (place < s) == inside  # [n]
            probability = min(options.alpha, options.beta * n / max(1, among.sum()))
            drawn = rng.random((options.draws, n))
            gone = among & (drawn < probability)
            gone[gone.all(1), drawn[gone.all(1)].argmax(1)] = False
            of_shares.append(~gone)
        sides.append(np.concatenate(of_shares))
    return np.stack(sides)
