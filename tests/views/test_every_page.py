"""Every kind of page in a real browser: at both widths, light and dark, in one scale, in any direction."""

import re
from datetime import UTC, datetime
from itertools import pairwise, product

import pytest

from attnx.request.cell_choices import CellChoices
from attnx.request.spec import Choice
from attnx.results.audit import AuditedModel, AuditReport, AuditRow, Noticed
from attnx.results.caution import Caution
from attnx.results.comparison import ComparedRun, Comparison, Difference
from attnx.results.explanation import Explanation, Explanations, RemovedUnit
from attnx.results.planting.report import (
    PlantedExample,
    PlantedReport,
    PlantedTrigger,
    Recovery,
    TriggerCheck,
)
from attnx.results.reproduction import ClaimFound, ColumnShown, Compared, Measured, Reproduction
from attnx.results.study import StudyReport, StudyRow
from attnx.results.sweep import SweepReport, SweepRow, UnfinishedCell, Value
from attnx.views.page.index import IndexEntry, index_page
from attnx.views.score_colours import ON_DARK, ON_LIGHT

KINDS = [
    *("report", "judged", "explain", "explanations", "right to left", "comparison", "sweep", "study"),
    *("reproduction", "audit", "index", "planted", "planted, refused"),
]
TASK, LONG = "csv:file=סרטים.csv", "bilstm-add:" + "hidden=" * 12
LABELS = {"task": TASK, "model": LONG, "projection": "softmax"}


def explained(units, scores, **fields):
    """A text with names in two directions."""
    return Explanation(
        title=f"{TASK}, bilstm-add, softmax", id="סרט-7", units=units, query=("טוב", "or", "bad?"),
        label="חיובי", seed=0, predicted="חיובי", probabilities={"חיובי": 0.93, "negative": 0.07},
        scores=scores, **{"left_out": (), **fields},
    )  # fmt: skip


def explain():
    units = ("this", "film", "was", "never", "dull", "מצוין", "(", "2", ")")
    removed = RemovedUnit(position=5, unit="מצוין", probability=0.4, change=-0.5, top_of=("loo",))
    scores = {"attention": (0.1, 0, 0, 0.2, 0.1, 0.6, 0, 0, 0), "loo": (0.1, 0, 0, 0.4, -0.8, 0.6, 0, 0, 0)}
    return explained(units, scores, left_out=(removed,), unknown=("מצוין", "dull"))


def right_to_left():
    return explained(("הסרט", "(", "2", "שעות", ")", "dull"), {"attention": (0.1, 0.0, 0.1, 0.2, 0.0, 0.6)})


def comparison():
    run = {"labels": LABELS, "seeds": (0,), "examples": 24, "without": ()}
    row = {
        "run": "B", "metric": "comprehensiveness", "measure": "aopc", "explanation": "attention",
        "reference": None, "direction": "up", "whole_split": False, "first": 0.1, "other": 0.3,
        "difference": 0.2, "low": 0.1, "high": 0.3, "p": 0.0001, "n": 24, "outcome": "better",
    }  # fmt: skip
    other = {**row, "metric": "kendall", "measure": "tau", "reference": "loo", "low": -0.1, "p": 0.8}
    return Comparison(
        runs=(ComparedRun(letter="A", run="a" * 16, **run), ComparedRun(letter="B", run="b" * 16, **run)),
        seeds=(0,),
        examples=24,
        rows=(Difference(**row), Difference(**{**other, "outcome": "no significant difference"})),
        notes=("only one seed",),
    )


def sweep():
    value = Value(mean=0.5, low=0.4, high=0.6, random=0.0, direction="up")
    rows = [
        SweepRow(
            choices=CellChoices(
                task=Choice.parse(TASK), model=Choice.parse(model), projection=Choice(name=projection)
            ),
            explanation="attention",
            run=f"{model}{projection}", accuracy=0.75, faithfulness="good", interpretability="random",
            values={"kendall tau with loo": value},
        )
        for model in (LONG, "מודל") for projection in ("softmax", "sparsemax")
    ]  # fmt: skip
    failed = UnfinishedCell(cell="מודל hard", reason="the disk is full (12 MB)")
    return SweepReport(rows=tuple(rows), refused=(), failed=(failed,), seconds=1.0, workers=2)


def study(report):
    row = {"direction": "up", "mean": 0.6, "sd": 0.1, "low": 0.5, "high": 0.7, "n": 24, "undefined": 0}
    row |= {"seeds": (0.6,), "published": 0.7, "source": "Wiegreffe and Pinter 2019, Table 2"}
    return StudyReport(
        study=Choice(name="uniform-attention"), labels=LABELS, spec=report.spec, data={"test": "24"},
        plugins=(), environment={"python": "3"}, seconds=1.0,
        findings=(StudyRow(setting="אחיד", measure="accuracy", **row),),
    )  # fmt: skip


def reproduction():
    value = Measured(
        row="סרטים", column="accuracy", mean=0.5, low=0.4, high=0.6, seeds=(0.5,), cells=1, published=0.6
    )
    compared = Compared(what="סרטים (a) − (b)", difference=0.1, low=-0.1, high=0.3, status="open")
    return Reproduction(
        experiment="x", summary="A table.", source="A paper, Table 1", size="standard", command="attnx x",
        date="2026-01-01", seeds=(0,), data={TASK: "24 test"}, training={}, rows=("סרטים",),
        columns=(ColumnShown(name="accuracy", digits=2, given=False),), values=(value,),
        claims=(
            ClaimFound(
                says="a is above b", status="open", compared=(compared,), missing=0,
                reason="one seed", next_step="at least three seeds",
            ),
        ),
        left_out=(), ours=(), runs=("a" * 16,), seconds=1.0,
    )  # fmt: skip


def audit():
    noticed = Noticed(of=3, noticed=2, fooled=1)
    row = AuditRow(
        metric="kendall", name="kendall", measure="tau", family="agreement", reference="loo", headline=True,
        reads="explanations", comparisons=30, inversions=2, correct=25, degradation=-0.9, monotone=1,
        courses=3, deceived=noticed, randomised=noticed,
    )  # fmt: skip
    model = AuditedModel(
        task=TASK, model=LONG, kind="honest", seed=0, accuracy=0.95, without_deciding=0.5,
        without_others=0.94, attention_on_deciding=0.6, verified=True,
    )  # fmt: skip
    return AuditReport(
        tasks=(TASK,), models=(LONG,), seeds=(0,), examples=40, ladder=(("oracle",), ("random",)),
        course=("oracle", "random"), verification=(model,), rows=(row,), silent=("nnz",), environment={},
        seconds=1.0,
    )  # fmt: skip


def planted(used=True):
    """A test with a planted trigger, in which the model uses it or not."""
    check = TriggerCheck(
        trigger=0, seed=0, texts=40, own_accuracy=0.75, followed=1.0 if used else 0.3, swapped=0.95,
        without=0.25, alone=(0.3, 0.4), counted=25, verified=used,
    )  # fmt: skip
    row = {"low": 0.3, "high": 0.6, "average_precision": 0.5, "average_precision_low": 0.4, "texts": 25}
    row |= {"average_precision_high": 0.6, "share": 0.4, "share_low": 0.3, "share_high": 0.5}
    units = ("הסרט", "(", "2", "שעות", ")", "dull")
    example = PlantedExample(
        id="סרט-7", trigger=0, seed=0, units=units, marked=(3, 5), label="חיובי", own_label="negative",
        scores={"attention": (0.1, 0.0, 0.1, 0.2, 0.0, 0.6)}, found={"attention": False},
    )  # fmt: skip
    words = {"חיובי": ("שעות", "dull"), "negative": ("a" * 60, "b")}
    return PlantedReport(
        task=TASK, model=LONG, kind="paired", share=0.3, seeds=(0,), checks=(check,), chance=0.02,
        triggers=(PlantedTrigger(number=0, words=words, said="30 % of train", run="a" * 16),),
        rows=(Recovery(explanation="attention", found=0.4, grades=("partial",), **row),) if used else (),
        examples=(example,) if used else (), data={"test": "40"}, plugins=(), environment={"python": "3"},
        warnings=(Caution(kind="notice", text="Only one trigger"),), seconds=1.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(full_page, judged_page, full_report, tmp_path_factory):
    """Every kind of page, by name."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "explain": explain().to_html(),
        "explanations": Explanations(title=TASK, explanations=(explain(), right_to_left())).to_html(),
        "right to left": right_to_left().to_html(),
        "audit": audit().to_html(),
        "comparison": comparison().to_html(),
        "sweep": sweep().to_html(),
        "study": study(full_report).to_html(),
        "reproduction": reproduction().to_html(),
        "planted": planted().to_html(),
        "planted, refused": planted(used=False).to_html(),
        "index": index_page([IndexEntry("סרט", "a.html", datetime.now(UTC), full_report)]),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {"report": full_page, "judged": judged_page} | {name: folder / f"{name}.html" for name in texts}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_accessible_and_does_not_scroll_sideways(open_file, pages, findings, kind):
    page = open_file(pages[kind])
    for width, scheme in product((1200, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        # Desktop in light and phone in dark with all open; the tables of "report" are those of "judged".
        opened = (width > 1000) == (scheme == "light") and kind != "report"
        page.eval_on_selector_all("details", "(all, open) => all.forEach(e => { e.open = open; })", opened)
        assert findings(page) == {}, (width, scheme)
        widths = page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.documentElement)")
        assert widths[0] <= widths[1] == width, scheme
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
        assert dark == (scheme == "dark"), width


@pytest.mark.parametrize("width", [720, 1200])
@pytest.mark.parametrize("kind", ["judged", "planted"])
def test_the_names_on_a_ruler_have_gaps_between_them(open_file, pages, kind, width):
    page = open_file(pages[kind], width)
    boxes = page.eval_on_selector_all(
        ".ruler .ticks span",
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right])",
    )
    gaps = [after[0] - before[1] for before, after in pairwise(boxes)]
    assert gaps
    assert min(gaps) >= 5, gaps


def test_the_chosen_sort_fits_into_its_box(open_file, pages):
    page = open_file(pages["judged"])
    room, needed = page.eval_on_selector(
        "#sort",
        """box => {
          const free = box.cloneNode(false), chosen = box.selectedOptions[0].cloneNode(true);
          free.style.width = "max-content";
          free.append(chosen);
          box.parentElement.parentElement.append(free);
          return [box.offsetWidth, free.offsetWidth];
        }""",
    )
    assert needed <= room


def hues(page, side):
    """The colours of words with a score above or below 0, without their strength."""
    found = page.eval_on_selector_all(
        f".u.{side}", "all => all.map(e => getComputedStyle(e).backgroundColor)"
    )
    return {tuple(map(int, re.match(r"rgba?\((\d+), (\d+), (\d+)", colour).groups())) for colour in found}


@pytest.mark.parametrize(("scheme", "colours"), [("light", ON_LIGHT), ("dark", ON_DARK)])
def test_a_score_above_0_has_one_colour_on_all_pages_and_below_0_another(open_file, pages, scheme, colours):
    for kind in ("report", "explain"):
        page = open_file(pages[kind], scheme=scheme)
        assert (hues(page, "above"), hues(page, "below")) == ({colours.above}, {colours.below})
        ramp = page.eval_on_selector(".ramp > span", "e => getComputedStyle(e).backgroundImage")
        assert ramp.index(str(colours.below)[1:-1]) < ramp.index(str(colours.above)[1:-1])
        assert "below 0" in page.inner_text(".legend .ramp")


def test_the_largest_score_has_the_strongest_colour(open_file, pages):
    page = open_file(pages["explain"])
    row = page.locator(".units").nth(1).locator(".u")
    strength = [
        float(alpha[1]) if (alpha := re.search(r"([\d.]+)\)$", colour)) and "rgba" in colour else 1.0
        for colour in row.evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
    ]
    expected = [abs(score) / 0.8 * ON_LIGHT.strongest for score in explain().scores["loo"]]
    assert strength == pytest.approx(expected, abs=0.01)


# The horizontal places of parts of the text of an element, in the order in which they are written.
PLACES = """(element, parts) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return parts.map(part => {
    const node = nodes.find(one => one.textContent.includes(part)), range = document.createRange();
    const start = node.textContent.indexOf(part);
    range.setStart(node, start);
    range.setEnd(node, start + part.length);
    return range.getBoundingClientRect().left;
  });
}"""


@pytest.mark.parametrize(
    ("kind", "where", "parts"),
    [
        (
            "explain",
            ".lede",
            ["csv:file", "סרטים", ".csv", "example", "סרט-7", ", seed 0", "correct", "חיובי"],
        ),
        ("explain", "main > p:nth-of-type(2)", ["class", "חיובי", "0.930", "negative", "0.070"]),
        ("report", ".example header p", ["Label", "yes|no_*x* כן", ", predicted", "probability"]),
        ("report", ".effect >> nth=0", ["Without", "the probability of", " goes from"]),
        ("comparison", ".lede", ["csv:file", "סרטים", ".csv", " · "]),
        ("sweep", "#undone tbody tr", ["מודל hard", "failed", "(12 MB"]),
    ],
)
def test_right_to_left_names_do_not_reorder_the_sentence_around_them(open_file, pages, kind, where, parts):
    page = open_file(pages[kind], 2400)
    if kind == "report":
        page.select_option("#class", label="\u2068yes|no_*x* כן\u2069")
        page.select_option("#correct", "correct")
    places = page.locator(where).first.evaluate(PLACES, parts)
    assert places == sorted(places)


def test_without_isolation_the_same_sentence_is_reordered(open_file, pages):
    page = open_file(pages["explain"], 2400)
    page.eval_on_selector_all("bdi", "all => all.forEach(e => e.replaceWith(e.textContent))")
    page.evaluate("document.body.normalize()")
    places = page.locator("main > p:nth-of-type(2)").evaluate(PLACES, ["חיובי", "0.930"])
    assert places != sorted(places)


def test_a_right_to_left_text_runs_from_right_to_left_with_its_brackets(open_file, pages):
    page = open_file(pages["right to left"])
    words = page.locator(".units .u")
    places = words.evaluate_all("all => all.map(e => e.getBoundingClientRect().left)")
    assert places == sorted(places, reverse=True)
    assert words.evaluate_all("all => all.map(e => getComputedStyle(e).direction)") == [
        "rtl", "rtl", "rtl", "rtl", "rtl", "ltr",
    ]  # fmt: skip


def test_words_labels_ids_queries_and_names_of_others_are_isolated(open_file, pages, full_report):
    page = open_file(pages["explain"])
    isolated = page.eval_on_selector_all("bdi", "all => all.map(e => e.textContent)")
    assert {"חיובי", "סרט-7", "מצוין", "טוב or bad?", "attention"} <= set(isolated)
    page = open_file(pages["report"])
    page.select_option("#right", "all")
    page.click("#more")
    isolated = set(page.eval_on_selector_all("#list bdi", "all => all.map(e => e.textContent)"))
    shown = page.eval_on_selector_all(".example", "all => all.map(e => e.id.slice('example='.length))")
    examples = full_report.examples()
    assert {"שלום", *shown, *examples.label_names, *examples.methods} <= isolated


def test_a_claim_that_is_not_decided_is_called_inconclusive_and_says_why():
    assert "Why: one seed. Would decide it: at least three seeds." in reproduction().to_html()
