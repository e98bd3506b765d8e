"""Attention beside the information of hidden states: figure 2 of Wen et al.

Usage: python examples/05_information.py DATA_DIR [SEEDS [TASK ...]]

The weighted Kendall τ between attention by rank and the mutual information of hidden states with
the output, for three encoders and three scorers: by the plug-in estimate, as in the paper, and
corrected for its bias. The spread is that of the seeds. The paper draws boxes, and gives only
a few means, over all of its datasets. Its claims: additive and deep above dot, and bilstm-add highest.
"""

import sys

import attnx

PUBLISHED = {name: row.published["tau"] for name, row in attnx.experiment("wen-figure-2").rows.items()}
SCORERS = ("add", "deep", "dot")
LIMITS = {"imdb:max_length=150": "train=1000,dev=200,test=400"}  # of the tasks that are not taken whole

data_dir = sys.argv[1]
seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
for task in sys.argv[3:] or ["sst", "20news", "imdb:max_length=150"]:
    print(f"\n{task} ({LIMITS.get(task, 'whole')}), {len(seeds)} seeds: mean [least, most] over seeds")
    print(f"{'':<12} {'accuracy':>8} {'plug-in':>24} {'corrected':>24} {'ranks':>6}   published")
    means: dict[str, list[float]] = {scorer: [] for scorer in SCORERS}
    for scorer in SCORERS:
        for encoder in ("bilstm", "cnn", "mlp"):
            model = f"{encoder}-{scorer}"
            report = attnx.evaluate(
                task,
                model,
                metrics=["mi-kendall"],
                seeds=seeds,
                limit=LIMITS.get(task),
                data_dir=data_dir if task == "sst" else None,
            )
            accuracy = sum(quality.accuracy for quality in report.quality) / len(seeds)
            taus = [report.select(measure) for measure in ("tau", "tau-corrected")]
            cells = [f"{t.mean:.3f} [{min(t.seeds):.3f}, {max(t.seeds):.3f}]" for t in taus]
            ranks = report.select("ranks").mean
            published = PUBLISHED.get(model, "")
            print(
                f"{model:<12} {accuracy:>8.3f} {cells[0]:>24} {cells[1]:>24} {ranks:>6.1f}   {published}",
                flush=True,
            )
            means[scorer].append(taus[0].mean)
    for scorer, found in means.items():
        print(f"mean of {scorer:<5} {sum(found) / 3:.3f}  (published {PUBLISHED[scorer]:.2f})")
