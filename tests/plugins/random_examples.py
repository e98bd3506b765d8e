"""Random texts and every projection, for tests of what is exact whatever the model computes with."""

from __future__ import annotations

import numpy as np

from attnx.plugin import Example, TaskData
from attnx_projections.entmax import Entmax
from attnx_projections.gumbel_softmax import GumbelSoftmax
from attnx_projections.hard import Hard
from attnx_projections.options import EntmaxOptions, GumbelSoftmaxOptions, SoftmaxOptions
from attnx_projections.softmax import Softmax
from attnx_projections.sparsemax import Sparsemax
from attnx_projections.spherical import Spherical
from attnx_projections.uniform import Uniform

WORDS = [f"w{i}" for i in range(60)]
PROJECTIONS = {
    "softmax": Softmax(SoftmaxOptions()),
    "sparsemax": Sparsemax(),
    "entmax": Entmax(EntmaxOptions()),
    "spherical": Spherical(),
    "hard": Hard(),
    "gumbel-softmax": GumbelSoftmax(GumbelSoftmaxOptions(draws=3)),
    "uniform": Uniform(),
}


def texts(lengths: list[int], seed: int = 0, query: bool = False) -> TaskData:
    """Random texts of these lengths in three classes."""
    rng = np.random.default_rng(seed)
    examples = tuple(
        Example(
            str(i),
            tuple(rng.choice(WORDS, size=n)),
            i % 3,
            query=tuple(rng.choice(WORDS, size=1 + i % 4)) if query else None,
        )
        for i, n in enumerate(lengths)
    )
    return TaskData(train=examples, dev=examples, test=examples, label_names=("a", "b", "c"))
