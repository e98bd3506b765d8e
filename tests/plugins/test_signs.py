"""Every importance method declares whether its scores have signs, and has them or not."""

from __future__ import annotations

import pytest
from explained_models import MODELS, explain

from attnx.host.catalog import Catalog
from attnx.plugin import ImportanceMethod
from attnx.request.resolve import find_part
from attnx.request.spec import Choice
from attnx.testing import ToyModel, toy_data

CATALOG = Catalog.installed()
METHODS = [one.name for one in CATALOG.of_kind("importance") if not one.demanding]
WITH_OPTIONS = [
    "loo:signed=false", "loo:window=2", "loo:of=average", "gradient:reduce=signed",
    "smoothgrad:reduce=signed", "integrated-gradients:absolute=true", "attn-lrp:absolute=true",
    "owen:absolute=true",
]  # fmt: skip


def made(name: str) -> ImportanceMethod:
    method: ImportanceMethod = find_part(CATALOG, "importance", Choice.parse(name)).make()
    return method


@pytest.mark.parametrize("name", [*METHODS, *WITH_OPTIONS])
def test_scores_are_negative_only_if_signs_are_declared(name: str) -> None:
    """On the toy model, and on a BiLSTM where it gives what the method needs."""
    method = made(name)
    model, data = MODELS["bilstm"]()
    on = [(ToyModel(), toy_data().test)]
    on += [(model, data.test)] if set(model.provides) >= set(method.needs) else []  # type: ignore[list-item]
    negative = any(bool((explain(one, examples, method)[1] < 0).any()) for one, examples in on)
    if not method.signed:
        assert not negative
    else:
        assert negative, "signs are declared, and no word speaks against the class in any example"
