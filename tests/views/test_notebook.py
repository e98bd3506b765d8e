"""The notebook of examples/ runs to its end, and its committed output is that of this version."""

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "12_in_a_notebook.ipynb"


def shown(cell):
    """What a cell shows, without numbers: they differ between processors."""
    found = [dict(output.get("data", {})) | {"stream": output.get("text", "")} for output in cell.outputs]
    texts = [one.get("text/html") or one["stream"] for one in found]
    plain = [re.sub("<style>.*?</style>|<[^>]+>", "", text, flags=re.DOTALL) for text in texts]
    return [re.sub(r"\W+|\d+", " ", text)[:24] for text in plain]


def test_the_notebook_runs_and_shows_what_was_committed(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path))
    kept = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(kept)
    again = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(again, timeout=1200, kernel_name="python3").execute()
    for before, after in zip(kept.cells, again.cells, strict=True):
        if before.cell_type == "code":
            kinds = [[sorted(output.get("data", {})) for output in cell.outputs] for cell in (before, after)]
            assert kinds[0] == kinds[1]
            assert shown(before) == shown(after)
    assert "How faithful is attention?" in kept.cells[1].outputs[0].data["text/html"]
