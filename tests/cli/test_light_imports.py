"""Help, lists and refusals answer without importing anything heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "scipy", "sklearn", "transformers", "numba", "pandas", "matplotlib")

PROGRAM = f"""
import sys
from attnx.cli.app import main
try:
    main()
except SystemExit as left:
    print("code", left.code)
print("heavy", [name for name in {HEAVY!r} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, ["--help"]),
        (0, ["evaluate", "--help"]),
        (0, ["--version"]),
        (0, ["list"]),
        (0, ["list", "tasks"]),
        (0, ["info", "fcam"]),
        (0, ["info", "sparsegen"]),
        (0, ["plugins"]),
        (0, ["runs"]),
        (0, ["runs", "weights"]),
        (2, ["runs", "prune"]),
        (2, ["compare", "a", "b"]),
        (2, ["evaluate", "--task", "sdc-digit"]),
        (2, ["info", "sparsegn"]),
        (0, ["info", "comprehensiveness"]),
        (0, ["reproduce", "--list"]),
        (2, ["reproduce"]),
        (2, ["reproduce", "sdc-tabel-2"]),
        (2, ["reproduce", "sdc-table-2", "--size", "smal"]),
        (2, ["audit", "kendal"]),
        (2, ["audit", "--task", "planted-pronouns:labels=permuted"]),
        (2, ["evaluate", "--model", "fcam:fcous=mlp"]),
        (2, ["evaluate", "--projection", "sparsegen:lam=1"]),
        (2, ["evaluate", "--seeds", "one"]),
        (2, ["evaluate", "--metric", "focus", "--metric", "focus"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_nothing_heavy_is_imported(code: int, arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=os.environ | {"ATTNX_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines()[-2:] == [f"code {code}", "heavy []"], done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["evaluate", "--help"]], ids=" ".join)
def test_what_only_lists_names_does_without_validation(arguments: list[str]) -> None:
    """Importing pydantic and parsing YAML would double the time of `attnx list`."""
    program = PROGRAM.replace(repr(HEAVY), repr(("pydantic", "yaml")))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["code 0", "heavy []"], done.stderr


def test_the_probe_sees_what_is_imported() -> None:
    program = PROGRAM.replace("from attnx.cli.app", "sys.modules['numba'] = sys\nfrom attnx.cli.app")
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, timeout=120, check=True
    )
    assert "numba" in done.stdout.splitlines()[-1]


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
    done = subprocess.run(
        [sys.executable, "-c", program, *asked], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["code 2", "heavy []"], done.stderr
    assert "needs known important units" in done.stderr
