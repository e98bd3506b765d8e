"""Freed memory is kept while a model trains, and given back after long work, where the C library can."""

import resource
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch

from attnx.plugin import Training
from attnx.progress import Progress
from attnx.run.measuring import freed_memory
from attnx.run.training import loop
from attnx.testing import ToyModel, toy_data


@pytest.fixture(autouse=True)
def asked_anew():
    """The library that is loaded, not the one of the test before."""
    freed_memory._glibc.cache_clear()
    yield
    freed_memory._glibc.cache_clear()


@pytest.mark.parametrize(("seconds", "calls"), [(0.01, []), (2.0, [0])])
def test_memory_is_given_back_after_long_work(monkeypatch, seconds, calls):
    made = []
    library = SimpleNamespace(malloc_trim=made.append, mallopt=None)
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: library)
    freed_memory.give_back(after=seconds)
    assert made == calls


def test_a_library_that_cannot_give_memory_back_is_left_alone(monkeypatch):
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: object())
    freed_memory.give_back(after=2.0)
    with freed_memory.keeping():
        pass
    assert freed_memory._glibc() is None


def test_a_large_tensor_is_not_fetched_from_the_system_again():
    if freed_memory._glibc() is None:
        pytest.skip("the C library is not glibc")

    def page_faults():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            torch.ones(16, 1 << 20)  # 64 MB
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    with freed_memory.keeping():
        page_faults()
        kept = page_faults()
    assert 5 * kept < page_faults()


def test_memory_is_unmapped_again_after_a_failure(monkeypatch):
    chosen, given_back = {}, []
    library = SimpleNamespace(mallopt=chosen.__setitem__, malloc_trim=given_back.append)
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: library)

    @freed_memory.keeping()
    def broken():
        assert chosen[freed_memory.MMAP_MAX] == 0
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert chosen[freed_memory.MMAP_MAX] > 0
    assert given_back == [0]


@pytest.mark.parametrize(("widest", "kept"), [(loop.NARROW, [True]), (0, [])])
def test_training_keeps_memory_while_its_batches_are_narrow(monkeypatch, widest, kept):
    entered = []
    monkeypatch.setattr(loop, "keeping", lambda: nullcontext(entered.append(True)))
    monkeypatch.setattr(loop, "NARROW", widest)
    device, progress = torch.device("cpu"), Progress("off")
    loop.train(ToyModel(), toy_data(), Training(epochs=1), seed=0, device=device, progress=progress, label="")
    assert entered == kept
