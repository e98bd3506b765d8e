"""The page in a real browser: quiet, usable by keyboard, readable, and nothing of others is executed.

Runs where a Chromium is installed; `make test-browser` installs one.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("ATTNX_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: make test-browser installs one")

# Accessibility, checked in the page itself: names, headings, images, contrast, sizes of what is clicked.
CHECKS = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, full_page):
    """Opens the page; whatever it logs, throws or asks for is held against it at the end."""
    contexts, complaints = [], []

    def open_page(width=1200, scheme="light", fragment=""):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if not request.url.startswith("file:") else None,
        )
        page.goto(full_page.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_it_is_accessible_in_every_dress(opened, width, scheme):
    page = opened(width, scheme)
    for details in page.query_selector_all("details"):
        details.evaluate("e => e.open = true")
    assert page.evaluate(CHECKS) == []


def test_the_checks_see_what_is_wrong(opened):
    page = opened()
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
        '<h5>deep</h5><button></button><p style="color:#bbb">pale</p><h1>second</h1>')"""
    )
    wrong = " ".join(page.evaluate(CHECKS))
    for said in ("no name", "heading h5", "contrast", "not one h1"):
        assert said in wrong


def test_texts_of_others_are_shown_and_not_executed(opened):
    page = opened()
    assert "owned" not in page.title()
    assert "<script>document.title='owned'</script>" in page.inner_text("#examples")
    assert page.evaluate("document.scripts.length") == 2


def test_examples_are_sorted_by_any_measure_the_worst_first(opened, full_report):
    page = opened()
    examples = full_report.examples()
    column = next(
        i for i, c in enumerate(examples.columns) if c.measure == "aopc" and c.explanation == "attention"
    )
    page.select_option("#sort", f"m{column}")
    assert page.eval_on_selector("#order", "e => e.selectedOptions[0].textContent") == "worst first"
    shown = page.eval_on_selector_all(".example", "all => all.map(e => e.id.slice('example='.length))")
    order = examples.measures[0, :, column].argsort(kind="stable")
    values = {examples.ids[row]: examples.measures[0, row, column] for row in order}
    found = [values[name] for name in shown]
    assert found == pytest.approx(sorted(values.values())[: len(shown)], abs=1e-4)


def test_examples_are_filtered_by_class_correctness_and_text(opened, full_report):
    page = opened()
    examples = full_report.examples()
    page.select_option("#class", "0")
    right = (examples.labels == 0) & (examples.predicted[0] == 0)
    page.select_option("#correct", "right")
    assert page.inner_text("#count").startswith(f"{int(right.sum())} of {len(examples)} examples")
    page.select_option("#class", "")
    page.select_option("#correct", "")
    page.fill("#text", "quote")
    with_word = sum("quote" in " ".join(units).lower() for units in examples.units)
    assert 0 < with_word < len(examples)
    assert page.inner_text("#count").startswith(f"{with_word} of ")


def test_an_example_has_a_permanent_link(opened, full_report):
    name = full_report.examples().ids[-1]
    page = opened(fragment=f"#example={name}")
    assert page.evaluate("document.activeElement.id") == f"example={name}"
    assert page.locator(".linked h3").inner_text() == name
    page.goto(page.url.replace(f"example={name}", "example=nothing"))
    page.wait_for_function("document.getElementById('count').textContent.includes('no example')")


def test_everything_is_reached_by_keyboard(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#sort")
    reached = []
    for _ in range(12):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert reached[:6] == ["sort", "order", "class", "correct", "seed", "text"]
    assert "method-0" in reached
    page.focus("#list .example a")
    page.keyboard.press("j")
    second = page.evaluate("document.querySelectorAll('.example')[1].id")
    assert page.evaluate("document.activeElement.id") == second
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") != second


def test_signed_scores_diverge_and_a_method_can_be_left_out(opened):
    page = opened()
    colours = page.eval_on_selector_all(
        ".u[style]", "all => all.map(e => getComputedStyle(e).backgroundColor)"
    )
    hues = {re.match(r"rgba?\((\d+), (\d+), (\d+)", colour).groups() for colour in colours}
    assert len(hues) == 2
    before = page.locator(".example").first.locator(".method").count()
    page.uncheck("#method-0")
    assert page.locator(".example").first.locator(".method").count() == before - 1


def test_it_prints_without_its_controls(opened):
    page = opened()
    page.emulate_media(media="print")
    assert not page.is_visible("#controls")
    assert page.is_visible("#verdict")
    assert page.pdf().startswith(b"%PDF")
