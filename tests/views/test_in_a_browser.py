"""The page of a report in a real browser: quiet, usable by keyboard, and no text of others is executed.

Runs where a Chromium is installed; `make test-browser` installs one.
"""

import pytest
from views.test_page import many_examples


@pytest.fixture
def opened(open_file, full_page):
    return lambda **asked: open_file(full_page, **asked)


def test_the_checks_see_what_is_wrong(opened, findings):
    page = opened()
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
        '<h5>deep</h5><button></button><p style="color:#bbb">pale</p><h1>second</h1>')"""
    )
    assert {"button-name", "heading-order", "color-contrast"} <= findings(page).keys()


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
    page.select_option("#correct", "correct")
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
    page.focus("#left")
    reached = []
    for _ in range(8):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert reached == ["left", "right", "sort", "order", "text", "class", "correct", "seed"]
    page.focus("#list .example a")
    page.keyboard.press("j")
    second = page.evaluate("document.querySelectorAll('.example')[1].id")
    assert page.evaluate("document.activeElement.id") == second
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") != second


def test_two_methods_are_compared_or_one_is_shown_or_all(opened, full_report):
    page = opened()
    before = page.locator(".example").first.locator(".method").count()
    assert before == 2  # two methods side by side
    page.select_option("#right", "")
    assert page.locator(".example").first.locator(".method").count() == 1
    page.select_option("#right", "all")
    assert page.locator(".example").first.locator(".method").count() == len(full_report.examples().methods)


def test_it_opens_with_its_answers_then_the_caveats_then_the_terms(opened):
    page = opened()
    places = [page.locator(one).first.bounding_box()["y"] for one in (".answer", "#caveats-h", ".terms")]
    assert places == sorted(places)
    assert places[0] < 300


def test_it_prints_without_its_controls(opened):
    page = opened()
    page.emulate_media(media="print")
    assert not page.is_visible("#controls")
    assert page.is_visible("h1")
    assert page.is_visible(".answer")
    assert page.pdf().startswith(b"%PDF")


@pytest.fixture
def judged(open_file, judged_page):
    return lambda **asked: open_file(judged_page, **asked)


def test_a_page_reaches_its_tables_within_4000_pixels(judged):
    page = judged()
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    assert page.locator("h1").inner_text().startswith("How faithful are attention and input-x-gradient?")
    assert page.locator(".ruler").bounding_box()["y"] < 400
    assert page.locator(".example").count() == 4


def test_the_examples_that_decide_come_first_by_the_two_methods_shown(judged, judged_report):
    page = judged()
    examples = judged_report.examples()
    ahead = examples.gains["loo"][0] - examples.gains["attention"][0]
    shown = page.eval_on_selector_all(".example", "all => all.map(e => e.id.slice('example='.length))")
    assert page.locator(".example").first.locator("h4").all_inner_texts() == ["attention", "loo"]
    assert shown == [examples.ids[row] for row in (-ahead).argsort(kind="stable")[:4]]
    page.select_option("#sort", "g")
    assert page.eval_on_selector("#order", "e => e.selectedOptions[0].textContent") == "worst first"
    first = page.eval_on_selector(".example", "e => e.id.slice('example='.length)")
    assert first == examples.ids[int(examples.gains["attention"][0].argmin())]


def test_a_link_brings_back_what_was_seen(judged, open_file, judged_page):
    page = judged()
    page.select_option("#left", label="\u2068gradient\u2069")
    page.select_option("#sort", "o")
    page.fill("#text", "quote")
    link = page.locator(".example h3 a").nth(1)
    name, href = link.inner_text(), link.get_attribute("href")
    again = open_file(judged_page, fragment=href)
    assert again.evaluate("document.activeElement.id") == f"example={name}"
    assert again.input_value("#text") == "quote"
    assert again.locator(".example h4").first.inner_text() == "gradient"
    assert again.inner_text("#count") == page.inner_text("#count")


def test_a_page_of_5000_examples_opens_and_is_searched(judged_report, open_file, tmp_path):
    examples = many_examples(5000, 12, 1)
    path = tmp_path / "large.html"
    path.write_text(judged_report.with_examples(examples).to_html(), encoding="utf-8")
    page = open_file(path)
    assert page.inner_text("#count") == "5000 of 5000 examples; the first 4 are shown"
    page.fill("#text", "word42 word7")
    wanted = sum("word42" in (text := " ".join(units)) and "word7" in text for units in examples.units)
    assert page.inner_text("#count").startswith(f"{wanted} of 5000 examples")
    page.fill("#text", "")
    page.click("#more")
    assert page.locator(".example").count() == 24
