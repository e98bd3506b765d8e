"""Does a language model's answer hang on the words it attends to?

Usage: python examples/09_own_language_model.py CHECKPOINT FILE.csv WORD+WORD

CHECKPOINT is a folder that the language model was saved into, FILE.csv has the columns text and label,
and the words are what the model is to answer for the labels in alphabetical order.
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
print(f"weights dealt out at random change p by {report.select('median').shown}")
