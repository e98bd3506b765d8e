from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from attnx.formulas import Randomness
from attnx.plugin import ImportanceMethod, LayeredModel, Model, Trace

from ..layer_scores import query_of
from ..options import AttentionFlowOptions

UNIT = 2**24  # maximum flow counts in whole numbers: a weight of 1 has this capacity
Array = np.ndarray[Any, np.dtype[np.float64]]


class AttentionFlow(ImportanceMethod):
    """Attention flow: how much can flow from the answering position to a unit through all layers.

    Attention is a network of pipes: position i of layer l is joined to position j of the layer below by a
    pipe of capacity ½ (mean over heads A_lm[i, j]) + ½ [i = j]. The score of a unit (a word, an image
    patch, ...) is the maximum flow from the position that the model answers from to its pieces at the
    bottom. It explains where states can come from, whatever the class. Never negative. Costs one forward
    pass, and one maximum flow per unit, which is slow for long texts. Flows to several units compete, so the
    scores do not add up to 1.
    """

    needs = ("layers",)
    target_use = "ignored"

    def __init__(self, options: AttentionFlowOptions) -> None:
        self.options = options

    def __call__(self, model: Model, trace: Trace, target: Tensor, random: Randomness) -> Tensor:
        layers = cast("LayeredModel", model).layers(trace.batch, trace.embeddings)
        mixed = [weights.mean(1).double().cpu() for weights in layers.weights]  # [B, T, T] each
        query, column = query_of(layers, self.options).double().cpu(), layers.column.cpu()
        values = torch.zeros(trace.attention.shape, dtype=torch.float64)
        for row in range(len(values)):
            used = (column[row] >= 0).nonzero()[:, 0]
            same = torch.eye(len(used), dtype=torch.float64)
            pipes = [(0.5 * (weights[row][used][:, used] + same)).numpy() for weights in mixed]
            places = column[row, used].numpy()
            for unit in trace.batch.mask[row].nonzero()[:, 0].tolist():
                values[row, unit] = maximum_flow(pipes, query[row, used].numpy(), places == unit)
        return values.to(trace.attention)


def maximum_flow(pipes: list[Array], source: Array, ends: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """The most that flows from a source, with these capacities into the top, to the positions `ends`.

    `pipes` [T, T] lead from each position to those of the layer below, bottom layer first.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow as flow_in

    size, layers = len(source), len(pipes)
    start, end = (layers + 1) * size, (layers + 1) * size + 1
    tails, heads, capacities = [np.full(size, start)], [layers * size + np.arange(size)], [source]
    for level, weights in enumerate(pipes):  # level 0 leads from layer 1 down to layer 0
        above, below = np.nonzero(weights)
        tails.append((level + 1) * size + above)
        heads.append(level * size + below)
        capacities.append(weights[above, below])
    bottom = np.nonzero(ends)[0]
    tails.append(bottom)
    heads.append(np.full(len(bottom), end))
    capacities.append(np.full(len(bottom), float(len(source))))
    whole = np.round(np.concatenate(capacities) * UNIT).clip(0, np.iinfo(np.int32).max).astype(np.int32)
    graph = coo_array((whole, (np.concatenate(tails), np.concatenate(heads))), shape=(end + 1, end + 1))
    return float(flow_in(graph.tocsr(), start, end).flow_value) / UNIT
