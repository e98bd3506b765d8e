"""Text that is not ours, from a file or a server to everything that shows it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from loopback import Handler, serving

from attnx.host.catalog import Catalog
from attnx.progress import Progress

LABELS = ["<script>alert(1)</script>", "a|b\n| forged | row |", "\x1b[31mred\r\x07[/red]\\input{x}%$&_"]
NAME = "mine [red] <b>&.csv"
TEXT = "<img src=x onerror=alert(2)> \x1b]0;title\x07"


@pytest.fixture
def shown(tmp_path: Path, home: Path, cli: Any) -> dict[str, str]:
    """Everything that a run on a hostile file shows, by where it is shown."""
    file = tmp_path / NAME
    with file.open("w", newline="", encoding="utf-8") as written:
        table = csv.writer(written)
        table.writerow(("text", "label"))
        for number in range(90):
            table.writerow((f"word{number % 3} {TEXT}", LABELS[number % 3]))
    asked = ("--task", f"csv:file={file}", "--model", "average", "--train", "epochs=1", "--metric", "nnz")
    code, out, err = cli("evaluate", *asked)
    assert code == 0, err
    (folder,) = (home / "runs").glob("[!.]*")
    found = {"terminal": out, "errors": err}
    found |= {name: (folder / name).read_text(encoding="utf-8") for name in ("report.md", "report.html")}
    found |= {form: cli("export", folder.name, "--to", form)[1] for form in ("latex", "csv")}
    found |= {"runs": cli("runs")[1], "show": cli("runs", "show", folder.name)[1]}
    found["json"] = cli("evaluate", *asked, "--json")[1]
    return found


def test_a_hostile_file_is_shown_as_text_everywhere(shown: dict[str, str]) -> None:
    for place, text in shown.items():
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), place
    for place in ("report.md", "report.html"):
        assert "<script>alert" not in shown[place]
        assert "<img src=x" not in shown[place]
    assert "\\input{x}" not in shown["latex"]
    assert not [line for line in shown["report.md"].splitlines() if line.lstrip().startswith("| forged")]
    assert not [line for line in shown["terminal"].splitlines() if line.startswith("| forged")]
    assert LABELS[0] in json.dumps(json.loads(shown["json"]))


@pytest.mark.parametrize("label", ["http://x/[/red]", "[bold]x[/bold] \x1b[31m", "[/]"])
def test_live_progress_shows_markup_as_text(label: str, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("off")
    progress.mode = "live"
    with progress.stage(label, 2) as step:
        step(1, label)
    assert "\x1b[31m" not in capsys.readouterr().err


REGISTRY = """
schema: 1
datasets:
  rows:
    summary: Rows.
    licence: CC0-1.0
    sources:
      - {url: "%s", archive: tar, sha256: %s, members: {a: b}}
"""


def test_the_words_of_a_server_reach_no_terminal(
    cli: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def refuse(handler: Handler) -> None:
        handler.send_response(418, "\x1b[31mteapot\r\x1b]0;x\x07")
        handler.end_headers()

    with serving() as server:
        registry = tmp_path / "registry.yaml"
        registry.write_text(REGISTRY % (server.at("/x.tar", refuse), "a" * 64))
        monkeypatch.setenv("ATTNX_REGISTRY", str(registry))
        code, out, err = cli("data", "fetch", "rows")
    assert (code, out) == (4, "")
    assert "418" in err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", err)


def test_every_address_of_the_registry_is_encrypted() -> None:
    datasets = Catalog.installed().registry.datasets.values()
    addresses = [str(getattr(source, "url", "")) for one in datasets for source in one.sources]
    assert any(addresses)
    assert [one for one in addresses if one and not one.startswith("https://")] == []
