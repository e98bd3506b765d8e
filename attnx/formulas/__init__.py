"""The mathematics that components share: ranks, correlations, divergences, erasure, randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late_imports import import_late

if TYPE_CHECKING:
    from .chunks import at_once, differentiated_at_once, equal_lengths, passes_at_once, similar_lengths
    from .class_outputs import class_output
    from .correlations import average_ranks, column_blocks, pearson, weighted_tau
    from .deception import deception_penalty, rationale_mass
    from .divergences import js_divergence, total_variation
    from .erasure import attention_without, logits_of_batches, logits_of_kept, mean_embedding
    from .layer_states import LayerState, LayerStates
    from .layers import Layers
    from .point_gradients import gradients_at
    from .products import fast_linear, gelu_product, product
    from .randomness import Randomness
    from .ranking import ranked, settled
    from .score_shares import shares
    from .scorers import Scorer, make_scorer
    from .shuffled_parameters import shuffled_copy
    from .tiles import put_together

_MODULES = {
    "formulas.randomness": ("Randomness",),
    "formulas.layers": ("Layers",),
    "formulas.layer_states": ("LayerState", "LayerStates"),
    "formulas.scorers": ("Scorer", "make_scorer"),
    "formulas.class_outputs": ("class_output",),
    "formulas.ranking": ("ranked", "settled"),
    "formulas.score_shares": ("shares",),
    "formulas.correlations": ("average_ranks", "pearson", "weighted_tau", "column_blocks"),
    "formulas.divergences": ("js_divergence", "total_variation"),
    "formulas.erasure": ("attention_without", "logits_of_batches", "logits_of_kept", "mean_embedding"),
    "formulas.deception": ("deception_penalty", "rationale_mass"),
    "formulas.chunks": (
        "at_once",
        "passes_at_once",
        "differentiated_at_once",
        "similar_lengths",
        "equal_lengths",
    ),
    "formulas.point_gradients": ("gradients_at",),
    "formulas.products": ("product", "gelu_product", "fast_linear"),
    "formulas.tiles": ("put_together",),
    "formulas.shuffled_parameters": ("shuffled_copy",),
}

__all__ = [  # noqa: RUF022 - grouped as an author looks for them
    "Randomness",
    "Layers",
    "LayerState",
    "LayerStates",
    "Scorer",
    "make_scorer",
    "class_output",
    "ranked",
    "settled",
    "shares",
    "average_ranks",
    "pearson",
    "weighted_tau",
    "column_blocks",
    "js_divergence",
    "total_variation",
    "attention_without",
    "logits_of_batches",
    "logits_of_kept",
    "mean_embedding",
    "deception_penalty",
    "rationale_mass",
    "gradients_at",
    "product",
    "gelu_product",
    "fast_linear",
    "at_once",
    "passes_at_once",
    "differentiated_at_once",
    "similar_lengths",
    "equal_lengths",
    "put_together",
    "shuffled_copy",
]

__getattr__ = import_late(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
