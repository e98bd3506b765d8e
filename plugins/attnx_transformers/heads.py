from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness, logits_of_kept, total_variation
from attnx.plugin import Batch, Example, Finding, Lab, LayeredModel, Model, Study, Trace, UsageError

from .head_options import HeadsOptions
from .reader import LayerReader

AT_ONCE = 8  # texts: the weights of all layers and heads are in memory together


class Heads(Study):
    """Which layer and head attends to words that the prediction depends on: chosen on dev, judged on test.

    For every text, layer and head the top ⌈k·n⌉ of n words are deleted together (k is `percent`). The fall
    of the predicted probability is compared with the mean over random sets of as many words, and with the
    largest fall among all sets that were tried for the text, that of leave-one-out included: share of the
    fall = (fall − random) / (best − random), each a mean over texts. It is not the share of a verdict, which
    also asks whether the words are enough, for several set sizes, and searches for the best order: evaluate
    `cls-attention:layer=…,head=…` for that. The heads with the highest share on dev are
    measured on test, so none is chosen on the texts that it is judged by. `change when replaced` is the
    total variation of the output when that head alone attends to all words of a test text equally.
    Intervals cover other texts, with the mean of best − random taken as known. Costs one pass for every
    different set of words, so at most one for each head.
    """

    needs = ("layers", "deletion")

    def __init__(self, options: HeadsOptions) -> None:
        self.options = options

    def __call__(self, lab: Lab) -> list[Finding]:
        if len(lab.seeds) > 1:
            raise UsageError("heads studies one model: give one seed, e.g. --seeds 0.")
        if not lab.data.dev:
            raise UsageError(
                "heads chooses on dev and judges on test, but the task has no dev split: give files of their "
                "own, e.g. csv:train=FILE,dev=FILE,test=FILE."
            )
        model = lab.model(lab.seeds[0])
        model.eval()
        dev = self._falls(lab, model, lab.data.dev[: self.options.texts])
        order = np.argsort(-dev.share(dev.of_heads).mean(1), kind="stable")  # [H] best first
        chosen = order[: self.options.top].tolist()
        test = self._falls(lab, model, lab.data.test, chosen)
        named = [dev.names[head] for head in chosen]
        findings = [
            _share("leave-one-out, dev", dev, dev.of_loo),
            _share("leave-one-out, test", test, test.of_loo),
        ]
        for place, name in enumerate(named):
            findings.append(_share(f"{name}, dev", dev, dev.of_heads[chosen[place]]))
            findings.append(_share(f"{name}, test", test, test.of_heads[place]))
        middle = order[len(order) // 2]
        median = f"median of {len(order)} heads ({dev.names[middle]}), dev"
        findings.append(_share(median, dev, dev.of_heads[middle]))
        if isinstance(model, LayerReader):
            changes = [self._replaced(lab, model, *dev.places[head]) for head in chosen]
            findings += [
                Finding(name, "change when replaced", "none", change, bounds=(0, 1))
                for name, change in zip(named, changes, strict=True)
            ]
        return findings

    def _falls(
        self, lab: Lab, model: Model, examples: Sequence[Example], heads: Sequence[int] | None = None
    ) -> _Falls:
        """What deleting the top words of each head, or of these heads, does to texts of two words or more."""
        several = [example for example in examples if len(example.units) > 1]
        if not several:
            raise UsageError("heads needs texts of two words or more, on dev and on test.")
        parts = [
            self._of_batch(model, lab.batch(model, several[start : start + AT_ONCE]), lab.seeds[0], heads)
            for start in range(0, len(several), AT_ONCE)
        ]
        falls = np.concatenate([values for values, _ in parts], 1)  # [H + 1 + R, N]
        return _Falls(falls, self.options.draws, parts[0][1])

    def _of_batch(
        self, model: Model, batch: Batch, seed: int, heads: Sequence[int] | None
    ) -> tuple[np.ndarray, tuple[tuple[int, int], ...]]:
        with torch.no_grad():
            trace = model.run(batch, model.embed(batch))
            scores, places = scores_of_heads(cast("LayeredModel", model), trace)  # [H, B, L]
            scores = scores if heads is None else scores[list(heads)]
            p = trace.probabilities.gather(1, trace.predicted[:, None])[:, 0]  # [B]
            each = self._top(_single(model, trace, p), batch.mask)[None]  # [1, B, L] of leave-one-out
            random = Randomness(seed).to("heads").uniform(batch, self.options.draws)  # [B, R, L]
            sets = torch.cat(
                [self._top(scores, batch.mask), each, self._top(random.transpose(0, 1), batch.mask)]
            )
            return (p - _probability_without(model, trace, sets)).double().cpu().numpy(), places

    def _top(self, scores: Tensor, mask: Tensor) -> Tensor:
        """[..., B, L] the top ⌈k·n⌉ words by scores [..., B, L], of two or more; never all of them."""
        count = mask.sum(1)  # [B]
        taken = torch.minimum((count * self.options.percent + 99) // 100, count - 1)
        ranked = scores.masked_fill(~mask, -torch.inf).argsort(dim=-1, descending=True, stable=True)
        place = ranked.argsort(dim=-1)
        return (place < taken[:, None]) & mask

    def _replaced(self, lab: Lab, model: LayerReader, layer: int, head: int) -> np.ndarray:
        """[1, N] total variation of the output when a head attends to all words equally."""
        found = []
        test = lab.data.test
        with torch.no_grad(), model.reading(layer, head):
            for start in range(0, len(test), AT_ONCE):
                batch = lab.batch(cast("Model", model), test[start : start + AT_ONCE])
                trace = model.run(batch, model.embed(batch))
                even = batch.mask / batch.mask.sum(1, keepdim=True).clamp_min(1)
                other = model.reattend(trace, even.to(trace.attention))
                found.append(total_variation(trace.probabilities, other.softmax(-1)))
        return torch.cat(found).double().cpu().numpy()[None]


@dataclass(frozen=True)
class _Falls:
    """Falls of the probability by set and text."""

    falls: np.ndarray  # [H + 1 + R, N]: of heads, of leave-one-out, at random
    draws: int  # R
    places: tuple[tuple[int, int], ...]  # of all heads: layer and head

    @property
    def names(self) -> list[str]:
        return [f"layer {layer} head {head}" for layer, head in self.places]

    @property
    def of_heads(self) -> np.ndarray:
        return self.falls[: -self.draws - 1]

    @property
    def of_loo(self) -> np.ndarray:
        return self.falls[-self.draws - 1]

    def share(self, falls: np.ndarray) -> np.ndarray:
        """[..., N] whose mean over texts is the share of these falls [..., N]."""
        random = self.falls[-self.draws :].mean(0)
        room = (self.falls.max(0) - random).mean()
        return (falls - random) / room if room > 0 else np.full_like(falls, np.nan)


def _share(setting: str, of: _Falls, falls: np.ndarray) -> Finding:
    return Finding(setting, "share of the fall", "up", of.share(falls)[None])


def scores_of_heads(model: LayeredModel, trace: Trace) -> tuple[Tensor, tuple[tuple[int, int], ...]]:
    """Attention [H, B, L] of every layer and head from the position that answers to words; their places."""
    layers = model.layers(trace.batch, trace.embeddings)
    column = layers.column.clamp_min(0)
    used = layers.column >= 0
    found, places = [], []
    for layer, weights in enumerate(layers.weights):
        rows = torch.einsum("bq,bmqi->mbi", layers.query.to(weights), weights)  # [M, B, T]
        words = rows.new_zeros(len(rows), *trace.batch.mask.shape)
        words = words.scatter_add(2, column.expand_as(rows), rows.masked_fill(~used, 0.0))
        found.append(words.masked_fill(~trace.batch.mask, 0.0))
        places += [(layer, head) for head in range(len(rows))]
    return torch.cat(found), tuple(places)


def _single(model: Model, trace: Trace, p: Tensor) -> Tensor:
    """[B, L] the fall without each word."""
    mask = trace.batch.mask
    rows, columns = mask.nonzero(as_tuple=True)
    sets = torch.zeros(int(mask.sum(1).max()), *mask.shape, dtype=torch.bool, device=mask.device)
    number = mask.cumsum(1)[rows, columns] - 1
    sets[number, rows, columns] = True
    falls = p - _probability_without(model, trace, sets)  # [most, B]
    found = torch.zeros_like(trace.attention)
    found[rows, columns] = falls[number, rows].to(found)
    return found


def _probability_without(model: Model, trace: Trace, sets: Tensor) -> Tensor:
    """[K, B] the probability of the predicted class without sets of columns [K, B, L], each computed once."""
    batch = trace.batch
    rows = torch.arange(len(batch), device=sets.device).expand(len(sets), -1).flatten()
    flat = torch.cat([rows[:, None].long(), sets.flatten(0, 1).long()], 1)  # [K·B, 1 + L]
    different, place = flat.unique(dim=0, return_inverse=True)
    inside = (
        torch.arange(sets.shape[-1], device=sets.device)
        < batch.lengths.to(sets.device)[different[:, 0], None]
    )
    logits = logits_of_kept(model, batch, different[:, 0], inside & (different[:, 1:] == 0))
    p = logits.softmax(-1).gather(1, trace.predicted[different[:, 0]][:, None])[:, 0]
    return p[place].view(sets.shape[:2])
