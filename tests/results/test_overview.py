"""A run in brief: its time is a time, written as ISO and read back."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from attnx.results.overview import StoredRun
from attnx.store.pruning import to_prune
from attnx.views.terminal.runs import lines_json, print_runs
from attnx.views.terminal.tables import screen

WRITTEN = datetime(2026, 1, 31, 12, 0, 59)


def line(written=WRITTEN):
    numbers = {"accuracy": 0.5}
    return StoredRun("3f2a", "run", written, {"task": "csv"}, (0, 1), numbers, {}, ("w",), Path("3f2a"))


def test_a_line_goes_through_json_and_keeps_its_time_to_the_second():
    (found,) = json.loads(lines_json([line()]))
    assert found["written"] == "2026-01-31T12:00:59"
    assert StoredRun.from_dict(found) == line()


def test_the_time_is_shown_to_the_minute(capsys):
    print_runs([line()], 0, "here", screen())
    assert capsys.readouterr().out.startswith("3f2a  2026-01-31 12:00  2 seeds\n")


@pytest.mark.parametrize(("seconds", "pruned"), [(-1, 0), (1, 1)])
def test_pruning_compares_times_and_not_their_texts(seconds, pruned):
    now = WRITTEN + timedelta(days=30, seconds=seconds)
    assert len(to_prune([line()], timedelta(days=30), None, now)) == pruned
