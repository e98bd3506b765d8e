"""The newcomer's path runs from end to end, and every step prints what docs/newcomer.md says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_newcomers_path_works(tmp_path, home):
    page = (ROOT / "docs" / "newcomer.md").read_text(encoding="utf-8")
    runs = {}  # the names that stand for runs, by what they stand for
    steps = 0
    for language, block in re.findall(r"```(sh|python)\n(.*?)```", page, re.DOTALL):
        if language == "python":
            code = f"import attnx\nRUN = {runs['RUN']!r}\n{block}"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert len(done.stdout.splitlines()) == 10
            continue
        for chunk in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = chunk.partition("\n")
            words = shlex.split(command.replace("FIGURES", str(tmp_path / "figures")))
            words = [runs.get(word, word) for word in words]
            program = [sys.executable, "-c", "from attnx.cli.app import main; main()", *words[1:]]
            done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, check=False)
            output = done.stdout + done.stderr
            assert done.returncode == 0, output
            if words[1] == "evaluate":
                name = Path(output.splitlines()[-1].removeprefix("run: ")).parent.name
                runs["OTHER" if runs else "RUN"] = name
            lines = iter(output.splitlines())
            for line in filter(None, shown.splitlines()):
                pattern = ".*".join(re.escape(part) for part in line.split("..."))
                assert any(re.fullmatch(pattern, found.rstrip()) for found in lines), f"{line!r}\n{output}"
            steps += 1
    assert steps == 8
