"""Package sources go through the user's own pip or npm and run nothing of the package."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Server, serving, whole

from attnx.data import cache as cache_module
from attnx.data import packages
from attnx.data.cache import Cache
from attnx.errors import DataError
from attnx.registry.datasets import PackageSource


def wheel(folder: Path, version: str = "1.0", python: str = ">=3.0") -> Path:
    """Write a wheel with one data file, and code that must never run."""
    info = f"demo_data-{version}.dist-info"
    files = {
        "demo_data/__init__.py": "raise SystemExit('imported')",
        "demo_data/x.csv": f"rows of {version}",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: demo-data\nVersion: {version}\n"
        f"Requires-Python: {python}\nRequires-Dist: nothing-of-this-name\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"demo_data-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def pypi(archive: Path | None = None, **changes: str) -> PackageSource:
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest() if archive else "0" * 64
    facts = {"package": "demo-data", "index": "pypi", "version": "1.0", "sha256": sha256, "bytes": 1000}
    return PackageSource.model_validate(facts | {"members": {"x.csv": "demo_data/x.csv"}} | changes)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows of the world."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def visible(cache: Cache) -> list[Path]:
    return [path for path in cache.root.iterdir() if not path.name.endswith(".lock")]


def test_a_wheel_is_downloaded_and_its_member_unpacked(index: Path, cache: Cache) -> None:
    wheel(index, "2.0")
    source = pypi(wheel(index))
    folder = cache.obtain(source, "demo")
    assert (folder / "x.csv").read_text() == "rows of 1.0"
    assert sorted(path.name for path in folder.iterdir()) == [cache_module.MANIFEST, "x.csv"]
    assert visible(cache) == [folder]


def test_the_python_a_package_asks_for_does_not_matter(index: Path, cache: Cache) -> None:
    assert cache.obtain(pypi(wheel(index, python="<3")), "demo").is_dir()


def test_a_wheel_with_another_hash_is_never_opened(
    index: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(index)
    opened: list[object] = []
    monkeypatch.setattr(cache_module, "extract", lambda *args: opened.append(args))
    with pytest.raises(DataError, match=r"^pypi package demo-data 1\.0 has sha256 \w+, expected 0{64}$"):
        cache.obtain(pypi(), "demo")
    assert opened == []
    assert visible(cache) == []


def test_an_unknown_version_is_one_line(index: Path, cache: Cache) -> None:
    wheel(index, "2.0")
    with pytest.raises(DataError, match=r"^pypi package demo-data 1\.0: No matching distribution .*$"):
        cache.obtain(pypi(), "demo")
    assert visible(cache) == []


def test_an_sdist_is_refused_and_its_code_does_not_run(index: Path, cache: Cache, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')".encode()
    with tarfile.open(index / "demo-data-1.0.tar.gz", "w:gz") as archive:
        for name, text in {"setup.py": code, "PKG-INFO": b"Name: demo-data\nVersion: 1.0\n"}.items():
            entry = tarfile.TarInfo(f"demo-data-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    with pytest.raises(DataError, match="No matching distribution"):
        cache.obtain(pypi(), "demo")
    assert not ran.exists()


def test_a_python_without_pip_is_told_what_to_do(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"needs pip.*ensurepip"):
        cache.obtain(pypi(), "demo")


def test_a_machine_without_npm_is_told(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    with pytest.raises(DataError, match="needs npm, which is not installed"):
        cache.obtain(pypi(index="npm"), "demo")


def test_an_interrupt_ends_the_client_and_leaves_nothing(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(6000)"
    monkeypatch.setattr(packages, "_pip", lambda source, folder: ([sys.executable, "-c", code], "*.whl"))

    def interrupt(folder: Path) -> int:
        if pid.exists() and pid.read_text():
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(packages, "_size", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.obtain(pypi(), "demo")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert visible(cache) == []


def test_an_index_that_does_not_answer_is_not_an_unknown_version(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "1", "CONFIG_FILE": os.devnull}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(
        DataError, match=r"^pypi package demo-data 1\.0: the package index cannot be reached; "
    ):
        cache.obtain(pypi(), "demo")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("npm error code E404\nnpm error 404 Not Found - GET http://x/demo\n", "404 Not Found - GET http://x/demo"),
        ("npm ERR! code E404\nnpm ERR! path x\nnpm ERR! 404  'demo' is not here\n", "404 'demo' is not here"),
        ("npm ERR! code EX\nnpm ERR! errno 1\nnpm ERR! network bad gateway\n", "network bad gateway"),
        ("npm ERR! code ENOTFOUND\nnpm ERR! network request failed\n", None),
        ("npm error code ECONNREFUSED\n", None),
        ("npm error code EAI_AGAIN\n", None),
        ("WARNING: Retrying (Retry(total=0)) after x\nERROR: No matching distribution found for x\n", None),
    ],
)  # fmt: skip
def test_what_a_client_says_becomes_one_line(said: str, told: str | None) -> None:
    assert packages._client_error(said).startswith(told or "the package index cannot be reached")


def test_passwords_of_an_index_are_not_repeated() -> None:
    said = "WARNING: x\nERROR: 401 Client Error for url: https://me:secret@index.example/simple/demo/\n"
    assert packages._client_error(said) == "401 Client Error for url: https://index.example/simple/demo/"


@pytest.mark.parametrize(
    "name", ["--index-url=http://x", "../demo", "git+https://x/y", "a b", "demo @ file:///x", ""]
)
@pytest.mark.parametrize("index", ["pypi", "npm"])
def test_a_name_that_is_more_than_a_name_is_refused(name: str, index: str) -> None:
    with pytest.raises(ValueError, match="is not a package name"):
        pypi(package=name, index=index)


@pytest.mark.parametrize("version", ["", "latest", ">=1", "1.0 --pre", "1.*", "-1", "1.0\n"])
def test_a_version_that_is_not_pinned_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="version"):
        pypi(version=version)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that is all npm knows of the world."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        settings = {
            "registry": f"http://127.0.0.1:{server.server_port}/",
            "cache": str(tmp_path / "npm-cache"),
            "userconfig": os.devnull,
            "update_notifier": "false",
            "fetch_retries": "0",
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"npm_config_{name}", value)
        yield server


def publish(server: Server, files: dict[str, bytes]) -> bytes:
    """Put a package on the server, and return its tarball."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    tarball = server.at("/demo-data/-/demo-data-1.0.0.tgz", whole(packed.getvalue()))
    shasum = hashlib.sha1(packed.getvalue()).hexdigest()
    version = {"name": "demo-data", "version": "1.0.0", "dist": {"tarball": tarball, "shasum": shasum}}
    document = {"name": "demo-data", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    server.at("/demo-data", whole(json.dumps(document).encode(), Content_Type="application/json"))
    return packed.getvalue()


def test_an_npm_tarball_is_downloaded_and_its_scripts_do_not_run(
    registry: Server, cache: Cache, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    scripts = dict.fromkeys(("prepare", "prepack", "install", "postinstall"), f"touch {ran}")
    package = json.dumps({"name": "demo-data", "version": "1.0.0", "scripts": scripts}).encode()
    tarball = publish(registry, {"package.json": package, "x.csv": b"rows"})
    source = pypi(index="npm", version="1.0.0", sha256=hashlib.sha256(tarball).hexdigest())
    source = source.model_copy(update={"members": {"x.csv": "package/x.csv"}})
    folder = cache.obtain(source, "demo")
    assert (folder / "x.csv").read_bytes() == b"rows"
    assert not ran.exists()
    assert visible(cache) == [folder]


def test_an_npm_registry_that_does_not_answer_is_told(
    registry: Server, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    with pytest.raises(
        DataError, match=r"^npm package demo-data 1\.0: the package index cannot be reached; "
    ):
        cache.obtain(pypi(index="npm"), "demo")


def test_an_npm_version_that_is_not_there_is_one_line(registry: Server, cache: Cache) -> None:
    publish(registry, {"package.json": b'{"name": "demo-data", "version": "1.0.0"}'})
    with pytest.raises(DataError, match=r"^npm package demo-data 9\.9\.9: notarget No matching version .*$"):
        cache.obtain(pypi(index="npm", version="9.9.9"), "demo")
    assert visible(cache) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no signal for a parent's death")
def test_a_client_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from attnx.data.packages import _run\n"
        "client = 'import os, time; open(\\'pid.new\\', \\'w\\').write(str(os.getpid()));'"
        " 'os.rename(\\'pid.new\\', \\'pid\\'); time.sleep(6000)'\n"
        "_run([sys.executable, '-c', client], {}, Path(sys.argv[1]), lambda: None)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) as parent:
        deadline = time.monotonic() + 600
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        client = Path("/proc") / (tmp_path / "pid").read_text()
        assert client.exists()
        parent.kill()
    deadline = time.monotonic() + 600
    while client.exists() and "Z" not in (client / "stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the client goes on"
        time.sleep(0.05)
