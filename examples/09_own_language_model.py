"""Does a language model's answer hang on the words it attends to?

Usage: python examples/09_own_language_model.py CHECKPOINT FILE.csv WORD+WORD

CHECKPOINT is a folder that the language model was saved into, FILE.csv has the columns text and label,
and the words are what the model is to answer for the labels in alphabetical order.
"""

import sys

import attnx

checkpoint, file, words = sys.argv[1:]
explanations = ["attention", "rollout", "gradient", "loo"]
report = attnx.evaluate(
    f"csv:file={file}",
    f"hf-causal:checkpoint={checkpoint},labels={words},template={{text}} It was",
    explanations=explanations,
    metrics=["comprehensiveness", "permutation"],
    training={"epochs": 0},  # asked as it is; more epochs fine-tune it
)
print(f"accuracy {report.quality[0].accuracy:.3f}, majority {report.quality[0].majority:.3f}")
for name in explanations:
    print(f"{name:<10} {report.select('aopc', metric='comprehensiveness', explanation=name).shown}")
print(f"weights dealt out at random change p by {report.select('median').shown}")
