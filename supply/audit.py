"""What can be told of the installed packages without a network: `python -m supply.audit`.

Every package has the version of requirements.lock, every file of it is what its package says it is, and all
fit each other. Known weaknesses are asked of pip-audit where that is installed and reaches its service.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from importlib.metadata import Distribution
from importlib.util import find_spec

from .lock import LOCK
from .packages import canonical, installed

LINE = re.compile(r"(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})")


def locked() -> dict[str, str]:
    """The versions in requirements.lock by name."""
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), "a line of requirements.lock is not NAME==VERSION --hash=sha256:HASH"
    return {canonical(one[1]): one[2] for one in found if one}


def other_versions(packages: dict[str, Distribution], pins: dict[str, str]) -> list[str]:
    """Packages that are installed in another version than the one that is locked, or not locked."""
    return [
        f"{name} {package.version} is installed, and {pins.get(name, 'nothing')} is locked"
        for name, package in sorted(packages.items())
        if pins.get(name) != package.version
    ]


def changed_files(package: Distribution) -> list[str]:
    """Files of a package that are missing, or not what its list says."""
    wrong = []
    for file in package.files or ():
        if file.hash is None or file.hash.mode != "sha256":
            continue
        path = file.locate()
        try:
            with open(path, "rb") as content:
                digest = hashlib.file_digest(content, "sha256").digest()
        except FileNotFoundError:
            wrong.append(f"{path} is missing")
            continue
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            wrong.append(f"{path} is not what its package says")
    return wrong


def main() -> None:
    """Tell what is wrong, and leave with 1 where anything is."""
    packages = installed()
    wrong = other_versions(packages, locked())
    files = 0
    for package in packages.values():
        files += len(package.files or ())
        wrong += changed_files(package)
    print("\n".join([*wrong, f"{len(packages)} packages, {files} files, {len(wrong)} wrong"]))
    if find_spec("pip_audit") is None:
        print("known weaknesses: not asked, pip-audit is not installed")
        sys.exit(1 if wrong else 0)
    asked = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--strict", "--disable-pip", "--no-deps", "-r", str(LOCK)]
    )
    sys.exit(1 if wrong or asked.returncode else 0)


if __name__ == "__main__":
    main()
