"""A file with two columns of text: attention over the answer, with the question as the query."""

import tempfile
from itertools import permutations, product
from pathlib import Path

import attnx

facts = product(permutations(("hat", "coat", "scarf"), 2), product(("red", "blue"), repeat=2))
rows = [f"the {a} is {x} and the {b} is {y},what colour is the {a},{x}" for (a, b), (x, y) in facts]
file = Path(tempfile.mkdtemp()) / "pairs.csv"
file.write_text("\n".join(["answer,question,label", *rows * 4]) + "\n")

task = f"csv:file={file},text=answer,query=question"
report = attnx.evaluate(task, "bilstm-add:embedding=16,hidden=16", metrics=["comprehensiveness", "entropy"])
for s in report.summaries:
    print(f"{s.metric:<20} {s.measure:<20} {s.group:<10} {s.shown}")
print(f"accuracy {report.quality[0].accuracy:.3f}")
