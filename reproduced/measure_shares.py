"""Measure the graded shares of the models of Jain and Wallace's table 2, as trained for it: some minutes."""

from __future__ import annotations

import json

import attnx
from attnx.components import experiments
from attnx.request.experiment import plan_experiment

from .shares import SHARES

NAME = "jain-wallace-table-2"
ROWS = tuple(f"sst {model}" for model in ("bilstm-add", "cnn-add", "average-add"))
METHODS = ("attention", "gradient-jw", "loo")


def measure(rows: tuple[str, ...] = ROWS, test: int = 200) -> list[dict[str, object]]:
    """The share of every method, by row; the models are those of the table."""
    plan = plan_experiment(NAME, experiments()[NAME], rows=rows)
    found: list[dict[str, object]] = []
    for cell in plan.cells:
        spec = cell.asked
        report = attnx.evaluate(
            spec.task.label if spec.task else None,
            spec.model.label if spec.model else None,
            explanations=METHODS,
            metrics=["faithfulness"],
            training=spec.training,
            seeds=spec.seeds,
            limit=f"test={test}",
            sample="all",
        )
        found += [
            {
                "row": cell.row,
                "explanation": verdict.explanation,
                "share": verdict.share,
                "low": verdict.share_low,
                "high": verdict.share_high,
                "grade": verdict.grade,
                "texts": test,
                "seeds": len(spec.seeds),
            }
            for verdict in report.verdicts
            if verdict.heading == "faithfulness"
        ]
    return found


if __name__ == "__main__":
    SHARES.write_text(json.dumps(measure(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
