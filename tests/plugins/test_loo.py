"""`loo`: against a loop that encodes every shortened example again, in all its variants."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from attnx.formulas import Randomness, chunks
from attnx.plugin import Batch, Example, Model, TaskData, Trace
from attnx.run.evaluation_mode import evaluating
from attnx.run.measuring.attribution import Named, attribute, trace_of
from attnx.testing import ToyModel, assert_conforms, toy_data
from attnx_encoders.mlp import Mlp
from attnx_encoders.options import SequenceOptions
from attnx_erasure.loo import LeaveOneOut
from attnx_erasure.options import LeaveOneOutOptions
from attnx_projections.options import SparsegenOptions
from attnx_projections.sparsegen import Sparsegen
from attnx_sdc.fcam import Fcam
from attnx_sdc.options import FcamOptions, Sdc2dOptions, SdcTextOptions
from attnx_sdc.plane import Plane
from attnx_sdc.text import SdcText

RAW = LeaveOneOutOptions(normalise=False, signed=False)


def toy() -> tuple[Model, TaskData]:
    return ToyModel(), toy_data()


def words() -> tuple[Model, TaskData]:
    return _fcam(SdcText(SdcTextOptions()).sample())


def features() -> tuple[Model, TaskData]:
    return _fcam(Plane(Sdc2dOptions(test=12)).sample())


def _fcam(data: TaskData) -> tuple[Model, TaskData]:
    torch.manual_seed(0)
    return Fcam.build(data, ToyModel().projection, FcamOptions(layer=1)), data


every_model = pytest.mark.parametrize("make", [toy, words, features])
Make = Callable[[], tuple[Model, TaskData]]


@pytest.fixture(params=[8192, 30, 1])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much is run at a time."""
    monkeypatch.setattr(chunks, "COLUMNS", request.param)
    return int(request.param)


def values(model: Model, examples: tuple[Example, ...], options: LeaveOneOutOptions) -> tuple[Trace, Tensor]:
    batch = model.encode(examples)
    with evaluating(model):
        trace = trace_of(model, batch)
        return trace, attribute(Named("loo", LeaveOneOut(options)), model, trace, trace.predicted).values


def shortened(example: Example) -> Iterator[Example]:
    """The example without each of its units in turn."""
    for i in range(len(example.units)):
        fields = {name: getattr(example, name) for name in ("units", "rationale", "rows")}
        changes = {name: old and (*old[:i], *old[i + 1 :]) for name, old in fields.items()}
        yield dataclasses.replace(example, **changes)


def probabilities(model: Model, example: Example) -> Tensor:
    """[C] of one example alone, in double precision."""
    with evaluating(model):
        return trace_of(model, model.encode([example])).logits[0].double().softmax(-1)


def brute_force(model: Model, example: Example, of: str) -> list[float]:
    p = probabilities(model, example)
    changes = [(p - probabilities(model, shorter)).abs() for shorter in shortened(example)]
    return [float(c.mean() if of == "average" else c[p.argmax()]) for c in changes]


@every_model
@pytest.mark.parametrize("of", ["target", "average"])
def test_deletion_is_what_a_loop_over_shortened_examples_gives(make: Make, of: str, columns: int) -> None:
    model, data = make()
    trace, found = values(model, data.test, LeaveOneOutOptions(of=of, normalise=False, signed=False))  # type: ignore[arg-type]
    for row, example in enumerate(data.test):
        expected = torch.tensor(brute_force(model, example, of))
        torch.testing.assert_close(found[row][trace.batch.mask[row]], expected, atol=2e-6, rtol=1e-4)


def test_the_samples_are_padded() -> None:
    for make in (toy, words):
        model, data = make()
        assert not model.encode(data.test).mask.all()


def test_two_classes_change_alike_so_the_average_is_the_change_of_the_target() -> None:
    model, data = toy()
    target = values(model, data.test, RAW)[1]
    average = values(model, data.test, LeaveOneOutOptions(of="average", normalise=False))[1]
    torch.testing.assert_close(target, average)


@every_model
def test_normalised_values_are_shares(make: Make) -> None:
    model, data = make()
    _, shares = values(model, data.test, LeaveOneOutOptions(signed=False))
    _, raw = values(model, data.test, RAW)
    torch.testing.assert_close(shares, raw / raw.sum(1, keepdim=True))


@every_model
@pytest.mark.parametrize("baseline", ["zero", "mean"])
def test_masking_replaces_one_embedding_at_a_time(make: Make, baseline: str, columns: int) -> None:
    model, data = make()
    options = LeaveOneOutOptions(variant="mask", baseline=baseline, normalise=False, signed=False)  # type: ignore[arg-type]
    trace, found = values(model, data.test, options)
    for row, example in enumerate(data.test):
        with evaluating(model):
            batch = model.encode([example])
            x = model.embed(batch)  # [1, n, E]
            instead = x.mean(1)[0] if baseline == "mean" else torch.zeros_like(x[0, 0])
            p = model.run(batch, x).probabilities[0]
            for i in range(len(example.units)):
                changed = x.clone()
                changed[0, i] = instead
                q = model.run(batch, changed).probabilities[0]
                expected = (p - q).abs()[p.argmax()]
                torch.testing.assert_close(found[row, i], expected, atol=2e-6, rtol=1e-4)
    assert (found[~trace.batch.mask] == 0).all()


@pytest.mark.parametrize("variant", ["delete", "mask"])
def test_the_trace_is_not_changed(variant: str) -> None:
    model, data = words()
    with evaluating(model):
        trace = trace_of(model, model.encode(data.test))
        before = trace.embeddings.clone()
        LeaveOneOut(LeaveOneOutOptions(variant=variant))(model, trace, trace.predicted, Randomness(0))  # type: ignore[arg-type]
    assert torch.equal(trace.embeddings, before)


class NeverEmpty(ToyModel):
    """Cannot run on an example without units, as many a model cannot."""

    def run(self, batch: Batch, embeddings: Tensor, *, attention: Tensor | None = None) -> Trace:
        assert batch.mask.any(1).all()
        return super().run(batch, embeddings, attention=attention)


def test_a_single_unit_gets_zero_when_deleted_and_a_value_when_masked() -> None:
    model = NeverEmpty()
    examples = (Example("alone", ("two",), 0), Example("pair", ("four", "five"), 1))
    _, deleted = values(model, examples, RAW)
    assert deleted[0].tolist() == [0, 0]
    assert (deleted[1] > 0).all()
    assert values(model, examples[:1], LeaveOneOutOptions())[1].tolist() == [[0]]
    _, masked = values(model, examples, LeaveOneOutOptions(variant="mask", signed=False))
    assert masked[0].tolist() == [1, 0]


def test_a_column_off_the_mask_stays_and_is_never_deleted() -> None:
    """A special column, such as a start mark, is kept in every shortened row."""
    model = ToyModel()
    batch = model.encode(toy_data().test[2:4])
    mask = batch.mask.clone()
    mask[:, 0] = False
    batch = dataclasses.replace(batch, mask=mask, unit_index=batch.unit_index.masked_fill(~mask, -1))
    with evaluating(model):
        trace = trace_of(model, batch)
        found = LeaveOneOut(RAW)(model, trace, trace.predicted, Randomness(0))
        for row, column in mask.nonzero().tolist():
            rest = dataclasses.replace(batch, mask=mask.clone())
            rest.mask[row, column] = False  # for this model the same as deleting
            q = trace_of(model, rest).probabilities[row]
            expected = (trace.probabilities[row] - q).abs()[trace.predicted[row]]
            torch.testing.assert_close(found[row, column], expected)
    assert (found[~mask] == 0).all()


def test_a_shortened_batch_lacks_one_column_in_every_field() -> None:
    model = ToyModel()
    batch = model.encode([toy_data().test[2]])
    batch = dataclasses.replace(
        batch, inputs=batch.inputs[..., None].expand(-1, -1, 3), query=torch.tensor([[7, 8]])
    )
    shorter = batch.keep(torch.tensor([0, 0]), torch.tensor([[1, 2, 3, 4], [0, 1, 3, 4]]))
    assert shorter.unit_index.tolist() == [[1, 2, 3, 4], [0, 1, 3, 4]]
    assert torch.equal(shorter.inputs[1], batch.inputs[0, [0, 1, 3, 4]])
    assert torch.equal(shorter.rationale[1], batch.rationale[0, [0, 1, 3, 4]])
    assert shorter.lengths.tolist() == [4, 4]
    assert shorter.mask.all()
    assert shorter.query is not None
    assert shorter.query.tolist() == [[7, 8], [7, 8]]
    assert len(shorter) == 2


class Fast(ToyModel):
    """Answers every deletion with the same logits, so that its use can be seen."""

    provides = (*ToyModel.provides, "fast-deletion")

    def without_each(self, trace: Trace) -> Tensor:
        return torch.full((*trace.batch.mask.shape, 2), 3.0)  # p = ½ everywhere


def test_a_declared_fast_path_is_used_for_deletion_only() -> None:
    examples = (*toy_data().test, Example("alone", ("two",), 0))
    trace, found = values(Fast(), examples, RAW)
    change = (trace.probabilities.amax(1, keepdim=True) - 0.5).expand_as(found)
    measured = trace.batch.mask & (trace.batch.mask.sum(1, keepdim=True) > 1)
    torch.testing.assert_close(found, change.masked_fill(~measured, 0))
    masked = LeaveOneOutOptions(variant="mask", signed=False)
    assert torch.equal(values(Fast(), examples, masked)[1], values(ToyModel(), examples, masked)[1])


def test_a_confident_model_still_distinguishes_units() -> None:
    model = ToyModel()
    with torch.no_grad():
        model.head.mul_(45)
    trace, found = values(model, toy_data().test[1:2], RAW)
    assert trace.probabilities.amax() == 1  # in single precision
    expected = brute_force(model, toy_data().test[1], "target")
    torch.testing.assert_close(found[0], torch.tensor(expected), rtol=1e-3, atol=0)


@pytest.mark.parametrize("variant", ["delete", "mask"])
@pytest.mark.parametrize("baseline", ["zero", "mean"])
@pytest.mark.parametrize("of", ["target", "average"])
def test_laws(variant: str, baseline: str, of: str) -> None:
    assert_conforms("importance", LeaveOneOut(LeaveOneOutOptions(variant=variant, baseline=baseline, of=of)))  # type: ignore[arg-type]


def test_deleting_units_without_attention_changes_nothing() -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(200)]
    examples = tuple(
        Example(str(i), tuple(rng.choice(words, int(n), replace=False)), i % 2)
        for i, n in enumerate(rng.integers(5, 20, 60))
    )
    data = TaskData(examples, examples, examples, ("no", "yes"))
    model = Mlp.build(data, Sparsegen(SparsegenOptions(lam=0.9)), SequenceOptions())
    with torch.no_grad():
        model.word_vectors.weight.mul_(30.0)
    trace, found = values(model, examples, LeaveOneOutOptions(signed=False))
    passed_over = trace.batch.mask & (trace.attention == 0)
    assert int(passed_over.sum()) > 200
    assert not found[passed_over].any()
    assert (found[trace.attention > 0.01] > 0).all()


def brute_force_windows(model: Model, example: Example, width: int) -> list[float]:
    """The mean over the windows that hold a unit of p − p without the window."""
    p = probabilities(model, example)
    n, top = len(example.units), int(p.argmax())
    width = min(width, n - 1)
    effects: list[list[float]] = [[] for _ in range(n)]
    for start in range(n - width + 1 if width else 0):
        kept = [i for i in range(n) if not start <= i < start + width]
        fields = {name: getattr(example, name) for name in ("units", "rationale", "rows")}
        changes = {name: old and tuple(old[i] for i in kept) for name, old in fields.items()}
        change = float((p - probabilities(model, dataclasses.replace(example, **changes)))[top])
        for i in range(start, start + width):
            effects[i].append(change)
    return [float(np.mean(of)) if of else 0.0 for of in effects]


@every_model
@pytest.mark.parametrize("width", [2, 3, 100])
def test_a_unit_gets_the_mean_over_its_windows(make: Make, width: int, columns: int) -> None:
    model, data = make()
    trace, found = values(model, data.test, LeaveOneOutOptions(window=width, normalise=False))
    for row, example in enumerate(data.test):
        expected = torch.tensor(brute_force_windows(model, example, width))
        torch.testing.assert_close(found[row][trace.batch.mask[row]], expected, atol=2e-6, rtol=1e-4)


def test_a_window_keeps_the_laws_and_needs_deletion() -> None:
    assert_conforms("importance", LeaveOneOut(LeaveOneOutOptions(window=2)))
    with pytest.raises(ValueError, match="window needs variant=delete"):
        LeaveOneOutOptions(window=2, variant="mask")
