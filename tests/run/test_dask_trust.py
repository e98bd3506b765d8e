"""Whom a Dask cluster is trusted to, and what its workers may send back."""

from __future__ import annotations

import datetime
import socket
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from test_dask import cluster, free_port, reports
from test_sweep import sweep

import attnx
from attnx.errors import DataError, UsageError
from attnx.run.workers.dask_cluster import NOBODY, Trust, check_trust, dask_executor
from attnx.run.workers.executors import Workers, choose_run_workers, choose_workers
from attnx.run.workers.jobs import JobOutput, receive

FAR = ["tcp://node1:8786", "node1:8786", "tcp://10.0.0.7:8786", "10.0.0.7:8786", "tcp://[2001:db8::1]:8786"]
FAR += ["ucx://node1:8786", "ws://node1:8786", "tcp://127.0.0.1.example.org:8786", "tcp://localhost.org:1"]
FAR += ["tcp://0.0.0.0:8786", "tcp://user@node1:8786", "tcp://127.0.0.1@node1:8786"]
NEAR = ["tcp://127.0.0.1:8786", "localhost:8786", "127.0.0.1:8786", "tcp://[::1]:8786", "tcp://127.3.2.1:1"]


@pytest.fixture
def files(tmp_path: Path) -> Trust:
    return Trust(**{name: str(path) for name, path in certificates(tmp_path).items()})


def certificates(folder: Path) -> dict[str, Path]:
    """A certificate that vouches for itself, as for a cluster of one person."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, folder.name)])
    now = datetime.datetime.now(tz=datetime.UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    made = {"ca": folder / "cert.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}
    made["cert"].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    made["key"].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


@pytest.mark.parametrize("address", FAR)
def test_a_scheduler_elsewhere_needs_tls_or_a_word(address: str) -> None:
    with pytest.raises(UsageError, match="does not use TLS: anyone on the network could run code"):
        check_trust(address, NOBODY)
    check_trust(address, Trust(insecure=True))


@pytest.mark.parametrize("address", NEAR)
def test_a_scheduler_of_this_machine_is_used(address: str) -> None:
    check_trust(address, NOBODY)


@pytest.mark.parametrize(
    "address",
    [
        *("", "tcp://", "tcp://:8786", "tcp://[::1:8786", "tcp://node:x", "tls://"),
        *(" tls://tcp://", " tls://node:1", "tls://node:1\n", "t\nls://node:1", "tls://tcp://node:1"),
        *("tls://node:1/x", "tls://node:1?x", "tls://node:1#x"),
    ],
)
def test_what_is_no_address_is_a_mistake(address: str) -> None:
    if address:
        with pytest.raises(UsageError, match="is not an address of a scheduler"):
            check_trust(address, Trust(insecure=True))
    else:
        check_trust(address, NOBODY)


def test_certificates_are_checked_before_anything_runs(files: Trust, tmp_path: Path) -> None:
    check_trust("tls://node1:8786", files)
    with pytest.raises(UsageError, match="--tls-cert and --tls-key must be given too"):
        check_trust("tls://node1:8786", Trust(ca=files.ca))
    with pytest.raises(
        UsageError, match=r"--tls-key: there is no file '.*keys.pem'. Did you mean '.*key.pem'"
    ):
        check_trust("tls://node1:8786", Trust(files.ca, files.cert, str(tmp_path / "keys.pem")))
    with pytest.raises(UsageError, match="Certificates need a scheduler that uses TLS"):
        check_trust("tcp://127.0.0.1:8786", files)
    with pytest.raises(UsageError, match="name it with --scheduler"):
        check_trust("", files)
    with pytest.raises(UsageError, match="name it with --scheduler"):
        choose_run_workers(None, None, "", Trust(insecure=True))
    with pytest.raises(UsageError, match=r"Unknown key 'crt' of tls. Did you mean 'cert'"):
        Trust.given({"crt": "x"})
    assert choose_workers(None, None, "tls://node1:8786", files).trust == files


@pytest.mark.parametrize("command", ["evaluate", "sweep", "reproduce"])
def test_every_command_with_workers_refuses_an_open_scheduler(command: str, cli: Any) -> None:
    asked = ["sdc-figure-5"] if command == "reproduce" else ["--task", "sdc-2d"]
    code, out, err = cli(command, *asked, "--executor", "dask", "--scheduler", "tcp://node1:8786")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: Scheduler 'tcp://node1:8786' is on another machine")
    code, _, err = cli(
        command, *asked, "--executor", "dask", "--scheduler", "tls://node1:8786", "--tls-ca", "no"
    )
    assert code == 2
    assert "--tls-cert and --tls-key must be given too" in err


def test_python_refuses_an_open_scheduler() -> None:
    for function in (attnx.evaluate, attnx.sweep):
        with pytest.raises(UsageError, match="does not use TLS"):
            function("sdc-2d", scheduler="tcp://node1:8786", progress=False)
    with pytest.raises(UsageError, match="does not use TLS"):
        attnx.reproduce("sdc-figure-5", scheduler="tcp://node1:8786", progress=False)


OUTSIDE = ["../x", "/etc/passwd", "weights/../../x", "weights/a/../../x", "runs/a", "data/a/b", "x", "", "."]
OUTSIDE += [
    "weights/a/b/c",
    "runs/.hidden/report.json",
    "runs/a/.lines.json",
    "runs//b",
    "weights/a/b\n",
    "~/x",
]
OUTSIDE += ["runs/a/b\0c", "runs\\a\\b", "weights/a/", "./weights/a/b", "runs/a/..", "runs/../b", "runs/é/b"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_worker_stores_nothing_outside_weights_and_runs(path: str, home: Path) -> None:
    whole = ("weights/0123456789abcdef/weights.safetensors", b"good")
    with pytest.raises(DataError, match="A worker sent the file"):
        receive(JobOutput("", (whole, (path, b"bad"))))
    assert not [one for one in home.parent.rglob("*") if one.is_file()]
    receive(JobOutput("", (whole,)))
    assert (home / whole[0]).read_bytes() == b"good"


def refused(address: str, security: Any = None) -> bool:
    from distributed import Client

    try:
        Client(address, timeout=5, set_as_default=False, security=security).close()
    except (OSError, TimeoutError, TypeError):
        return True
    return False


@pytest.mark.slow
def test_a_cluster_that_is_started_here_lets_nobody_else_in() -> None:
    from distributed.security import Security

    with dask_executor("", 1) as executor:
        assert executor.submit(int, "7").result() == 7
        address = executor._client.scheduler.address  # type: ignore[attr-defined]
        assert address.startswith("tls://127.0.0.1:")
        worker = next(iter(executor._client.scheduler_info()["workers"]))  # type: ignore[attr-defined]
        assert worker.startswith("tls://127.0.0.1:")
        assert refused(address.replace("tls", "tcp"))
        assert refused(address, Security.temporary())


@pytest.mark.slow
def test_a_cluster_with_tls_gives_the_same_reports_and_refuses_other_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = certificates(tmp_path / "mine"), certificates(tmp_path / "other")
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "home"))
    local = reports(sweep())
    monkeypatch.setenv("ATTNX_HOME", str(tmp_path / "driver"))
    with cluster(tls=mine) as (address, _, _):
        assert address.startswith("tls://")
        trust = Trust.given(mine)
        assert reports(sweep(workers=Workers("dask", 0, address, trust))) == local
        with (
            pytest.raises(UsageError, match="No Dask scheduler answers at"),
            dask_executor(address, 1, Trust.given(other)),
        ):
            pass


@pytest.mark.slow
def test_a_scheduler_that_does_not_speak_or_is_not_there_is_one_line(files: Trust) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        there = f"127.0.0.1:{silent.getsockname()[1]}"
        for address in (f"tcp://{there}", f"tls://{there}", f"tcp://127.0.0.1:{free_port()}"):
            trust = files if address.startswith("tls") else NOBODY
            with (
                pytest.raises(UsageError, match="No Dask scheduler answers at") as caught,
                dask_executor(address, 1, trust),
            ):
                pass
            assert "\n" not in str(caught.value)
