"""Whole runs and studies on an accelerator that is pretended: they work, and say what they say on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from retraining_labs import SMALL
from tiny_checkpoints import save

import attnx
from attnx.errors import UsageError
from attnx.host.cards import Component
from attnx.host.catalog import Catalog
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.run.device import choose_device
from attnx.testing import pretend_device

INSTALLED = Catalog.installed()
WORDS = "sdc-text:train=40,dev=10,test=8"
QUICK: dict[str, Any] = {"training": {"epochs": 1}, "progress": False}


def needs_no_options(component: Component) -> bool:
    options = component.load_options()
    return options is None or not any(field.is_required() for field in options.model_fields.values())


LAYERS = {"layers", "layer-states"}  # what only transformers provide
OF_LAYERS = [c.name for c in INSTALLED.of_kind("importance") if LAYERS & set(c.needs)]
IMPORTANCES = [c.name for c in INSTALLED.of_kind("importance") if needs_no_options(c)]
METRICS = [c.name for c in INSTALLED.of_kind("metric") if needs_no_options(c)]
STUDIES = [c.name for c in INSTALLED.of_kind("study")]
CHEAPER = {  # what takes long with its usual options
    "adversarial-attention": "adversarial-attention:steps=10",
    "permutation": "permutation:permutations=5",
    "lime": "lime:samples=8",
    "kernel-shap": "kernel-shap:samples=8",
    "mi-kendall": "mi-kendall:clusters=4,repeats=2,permutations=2",
    "deceptive-attention": "deceptive-attention:penalties=1,metrics=entropy",
    "sparsity-sweep": "sparsity-sweep:grid=-1+0+0.5",
    "fixed-attention": "fixed-attention:clusters=4",
    "fixed-representation": "fixed-representation:clusters=4",
    "gumbel-gain": "gumbel-gain:clusters=4",
    "f-fidelity": "f-fidelity:explanations=attention,shares=20,draws=2",
    "recursive-roar": "recursive-roar:explanations=attention,steps=1",
    "faithfulness-correlation": "faithfulness-correlation:subsets=5",
    "infidelity": "infidelity:subsets=5",
    "max-sensitivity": "max-sensitivity:draws=2",
    "parameter-randomisation": "parameter-randomisation:draws=1",
}
PROJECTIONS = [c.name for c in INSTALLED.of_kind("projection")]
READERS_OF_WORDS = [
    c.name for c in INSTALLED.of_kind("model") if set(c.needs) <= {"words"} and needs_no_options(c)
]


def numbers(report: attnx.Report) -> list[float]:
    """Everything that a run measured."""
    return [
        *(value for quality in report.quality for value in (quality.accuracy, quality.f1)),
        *(_number(value) for row in report.summaries for value in (row.mean, row.low, row.high)),
    ]


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def applying(kind: Literal["explanations", "metrics"], names: list[str], **asked: Any) -> list[str]:
    """The names of those that a task and a model allow."""
    found = []
    for name in names:
        also = {"kendall"} if kind == "metrics" else set()  # something that compares with the reference
        try:
            resolve(RunSpec.model_validate({**asked, kind: sorted({name} | also)}), INSTALLED)
        except UsageError:
            continue
        found.append(name)
    return found


def both(**asked: Any) -> tuple[attnx.Report, attnx.Report]:
    """The report of a run on the CPU and on the accelerator."""
    here = attnx.evaluate(**asked, **QUICK, device="cpu", keep="none")
    with pretend_device():
        return here, attnx.evaluate(**asked, **QUICK, device="cuda", keep="none")


def require_same(here: attnx.Report, there: attnx.Report) -> None:
    assert [row.measure for row in here.summaries] == [row.measure for row in there.summaries]
    np.testing.assert_allclose(numbers(there), numbers(here), rtol=1e-4, atol=1e-5)


TEXTS = {"task": WORDS, "model": SMALL, "references": ("gradient",)}
SEGMENTS = {"task": "sdc-2d:train=40,dev=10,test=8", "model": "fcam", "references": ("gradient",)}
WITHIN = {  # what each kind of data allows
    kind: {task["task"]: applying(kind, names, **task) for task in (TEXTS, SEGMENTS)}
    for kind, names in (("explanations", IMPORTANCES), ("metrics", METRICS))
}


@pytest.mark.parametrize("asked", [TEXTS, SEGMENTS], ids=["texts", "segments"])
@pytest.mark.parametrize("kind", ["explanations", "metrics"])
def test_every_importance_and_metric(kind: str, asked: dict[str, Any]) -> None:
    wanted = {kind: [CHEAPER.get(name, name) for name in WITHIN[kind][asked["task"]]]}
    here, there = both(**{"metrics": ["kendall"], **asked, **wanted})
    require_same(here, there)
    assert (here.environment["device"], there.environment["device"]) == ("cpu", "cuda")


def test_nothing_is_left_out() -> None:
    elsewhere = {"deeplift", *OF_LAYERS}  # not for the models above: the law of devices runs it on a toy
    for kind, names in (
        ("explanations", set(IMPORTANCES) - elsewhere),
        ("metrics", set(METRICS) - {"pair-movement"}),  # of minimal pairs, which neither task has
    ):
        assert names <= {name for allowed in WITHIN[kind].values() for name in allowed}


@pytest.mark.parametrize("model", READERS_OF_WORDS)
def test_every_model_is_trained_and_measured(model: str) -> None:
    require_same(*both(task=WORDS, model=model, metrics=("entropy",)))


@pytest.mark.parametrize(
    ("model", "saved", "explanations"),
    [
        ("hf:checkpoint=", "encoder", ["attention"]),
        ("hf-classifier:checkpoint=", "classifier", [name for name in OF_LAYERS if name != "alti-logit"]),
        ("hf-causal:labels=one+two,checkpoint=", "language-model", OF_LAYERS),
    ],
)
def test_every_checkpoint_is_read_and_measured(
    model: str, saved: str, explanations: list[str], tmp_path: Path
) -> None:
    named = f"{model}{save(saved, tmp_path / saved)}"
    require_same(*both(task=WORDS, model=named, explanations=explanations, metrics=("importance-entropy",)))


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_every_projection_is_trained_and_measured(projection: str) -> None:
    require_same(*both(task=WORDS, model=SMALL, projection=projection, metrics=("entropy",)))


@pytest.mark.parametrize("study", STUDIES)
def test_every_study(study: str, tmp_path: Path) -> None:
    transformer = LAYERS & set(INSTALLED.find("study", study).needs)
    model = (
        f"hf-classifier:checkpoint={save('classifier', tmp_path / 'classifier')}" if transformer else SMALL
    )
    asked: dict[str, Any] = {
        "task": WORDS,
        "model": model,
        "seeds": (0, 1) if study == "seed-variance" else (0,),
        **QUICK,
    }
    name = CHEAPER.get(study, study)
    here = attnx.study(name, **asked, device="cpu")
    with pretend_device():
        there = attnx.study(name, **asked, device="cuda")
    assert [f.measure for f in here.findings] == [f.measure for f in there.findings]
    means = [[_number(f.mean) for f in report.findings] for report in (here, there)]
    np.testing.assert_allclose(*means, rtol=1e-4, atol=1e-5)


def test_a_report_says_what_was_computed_elsewhere_than_asked() -> None:
    here, there = both(task=WORDS, model=SMALL, metrics=("kendall", "entropy"), references=("gradient",))
    assert there.environment["computed on the CPU"] == "kendall"
    assert "computed on the CPU" not in here.environment


def test_weights_are_kept_and_found_again(home: Path) -> None:
    with pretend_device():
        first, again = (
            attnx.evaluate(task=WORDS, model=SMALL, metrics=(metric,), **QUICK, device="cuda")
            for metric in ("entropy", "nnz")
        )
    assert first.provenance.weights == again.provenance.weights
    assert len(list((home / "weights").iterdir())) == 1


def test_a_device_without_64_bit_numbers_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Device 'mps' has no 64-bit numbers.*; use --device cpu\."):
        choose_device("mps")


def test_a_device_that_is_not_there_is_refused() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has an accelerator")
    with pytest.raises(UsageError, match=r"Device 'cuda' is not available here; use --device auto or cpu\."):
        choose_device("cuda")
