"""Settings of papers by name: the same as their options spelled out."""

import pytest
import torch
from explained_models import MODELS, explain
from retraining_labs import carry_out, spec

from attnx.host.catalog import Catalog
from attnx.plugin import ImportanceMethod
from attnx.request.resolve import find_part
from attnx.request.spec import Choice
from attnx.testing import assert_conforms


def method(text: str) -> ImportanceMethod:
    made: ImportanceMethod = find_part(Catalog.installed(), "importance", Choice.parse(text)).make()
    return made


@pytest.mark.parametrize(
    ("name", "spelled", "usual"),
    [
        ("gradient-jw", "gradient:reduce=dot-embedding-abs,attention=fixed", "gradient"),
        ("loo-jw", "loo:of=average", "loo"),
    ],
)
def test_jain_and_wallace_by_name(name: str, spelled: str, usual: str) -> None:
    model, data = MODELS["bilstm"]()
    (_, found), (_, same), (_, other) = (explain(model, data.test, method(m)) for m in (name, spelled, usual))
    assert torch.equal(found, same)
    if name == "gradient-jw":  # of two classes, every change of one is a change of the other
        assert not torch.allclose(found, other, atol=1e-3)
    assert_conforms("importance", method(name))


def test_only_the_chosen_kind_of_adversary_is_trained() -> None:
    study = "adversarial-model:divergences=0.1,adversaries=unfrozen"
    report = carry_out(Catalog.installed(), study, spec(training={"epochs": 1}))
    kinds = {finding.setting.partition(",")[0] for finding in report.findings}
    assert kinds == {"base", "unfrozen"}
