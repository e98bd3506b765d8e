"""A Dask cluster: whom it is trusted to, and an executor on it.

Whoever can connect to a Dask scheduler can run code on its workers and in the driver. So a cluster that is
started here lets nobody in without the certificate that it makes for itself, and one elsewhere is used only
over TLS, on this machine, or if the person says that its network is trusted.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import UsageError, did_you_mean, did_you_mean_path

ANSWER = 10.0  # seconds that a Dask scheduler has to answer
PORT = 8786  # where a Dask scheduler listens if nothing is said
ENCRYPTED = ("tls", "wss")  # protocols of Dask that use certificates
PROTOCOLS = (*ENCRYPTED, "tcp", "ucx", "ws")


@dataclass(frozen=True, slots=True)
class Trust:
    """Why a Dask scheduler may be connected to: files of certificates, or because the person says so."""

    ca: str = ""  # whose certificates are accepted
    cert: str = ""  # the driver's own
    key: str = ""
    insecure: bool = False  # the network is trusted

    @classmethod
    def given(cls, tls: Mapping[str, str | Path] | None, insecure: bool = False) -> Trust:
        """The trust that is given in Python: files by "ca", "cert" and "key"."""
        known = ("ca", "cert", "key")
        for name in tls or {}:
            if name not in known:
                raise UsageError(
                    f"Unknown key '{name}' of tls.{did_you_mean(name, known)} Keys: ca, cert, key."
                )
        return cls(**{name: str(file) for name, file in (tls or {}).items()}, insecure=insecure)

    @property
    def files(self) -> dict[str, str]:
        """The files that are given, by option."""
        named = {"--tls-ca": self.ca, "--tls-cert": self.cert, "--tls-key": self.key}
        return {option: file for option, file in named.items() if file}


NOBODY = Trust()


def check_trust(scheduler: str, trust: Trust) -> None:
    """Refuse a scheduler that anybody could answer for, or certificates that are not used."""
    if not scheduler:
        if trust != NOBODY:
            raise UsageError(
                "Certificates and --insecure are for a scheduler elsewhere: name it with --scheduler."
            )
        return
    protocol, host, _ = _parts(scheduler)
    if protocol in ENCRYPTED:
        _check_files(trust)
        return
    if trust.files:
        raise UsageError(
            f"Certificates need a scheduler that uses TLS, but '{scheduler}' does not: start it with them, "
            "and write tls://HOST:PORT."
        )
    if not trust.insecure and not _loopback(host):
        raise UsageError(
            f"Scheduler '{scheduler}' is on another machine and does not use TLS: anyone on the network "
            "could run code in this program. Use tls:// with --tls-ca, --tls-cert and --tls-key "
            "(docs/sweeps.md), or --insecure if you trust everyone on that network."
        )


def _parts(scheduler: str) -> tuple[str, str, int]:
    """Protocol, host and port of an address."""
    try:
        found = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
        host, port = found.hostname, found.port or PORT
    except ValueError as error:
        raise UsageError(f"'{scheduler}' is not an address of a scheduler: {error}.") from error
    # urlsplit leaves out spaces and line breaks, which Dask does not
    clean = scheduler.isprintable() and " " not in scheduler
    more = found.path.removesuffix("/") or found.query or found.fragment
    if not host or found.scheme not in PROTOCOLS or more or not clean:
        raise UsageError(f"'{scheduler}' is not an address of a scheduler. Write e.g. tls://HOST:{PORT}.")
    return found.scheme, host, port


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _check_files(trust: Trust) -> None:
    """Refuse one or two of three files, and files that do not exist; none means those of Dask's settings."""
    if trust.files and len(trust.files) < 3:
        missing = [option for option in ("--tls-ca", "--tls-cert", "--tls-key") if option not in trust.files]
        raise UsageError(f"{' and '.join(missing)} must be given too: TLS needs all three files.")
    for option, file in trust.files.items():
        if not os.path.isfile(file):
            raise UsageError(f"{option}: there is no file '{file}'.{did_you_mean_path(file)}")


@contextmanager
def dask_executor(scheduler: str, count: int, trust: Trust = NOBODY) -> Iterator[Executor]:
    """An executor on the cluster of this scheduler; without one, on a cluster that ends with it."""
    try:
        from distributed import Client, LocalCluster
        from distributed.security import Security

        own = None if scheduler else Security.temporary()
    except ImportError as error:
        raise UsageError("--executor dask needs Dask: pip install 'attnx[dask]'.") from error
    cluster = None
    try:
        if own is not None:
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                dashboard_address=None,
                host="127.0.0.1",
                protocol="tls://",
                security=own,
            )
        elif _parts(scheduler)[0] == "tcp":
            _await_answer(scheduler)
        security = own or _security(scheduler, trust)
        client = Client(cluster or scheduler, timeout=ANSWER, set_as_default=False, security=security)
    except (OSError, TimeoutError, ValueError, TypeError) as error:  # TypeError: TLS without a certificate
        reason = " ".join(str(error).split()).rstrip(".")
        raise UsageError(f"No Dask scheduler answers at '{scheduler}': {reason}.") from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _await_answer(scheduler: str) -> None:
    """Wait for the first byte of a scheduler: a client would wait for ever for one that never speaks."""
    _, host, port = _parts(scheduler)
    with socket.create_connection((host, port), timeout=ANSWER) as connection:
        if not connection.recv(1):
            raise OSError("the connection was closed")


def _security(scheduler: str, trust: Trust) -> Any:
    """What Dask needs to know of certificates; None for a scheduler without TLS."""
    from distributed.security import Security

    if _parts(scheduler)[0] not in ENCRYPTED:
        return None
    if not trust.files:
        return Security(require_encryption=True)  # with the files of Dask's own settings
    return Security(
        require_encryption=True,
        tls_ca_file=trust.ca,
        tls_client_cert=trust.cert,
        tls_client_key=trust.key,
    )
