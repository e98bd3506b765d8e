"""`make bench` runs to its end: every benchmark at a tiny size, with equal results on both sides."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import growth, timing
from benchmarks.__main__ import load, main, names
from benchmarks.measured import FILE, HEAD, Measured, line
from benchmarks.page import PAGE, filled
from benchmarks.timing import Row


@pytest.mark.parametrize("name", names())
def test_every_benchmark_runs_and_both_sides_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = load(name)
    if name == "minilm":  # its size is what takes time
        for size, small in (("LAYERS", 2), ("SIZE", 48), ("WIDE", 96)):
            monkeypatch.setattr(benchmark, size, small)
    rows = list(benchmark.rows(tiny=True))
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


def test_what_was_measured_is_written_and_the_page_has_its_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {name: [Row(name, 1.0, 3.0, 2.0, True, limit=0.5)] for name in ("one", "two", "three")}
    monkeypatch.setattr("benchmarks.__main__.names", lambda: list(made))
    monkeypatch.setattr("benchmarks.__main__.load", lambda name: SimpleNamespace(rows=lambda: made[name]))
    monkeypatch.setattr("benchmarks.__main__.FILE", tmp_path / "measured.json")
    monkeypatch.setattr("benchmarks.profiles.lines", lambda: ["| a profile |"])
    monkeypatch.setattr("sys.argv", ["benchmarks"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    found = Measured.read(tmp_path / "measured.json")
    assert found.rows == made
    assert found.minutes.keys() == made.keys()
    place = "<!-- measured: {} -->\nold\n<!-- end -->\n"
    page = filled("".join(map(place.format, ("conditions", "two", "*", "profiles"))), found)
    printed = capsys.readouterr().out.splitlines()
    assert [row for row in page.splitlines() if row in printed] == [
        HEAD, line(made["two"][0]), HEAD, line(made["one"][0]), line(made["three"][0]),
    ]  # fmt: skip
    assert found.processor in page
    assert "\n| --- | --- | --- | --- |\n| a profile |\n" in page
    assert "old" not in page
    assert filled(page, found) == page


def test_a_benchmark_that_fails_is_named_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(name: str) -> list[Row]:
        if name == "one":
            raise ValueError("broken")
        return [Row(name, 1.0, 3.0, 2.0, True)]

    monkeypatch.setattr("benchmarks.__main__.names", lambda: ["one", "two"])
    monkeypatch.setattr("benchmarks.__main__.load", lambda name: SimpleNamespace(rows=lambda: rows(name)))
    monkeypatch.setattr("benchmarks.__main__.FILE", tmp_path / "measured.json")
    monkeypatch.setattr("benchmarks.profiles.lines", lambda: ["| a profile |"])
    monkeypatch.setattr("sys.argv", ["benchmarks"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    said = capsys.readouterr()
    assert "These failed: one." in said.out
    assert "ValueError: broken" in said.err
    assert list(Measured.read(tmp_path / "measured.json").rows) == ["two"]


def test_what_takes_long_is_repeated_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(timing, "time", SimpleNamespace(process_time=lambda: clock[0]))

    def takes(seconds: float) -> int:
        calls = 0

        def run() -> None:
            nonlocal calls
            calls += 1
            clock[0] += seconds

        timing.best_of(5, {"run": run})
        return calls

    assert takes(timing.LONG / 10) == 5
    assert takes(timing.LONG * 0.4) == 3
    assert takes(timing.LONG * 2) == 1


def test_the_page_names_the_rows_that_miss_their_target() -> None:
    place = "<!-- measured: below target -->\nold\n<!-- end -->\n"
    good, slow = Row("good", 1.0, 3.0, 2.0, True), Row("slow", 1.0, 1.5, 2.0, True)
    found = Measured("today", "processor", "2", 0.0, rows={"one": [good]})
    assert "\nAll 1 rows meet their targets.\n" in filled(place, found)
    found = Measured("today", "processor", "2", 0.0, rows={"one": [good, slow]})
    assert "\n1 of 2 rows meet their targets. Below are:\n\n- slow: 1.50 x of 2 x asked\n" in filled(
        place, found
    )


def test_the_page_shows_what_the_file_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, Measured.read(FILE)) == page


def test_a_run_of_some_benchmarks_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("benchmarks.__main__.load", lambda name: SimpleNamespace(rows=lambda: []))
    monkeypatch.setattr("benchmarks.__main__.FILE", tmp_path / "measured.json")
    monkeypatch.setattr("sys.argv", ["benchmarks", "kendall"])
    with pytest.raises(SystemExit):
        main()
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("sys.argv", ["benchmarks", "--into", str(tmp_path / "some.json"), "kendall"])
    with pytest.raises(SystemExit):
        main()
    assert [file.name for file in tmp_path.iterdir()] == ["some.json"]


def test_growth_is_measured_in_a_process_of_its_own_and_kept_beside_what_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = growth.Grown(seconds=1.0, cpu=2.0, megabytes=3.0)
    case, others = "texts 4000", {"runs 5000": asdict(known)}
    monkeypatch.setattr(growth, "FILE", tmp_path / "growth.json")
    (tmp_path / "growth.json").write_text(json.dumps(others), encoding="utf-8")
    given: list[dict[str, object]] = []

    def run(*_: object, **how: object) -> SimpleNamespace:
        given.append(how)
        return SimpleNamespace(stdout=f"what it printed\n{json.dumps(asdict(known) | {'cpu': 7.0})}\n")

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("sys.argv", ["growth", case])
    growth.main()
    growth.main()
    assert growth.read(tmp_path / "growth.json") == {case: replace(known, cpu=7.0), "runs 5000": known}
    assert all("stderr" not in how for how in given)  # the progress of a case is seen
    assert capsys.readouterr().err.splitlines() == [
        "texts 4000: was not measured before", "texts 4000: took 7 s of the processor before",
    ]  # fmt: skip


def test_a_case_of_growth_runs(home: Path, tmp_path: Path) -> None:
    growth.measured(tmp_path, 12, train=40)
    assert len((tmp_path / "test.jsonl").read_text().splitlines()) == 12
