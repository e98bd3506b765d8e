"""Write docs/reproduced.md."""

from attnx.components import experiments

from .page import page
from .results import ROOT, Stored

if __name__ == "__main__":
    (ROOT / "docs" / "reproduced.md").write_text(page(Stored.read(experiments())), encoding="utf-8")
