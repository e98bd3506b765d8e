"""A file of your own with two columns of text: attention on the answer, the question as the query."""

import csv
import tempfile
from pathlib import Path

import attnx

COLOURS, THINGS = ("red", "blue"), ("hat", "coat", "scarf")
rows = [
    (f"the {a} is {x} and the {b} is {y}", f"what colour is the {a}", x)
    for a in THINGS for b in THINGS if a != b for x in COLOURS for y in COLOURS for _ in range(4)
]  # fmt: skip
file = Path(tempfile.mkdtemp()) / "pairs.csv"
with file.open("w", newline="") as opened:
    csv.writer(opened).writerows([("answer", "question", "label"), *rows])

task = f"csv:file={file},text=answer,query=question"
report = attnx.evaluate(
    task, "bilstm-add:embedding=16,hidden=16", metrics=["comprehensiveness", "sufficiency", "entropy"]
)
for s in report.summaries:
    if s.group == "all":
        print(f"{s.metric:<20} {s.measure:<20} {s.shown}")
print(f"accuracy {report.quality[0].accuracy:.3f}")
