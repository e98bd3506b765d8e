"""What attnx rests on: its licences, its pins, and files that are what their packages say."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest

from supply.audit import changed_files, locked, other_versions
from supply.licences import licence_of, problem
from supply.lock import LOCK, lines
from supply.packages import canonical, installed

ROOT = Path(__file__).parents[2]


def test_every_dependency_has_a_licence_that_fits() -> None:
    packages = installed()
    assert {"torch", "numpy", "pydantic", "hypothesis"} <= packages.keys()
    wrong = {name: licence_of(name, package) for name, package in packages.items()}
    assert {name: licence for name, licence in wrong.items() if problem(licence)} == {}


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("MIT", ""),
        ("Apache-2.0 OR BSD-2-Clause", ""),
        ("GPL-3.0-only OR MIT", ""),
        ("GPL-3.0-or-later", "refused"),
        ("MIT AND GPL-2.0-only", "refused"),
        ("GNU Affero General Public License v3", "refused"),
        ("CC-BY-NonCommercial-4.0", "refused"),
        ("", "unknown"),
        ("Proprietary", "unknown"),
    ],
)
def test_licences_that_are_unknown_or_ask_for_more_are_refused(licence: str, said: str) -> None:
    assert problem(licence) == said


def test_the_lock_has_a_hash_for_every_package_and_no_address() -> None:
    pins = locked()
    assert installed().keys() <= pins.keys()
    assert "://" not in LOCK.read_text(encoding="utf-8")
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    agreed = dict(re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.MULTILINE))
    ours = {canonical(name): version for name, version in agreed.items()}
    assert {name: pins[name].partition("+")[0] for name in ours if name in pins} == {
        name: version for name, version in ours.items() if name in pins
    }


def test_a_report_of_pip_becomes_a_line_with_a_hash() -> None:
    one: dict[str, Any] = {"metadata": {"name": "Zict", "version": "3"}}
    one["download_info"] = {"archive_info": {"hashes": {"sha256": "a" * 64}}}
    assert lines([one]) == [f"zict==3 --hash=sha256:{'a' * 64}"]


def test_another_version_is_told() -> None:
    package = distribution("pluggy")
    assert other_versions({"pluggy": package}, {"pluggy": package.version}) == []
    (said,) = other_versions({"pluggy": package}, {"pluggy": "0.1"})
    assert said == f"pluggy {package.version} is installed, and 0.1 is locked"


def test_a_file_that_was_changed_after_its_installation_is_told(tmp_path: Path) -> None:
    assert changed_files(distribution("pluggy")) == []
    about = tmp_path / "own-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    sha256 = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"  # of nothing
    (about / "RECORD").write_text(f"own.py,sha256={sha256},0\ngone.py,sha256={sha256},0\n")
    (tmp_path / "own.py").write_text("")
    (tmp_path / "gone.py").write_text("")
    package = Distribution.at(about)
    assert changed_files(package) == []
    (tmp_path / "own.py").write_text("import os")
    (tmp_path / "gone.py").unlink()
    assert changed_files(package) == [
        f"{tmp_path}/own.py is not what its package says",
        f"{tmp_path}/gone.py is missing",
    ]
