"""A run with everything a page can show, made once for all tests of this folder, and a browser."""

import os
import shutil
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

import attnx
from attnx.results.judgement.records import Clause, Ranked, RemovalShare, Verdict
from attnx.results.judgement.removal_curves import BEST, RANDOM
from attnx.results.report import Curve

CHROMIUM = os.environ.get("ATTNX_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

HOSTILE = "<script>document.title='owned'</script>"


@pytest.fixture(scope="session")
def hostile_csv(tmp_path_factory):
    """Short texts whose labels, words and ids are as unfriendly as texts can be."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = []
    for i in range(40):
        rows.append(f'"good {HOSTILE} film number {i} & more",yes|no_*x* כן\n')
        rows.append(f'"bad "" quote \' </script> film {i} é 中 שלום (2)",{HOSTILE}\n')
    path = folder / "mine.csv"
    path.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def full_report(hostile_csv):
    return attnx.evaluate(
        f"csv:file={hostile_csv}",
        "bilstm-add:embedding=8,hidden=8",
        explanations=["attention", "input-x-gradient"],
        references=["gradient", "loo"],
        metrics=[
            "kendall",
            "comprehensiveness",
            "delta-js",
            "permutation",
            "adversarial-attention",
            "entropy",
        ],
        training={"epochs": 2},
        seeds=[0, 1],
        progress=False,
    )


@pytest.fixture(scope="session")
def full_page(full_report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(full_report.to_html(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def judged_report(full_report):
    """The same run with a verdict, a ranking and the removal test: what a longer training would give."""
    examples = full_report.examples()
    random = np.random.default_rng(0)
    shares = {"loo": 0.97, "input-x-gradient": 0.61, "attention": 0.21, "gradient": -0.3}
    best = random.uniform(0.2, 0.8, examples.predicted.shape)  # [S, N]
    gains = {
        name: best * np.clip(random.normal(share, 0.3, best.shape), -1, 1) for name, share in shares.items()
    }
    grades = ("strong", "good", "weak", "misleading")
    ranking = tuple(
        Ranked(
            explanation=name, grade=grade, share=share, low=share - 0.1, high=share + 0.02,
            passes=12.0 if name == "loo" else float(place), signed=place < 2, depends_on_class=True,
            group=place + 1, as_good=place == 0, recommended=place == 0,
        )
        for place, (grade, (name, share)) in enumerate(zip(grades, shares.items(), strict=True))
    )  # fmt: skip
    removal = RemovalShare(
        removal="delete", leads=True, disturbance=0.1, relative_disturbance=0.2, share=0.21, low=0.11,
        high=0.23, texts=24, comprehensiveness=0.2, comprehensiveness_random=0.1, comprehensiveness_share=0.2,
        sufficiency=0.2, sufficiency_random=0.3, sufficiency_share=0.2,
    )  # fmt: skip
    verdicts = tuple(
        Verdict(
            heading="faithfulness", explanation=one.explanation, grade=one.grade, share=one.share,
            share_low=one.low, share_high=one.high, worst=-0.9, removals=(removal,),
            clauses=(Clause(kind="grade", text="it gets some of the way"),),
        )
        for one in ranking if one.explanation in ("attention", "input-x-gradient")
    )  # fmt: skip
    curves = tuple(
        Curve(
            kind="removal", name=question, metric="delete", explanation=name, reference=None, seed=seed,
            axis="share removed", x=(1, 5, 10, 20, 50), y=(0.1, 0.1, 0.2, 0.3, 0.4 + 0.01 * place),
        )
        for question in ("comprehensiveness", "sufficiency")
        for place, name in enumerate([*shares, RANDOM, BEST])
        for seed in (0, 1)
    )  # fmt: skip
    report = full_report.model_copy(
        update={"ranking": ranking, "verdicts": verdicts[::-1], "curves": (*full_report.curves, *curves)}
    )
    return report.with_examples(replace(examples, gains=gains, best_gain=best))


@pytest.fixture(scope="session")
def judged_page(judged_report, tmp_path_factory):
    path = tmp_path_factory.mktemp("judged") / "report.html"
    path.write_text(judged_report.to_html(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")  # its event loop must not outlive the tests that need it
def browser():
    """A real browser; `make test-browser` installs one."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: make test-browser installs one")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def findings():
    """What the rules of axe (WCAG 2.2 A and AA, and good practice) find wrong on a page, by rule."""
    script = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    asked = {"resultTypes": ["violations"], "runOnly": rules}

    def check(page):
        if not page.evaluate("Boolean(window.axe)"):
            page.evaluate(script)
        # What is inside a figure is one image to a reader, and thousands of elements to the rules.
        run = "asked => axe.run({ exclude: ['figure svg *'] }, asked)"
        found = page.evaluate(run, asked)["violations"]
        return {one["id"]: [node["html"][:120] for node in one["nodes"]] for one in found}

    return check


@pytest.fixture
def open_file(browser):
    """Opens a file in the browser; whatever the page logs, throws or loads fails the test at the end."""
    contexts, complaints = [], []

    def open_page(path, width=1200, scheme="light", fragment=""):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if not request.url.startswith("file:") else None,
        )
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
