"""On an accelerator with little memory a run makes smaller passes, says so, and gives the same report."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import attnx
from attnx.errors import AttnxWarning
from attnx.formulas.chunks import (
    COLUMNS,
    differentiated_at_once,
    equal_lengths,
    passes_at_once,
    smaller_passes,
)
from attnx.results import Report
from attnx.run import device_memory
from attnx.testing import pretend_device

ASKED: dict[str, Any] = {
    "task": "sdc-text:train=16,dev=8,test=12",
    "model": "bilstm:embedding=8,hidden=8",
    "training": {"epochs": 1, "batch_size": 8},
    "explanations": ["attention", "loo", "gradient"],
    "metrics": ["comprehensiveness", "kendall", "entropy"],
    "keep": "all",
    "progress": False,
}
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _nothing_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_KEEP_GB", "0")
    assert not home.exists()


def on_accelerator(memory: int | None = None) -> tuple[Report, list[str]]:
    with warnings.catch_warnings(record=True) as caught, pretend_device(memory):
        warnings.simplefilter("always")
        report = attnx.evaluate(**ASKED, device="cuda", fresh=True)
    return report, [str(one.message) for one in caught if "memory" in str(one.message)]


def numbers(report: Report) -> dict[tuple[Any, ...], float]:
    return {
        (s.metric, s.measure, s.explanation, s.reference, s.group): s.mean
        for s in report.summaries
        if s.mean is not None
    }


def test_a_device_that_refuses_large_passes_gives_the_same_report_in_smaller_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    whole, said = on_accelerator()
    assert not said
    parts, said = on_accelerator(memory=60_000)
    assert said
    assert all(text.startswith("cuda ran out of memory: passes there are 1/") for text in said)
    assert numbers(parts) == pytest.approx(numbers(whole), rel=1e-4, abs=1e-6, nan_ok=True)
    ids = [one.id for one in whole.examples()]
    assert [one.id for one in parts.examples()] == ids


def test_a_device_too_small_for_a_single_example_is_an_error_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(device_memory, "measure", refuse)
    with (
        pretend_device(),
        pytest.warns(AttnxWarning, match="ran out of memory"),
        pytest.raises(torch.OutOfMemoryError),
    ):
        attnx.evaluate(**ASKED, device="cuda")


def test_other_errors_are_not_taken_for_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(*_: Any, **__: Any) -> None:
        calls.append(1)
        raise RuntimeError("broken")

    monkeypatch.setattr(device_memory, "measure", fail)
    with pytest.raises(attnx.PluginError, match="broken"), pretend_device():
        attnx.evaluate(**ASKED, device="cuda")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("free", "share"), [(10**12, 1.0), (2**22, 0.5), (2**21, 0.25), (1, device_memory.SMALLEST), (None, 1.0)]
)
def test_passes_are_sized_by_the_memory_that_is_free(
    monkeypatch: pytest.MonkeyPatch, free: int | None, share: float
) -> None:
    monkeypatch.setattr(device_memory, "free_memory", lambda _: free)
    of_a_column = 0.8 * 2**23 / (device_memory.GRADIENTS * COLUMNS)  # 8 MB fit the usual size exactly
    monkeypatch.setattr(device_memory, "bytes_of_a_column", lambda *_: of_a_column)
    nothing: Any = None
    assert device_memory.affordable_share(nothing, nothing, torch.device("cuda", 0)) == share


def test_a_cpu_is_not_asked_for_its_memory() -> None:
    nothing: Any = None
    assert device_memory.fitting(nothing, CPU, seed=0, title="") is None
    assert device_memory.free_memory(CPU) is None


def test_smaller_passes_hold_fewer_rows_and_end_with_their_context() -> None:
    before = passes_at_once(16)
    with smaller_passes(0.25):
        assert passes_at_once(16) == before // 4
        assert max(map(len, equal_lengths(torch.full((2 * before,), 16)))) == before // 4
        assert differentiated_at_once(16, torch.device("meta")) == before // 4
    assert passes_at_once(16) == before
