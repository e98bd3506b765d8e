"""A run with everything a page can show, made once for all tests of this folder."""

import pytest

import attnx

HOSTILE = "<script>document.title='owned'</script>"


@pytest.fixture(scope="session")
def hostile_csv(tmp_path_factory):
    """Short texts whose labels, words and ids are as unfriendly as texts can be."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = []
    for i in range(40):
        rows.append(f'"good {HOSTILE} film number {i} & more",yes|no_*x*\n')
        rows.append(f'"bad "" quote \' </script> film {i} é 中",{HOSTILE}\n')
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
