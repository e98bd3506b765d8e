"""The page of a report: whole, self-contained, and harmless whatever its texts are."""

import base64
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import attnx
from attnx.results.examples import ExampleColumn, Examples, Scores
from attnx.views.figures.agreement import agreement
from attnx.views.figures.figure import to_inline_svg, to_pdf, to_png, to_svg
from attnx.views.figures.report import drawings
from attnx.views.page import examples as page_examples
from attnx.views.page.examples import browse
from attnx.views.page.strips import scale_of, strip_of

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """Headings, ids, labels and the tags that were opened and closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.headings, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def payload(page):
    text = re.search(r'<script type="application/json" id="payload">(.*?)</script>', page, re.DOTALL)[1]
    return json.loads(text)


def test_the_page_is_well_formed_and_asks_nothing_of_a_network(full_page):
    text = full_page.read_text(encoding="utf-8")
    outline = Outline(text)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(outline.headings, outline.headings[1:], strict=False))
    outside = [a for _, a in outline.tags for key in ("src", "href") if not a.get(key, "#").startswith("#")]
    assert outside == []
    assert not re.search(r"url\((?!#|data:)|@import", text)


def test_it_opens_with_the_verdict_and_has_every_number(full_report, full_page):
    text = full_page.read_text(encoding="utf-8")
    assert text.index('id="verdict"') < text.index('id="examples"') < text.index('id="measures"')
    for summary in full_report.summaries:
        if summary.group == "all" and summary.interval:
            assert f">{summary.interval}<" in text
    assert "Kendall&#39;s rank correlation (τ-b) between explanation and reference" in text
    assert "τ_b = (P − Q)" in text
    for warning in full_report.warnings:
        said = warning.text.removeprefix("No verdict: ").split("'")[0]
        assert said[1:] in text  # its first letter may be a capital there


def test_texts_of_others_are_text(full_page):
    text = full_page.read_text(encoding="utf-8")
    assert "<script>document" not in text
    assert len(re.findall("<script", text)) == 2
    assert any("<script>document.title='owned'</script>" in label for label in payload(text)["labels"])


def test_the_browser_has_every_example_with_its_scores_and_measures(full_report, full_page):
    found = payload(full_page.read_text(encoding="utf-8"))
    examples = full_report.examples()
    assert [e["id"] for e in found["examples"]] == list(examples.ids)
    assert [m["name"] for m in found["methods"]] == list(examples.methods)
    assert next(m["signed"] for m in found["methods"] if m["name"] == "input-x-gradient")
    kept, shown = examples[3], found["examples"][3]
    assert shown["units"].split("\t") == list(kept.units)
    for seed, seen in enumerate(kept.seen):
        mine = shown["by_seed"][seed]
        assert found["labels"][mine["predicted"]] == seen.predicted
        assert mine["measures"] == pytest.approx(list(seen.measures.values()), rel=1e-3, nan_ok=True)
        for place, name in enumerate(examples.methods):
            steps = np.frombuffer(base64.b64decode(mine["scores"][place]), dtype=np.int8)
            scores = np.array(seen.scores[name], dtype=float)
            assert steps / 127 * mine["largest"][place] == pytest.approx(scores, abs=abs(scores).max() / 120)


def many_examples(n, units, seeds):
    random = np.random.default_rng(0)
    methods = ["attention", "gradient", "loo", "lime", "integrated-gradients"]
    words = [f"word{i}" for i in range(5000)]
    columns = tuple(ExampleColumn("kendall", f"m{i}", "attention", "loo", "up") for i in range(12))
    return Examples(
        label_names=("negative", "positive"),
        seeds=tuple(range(seeds)),
        columns=columns,
        ids=tuple(map(str, range(n))),
        labels=random.integers(0, 2, n),
        units=tuple(tuple(words[i] for i in random.integers(0, 5000, units)) for _ in range(n)),
        queries=(None,) * n,
        rationales=(None,) * n,
        predicted=random.integers(0, 2, (seeds, n)),
        probabilities=random.random((seeds, n, 2)),
        measures=random.random((seeds, n, len(columns))),
        lengths=np.full(n, units),
        scores={
            name: Scores(random.random((seeds, n * units)).astype(np.float16), random.random((seeds, n)))
            for name in methods
        },
        without_top={name: random.random((seeds, n)) for name in methods},
    )


@pytest.mark.parametrize(("seeds", "shown"), [(1, 2000), (3, 2000)])
def test_two_thousand_long_examples_stay_below_ten_megabytes(seeds, shown):
    browsed = browse(many_examples(2000, 200, seeds))
    assert browsed.shown == shown
    assert browsed.seeds == 1
    assert len(browsed.script()) < 9.2e6


def test_the_records_of_examples_are_made_one_after_the_other(monkeypatch):
    """All of them at once would take several times the memory of the page."""
    order, as_json, record = [], page_examples.script_json, page_examples._record
    monkeypatch.setattr(page_examples, "_record", lambda *of: order.append("made") or record(*of))
    monkeypatch.setattr(page_examples, "script_json", lambda of: order.append("written") or as_json(of))
    browsed = browse(many_examples(5, 4, 1))
    assert order == []
    found = json.loads(browsed.script())
    assert order == ["made", "written"] * 5 + ["written"]
    assert found == browsed.head | {"examples": list(browsed.records())}


def test_what_does_not_fit_is_left_out_evenly_and_said():
    browsed = browse(many_examples(100, 50, 2), most_bytes=20_000)
    assert 0 < browsed.shown < 100
    assert len(browsed.script()) < 40_000
    ids = [int(e["id"]) for e in browsed.records()]
    assert ids[0] == 0
    assert ids[-1] == 99
    assert f"{browsed.shown} of 100 examples" in browsed.says


def test_a_judged_run_has_the_figures_people_cite(judged_report):
    found = drawings(judged_report, judged_report.examples())
    leading = [drawing.name for drawing in found if drawing.leading]
    assert leading == ["ruler", "cost", "removal-comprehensiveness", "removal-sufficiency", "agreement"]
    drawn = Figure()
    found[leading.index("removal-comprehensiveness")].draw(drawn)
    lines = {line.get_label(): list(line.get_ydata()) for line in drawn.axes[0].lines}
    assert {"best order found", "random order", "attention", "loo"} <= lines.keys()
    assert lines["loo"] == pytest.approx([0.1, 0.1, 0.2, 0.3, 0.4])


def test_the_agreement_matrix_is_the_mean_of_spearmans_correlation(full_report):
    examples = full_report.examples()
    names = list(examples.methods)
    found = agreement(examples, names)
    each = [
        spearmanr(*(np.array(seen.scores[name], dtype=float) for name in names[:2])).statistic
        for example in examples
        for seen in example.seen
    ]
    assert found[0, 1] == pytest.approx(np.nanmean(each), abs=0.01)  # scores are kept at half precision
    assert np.diag(found) == pytest.approx(1.0)


def test_figures_are_there_where_their_numbers_are(full_report):
    names = {drawing.name for drawing in drawings(full_report, full_report.examples())}
    assert {
        "kendall-loo-by-class",
        "permutation-largest-weight",
        "adversarial-attention-largest-weight",
        "comprehensiveness-fall-in-probability-without-the-top-units",
        "delta-js-mean-js",
        "training-accuracy-course",
    } <= names
    without = {drawing.name for drawing in drawings(full_report)}
    assert "kendall-loo-by-class" not in without
    assert not {"cost", "ruler"} & without  # nothing was ranked


def test_a_figure_is_the_same_bytes_again_and_takes_the_colours_of_the_page(judged_report):
    drawing = next(d for d in drawings(judged_report) if d.name == "cost")
    assert to_svg(drawing) == to_svg(drawing)
    assert to_pdf(drawing) == to_pdf(drawing)
    assert to_pdf(drawing).startswith(b"%PDF")
    assert to_png(drawing, dpi=50).startswith(b"\x89PNG")
    inline = to_inline_svg(drawing)
    assert "currentColor" in inline
    assert "var(--series-1)" in inline
    assert 'role="img"' in inline
    assert drawing.title in inline
    assert all(found.startswith("cost-") for found in re.findall(r'id="([^"]+)"', inline))


def test_a_strip_places_numbers_between_the_ends_of_its_measure():
    row = {"low": 0.2, "high": 0.4, "published": None}
    rows = [SimpleNamespace(mean=0.3, **row), SimpleNamespace(mean=1.0, **{**row, "high": 1.0})]
    scale = scale_of(rows)
    assert (scale.low, scale.high) == (0, 1)
    strip = strip_of(rows[0], scale)
    assert (strip.zero, strip.mean, strip.low) == pytest.approx((4, 4 + 92 * 0.3, 4 + 92 * 0.2))
    assert scale_of([SimpleNamespace(mean=0.0, low=0.0, high=0.0, published=None)]) is None


def test_a_stored_run_has_its_page_beside_it(tmp_path, cli):
    arguments = ["--task", "sdc-text:train=60,dev=30,test=40", "--train", "epochs=1", "--metric", "entropy"]
    code, _, err = cli("evaluate", *arguments, "--out", str(tmp_path))
    assert code == 0
    (page,) = tmp_path.glob("*/report.html")
    assert str(page) in err
    text = page.read_text(encoding="utf-8")
    assert re.search("<title>How faithful is attention[?] (Not tested|No verdict).* on sdc-text", text)


def test_a_study_has_a_page_and_notebooks_a_table(tmp_path, full_report):
    study = attnx.study(
        "uniform-attention",
        "sdc-text:train=60,dev=30,test=40",
        training={"epochs": 1},
        out=tmp_path,
        progress=False,
    )
    (page,) = tmp_path.glob("uniform-attention-*/report.html")
    outline = Outline(page.read_text(encoding="utf-8"))
    assert outline.open == []
    assert "uniform attention" in page.read_text(encoding="utf-8")
    assert "uniform attention" in study._repr_html_()
    cell = full_report._repr_html_()
    Outline(cell)
    assert "<script" not in cell
    assert str(full_report.summaries[0].interval) in cell


def test_training_curves_of_seeds_that_stopped_at_different_epochs_are_drawn_together(full_report):
    curve = next(c for c in full_report.curves if c.kind == "training" and len(c.x) > 1)
    longer = curve.model_copy(update={"seed": 99, "x": (*curve.x, 50.0), "y": (*curve.y, 0.5)})
    report = full_report.model_copy(update={"curves": (curve, longer)})
    drawn = next(d for d in drawings(report, None) if d.name.endswith("course"))
    figure = Figure()
    drawn.draw(figure)
    (axes,) = figure.axes
    assert list(axes.lines[0].get_xdata()) == [*curve.x, 50.0]
    assert list(axes.lines[0].get_ydata()) == pytest.approx([*curve.y, 0.5])


def test_a_run_without_a_projection_has_a_page_and_a_cell(judged_report):
    labels = {"task": "t", "model": "m"}
    report = judged_report.model_copy(update={"labels": labels})
    assert "<b><bdi>m</bdi></b> on <b><bdi>t</bdi></b>: " in report.to_html()
    assert "<bdi>m</bdi> on <bdi>t</bdi>, 2 training seeds" in report._repr_html_()
