"""Every law has a mutant that breaks it, and everything that is shipped keeps them all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from correct_components import CORRECT
from mutants import MUTANTS

from attnx.errors import CheckFailed, UsageError
from attnx.host.cards import KINDS, Component, Kind
from attnx.host.catalog import Catalog
from attnx.testing import LAWS, MarkedToyModel, ToyModel, assert_conforms, toy_data
from attnx.testing.checking import check_component, law_results
from attnx.testing.model_laws import ModelOnTask

KIND_OF_LAW = {law.name: law.kind for law in LAWS}
CASES = [(law, said, subject) for law, mutants in MUTANTS.items() for said, subject in mutants.items()]


def broken_laws(kind: Kind, subject: Any) -> dict[str, str]:
    judged = ModelOnTask(subject, toy_data()) if kind == "model" else subject
    return {result.law: result.failure for result in law_results(kind, judged, "it") if result.failure}


def test_every_law_has_a_mutant() -> None:
    assert set(KIND_OF_LAW) == set(MUTANTS)
    assert len(KIND_OF_LAW) == len(LAWS), "two laws have one name"


@pytest.mark.parametrize(("law", "said", "subject"), CASES, ids=[f"{law}: {said}" for law, said, _ in CASES])
def test_a_mutant_breaks_its_law(law: str, said: str, subject: Any) -> None:
    broken = broken_laws(KIND_OF_LAW[law], subject)
    assert said in broken.get(law, ""), f"broken: {broken}"
    with pytest.raises(CheckFailed, match=law):
        assert_conforms(KIND_OF_LAW[law], subject)


@pytest.mark.parametrize("law", ["importance-special", "metric-special"])
def test_a_component_that_counts_columns_breaks_no_other_law(law: str) -> None:
    """Without special columns, nothing would tell columns from units."""
    for subject in MUTANTS[law].values():
        assert set(broken_laws(KIND_OF_LAW[law], subject)) == {law}


def test_special_columns_change_nothing_that_is_said_of_units() -> None:
    plain, marked = ToyModel(), MarkedToyModel()
    examples = toy_data().test
    ours, theirs = (model.encode(examples) for model in (plain, marked))
    assert theirs.unit_index[1].tolist() == [-1, 0, 1, -1, -1, -1, -1, -1]
    assert theirs.inputs[1].tolist() == [6, 4, 1, 6, 0, 0, 0, 0]
    assert theirs.lengths.tolist() == (ours.lengths + 2).tolist()
    expected, found = plain.run(ours, plain.embed(ours)), marked.run(theirs, marked.embed(theirs))
    torch.testing.assert_close(found.logits, expected.logits)
    torch.testing.assert_close(found.attention[theirs.mask], expected.attention[ours.mask])
    assert not found.attention[~theirs.mask].any()


@pytest.mark.parametrize(("kind", "subject"), CORRECT.values(), ids=CORRECT.keys())
def test_correct_components_keep_all_laws(kind: Kind, subject: Any) -> None:
    assert broken_laws(kind, subject) == {}
    assert_conforms(kind, subject)


def test_judging_leaves_the_random_state_alone() -> None:
    before = torch.random.get_rng_state()
    assert_conforms("model", ToyModel())
    assert torch.equal(before, torch.random.get_rng_state())


# What is installed.

INSTALLED = Catalog.installed()
SHIPPED = [component for kind in KINDS for component in INSTALLED.of_kind(kind)]


@pytest.mark.parametrize("component", SHIPPED, ids=lambda c: f"{c.kind}-{c.name}")
def test_a_built_in_keeps_all_laws(component: Component) -> None:
    verdicts = check_component(INSTALLED, component).laws
    bound = {law.name for law in LAWS if law.kind == component.kind}
    assert {verdict.law for verdict in verdicts} == {"declarations", *bound}
    assert [str(verdict) for verdict in verdicts if verdict.failure] == []


@pytest.mark.parametrize("kind", ["metrics", "study"])
def test_a_kind_without_laws_is_refused_and_not_passed(kind: Any) -> None:
    with pytest.raises(UsageError, match=f"no laws for a '{kind}'"):
        assert_conforms(kind, object())
