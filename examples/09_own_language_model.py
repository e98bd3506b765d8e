"""Does the answer of a language model depend on the words it attends to?

Usage: python examples/09_own_language_model.py CHECKPOINT FILE.csv WORD+WORD

CHECKPOINT is the folder that the language model was saved to; FILE.csv has the columns text and label. The
words are the answers that stand for the labels, which are taken in alphabetical order.
"""

import sys

import attnx

model = f"hf-causal:checkpoint={sys.argv[1]},labels={sys.argv[3]},template={{text}} It was"
scores, tests = ["attention", "rollout", "gradient", "loo"], ["comprehensiveness", "permutation"]
asked_as_it_is = {"explanations": scores, "metrics": tests, "training": {"epochs": 0}}
report = attnx.evaluate(f"csv:file={sys.argv[2]}", model, **asked_as_it_is)
print(f"accuracy {report.quality[0].accuracy:.3f}, majority {report.quality[0].majority:.3f}")
for name in scores:
    print(f"{name:<10} {report.select('aopc', metric='comprehensiveness', explanation=name).shown}")
print(f"permuting the weights at random changes p by {report.select('median').shown}")
