"""What models learn when attention is replaced, frozen or fought, on SST and on part of IMDB.

Usage: python examples/07_retraining.py DATA_DIR [SEEDS [TASK ...]]

Uniform attention (Wiegreffe and Pinter), adversarial models (Meister et al., table 5), fixed attention and
fixed representations (Wen et al., table 2). Published values stand beside ours where the paper has
the same task, model and measure; on part of a task they are of the whole of it.
"""

import sys

import attnx

STUDIES = [
    "uniform-attention",
    "adversarial-model",
    "fixed-representation",
    "fixed-attention",
    "fixed-attention:attention=trained",
]
LIMITS = {"imdb": "train=2500,dev=400,test=800"}  # of the tasks that are not taken whole

data_dir = sys.argv[1]
seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
for task in sys.argv[3:] or ["sst", "imdb"]:
    for study in STUDIES:
        report = attnx.study(
            study,
            task,
            "bilstm-add",
            seeds=seeds,
            limit=LIMITS.get(task),
            data_dir=data_dir if task == "sst" else None,
        )
        print(f"\n{study} · {task} ({LIMITS.get(task, 'whole')}) · bilstm-add · {len(seeds)} seeds")
        for f in report.findings:
            published = "" if f.published is None else f"({f.published:.2f}: {f.source})"
            print(
                f"{f.setting:<22} {f.measure:<20} {f.mean:>7.3f} {f.interval or ''!s:<17} {published}",
                flush=True,
            )
