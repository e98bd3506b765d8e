"""What is left of a long step is shown: how far it is, its rate, and the time that the rest takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import attnx
from attnx import progress as shown
from attnx.progress import Progress, span
from attnx.run.measuring import measurement
from attnx.run.measuring.pass_meter import PassMeter
from attnx.run.training.estimate import TrainingEstimate


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(shown, "time", made)
    monkeypatch.setattr("attnx.run.training.estimate.time", made)
    return made


def test_a_line_has_the_rate_and_the_time_left(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress().stage("work", 100) as step:
        clock.now += 10
        step(20, "a note")
        clock.now += 30
        step(20)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "work: 20/100, 2/s, about 40 s left a note"
    assert lines[1] == "work: 40/100, 1/s, about 60 s left"
    assert lines[2] == "work: done in 40 s"


def test_what_an_earlier_process_did_does_not_count_for_the_rate(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress().stage("work", 100) as step:
        step(50)
        clock.now += 25
        step(25)
    assert "work: 75/100, 1/s, about 25 s left" in capsys.readouterr().err


def test_a_share_of_the_work_shows_before_a_part_is_finished(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress().stage("work", 8) as step:
        clock.now += 30
        step(0, "", 0.25)
    assert "work: 2/8, 0.0667/s, about 90 s left" in capsys.readouterr().err


@pytest.mark.parametrize(("seconds", "said"), [(59.6, "60 s"), (300, "5 min"), (9000, "2.5 h")])
def test_lengths_of_time_are_said_as_people_do(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_long_training_is_announced_once_and_short_training_is_not(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    for examples in (100, 1000):
        estimate = TrainingEstimate(Progress(), "seed 0: training", examples)
        for _ in range(10):
            clock.now += 1
            estimate.add(5)
    assert capsys.readouterr().err == "seed 0: training takes about 3 min here, or less if it ends early\n"


def test_training_says_how_long_it_takes(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not home.exists()
    monkeypatch.setattr("attnx.run.training.estimate.ENOUGH", 0.0)
    monkeypatch.setattr("attnx.run.training.estimate.LONG", 0.0)
    attnx.evaluate("sdc-text:train=40,dev=20,test=8", training={"epochs": 2}, metrics="nnz")
    assert capsys.readouterr().err.count("seed 0: training takes about") == 1


def test_passes_move_the_meter_and_finished_examples_correct_it() -> None:
    shares: list[float] = []
    meter = PassMeter(lambda done=1, note="", share=0.0: shares.append(share), expected=1000.0, split=10)
    meter.passed(10, 10)
    meter.passed(10, 40)
    assert shares == pytest.approx([0.099, 0.495])
    meter(5)  # half of the examples took 500 units: the declared number was right
    meter.passed(10, 25)
    assert shares[-1] == pytest.approx(0.99 * 0.75)


def test_measuring_is_followed_within_a_batch(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not home.exists()
    seen: list[float] = []
    real = measurement.metered

    def spied(model: Any, split: Any, units: Any, step: Any) -> Any:
        def follow(done: int = 1, note: str = "", share: float = 0.0) -> None:
            seen.append(share)
            step(done, note, share)

        return real(model, split, units, follow)

    monkeypatch.setattr(measurement, "metered", spied)
    attnx.evaluate(
        "sdc-text:train=40,dev=20,test=8", "bilstm:embedding=8,hidden=8", training={"epochs": 1},
        explanations="lime:samples=16", metrics=["comprehensiveness", "kendall"], progress=False,
    )  # fmt: skip
    assert len(set(seen)) > 5
    assert max(seen) <= 1
