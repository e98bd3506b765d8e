"""Runs and weights are named by all they depend on, and by nothing else."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import torch
from trainers import evaluate_with, never

import attnx
from attnx.data.loading import Source, load_data
from attnx.host.catalog import Catalog
from attnx.registry.datasets import Dataset
from attnx.request.plan import Plan
from attnx.request.resolve import resolve
from attnx.request.spec import RunSpec
from attnx.store.dependencies import _distributions, library_versions
from attnx.store.identity import plugins_used, run_name, training_code, weights_name

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.installed()


def plan(catalog: Catalog, **fields: Any) -> Plan:
    return resolve(
        RunSpec.model_validate({"task": "sdc-text", "model": "mlp", "metrics": ("nnz",), **fields}), catalog
    )


def test_a_run_has_the_same_name_every_time(catalog: Catalog) -> None:
    assert run_name(plan(catalog), Source(), CPU) == run_name(plan(catalog), Source(), CPU)


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": (1,)},
        {"model": "mlp:hidden=4"},
        {"projection": "sparsemax"},
        {"metrics": ("entropy",)},
        {"training": {"epochs": 3}},
        {"limit": {"test": 5}},
        {"model": "mlp:hidden=128"},  # the same run, but its rows are called otherwise
    ],
)
def test_another_spec_has_another_name(catalog: Catalog, change: dict[str, Any]) -> None:
    assert run_name(plan(catalog, **change), Source(), CPU) != run_name(plan(catalog), Source(), CPU)


def test_another_number_of_threads_has_another_name(catalog: Catalog) -> None:
    asked = plan(catalog)
    data = load_data(asked.task.make(), Source(), asked.spec.limit)
    names = set()
    for threads in (1, 2):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            names |= {run_name(asked, Source(), CPU), weights_name(asked, data, 0, CPU)}
        finally:
            torch.set_num_threads(before)
    assert len(names) == 4


SWITCHES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "other instructions": lambda m: m.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "OLD"),
    "a limit for oneDNN": lambda m: m.setenv("ONEDNN_MAX_CPU_ISA", "SSE41"),
    "reproducible MKL": lambda m: m.setenv("MKL_CBWR", "COMPATIBLE"),
    "no oneDNN": lambda m: m.setattr(torch.backends.mkldnn, "enabled", False),
    "deterministic": lambda m: m.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True),
    "coarser products": lambda m: m.setattr(torch, "get_float32_matmul_precision", lambda: "medium"),
}


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES.keys())
def test_a_processor_that_rounds_in_another_way_has_another_name(
    switch: Callable[[pytest.MonkeyPatch], None], catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = plan(catalog)
    data = load_data(asked.task.make(), Source(), asked.spec.limit)
    names = {run_name(asked, Source(), CPU), weights_name(asked, data, 0, CPU)}
    switch(monkeypatch)
    names |= {run_name(asked, Source(), CPU), weights_name(asked, data, 0, CPU)}
    assert len(names) == 4


def test_the_default_dtype_is_not_in_the_name_as_a_run_sets_it(catalog: Catalog) -> None:
    expected = run_name(plan(catalog), Source(), CPU)
    torch.set_default_dtype(torch.float64)
    try:
        assert run_name(plan(catalog), Source(), CPU) == expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_seeds_in_another_order_are_the_same_run(catalog: Catalog) -> None:
    names = {run_name(plan(catalog, seeds=seeds), Source(), CPU) for seeds in ((0, 1, 2), (2, 0, 1))}
    assert len(names) == 1


def test_another_version_of_a_library_that_takes_part_makes_another_run(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnx.store import dependencies

    explained = plan(catalog, projection="entmax")
    before = [run_name(asked, Source(), CPU) for asked in (plan(catalog), explained)]
    (entmax,) = dependencies._distributions()["entmax"]
    named = dependencies._name_and_version
    monkeypatch.setattr(
        dependencies, "_name_and_version", lambda one: ("entmax", "99") if one is entmax else named(one)
    )
    after = [run_name(asked, Source(), CPU) for asked in (plan(catalog), explained)]
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)


def test_tools_and_libraries_that_take_no_part_are_not_counted() -> None:
    names = library_versions(["attnx_encoders.bilstm", "attnx_projections.sparsemax"])
    assert {"torch", "numpy", "scipy"} <= names.keys()
    assert (
        not {"ruff", "mypy", "pandas", "captum", "matplotlib", "pytest", "datasets", "scikit-learn"}
        & names.keys()
    )


def test_a_file_deep_in_the_data_directory_counts_and_that_of_another_dataset_does_not(
    catalog: Catalog, tmp_path: Path
) -> None:
    review = tmp_path / "imdb" / "train" / "pos" / "0.txt"
    other = tmp_path / "sst" / "train.jsonl"
    for path in (review, other):
        path.parent.mkdir(parents=True)
        path.write_text("fine")
    asked, source = plan(catalog, task="imdb"), Source(directory=tmp_path)
    before = run_name(asked, source, CPU)
    other.write_text("changed")
    assert run_name(asked, source, CPU) == before
    review.write_text("changed")
    assert run_name(asked, source, CPU) != before


def test_what_the_registry_says_of_the_data_counts(catalog: Catalog) -> None:
    asked = plan(catalog, task="imdb")
    known = dict(catalog.registry.datasets)
    dataset: Dataset = known["imdb"]
    fewer = {**known, "imdb": dataset.model_copy(update={"sources": dataset.sources[:1]})}
    assert run_name(asked, Source(datasets=known), CPU) != run_name(asked, Source(datasets=fewer), CPU)


def test_a_file_named_in_an_option_counts_for_run_and_weights(catalog: Catalog, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("a 1 2\n")
    asked = plan(catalog, model=f"mlp:embeddings={vectors}")
    data = load_data(asked.task.make(), Source(), asked.spec.limit)
    before = run_name(asked, Source(), CPU), weights_name(asked, data, 0, CPU)
    stat = vectors.stat()
    vectors.write_text("a 2 1\n")
    os.utime(vectors, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # neither size nor time tells
    after = run_name(asked, Source(), CPU), weights_name(asked, data, 0, CPU)
    assert before[0] != after[0]
    assert before[1] != after[1]


def names(asked: Plan, source: Source) -> tuple[str, str]:
    """Of the run, and of the weights that are trained in it."""
    data = load_data(asked.task.make(), source, asked.spec.limit)
    return run_name(asked, source, CPU), weights_name(asked, data, 0, CPU)


def both_differ(before: tuple[str, str], after: tuple[str, str]) -> bool:
    return all(a != b for a, b in zip(before, after, strict=True))


def test_word_vectors_named_as_a_dataset_count_for_run_and_weights(catalog: Catalog, tmp_path: Path) -> None:
    asked, known = plan(catalog, model="mlp:embeddings=glove-50d"), dict(catalog.registry.datasets)
    fetched = names(asked, Source(datasets=known))
    glove = known["glove-50d"]
    other = {**known, "glove-50d": glove.model_copy(update={"sources": glove.sources[:1]})}
    assert both_differ(names(asked, Source(datasets=other)), fetched)
    vectors, unread = tmp_path / "glove-50d" / "glove.6B.50d.txt", tmp_path / "sst" / "train.txt"
    unread.parent.mkdir()
    unread.write_text("of another dataset")
    source = Source(tmp_path, known)
    assert names(asked, source) == fetched
    vectors.parent.mkdir()
    vectors.write_text("a 1 2\n")
    first = names(asked, source)
    assert both_differ(first, fetched)
    unread.write_text("changed")
    assert names(asked, source) == first
    vectors.write_text("a 1 2 3\n")
    assert both_differ(names(asked, source), first)


def test_changed_word_vectors_train_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    vectors = tmp_path / "data" / "glove-50d" / "glove.6B.50d.txt"
    vectors.parent.mkdir(parents=True)
    words = {example.units for example in load_data(*_sdc_text()).train}
    reports = []
    for sign in ("", "-"):
        lines = sorted({f"{word} {sign}1.5 2.5\n" for units in words for word in units})
        vectors.write_text("".join(lines))
        report = attnx.evaluate(
            "sdc-text:train=40,dev=20,test=20", "mlp:embeddings=glove-50d,hidden=4", metrics=["nnz"],
            training={"epochs": 1}, data_dir=tmp_path / "data", progress=False,
        )  # fmt: skip
        reports.append(report)
    assert reports[0].fingerprint != reports[1].fingerprint
    assert reports[0].provenance.weights != reports[1].provenance.weights


def _sdc_text() -> tuple[Any, Source, Any]:
    asked = plan(Catalog.installed(), task="sdc-text:train=40,dev=20,test=20")
    return asked.task.make(), Source(), asked.spec.limit


def test_a_task_without_a_dataset_depends_on_its_own_files_of_the_data_directory_alone(
    catalog: Catalog, tmp_path: Path
) -> None:
    mine, other = tmp_path / "mine.csv", tmp_path / "other.csv"
    for path in (mine, other):
        path.write_text("text,label\n")
    source = Source(tmp_path)
    drawn, read = plan(catalog), plan(catalog, task="csv:file=mine.csv")
    assert run_name(drawn, source, CPU) == run_name(drawn, Source(), CPU)
    before = run_name(read, source, CPU)
    other.write_text("changed")
    assert run_name(read, source, CPU) == before
    mine.write_text("changed")
    assert run_name(read, source, CPU) != before


def test_a_folder_that_is_called_as_a_default_is_does_not_count(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = plan(catalog, task="csv:file=mine.csv")
    before = run_name(asked, Source(), CPU)
    for name in ("text", "learned", "additive"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("")
    assert run_name(asked, Source(), CPU) == before
    chosen = plan(catalog, task="hf-dataset:name=text")  # a folder of the user's own
    before = run_name(chosen, Source(), CPU)
    (tmp_path / "text" / "x").write_text("changed")
    assert run_name(chosen, Source(), CPU) != before


def test_what_cannot_be_looked_at_is_not_stamped(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, stat = tmp_path / "locked" / "x.csv", Path.stat

    def refuse(self: Path, **settings: Any) -> os.stat_result:
        # Permissions do not bind root, so the answer of the system is made up.
        if self == locked:
            raise PermissionError(13, "Permission denied", str(self))
        return stat(self, **settings)

    monkeypatch.setattr(Path, "stat", refuse)
    for task in (f"csv:file={locked}", f"csv:file={'x' * 300}", f"hf-dataset:name={'x' * 300}"):
        assert run_name(plan(catalog, task=task), Source(tmp_path), CPU)
    for name in ("~nobody-of-this-name/x", "a\0b"):
        assert run_name(plan(catalog, model=f"mlp:embeddings={name}"), Source(), CPU)


def test_weights_depend_on_data_and_seed_and_not_on_metrics(catalog: Catalog) -> None:
    asked = plan(catalog)
    data = load_data(asked.task.make(), Source(), asked.spec.limit)
    name = weights_name(asked, data, 0, CPU)
    assert weights_name(plan(catalog, metrics=("entropy", "focus")), data, 0, CPU) == name
    assert weights_name(asked, data, 1, CPU) != name
    assert weights_name(asked, replace(data, training_fingerprint="other"), 0, CPU) != name


def test_weights_know_nothing_of_the_test_split(catalog: Catalog) -> None:
    for task in ("sdc-text:train=40,dev=20", "sdc-digits:train=40,dev=20"):
        found = set()
        for limit in ({"test": 5}, {"test": 9}):
            asked = plan(catalog, task=task, model="fcam", limit=limit)
            found.add(names(asked, Source())[1])
        assert len(found) == 1
        assert names(plan(catalog, task=task, model="fcam", limit={"dev": 5}), Source())[1] not in found


def test_weights_depend_on_the_part_of_the_core_that_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    from attnx.store import identity

    seen: list[set[str]] = []
    monkeypatch.setattr(identity, "_hash_of", lambda files: str(seen.append(set(files))))
    training_code.__wrapped__()
    assert {
        "attnx.run.training.loop",
        "attnx.run.measuring.splits",
        "attnx.types",
        "attnx.formulas.deception",
    } <= seen[0]
    assert not [name for name in seen[0] if name.split(".")[1] in ("cli", "report", "store", "data", "api")]
    assert not {"attnx.run.evaluation", "attnx.run.measuring.measurement"} & seen[0]


def test_every_package_of_a_plugin_is_part_of_its_code(catalog: Catalog) -> None:
    parts = plan(catalog).parts
    by_name = {used.plugin: used.code for used in plugins_used(parts)}
    assert {"encoders", "sdc", "shape", "projections", "baselines"} == by_name.keys()
    assert len(set(by_name.values())) == 5


def test_a_metric_that_follows_training_is_added_without_losing_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    small: dict[str, Any] = {"task": "sdc-error-mode-1:train=40,dev=40,test=60", "training": {"epochs": 2}}
    both = attnx.evaluate(**small, metrics=["focus", "nnz"], progress=False)
    fewer = evaluate_with(never, **small, metrics=["entropy"])
    assert fewer.provenance.weights == both.provenance.weights
    assert {curve.metric for curve in fewer.curves if curve.axis == "epoch"} == {"training"}
    shutil.rmtree(tmp_path / "home" / "weights")
    attnx.evaluate(**small, metrics=["entropy"], progress=False, fresh=True)
    more = attnx.evaluate(**small, metrics=["focus"], progress=False)  # trained again, to be followed
    assert more.provenance.weights == both.provenance.weights
    assert any(curve.metric == "focus" and curve.axis == "epoch" for curve in more.curves)


def test_packages_belong_to_the_distributions_that_the_standard_library_finds() -> None:
    ours = {package: {one.metadata["Name"] for one in found} for package, found in _distributions().items()}
    assert ours == {package: set(names) for package, names in packages_distributions().items()}
