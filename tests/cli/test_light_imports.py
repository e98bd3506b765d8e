"""Help, lists and refusals answer without importing anything heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "scipy", "sklearn", "transformers", "numba", "pandas", "matplotlib", "requests")

PROGRAM = f"""
import json, sys
from attnx.cli.app import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["attnx", *arguments]
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    print("\\nprobed", json.dumps([arguments, code, heavy]))
"""
COMMANDS = (
    (0, "--help"),
    (0, "evaluate --help"),
    (0, "--version"),
    (0, "list"),
    (0, "list tasks"),
    (0, "info fcam"),
    (0, "info sparsegen"),
    (0, "plugins"),
    (0, "runs"),
    (0, "data list"),
    (4, "data where imdb"),
    (0, "runs weights"),
    (2, "runs prune"),
    (2, "compare a b"),
    (2, "evaluate --task sdc-digit"),
    (2, "info sparsegn"),
    (0, "info comprehensiveness"),
    (0, "reproduce --list"),
    (2, "reproduce"),
    (2, "reproduce sdc-tabel-2"),
    (2, "reproduce sdc-table-2 --size smal"),
    (2, "audit kendal"),
    (2, "audit --task planted-pronouns:labels=permuted"),
    (2, "evaluate --model fcam:fcous=mlp"),
    (2, "evaluate --projection sparsegen:lam=1"),
    (2, "evaluate --seeds one"),
    (2, "evaluate --metric focus --metric focus"),
)


def probe(
    commands: list[list[str]], home: Path, program: str = PROGRAM
) -> list[tuple[list[str], int, list[str]]]:
    """Run commands one after another in one clean process: exit code and heavy modules after each."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(commands)],
        env=os.environ | {"ATTNX_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=True,
    )
    probed = [line for line in done.stdout.splitlines() if line.startswith("probed ")]
    return [tuple(json.loads(line.removeprefix("probed "))) for line in probed]  # type: ignore[misc]


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    asked = [command.split() for _, command in COMMANDS]
    expected = [(words, code, []) for words, (code, _) in zip(asked, COMMANDS, strict=True)]
    assert probe(asked, tmp_path) == expected


def test_what_only_lists_names_does_without_validation(tmp_path: Path) -> None:
    """Importing pydantic and parsing YAML would double the time of `attnx list`."""
    program = PROGRAM.replace(repr(HEAVY), repr(("pydantic", "yaml")))
    asked = [["--help"], ["list"], ["evaluate", "--help"]]
    assert probe(asked, tmp_path, program) == [(words, 0, []) for words in asked]


def test_the_probe_sees_what_is_imported(tmp_path: Path) -> None:
    program = PROGRAM.replace("from attnx.cli.app", "sys.modules['numba'] = sys\nfrom attnx.cli.app")
    assert probe([["--version"]], tmp_path, program) == [(["--version"], 0, ["numba"])]


def test_a_refused_pairing_imports_nothing_heavy(tmp_path: Path) -> None:
    """A task without rationales cannot be judged by focus; the source of its class says so."""
    (tmp_path / "heavy.py").write_text("import torch\nclass Bare:\n    provides = ('words',)\n")
    (tmp_path / "bare_plugin.py").write_text(
        "from attnx.plugin import Card, hookimpl\n"
        "@hookimpl\n"
        "def attnx_tasks():\n"
        "    return [Card('bare', 'heavy:Bare', recommends=('fcam-words',))]\n"
    )
    metadata = tmp_path / "bare-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bare\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[attnx]\nbare = bare_plugin\n")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{PROGRAM}"
    asked = ["evaluate", "--task", "bare", "--metric", "focus"]
    assert probe([asked], tmp_path, program) == [(asked, 2, [])]


UNUSED = ("torch._dynamo", "torch._inductor", "sklearn", "scipy.stats", "pandas", "transformers", "captum")


def test_a_whole_evaluation_imports_only_what_it_uses(tmp_path: Path) -> None:
    """Torch's compiler, scikit-learn and pandas are no part of training, measuring or the page.

    Kendall's τ is announced without torch, and computed without scipy and numba.
    """
    program = f"""
import json, sys, attnx_agreement
attnx_agreement.attnx_metrics()
assert "torch" not in sys.modules
import attnx_agreement.kendall
assert not {{"scipy", "numba"}} & set(sys.modules)
from attnx.cli.app import main
sys.argv = "attnx evaluate --task sdc-2d:train=20,dev=10,test=10 --model fcam --train epochs=1".split()
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
print("\\nunused", json.dumps([name for name in {UNUSED!r} if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ATTNX_HOME": str(tmp_path)},
    )
    assert done.stdout.splitlines()[-1] == "unused []", done.stdout[-500:] + done.stderr[-2000:]
    assert (tmp_path / "runs").exists()
