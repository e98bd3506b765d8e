"""Units that are images, as they are stored and shown on the page."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import attnx
from attnx.formulas import put_together
from attnx.plugin import Example, TaskData
from attnx.results.pictures import MOST, SIDE, pictures_of
from attnx.views.page.examples import browse


def decoded(file):
    return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))


def data_of(features, count):
    rows = np.random.default_rng(0).integers(len(features), size=(count, 4))
    test = tuple(
        Example(str(i), ("a", "b", "c", "d"), 0, rows=tuple(row)) for i, row in enumerate(rows.tolist())
    )
    return TaskData(train=(), dev=(), test=test, label_names=("x", "y"), features=features)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return attnx.evaluate(
        "sdc-digits:train=40,dev=20,test=12", metrics="focus", training={"epochs": 1}, progress=False,
        out=tmp_path_factory.mktemp("runs"),
    )  # fmt: skip


def test_tiles_lie_row_by_row():
    tiles = np.random.default_rng(0).integers(0, 255, (6, 3, 2, 2), dtype=np.uint8)
    for count, across in ((4, 2), (6, 6)):  # a square where there is one, else a strip
        whole = put_together(tiles[:count])
        assert whole.shape == (count // across * 2, across * 2, 3)
        for at in range(count):
            top, left = 2 * (at // across), 2 * (at % across)
            assert (whole[top : top + 2, left : left + 2] == tiles[at].transpose(1, 2, 0)).all()


def test_numbers_are_spread_over_all_greys():
    tiles = np.array([-1.0, 0.0, 1.0, 3.0]).reshape(4, 1, 1, 1)
    assert put_together(tiles)[:, :, 0].tolist() == [[0, 64], [128, 255]]


def test_pictures_are_few_small_and_evenly_spread():
    features = np.random.default_rng(0).integers(0, 255, (50, 3, 80, 80), dtype=np.uint8)
    found = pictures_of(data_of(features, 3 * MOST))
    assert len(found) == MOST
    assert (min(found), max(found)) == (0, 3 * MOST - 1)
    assert np.diff(sorted(found)).max() <= 4
    assert decoded(found[0]).shape == (SIDE, SIDE, 3)
    assert pictures_of(data_of(features.reshape(50, -1), 5)) == {}


def test_a_picture_shows_the_units_of_its_example():
    flat = np.random.default_rng(0).integers(0, 255, (50, 3, 1, 1), dtype=np.uint8).repeat(8, 2).repeat(8, 3)
    data = data_of(flat, 3)
    for row, file in pictures_of(data).items():
        shown = decoded(file).astype(int)
        wanted = put_together(flat[list(data.test[row].rows)]).astype(int)
        assert np.abs(shown - wanted).max() <= 16  # a palette is not exact


def test_what_is_kept_is_on_the_page(report):
    kept = report.examples()
    again = attnx.Report.from_json(report.to_json()).with_examples(report.examples)
    assert list(kept.pictures) == list(range(12))
    payload = list(browse(again.examples()).records())
    assert base64.b64decode(payload[3]["picture"]) == kept.pictures[3]
    assert "framed by dashes" in report.to_html()


def test_a_page_with_pictures_stays_small(report):
    examples = report.examples()
    large = replace(examples, pictures={row: bytes(20_000) for row in range(12)})
    browsed = browse(large, most_bytes=110_000)
    assert 3 <= browsed.shown <= 4
    some = replace(examples, pictures=dict.fromkeys((1, 5, 9), b"png"))
    shown = browse(some)
    assert [record["id"] for record in shown.records()] == [examples.ids[row] for row in (1, 5, 9)]
    assert shown.says.startswith("3 of 12 examples")


def test_a_browser_shows_each_unit_at_its_place_under_its_colour(report, tmp_path, open_file):
    path = tmp_path / "page.html"
    path.write_text(report.to_html(), encoding="utf-8")
    examples = report.examples()
    page = open_file(path, fragment=f"#example={examples.ids[0]}")
    boxes = page.locator(".linked .tiles")
    shot = Image.open(io.BytesIO(boxes.first.screenshot())).convert("L").resize((24, 24))
    tiles = boxes.nth(1).locator(".tile")
    shares = [float(share or 0) for share in tiles.evaluate_all(
        "all => all.map(e => e.style.getPropertyValue('--share'))"
    )]  # fmt: skip
    title = boxes.nth(1).locator(".tile.known").get_attribute("title")
    kept = np.asarray(Image.fromarray(decoded(examples.pictures[0])).convert("L"), float)
    assert np.corrcoef(np.asarray(shot, float).ravel(), kept.ravel())[0, 1] > 0.95
    scores = examples[0].seen[0].scores["attention"]
    assert shares == pytest.approx([score / max(scores) for score in scores], abs=0.02)
    at = examples.rationales[0].index(True)
    assert title.startswith(f"\u2068{examples.units[0][at]}\u2069: ")
