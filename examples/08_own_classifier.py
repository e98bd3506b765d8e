"""Which layer's attention of your own Hugging Face classifier can be read?

Usage: python examples/08_own_classifier.py CHECKPOINT FILE.csv

CHECKPOINT is a folder that the classifier was saved into, FILE.csv has the columns text and label.
"""

import sys

import attnx

checkpoint, file = sys.argv[1:]
explanations = [
    *(f"cls-attention:layer={layer}" for layer in (-3, -2, -1)),
    "rollout",
    "gradient-rollout",
    "loo",
]
report = attnx.evaluate(
    f"csv:file={file}",
    f"hf-classifier:checkpoint={checkpoint}",
    explanations=explanations,
    metrics=["comprehensiveness", "sufficiency"],
    training={"epochs": 0},  # measured as it is
)
for name in explanations:
    lost = report.select("aopc", metric="comprehensiveness", explanation=name)
    print(f"{name:<24} {lost.shown} (random {lost.baselines['random']:.3f}); {report.verdict(name)}")
