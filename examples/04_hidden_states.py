"""Attention beside the importance of words and of hidden states on SST: Meister et al., table 6.

Usage: python examples/04_hidden_states.py DATA_DIR [SEEDS]

DATA_DIR/sst holds the sentences (see `attnx info sst`). Kendall's τ of attention with gradients and
with leave-one-out, once of the words and once of the hidden states that attention weighs. The
paper's claim is the order within a row: attention agrees more with the importance of hidden states.
The published numbers are of models trained with other settings: compare the order, not the digits.
"""

import sys

import attnx

PUBLISHED = {  # τ with the importance of words, of hidden states
    ("bilstm-add", "softmax", "gradient"): (0.25, 0.80),
    ("bilstm-add", "softmax", "loo"): (0.35, 0.49),
    ("bilstm-add", "sparsemax", "gradient"): (0.45, 0.97),
    ("bilstm-add", "sparsemax", "loo"): (0.34, 0.98),
    ("transformer-dot", "softmax", "gradient"): (0.72, 0.89),
    ("transformer-dot", "softmax", "loo"): (0.33, 0.16),
    ("transformer-dot", "sparsemax", "gradient"): (0.67, 0.88),
    ("transformer-dot", "sparsemax", "loo"): (0.30, 0.25),
}

data_dir = sys.argv[1]
seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
print(f"SST, {len(seeds)} seeds: Kendall's τ of attention, measured with 95 % interval (published)")
print(f"{'':<26} {'accuracy':>8} {'':<8} {'with words':>28} {'with hidden states':>28}")
for (model, projection, method), published in PUBLISHED.items():
    report = attnx.evaluate(
        "sst",
        model,
        projection=projection,
        references=["gradient", "gradient-hidden", "loo", "loo-hidden"],
        metrics=["kendall"],
        seeds=seeds,
        data_dir=data_dir,
    )
    accuracy = sum(quality.accuracy for quality in report.quality) / len(seeds)
    taus = [report.select("tau", reference=reference) for reference in (method, f"{method}-hidden")]
    cells = [f"{tau.shown} ({p:.2f})" for tau, p in zip(taus, published, strict=True)]
    order = "" if taus[0].mean < taus[1].mean else "  other order"
    print(
        f"{model:<15} {projection:<10} {accuracy:>8.3f} {method:<8} {cells[0]:>28} {cells[1]:>28}{order}",
        flush=True,
    )
