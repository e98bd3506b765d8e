"""A run with everything a page can show, made once for all tests of this folder, and a browser."""

import os
import shutil

import pytest

import attnx

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
