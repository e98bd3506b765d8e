"""Looking at what was kept, and publishing it."""

import csv
import io
import re
from urllib.parse import unquote

import pytest

import attnx
from attnx.results.formatting import format_number

SMALL = {"task": "sdc-text:train=60,dev=30,test=40", "training": {"epochs": 1}, "progress": False}


@pytest.fixture
def kept(home):
    run = attnx.evaluate(**SMALL, metrics="kendall", references=["gradient", "loo"])
    attnx.study("uniform-attention", **SMALL, seeds=[0, 1])
    return run


def test_the_index_leads_to_every_page_and_makes_those_that_are_missing(kept, home, cli):
    for page in home.glob("*/*/report.html"):
        page.unlink()
    damaged = home / "runs" / "0000damaged"
    damaged.mkdir()
    (damaged / "report.json").write_text("{")
    code, out, _ = cli("view")
    assert (code, out.strip()) == (0, str(home / "index.html"))
    text = (home / "index.html").read_text(encoding="utf-8")
    links = re.findall('<a href="([^#][^"]*)"', text)
    assert len(links) == 2
    assert all((home / unquote(link)).is_file() for link in links)
    assert "damaged, or written by another version" in text
    assert "no verdict" in text  # kendall alone decides nothing
    code, out, _ = cli("view", kept.fingerprint[:6])
    assert out.strip() == str(home / "runs" / kept.fingerprint / "report.html")


def test_tables_are_exported_for_latex_and_as_numbers(kept, home, cli, tmp_path):
    code, out, _ = cli("export", kept.fingerprint, "--to", "latex")
    assert code == 0
    assert out.count("{") == out.count("}")
    row = kept.select("tau", reference="loo")
    line = next(line for line in out.splitlines() if line.startswith(r"kendall tau $\uparrow$ & loo"))
    low, high = (f"${end}$" if end[0] == "-" else end for end in map(format_number, row.interval))
    assert f"[{low}, {high}]" in line
    assert line.endswith(r"\\")
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", out)[1]
    assert line.count("&") == len(columns) - 1
    _, out, _ = cli("export", kept.fingerprint, "--to", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == len(kept.summaries)
    assert float(rows[0]["mean"]) == kept.summaries[0].mean
    file = tmp_path / "table.md"
    cli("export", kept.fingerprint, "--to", "markdown", "--into", str(file))
    assert file.read_text(encoding="utf-8") == kept.to_markdown()
    code, out, _ = cli("export", "uniform-attention", "--to", "latex")
    assert "gap & accuracy" in out


@pytest.mark.figures
def test_figures_are_exported_as_files(kept, home, cli, tmp_path):
    code, out, _ = cli("export", kept.fingerprint, "--to", "svg", "--into", str(tmp_path / "figures"))
    assert code == 0
    assert str(tmp_path / "figures" / "kendall-loo-by-class.svg") in out.splitlines()
    text = (tmp_path / "figures" / "kendall-loo-by-class.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    code, out, _ = cli("export", "uniform-attention", "--to", "png", "--into", str(tmp_path))
    assert (code, out) == (0, f"{tmp_path / 'uniform-attention-accuracy.png'}\n")


def test_a_name_that_is_not_there_is_refused_with_the_nearest(kept, home, cli):
    code, _, err = cli("export", f"{kept.fingerprint}0")
    assert code == 2
    assert f"Did you mean '{kept.fingerprint}'?" in err
