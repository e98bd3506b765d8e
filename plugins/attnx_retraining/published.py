"""Values of the papers, attached to a finding only where task, model and projection are theirs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from attnx import Finding, Lab

HARMLESS = {"files", "seed"}  # options of a task that do not make it another task
TRAINED = {"scorer", "dropout", "embeddings", "freeze"}  # and of a model that only train it otherwise


@dataclass(frozen=True, slots=True)
class Table:
    """A published table: values by task, encoder, scorer and, where there are several, row."""

    source: str
    values: Mapping[tuple[str, ...], float]
    projection: str = "softmax"  # of the model of the study; empty: of no account

    def beside(self, finding: Finding, lab: Lab, *row: str) -> Finding:
        """The finding with the value of this table beside it, if there is one."""
        value = self.value(lab, *row)
        return finding if value is None else replace(finding, published=value, source=self.source)

    def value(self, lab: Lab, *row: str) -> float | None:
        """What it says of the lab's task and model, if it does."""
        if self.projection not in ("", lab.setting.projection.name):
            return None
        return self.values.get((task_name(lab), *_model(lab), *row))


def task_name(lab: Lab) -> str:
    """The task's name, or nothing if its options make it another task than the published one."""
    task = lab.setting.task
    return "" if task.changed - HARMLESS else task.name


def _model(lab: Lab) -> tuple[str, str]:
    """Encoder and scorer, or nothing if it is of another size or build than the published one."""
    model = lab.setting.model
    return "" if model.changed - TRAINED else model.name, model.options.get("scorer", "")


def _of_bilstm_additive(values: dict[str, float], *row: str) -> dict[tuple[str, ...], float]:
    return {(task, "bilstm", "additive", *row): value for task, value in values.items()}


MEISTER_3 = Table(
    "Meister et al., table 3",
    {
        ("imdb", "bilstm", "additive"): 0.90,
        ("imdb", "transformer", "dot"): 0.89,
        ("sst", "bilstm", "additive"): 0.82,
        ("sst", "transformer", "dot"): 0.79,
        ("20news", "bilstm", "additive"): 0.91,
        ("20news", "transformer", "dot"): 0.91,
    },
)
MEISTER_2 = Table(
    "Meister et al., table 2",
    {
        ("imdb", "bilstm", "additive"): -0.935,
        ("imdb", "transformer", "dot"): -0.830,
        ("20news", "bilstm", "additive"): -0.675,
        ("20news", "transformer", "dot"): -0.409,
        ("sst", "bilstm", "additive"): -0.866,
        ("sst", "transformer", "dot"): -0.810,
    },
    projection="",
)
WEN_2 = Table(
    "Wen et al., table 2",
    _of_bilstm_additive(
        {
            "sst": 0.71,
            "imdb": 0.16,
            "agnews": 0.75,
            "adr-tweets": 0.30,
            "20news": 1.32,
            "anemia": 0.97,
            "diabetes": 1.23,
        },
        "fixed attention",
    )
    | _of_bilstm_additive(
        {
            "sst": -0.02,
            "imdb": -0.01,
            "agnews": -0.07,
            "adr-tweets": 0.00,
            "20news": -0.07,
            "anemia": -0.01,
            "diabetes": -0.01,
        },
        "fixed representation",
    ),
)
OURS = 2  # their TVD of two classes is half of ours (see adversary.py), and so is their λ
WEN_DIVERGENCE = Table(
    "Wen et al., table 3",
    {
        key: OURS * value
        for key, value in _of_bilstm_additive(
            {
                "sst": 5.25e-4,
                "imdb": 8e-4,
                "agnews": 5e-4,
                "adr-tweets": 5e-4,
                "20news": 5e-4,
                "anemia": 5e-4,
                "diabetes": 2e-4,
            }
        ).items()
    },
)
WEN_3 = Table(
    "Wen et al., table 3",
    _of_bilstm_additive(
        {
            "sst": OURS * 0.036,
            "imdb": OURS * 0.021,
            "agnews": OURS * 0.009,
            "adr-tweets": OURS * 0.001,
            "20news": OURS * 0.037,
            "anemia": OURS * 0.020,
            "diabetes": OURS * 0.021,
        },
        "unfrozen",
        "tvd",
    )
    | _of_bilstm_additive(
        {
            "sst": 0.316,
            "imdb": 0.482,
            "agnews": 0.664,
            "adr-tweets": 0.194,
            "20news": 0.391,
            "anemia": 0.384,
            "diabetes": 0.464,
        },
        "unfrozen",
        "jsd",
    )
    | _of_bilstm_additive(
        {
            "sst": 0.82,
            "imdb": 0.90,
            "agnews": 0.96,
            "adr-tweets": 0.87,
            "20news": 0.90,
            "anemia": 0.91,
            "diabetes": 0.89,
        },
        "unfrozen",
        "accuracy",
    ),
)
WEN_4 = Table(
    "Wen et al., table 4",
    _of_bilstm_additive(
        {
            "sst": 0.04,
            "imdb": 0.08,
            "agnews": 0.05,
            "adr-tweets": 0.02,
            "20news": 0.09,
            "anemia": 0.02,
            "diabetes": 0.05,
        },
        "unfrozen",
        "tau lost",
    ),
)
