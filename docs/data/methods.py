"""Every importance method under the verdict, on two models, with its cost: docs/methods.md.

`python docs/data/methods.py measure MODEL TEXTS TRAIN` evaluates all methods that apply to a model
on TEXTS test texts of Rotten Tomatoes after training on TRAIN; the result goes into docs/data/methods.json.
With a fourth number only texts of at most so many words are used, with fewer samples and deletion alone, for
a model that is slow on the machine at hand.
`python docs/data/methods.py write` makes the page from that file.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import attnx
from attnx import components
from attnx.api.load import model_of_spec
from attnx.host.catalog import Catalog
from attnx.request.resolve import resolve
from attnx.request.spec import Choice, Limit, RunSpec
from attnx.run.data_cache import load_data_of

TASK = "rotten-tomatoes"
HERE = Path(__file__).parent
DATA, PAGE = HERE / "methods.json", HERE.parent / "methods.md"
# Known truth, positions and files, which are not methods for a model of one's own.
LEFT_OUT = {
    "oracle",
    "anti-oracle",
    "partly-oracle",
    "negated-oracle",
    "first",
    "last",
    "precomputed",
    "uniform",
}
REFUSES = {"alti-logit": "needs a model that normalises before its layers"}  # at run time, on MiniLM
OPTIONS = ("loo:window=3", "gradient:reduce=signed", "attn-lrp:attention=fixed")  # worth a row of their own
SAME = {
    "cls-attention",
    "loo-jw",
    "gradient-jw",
}  # with two classes: as attention, loo, gradient
FEWER = {
    "kernel-shap": "samples=64", "lime": "samples=64", "shapley-sampling": "orders=4", "owen": "orders=8",
    "integrated-gradients": "steps=20", "smoothgrad": "samples=10", "gradient-shap": "samples=10",
}  # fmt: skip


def methods_for(model: str) -> list[str]:
    """The installed methods that a model supports, with some options."""
    catalog, fitting = Catalog.installed(), []
    for name in (*(one.name for one in components.list("importances")), *OPTIONS):
        choice = Choice.parse(name)
        if choice.name in LEFT_OUT | set(REFUSES):
            continue
        asked = RunSpec(task=Choice(name=TASK), model=Choice.parse(model), explanations=(choice,))
        try:
            resolve(asked, catalog)
        except attnx.UsageError:  # the model cannot give what the method needs
            continue
        fitting.append(name)
    return fitting


def measure(model: str, texts: int, train: int, longest: int | None = None) -> None:
    """Evaluate all methods of one model and keep the result."""
    methods, limit = methods_for(model), f"train={train},dev=500,test={texts}"
    if longest is None:
        report = attnx.evaluate(
            TASK, model, explanations=methods, metrics="faithfulness", limit=limit, sample="all", keep="none"
        )
    else:
        report = measure_short(model, texts, limit, longest, methods)
    costs = {cost.method: cost for cost in report.costs}
    rows = [
        {
            "method": one.explanation,
            "grade": one.grade,
            "share": one.share,
            "low": one.low,
            "high": one.high,
            "passes": one.passes,
            "milliseconds": costs[one.explanation].milliseconds,
            "signed": one.signed,
            "depends_on_class": one.depends_on_class,
            "reset": report.reset.get(one.explanation),
        }
        for one in report.ranking
    ]
    known = json.loads(DATA.read_text()) if DATA.exists() else {}
    known[model] = {
        "texts": texts,
        "train": train,
        "longest": longest,
        "accuracy": report.quality[0].accuracy,
        "seeds": list(report.spec.seeds),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
        "rows": rows,
    }
    DATA.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def measure_short(model: str, texts: int, limit: str, longest: int, methods: list[str]) -> attnx.Report:
    """Evaluate a trained model on short texts alone, with fewer samples and deletion alone."""
    given = RunSpec(task=Choice(name=TASK), model=Choice.parse(model), limit=Limit.parse(limit))
    trained = model_of_spec(given, Catalog.installed())
    whole = load_data_of(
        resolve(given.model_copy(update={"limit": Limit()}), Catalog.installed()), trained.data.source
    )
    names = whole.label_names
    by_label = [[one for one in whole.test if one.label == label] for label in range(len(names))]
    short = [
        one
        for of_label in by_label  # as many of each
        for one in [e for e in of_label if longest - 3 < len(e.units) <= longest][: texts // len(names)]
    ]
    methods = [name + (f":{FEWER[name]}" if name in FEWER else "") for name in methods if name not in SAME]
    model_itself: Any = trained.model(0)
    # Its classes are those of the task that it was trained on, in their order.
    model_itself.provides = tuple(word for word in model_itself.provides if word != "own-classes")
    assert list(names) == sorted(names), "labels of texts in memory are sorted"
    return attnx.evaluate(
        ([one.text or " ".join(one.units) for one in short], [names[one.label] for one in short]),
        model_itself,
        explanations=methods,
        metrics="faithfulness:removals=delete",
        sample="all",
        keep="none",
    )


HEAD = """# All importance methods under the verdict

Made by `python docs/data/methods.py write` from `docs/data/methods.json`; `... measure MODEL TEXTS TRAIN` measures again. Each model is trained once, on one seed, so the intervals cover other texts and not other training runs. Tested are explanations of the predicted class.

- **share**: how far the explanation gets from random words to the best order that a search finds, when words are deleted or replaced in the order of its scores ([verdict.md](verdict.md)); 100 % is the best order found, below 0 is worse than random. With its 95 % interval.
- **signs**: whether some scores are negative. Scores without signs cannot say that a word speaks against the class, which costs them in this test; so signed and unsigned methods are not compared on equal terms.
- **class**: whether the scores depend on the class that is explained.
- **passes**: forward passes through the model to explain one text; backward passes are not counted.
- **ms**: time for one text on one thread of a busy machine, in batches; good for orders of magnitude only.

`random` scores are a row like any other. What a method does, and what it cannot say: `attnx info NAME`.
"""  # noqa: E501


def _share(row: dict[str, Any]) -> str:
    if row["share"] is None:
        return "–"
    return f"{100 * row['share']:.0f} % [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"


def _of_short(longest: int | None) -> str:
    if longest is None:
        return ""
    return (
        f" of {longest - 2} to {longest} words (few and short for want of time: the intervals are wide, "
        "methods that sample have fewer samples than usual, as their options say, and the verdict rests on "
        "deletion alone; `cls-attention`, `loo-jw` and `gradient-jw` are left out)"
    )


def page() -> str:
    """The page, from what was measured."""
    known = json.loads(DATA.read_text())
    parts = [HEAD]
    for model, found in known.items():
        parts.append(
            f"\n## {model}\n\nRotten Tomatoes, {found['train']} training texts, {found['texts']} test texts"
            f"{_of_short(found.get('longest'))}, "
            f"seed {found['seeds'][0]}; accuracy {found['accuracy']:.3f}; {found['date']}, torch "
            f"{found['torch']}, {found['threads']} thread.\n\n"
            "| method | share [95 %] | grade | signs | class | passes | ms |\n"
            "| --- | ---: | --- | --- | --- | ---: | ---: |\n"
        )
        for row in found["rows"]:
            signs, of_class = ("yes" if row[key] else "no" for key in ("signed", "depends_on_class"))
            parts.append(
                f"| `{row['method']}` | {_share(row)} | {row['grade']} | {signs} | {of_class} | "
                f"{row['passes']:.1f} | {row['milliseconds']:.1f} |\n"
            )
        if "minilm" in model:
            parts.append("".join(f"\nNot tested: `{name}`, which {why}.\n" for name, why in REFUSES.items()))
    return "".join(parts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], *map(int, sys.argv[3:]))
    PAGE.write_text(page())
