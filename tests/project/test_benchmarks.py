"""`make bench` runs to its end: every benchmark at a tiny size, with equal results on both sides."""

import pytest

from benchmarks.__main__ import HEAD, line, load, main, names
from benchmarks.timing import Row


@pytest.mark.parametrize("name", names())
def test_every_benchmark_runs_and_both_sides_agree(name: str) -> None:
    rows = list(load(name).rows(tiny=True))
    assert rows, "no row"
    for row in rows:
        assert row.equal is not False, f"{row.work}: different results"
        assert row.ours > 0, row.work
        assert row.peer > 0, row.work
        assert len(line(row)) >= len(HEAD.rstrip()) - len("same result"), row.work


def test_a_row_says_whether_it_meets_its_target_and_how_far_it_is_from_the_limit() -> None:
    slow, limited = Row("a", 2.0, 3.0, 2.0, False), Row("b", 2.0, 5.0, 2.0, True, limit=1.0)
    assert "NO  (below target)" in line(slow)
    assert "1.50x" in line(slow)
    assert "below" not in line(limited)
    assert " 0.50  yes" in line(limited)


def test_an_unknown_benchmark_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "no-such"])
    with pytest.raises(SystemExit, match=r"no benchmark 'no-such'. There are: adversary, decoder, deletion"):
        main()
