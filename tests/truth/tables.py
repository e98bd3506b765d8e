"""Prints the tables of docs/known_truth.md: the truth table, shares by quality, false positives and power.

python tests/truth/tables.py exact      models whose rule is known, three sets of texts
python tests/truth/tables.py trained    honest, deceived and useless models
python tests/truth/tables.py curves     false positives and power by texts and seeds
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np

from attnx_audit.options import Rule

sys.path.insert(0, str(Path(__file__).parent))
from explanations_of_known_quality import ForAndAgainst, RightInSome

import attnx
from attnx.results import Report

RULES = get_args(Rule)
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
MODELS = ("bilstm-small", "cnn-small", "average-add:embedding=32", "transformer-add:embedding=32")
ABOVE = ("weak", "partial", "good", "strong")


def faithful(report: Report) -> dict[str, attnx.results.Verdict]:
    return {v.explanation: v for v in report.verdicts if v.heading == "faithfulness"}


def exact() -> None:
    print("| rule | leads | right | inverse | random | first | last | shares at 0, 10, 25, 50, 75, 100 % |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rule in RULES:
        found: dict[str, Counter[str]] = {}
        shares = []
        for seed in (21, 22, 23):
            more = [ForAndAgainst()] if rule == "balance" else []
            report = attnx.evaluate(
                f"planted-rules:rule={rule},train=200,dev=10,test=400,seed={seed}",
                f"rule-reader:rule={rule}",
                explanations=["oracle", "anti-oracle", "random:seed=4", "first", "last",
                              *(RightInSome(share, seed) for share in SHARES), *more],
                metrics="faithfulness",
                progress=False,
            )  # fmt: skip
            verdicts = faithful(report)
            for name in ("oracle", "anti-oracle", "random:seed=4", "first", "last"):
                found.setdefault(name, Counter())[verdicts[name].grade] += 1
            shares.append([v.share or np.nan for n, v in verdicts.items() if n.startswith("RightInSome")])
            leads = report.verdicts[0].removals[0].removal
        cells = [", ".join(f"{grade} {n}" for grade, n in found[name].items()) for name in found]
        means = ", ".join(f"{100 * x:.0f}" for x in np.mean(shares, 0)) if shares[0] else "–"
        print(f"| {rule} | {leads} | {' | '.join(cells)} | {means} |", flush=True)


def trained() -> None:
    print("| task | model | honest | share | deceived | share | labels shuffled |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for task in ("sdc-text", "planted-pronouns"):
        for model in (
            "bilstm-small",
            "cnn-small",
            "average-add:embedding=32",
            "transformer-add:embedding=32",
        ):
            cells = []
            for extra, training in (("", {}), ("", {"deception": 1.0}), (",labels=permuted", {})):
                if extra and task == "sdc-text":
                    cells.append("–")
                    continue
                report = attnx.evaluate(
                    f"{task}:train=800,dev=200,test=200{extra}",
                    model,
                    explanations="attention",
                    metrics="faithfulness",
                    training=training,
                    seeds=[0, 1, 2],
                    progress=False,
                )
                v = faithful(report)["attention"]
                accuracy = np.mean([q.accuracy for q in report.quality])
                said = "no verdict" if not v.judged else v.grade
                share = "–" if v.share is None else f"{100 * v.share:.0f} % ({v.agreeing_seeds} of 3)"
                cells += [f"{said}, accuracy {accuracy:.2f}"] + ([share] if not extra else [])
            print(f"| {task} | {model} | {' | '.join(cells)} |", flush=True)


def curves() -> None:
    print("| texts | runs | right strong | inverse misleading | random above random | equal told apart |")
    print("| --- | --- | --- | --- | --- | --- |")
    for texts in (50, 100, 200, 400, 800):
        right = wrong = above = apart = cases = 0
        for rule in ("one-word", "and", "negation", "place"):
            for seed in range(30, 40 if texts <= 200 else 35):
                equal = (f"random:seed={seed}", f"random:seed={seed + 500}")
                report = attnx.evaluate(
                    f"planted-rules:rule={rule},train=200,dev=10,test={texts},seed={seed}",
                    f"rule-reader:rule={rule}",
                    explanations=[
                        "oracle",
                        "anti-oracle",
                        f"random:seed={seed}",
                        f"random:seed={seed + 500}",
                    ],
                    metrics="faithfulness",
                    progress=False,
                )
                grades = [v.grade for v in faithful(report).values()]
                right += grades[0] == "strong"
                wrong += grades[1] == "misleading"
                above += sum(grade in ABOVE for grade in grades[2:])
                groups = {one.explanation: one.group for one in report.ranking}
                apart += groups[equal[0]] != groups[equal[1]]
                cases += 1
        print(f"| {texts} | {cases} | {right} | {wrong} | {above} of {2 * cases} | {apart} |", flush=True)


if __name__ == "__main__":
    {"exact": exact, "trained": trained, "curves": curves}[sys.argv[1]]()
