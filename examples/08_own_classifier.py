"""Which layer of your own Hugging Face classifier has faithful attention?

Usage: python examples/08_own_classifier.py CHECKPOINT FILE.csv

CHECKPOINT is the folder that the classifier was saved to; FILE.csv has the columns text and label.
"""

import sys

import attnx

task, model = f"csv:file={sys.argv[2]}", f"hf-classifier:checkpoint={sys.argv[1]}"
scores = [*(f"cls-attention:layer={n}" for n in (-3, -2, -1)), "rollout", "gradient-rollout", "loo"]
tests = ["comprehensiveness", "sufficiency"]
report = attnx.evaluate(task, model, explanations=scores, metrics=tests, training={"epochs": 0})  # as it is
for name in scores:
    lost = report.select("aopc", metric="comprehensiveness", explanation=name)
    print(f"{name:<24} {lost.shown} (random {lost.baselines['random']:.3f}); {report.verdict(name)}")
