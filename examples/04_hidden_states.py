"""Attention beside the importance of words and of hidden states on SST: Meister et al., table 6.

Usage: python examples/04_hidden_states.py DATA_DIR [SEEDS]

DATA_DIR/sst holds the sentences (see `attnx info sst`). Kendall's τ of attention with gradients and
with leave-one-out, once of the words and once of the hidden states that attention weighs. The
paper's claim is the order within a row: attention agrees more with the importance of hidden states.
The published numbers are of models trained with other settings: compare the order, not the digits.
"""

import sys

import attnx

TABLE = attnx.experiment("meister-table-6")

data_dir = sys.argv[1]
seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
print(f"SST, {len(seeds)} seeds: Kendall's τ of attention, measured with 95 % interval (published)")
print(f"{'':<26} {'accuracy':>8} {'':<8} {'with words':>28} {'with hidden states':>28}")
for row in TABLE.rows.values():
    (model,) = row.model
    report = attnx.evaluate(
        "sst",
        model,
        projection=row.projection,
        references=TABLE.references,
        metrics=TABLE.metrics,
        seeds=seeds,
        data_dir=data_dir,
    )
    accuracy = sum(quality.accuracy for quality in report.quality) / len(seeds)
    for method in ("gradient", "loo"):
        columns = (method, f"{method}-hidden")
        taus = [report.select("tau", reference=column) for column in columns]
        cells = [f"{tau.shown} ({row.published[c]:.2f})" for tau, c in zip(taus, columns, strict=True)]
        order = "" if taus[0].mean < taus[1].mean else "  other order"
        name = f"{model:<15} {row.projection:<10} {accuracy:>8.3f} {method:<8}"
        print(f"{name} {cells[0]:>28} {cells[1]:>28}{order}", flush=True)
