"""The newcomer's path runs from end to end, and every step prints what docs/newcomer.md shows."""

import contextlib
import io
import re
from pathlib import Path

from documented import ROOT, assert_shown, commands, run, words_of

import attnx


def test_the_newcomers_path_works(tmp_path, home):
    page = (ROOT / "docs" / "newcomer.md").read_text(encoding="utf-8")
    names = {"FIGURES": str(tmp_path / "figures")}  # and the names of runs, once they are known
    steps = 0
    for language, block in re.findall(r"```(sh|python)\n(.*?)```", page, re.DOTALL):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(block, {"attnx": attnx, "RUN": names["RUN"]})
            assert len(printed.getvalue().splitlines()) == 10
            continue
        for command, shown in commands(block):
            words = words_of(command, names)
            code, output = run(words)
            assert code == 0, output
            if words[0] == "evaluate":
                path = Path(output.splitlines()[-1].partition(": ")[2])
                names["OTHER" if "RUN" in names else "RUN"] = path.parent.name
            assert_shown(shown, output)
            steps += 1
    assert steps == 8
