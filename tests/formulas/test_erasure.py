"""Outputs of shortened examples, and that none is computed twice."""

import torch

from attnx.formulas import logits_of_kept
from attnx.formulas.erasure import remembering
from attnx.plugin import Batch, Trace
from attnx.testing import ToyModel, toy_data


class Counting(ToyModel):
    """Counts the examples that are sent through it."""

    passes = 0

    def run(self, batch: Batch, embeddings: torch.Tensor, *, attention: torch.Tensor | None = None) -> Trace:
        self.passes += len(batch)
        return super().run(batch, embeddings, attention=attention)


ROWS = torch.tensor([0, 1, 0, 0, 1])  # the third asks what the first does, the last what no other does


def asked(batch: Batch) -> torch.Tensor:
    """[R, L] two units each."""
    kept = torch.zeros(len(ROWS), batch.mask.shape[1], dtype=torch.bool)
    for row, columns in enumerate([(0, 1), (0, 1), (0, 1), (0, 2), (1, 2)]):
        kept[row, list(columns)] = True
    return kept


def test_what_is_known_of_a_batch_is_recalled_and_is_the_same() -> None:
    model, other = Counting(), Counting()
    batch = model.encode([example for example in toy_data().test if len(example.units) > 2][:2])
    kept = asked(batch)
    with torch.no_grad():
        expected = logits_of_kept(model, batch, ROWS, kept)
        assert model.passes == 5
        with remembering(model, batch) as known:
            torch.testing.assert_close(logits_of_kept(model, batch, ROWS[:2], kept[:2]), expected[:2])
            assert model.passes == 7
            known.recalls = True
            torch.testing.assert_close(logits_of_kept(model, batch, ROWS, kept), expected)
            assert model.passes == 9  # the last two alone were new
            logits_of_kept(other, batch, ROWS, kept)
            logits_of_kept(model, batch.take(torch.tensor([0, 1])), ROWS, kept)
            assert (other.passes, model.passes) == (5, 14)  # another model, another batch
            with torch.enable_grad():
                assert logits_of_kept(model, batch, ROWS, kept).requires_grad
        logits_of_kept(model, batch, ROWS, kept)
        assert model.passes == 24


def test_a_method_costs_what_it_costs_alone() -> None:
    model = Counting()
    batch = model.encode([example for example in toy_data().test if len(example.units) > 2][:2])
    with torch.no_grad(), remembering(model, batch):
        logits_of_kept(model, batch, ROWS[3:], asked(batch)[3:])
        logits_of_kept(model, batch, ROWS[3:], asked(batch)[3:])
    assert model.passes == 4


def test_what_was_learnt_after_some_others_has_their_outputs_and_no_name_twice() -> None:
    model = Counting()
    batch = model.encode([example for example in toy_data().test if len(example.units) > 2][:2])
    kept = asked(batch)
    with torch.no_grad(), remembering(model, batch) as known:
        assert known.learnt_after(0) == ([], None)
        first = logits_of_kept(model, batch, ROWS[:2], kept[:2])
        names, outputs = known.learnt_after(0)
        assert [row for row, _ in names] == [0, 1]
        assert outputs is not None
        assert torch.equal(outputs, first)
        logits = logits_of_kept(model, batch, ROWS, kept)  # computes the first ones again
        names, outputs = known.learnt_after(2)
        assert [row for row, _ in names] == [0, 1]
        assert outputs is not None
        assert torch.equal(outputs, logits[3:])
        assert known.learnt_after(4) == ([], None)
