"""A report on a Hugging Face classifier as one writes it first: sentence by sentence, pass by pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from captum.attr import IntegratedGradients
from scipy.stats import kendalltau
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from attnx.plugin import Example


class OneByOne:
    """A stock classifier, asked for one sentence at a time."""

    def __init__(self, folder: Path, tokenizer: Any, steps: int) -> None:
        self.tokenizer = tokenizer
        self.steps = steps  # of integrated gradients
        self.model = AutoModelForSequenceClassification.from_pretrained(
            folder, attn_implementation="eager"
        ).eval()

    def logits(self, words: Sequence[str]) -> Tensor:
        """[C]."""
        with torch.no_grad():
            logits: Tensor = self.model(input_ids=self._ids(words)).logits[0]
        return logits

    def without_each(self, words: Sequence[str]) -> Tensor:
        """[units, C]."""
        return torch.stack([self.logits([*words[:i], *words[i + 1 :]]) for i in range(len(words))])

    def without_each_at_once(self, words: Sequence[str]) -> Tensor:
        """[units, C], the deletions of a sentence in one pass: they are of one length."""
        shorter = [[*words[:i], *words[i + 1 :]] for i in range(len(words))]
        ids = self.tokenizer(shorter, is_split_into_words=True, return_tensors="pt").input_ids
        with torch.no_grad():
            logits: Tensor = self.model(input_ids=ids).logits
        return logits

    def report(self, texts: Sequence[Example], bins: Sequence[float]) -> dict[str, list[float]]:
        """Every measure of every sentence."""
        found: dict[str, list[float]] = {}
        for text in texts:
            for name, value in self._measures(text.units, bins).items():
                found.setdefault(name, []).append(value)
        return found

    def _ids(self, words: Sequence[str]) -> Tensor:
        ids: Tensor = self.tokenizer(list(words), is_split_into_words=True, return_tensors="pt").input_ids
        return ids

    def _measures(self, words: Sequence[str], bins: Sequence[float]) -> dict[str, float]:
        p = self.logits(words).double().softmax(-1)
        target = int(p.argmax())
        scores = self._scores(words, target, p)
        found = {}
        for name, values in scores.items():
            order = values.argsort(descending=True).tolist()
            without, alone = [], []
            for share in bins:
                top = set(order[: max(1, math.ceil(len(words) * share / 100 - 1e-9))])
                without.append(
                    float(p[target]) - self._p([w for i, w in enumerate(words) if i not in top], target)
                )
                alone.append(float(p[target]) - self._p([w for i, w in enumerate(words) if i in top], target))
            found[f"comprehensiveness {name}"] = sum(without) / len(bins)
            found[f"sufficiency {name}"] = sum(alone) / len(bins)
            found[f"kendall {name}"] = float(kendalltau(values.numpy(), scores["loo"].numpy()).statistic)
        return found

    def _p(self, words: Sequence[str], target: int) -> float:
        return float(self.logits(words).double().softmax(-1)[target])

    def _scores(self, words: Sequence[str], target: int, p: Tensor) -> dict[str, Tensor]:
        """[units] by method."""
        ids = self._ids(words)
        vectors = self.model.get_input_embeddings()(ids).detach()  # [1, T, E]

        def output(embeddings: Tensor) -> Tensor:
            chosen: Tensor = self.model(inputs_embeds=embeddings).logits.softmax(-1)[:, target]
            return chosen

        with torch.no_grad():
            attention = self.model(input_ids=ids, output_attentions=True).attentions[-1]  # [1, M, T, T]
        given = vectors.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(output(given).sum(), given)
        nothing = vectors.clone()
        nothing[:, 1:-1] = 0.0
        integrated = IntegratedGradients(output).attribute(vectors, baselines=nothing, n_steps=self.steps)
        changes = (p[target] - self.without_each(words).double().softmax(-1)[:, target]).abs()
        return {
            "attention": attention[0, :, 0, 1:-1].mean(0),
            "gradient": gradient[0, 1:-1].norm(dim=-1),
            "integrated-gradients": integrated[0, 1:-1].sum(-1).abs(),
            "loo": changes,
        }
