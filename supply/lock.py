"""Write requirements.lock: every package that an installation takes, its version and the hash of its file.

`python -m supply.lock` asks pip what it would install from the pins in constraints.txt, on this platform and
from wherever pip is set to look; nothing is installed. Addresses are not written down: a hash needs none.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Written by `make lock` for CPython {version} on {platform}; `make install-locked` installs it.
# torch is the build for CPUs: pip must be told where those are, as for any installation of it.
"""


def wanted() -> list[str]:
    """What the project asks for itself, with everything that its tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    chosen = ("dev", "dask", "language", "pandas")
    asked = [*project["dependencies"], *(one for name in chosen for one in extras[name])]
    return [one for one in asked if not one.startswith("attnx")]


def resolve() -> list[dict[str, Any]]:
    """What pip would install, as its report has it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--quiet", "--dry-run", "--ignore-installed", "--report", str(report)]
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *pins, *wanted()], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return found


def lines(found: list[dict[str, Any]]) -> list[str]:
    """One line for each package, in the order of their names."""
    pinned = []
    for one in found:
        about, hashes = one["metadata"], one["download_info"]["archive_info"]["hashes"]
        pinned.append(f"{about['name'].lower()}=={about['version']} --hash=sha256:{hashes['sha256']}")
    return sorted(pinned)


def main() -> None:
    """Write the file."""
    version = ".".join(map(str, sys.version_info[:2]))
    text = HEADER.format(version=version, platform=sys.platform) + "\n".join(lines(resolve())) + "\n"
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(text.splitlines()) - 2} packages")


if __name__ == "__main__":
    main()
