"""How well the models of a cell were trained: their accuracy, and how far their attention moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...data.access import Source
from ...formulas import total_variation
from ...host.catalog import Catalog
from ...progress import Progress
from ...registry.experiments import Experiment
from ...request.experiment import RowCell
from ...request.resolve import resolve
from ...request.spec import Choice, RunSpec
from ...results.judgement.undertrained import why_undertrained
from ...results.reproduction import TrainedModel
from ...store.weights import Weights
from ..data_cache import load_data_of
from ..device import choose_device
from ..global_state import import_components, standard_state
from ..outputs import outputs_of
from ..training.models import TrainedModels
from ..workers.executors import Workers, one_thread, run_jobs
from ..workers.jobs import source_of

MOST = 200  # test examples on which attention is compared with its start


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """The models of one cell."""

    spec: str  # as JSON
    data_dir: str | None
    without: tuple[str, ...]  # plugins that are switched off


@dataclass(frozen=True, slots=True)
class TrainingFound:
    """Means over the seeds."""

    accuracy: float
    constant: float  # accuracy of always predicting the most frequent label
    moved: float | None  # share of the attention weight that training moved; None without attention


def check_training(job: TrainingJob) -> TrainingFound:
    """Compare the trained models of a cell with the same models before training, as a worker does."""
    with one_thread():
        return _checked(job)


@standard_state()
def _checked(job: TrainingJob) -> TrainingFound:
    catalog = Catalog.installed(job.without)
    source = source_of(Path(job.data_dir) if job.data_dir else None, catalog)
    plan = resolve(RunSpec.model_validate_json(job.spec), catalog)
    import_components(plan.trained)
    device = choose_device(plan.spec.device)
    data = load_data_of(plan, source)
    models = TrainedModels(data, device, Weights(), Progress("off"))
    accuracies: list[float] = []
    moves: list[float] = []
    for seed in plan.spec.seeds:
        model, _ = models.trained(plan, seed)
        after = outputs_of(model, data.test, device)
        accuracies.append(float(after.correct.mean()))
        if "attention" in model.provides:
            before = outputs_of(models.untrained(plan, seed), data.test[:MOST], device)
            pairs = zip(after.attention, before.attention, strict=False)  # the first ones have both
            moves.append(float(np.mean([float(total_variation(a, b)) for a, b in pairs])))
    labels = np.bincount([example.label for example in data.test])
    return TrainingFound(
        accuracy=float(np.mean(accuracies)),
        constant=float(labels.max() / len(data.test)),
        moved=float(np.mean(moves)) if moves else None,
    )


def check_cells(
    cells: Sequence[RowCell],
    name: str,
    catalog: Catalog,
    source: Source,
    workers: Workers,
    progress: Progress,
) -> list[TrainedModel]:
    """How well the models of every cell were trained; their weights are stored."""
    folder = str(source.directory) if source.directory else None
    jobs = {cell: TrainingJob(cell.asked.model_dump_json(), folder, catalog.without) for cell in cells}
    found: dict[TrainingJob, TrainingFound] = {}
    distinct = list(dict.fromkeys(jobs.values()))
    with progress.stage("training checked", len(distinct)) as step:
        for finished in run_jobs(workers, check_training, distinct, lambda _: ()):
            if finished.error is not None:
                raise finished.error
            found[finished.job] = finished.result
            step(1, "")
    return [_trained_model(cell, found[job], name, catalog) for cell, job in jobs.items()]


def _trained_model(cell: RowCell, found: TrainingFound, name: str, catalog: Catalog) -> TrainedModel:
    spec = cell.asked
    model = TrainedModel(
        row=cell.row,
        task=spec.task.label if spec.task else "",
        model=spec.model.label if spec.model else "",
        accuracy=found.accuracy,
        constant=found.constant,
        published=_published_accuracy(cell, name, catalog.registry.experiments),
        moved=found.moved,
    )
    return model.model_copy(update={"undertrained": why_undertrained(model)})


def _published_accuracy(cell: RowCell, name: str, known: Mapping[str, Experiment]) -> float | None:
    """The accuracy that this table, or another one, prints for the same task and model, on the whole data."""
    here = known[name]
    own = here.value(here.rows[cell.row], "accuracy") if "accuracy" in here.columns else None
    if own is not None or cell.asked.task is None or cell.asked.model is None:
        return own
    wanted = (cell.asked.task.name, cell.asked.model.name)
    for experiment in known.values():
        column = experiment.columns.get("accuracy")
        for row in experiment.rows.values() if column and not column.setting else ():
            names = [Choice.parse(text).name for text in (*experiment.tasks(row), *row.model)]
            value = experiment.value(row, "accuracy")
            if tuple(names) == wanted and value is not None:
                return value
    return None
