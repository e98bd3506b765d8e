"""Figures of plugins: kept with a run, on its page and as files, and errors_of for what they break."""

import re
import warnings

import pytest

import attnx
from attnx.errors import AttnxWarning, PluginError, UsageError

PLANE = {
    "task": "sdc-2d:train=20,dev=10,test=12",
    "metrics": "focus",
    "training": {"epochs": 1},
    "progress": False,
}
PLUGIN = """
@hookimpl
def attnx_drawings():
    return [Card("crowd", "crowd_plugin.crowd:Crowd")]
"""
CROWD = '''
import numpy as np
from attnx.plugin import Drawing

class Crowd(Drawing):
    """The size of everything."""
    needs = ("attention",)
    title, caption, size, examples = "A crowd", "How many.", (3.0, 2.0), 5
    def collect(self, model, trace, data):
        assert not model.training and not trace.logits.requires_grad
        return {COLLECT}
    def draw(self, figure, kept):
        {DRAW}
'''
COLLECT = '{"size": np.array(trace.attention.shape), "names": data.label_names}'
DRAW = "figure.add_subplot().set_title(f\"{kept['size'].tolist()} {kept['names']}\")"


def installed(install, collect=COLLECT, draw=DRAW):
    install("crowd", PLUGIN, crowd=CROWD.replace("{COLLECT}", collect).replace("{DRAW}", draw))


def test_a_drawing_is_kept_and_drawn_on_the_page_and_as_files(home, install, cli, tmp_path):
    installed(install)
    report = attnx.evaluate(**PLANE)
    assert [f.name for f in report.figures()][:2] == ["crowd", "plane"]
    page = (home / "runs" / report.fingerprint / "report.html").read_text(encoding="utf-8")
    assert "[5, 9] ('class 1', 'class 2', 'class 3')" in page  # the drawing is shown five examples
    assert re.search('<figure id="figure-plane"', page)
    code, _, _ = cli("export", report.fingerprint, "--to", "png", "--into", str(tmp_path))
    assert (code, (tmp_path / "crowd.png").read_bytes()[:4]) == (0, b"\x89PNG")
    again = attnx.load(report.fingerprint).report.figures()
    again[0].save(tmp_path / "again.svg")
    assert "[5, 9]" in (tmp_path / "again.svg").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"none of \.svg, \.pdf and \.png"):
        again[0].save(tmp_path / "crowd.jpg")


def test_a_drawing_changes_neither_the_name_of_a_run_nor_what_it_found(home, install):
    before = attnx.evaluate(**PLANE)
    installed(install)
    after = attnx.evaluate(**PLANE, fresh=True)
    assert after.fingerprint == before.fingerprint
    assert after.summaries == before.summaries
    assert "crowd" in after.examples().drawn


def test_a_drawing_without_its_plugin_is_left_out(home, install, monkeypatch):
    installed(install)
    report = attnx.evaluate(**PLANE)
    monkeypatch.setenv("ATTNX_WITHOUT", "crowd")
    assert next(f.name for f in report.figures()) == "plane"


def test_a_drawing_of_version_0_1_works_with_a_warning(home, install):
    old = CROWD.replace("def collect(", "def look(")
    install("crowd", PLUGIN, crowd=old.replace("{COLLECT}", COLLECT).replace("{DRAW}", DRAW))
    with pytest.warns(DeprecationWarning, match=r"look of drawing Crowd is now collect; .* version 0\.3"):
        report = attnx.evaluate(**PLANE)
    assert "crowd" in report.examples().drawn


def test_a_drawing_with_the_new_name_gives_no_warning(home, install):
    installed(install)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        assert "crowd" in attnx.evaluate(**PLANE).examples().drawn


def test_nothing_to_draw_is_no_figure(home, install):
    installed(install, collect="None")
    assert "crowd" not in {f.name for f in attnx.evaluate(**PLANE).figures()}


BROKEN = r"drawing 'crowd' of plugin crowd .* failed: ZeroDivisionError"


def test_what_a_drawing_breaks_while_it_collects_is_said_with_its_name(home, install):
    installed(install, "1 / 0", DRAW)
    with pytest.raises(PluginError, match=BROKEN):
        attnx.evaluate(**PLANE)


def test_what_a_drawing_breaks_on_the_page_is_said_and_the_report_is_not_lost(home, install):
    installed(install, COLLECT, "1 / 0")
    with pytest.warns(AttnxWarning, match=BROKEN):
        assert attnx.evaluate(**PLANE).quality


def test_no_drawing_is_made_where_scores_are_not_kept(home):
    assert not attnx.evaluate(**PLANE, keep="values").examples().drawn
