"""What the output does when attention is tampered with, on SST and on part of IMDB.

Usage: python examples/06_interventions.py DATA_DIR [SEEDS [TASK ...]]

The tests of Serrano and Smith under their four rankings, and the permutations and adversaries of
Jain and Wallace. Serrano and Smith's table 2 is of IMDB reviews and the sentences of a HAN. The other
published results are figures.
"""

import sys

import attnx

TABLE = attnx.experiment("serrano-smith-table-2")
RANKINGS = ["attention", "attention-gradient", "attention-x-gradient", "random"]
LIMITS = {"imdb": "train=2500,dev=400,test=800"}  # of the tasks that are not taken whole
NAMES = {
    "delta-js": "ΔJS",
    "negative": "ΔJS < 0",
    "fraction": "share removed to flip",
    "never": "never flips",
}
METRICS = ["delta-js", "decision-flip", "flip-fraction", "permutation", "adversarial-attention"]


data_dir = sys.argv[1]
seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
for task in sys.argv[3:] or ["sst", "imdb"]:
    report = attnx.evaluate(
        task,
        "bilstm-add",
        explanations=RANKINGS,
        metrics=METRICS,
        seeds=seeds,
        limit=LIMITS.get(task),
        data_dir=data_dir if task == "sst" else None,
    )
    accuracy = sum(quality.accuracy for quality in report.quality) / len(seeds)
    print(f"\n{task} ({LIMITS.get(task, 'whole')}), bilstm-add, {len(seeds)} seeds, accuracy {accuracy:.3f}")
    for measures in (("delta-js", "negative"), ("fraction", "never")):
        print(f"{'ranking':<22}" + "".join(f"{NAMES[measure]:>26}" for measure in measures))
        for ranking in RANKINGS:
            cells = [report.select(measure, explanation=ranking).shown for measure in measures]
            print(f"{ranking:<22}" + "".join(f"{cell:>26}" for cell in cells))
    print("decision flips without i*, without a random unit (published: SS, IMDB, HAN)")
    for cell in TABLE.columns:
        print(f"  {cell:<20} {report.select(cell).shown} ({TABLE.value(TABLE.rows['han-rnn'], cell):.3f})")
    for measure, words in (
        ("median", "median change of the output under 100 permutations"),
        ("max-jsd", "ε-max JSD of adversarial attention (at most 0.693)"),
        ("exact", "share of examples of which that is exact, not a bound"),
    ):
        print(f"{words:<52} {report.select(measure).shown}")
