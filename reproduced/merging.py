"""One result of several runs, each of some rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attnx.registry.experiments import Experiment
from attnx.results.judgement.claims import conclude
from attnx.results.reproduction import ClaimFound, Compared, Reproduction, SkippedRows


def merge(parts: Sequence[Reproduction], experiment: Experiment) -> Reproduction:
    """All rows that were run, of a row the last run. A claim is decided by the comparisons of all parts."""
    if len(parts) == 1:
        return parts[0]
    values = {(value.row, value.column): value for part in parts for value in part.values}
    run = {row for part in parts for row in part.rows}
    trained = {(model.row, model.task, model.model): model for part in parts for model in part.trained}
    return parts[-1].model_copy(
        update={
            "command": "\n".join(part.command for part in parts),
            "date": max(part.date for part in parts),
            "seeds": tuple(sorted({seed for part in parts for seed in part.seeds})),
            "data": {task: size for part in parts for task, size in part.data.items()},
            "training": {name: value for part in parts for name, value in part.training.items()},
            "rows": tuple(row for row in experiment.rows if row in run),
            "values": tuple(values.values()),
            "claims": tuple(_merged_claim(claim.says, parts) for claim in experiment.claims),
            "trained": tuple(trained.values()),
            "left_out": tuple(_left_out(parts, run)),
            "runs": tuple(dict.fromkeys(name for part in parts for name in part.runs)),
            "seconds": sum(part.seconds for part in parts),
        }
    )


def parts_that_test(parts: Iterable[Reproduction], says: str) -> list[Reproduction]:
    """The parts whose comparisons decide a claim: of one that was made twice, the last."""
    last = {one.what: part for part in parts for one in _claim(part, says).compared}
    return list({id(part): part for part in last.values()}.values())


def _claim(part: Reproduction, says: str) -> ClaimFound:
    untested = ClaimFound(says=says, status="open", compared=(), missing=0)
    return next((claim for claim in part.claims if claim.says == says), untested)


def _merged_claim(says: str, parts: Sequence[Reproduction]) -> ClaimFound:
    found = [_claim(part, says) for part in parts]
    compared: dict[str, Compared] = {one.what: one for claim in found for one in claim.compared}
    asked = max(len(claim.compared) + claim.missing for claim in found)
    deciding = [_claim(part, says) for part in parts_that_test(parts, says)]
    reasons = dict.fromkeys(claim.reason for claim in deciding if claim.status == "undertrained")
    return conclude(says, list(compared.values()), asked - len(compared), "; ".join(reasons))


def _left_out(parts: Sequence[Reproduction], run: set[str]) -> Iterator[SkippedRows]:
    """The rows that no part has, each with the reason of the last part that names it."""
    reasons = {row: left.reason for part in parts for left in part.left_out for row in left.rows}
    for reason in dict.fromkeys(reasons.values()):
        rows = [row for row, why in reasons.items() if why == reason and row not in run]
        if rows:
            yield SkippedRows(rows=tuple(rows), reason=reason)
