"""Who may give work to the processes of a campaign: only those who have its certificate.

A Dask scheduler runs whatever code reaches it. Processes of one machine get a certificate that is
made for the run and lives in memory. Those of several machines share a file that only its owner may
read; `swelltree certificate` writes it. Both sides show it to one another (TLS), so that whoever
has none is refused before the first byte of a job.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import unwritable, user_path
from swelltree.jit import Tree

ROLES = ("client", "scheduler", "worker")
MAX_FILE_BYTES = 1_000_000  # bytes of a certificate file


def temporary_security() -> Tree:
    """Certificate for one run, held in memory."""
    import distributed

    try:
        return distributed.Security.temporary()
    except ImportError:
        raise SwelltreeError(
            "several processes talk over TLS, which needs the package cryptography. Install the "
            "extra: pip install 'swelltree[campaign]'; or run in this process with --workers 0."
        ) from None


def write_certificate(path: str | Path) -> Path:
    """Make a certificate with its key, valid for a year, in a file that only its owner may read.

    Args:
        path: of a file that is not there yet.
    """
    path = user_path(path, "certificate")
    built = temporary_security()
    text = built.tls_client_key + built.tls_client_cert
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SwelltreeError(
            f"certificate '{path}' exists already. Use it, or give another name."
        ) from None
    except OSError as error:
        raise unwritable(path, error) from None
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
    return path


def read_certificate(path: str | Path) -> Tree:
    """What a certificate file lets its holder do, as Dask takes it.

    Args:
        path: of a file by `write_certificate`, or of any PEM file with a key and its certificate.
    """
    import distributed

    path = user_path(path, "certificate")
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(MAX_FILE_BYTES) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        raise SwelltreeError(
            f"certificate '{path}' cannot be read: {error.strerror}. Make one with `swelltree "
            "certificate FILE`."
        ) from None
    if hasattr(os, "getuid") and status.st_mode & 0o077:
        raise SwelltreeError(
            f"certificate '{path}' has mode {status.st_mode & 0o777:o}: others may read or change "
            "it, and with it run code as you. Make a new one with `swelltree certificate FILE`, "
            "which gives it mode 600."
        )
    if b"PRIVATE KEY-----" not in text or b"BEGIN CERTIFICATE-----" not in text:
        raise SwelltreeError(
            f"certificate '{path}' does not hold a key and a certificate (PEM). Make one with "
            "`swelltree certificate FILE`."
        )
    pem = text.decode("ascii", errors="replace")
    shown = pem[pem.index("-----BEGIN CERTIFICATE") :]
    parts = {f"tls_{role}_key": pem for role in ROLES}
    parts |= {f"tls_{role}_cert": shown for role in ROLES}
    return distributed.Security(require_encryption=True, tls_ca_file=shown, **parts)


def scheduler_security(
    scheduler: str, certificate: str | Path | None, insecure: bool
) -> Tree | None:
    """What a scheduler elsewhere is reached with.

    Args:
        scheduler: its address.
        certificate: file that its workers have, too.
        insecure: whether a connection that anybody can join is wanted.
    """
    if certificate is not None:
        if not scheduler.startswith("tls://"):
            raise SwelltreeError(
                f"scheduler '{scheduler}' is not reached by a certificate. Start it with "
                "--protocol tls and give its address as tls://host:8786."
            )
        return read_certificate(certificate)
    if scheduler.startswith("tls://"):
        raise SwelltreeError(
            f"scheduler '{scheduler}' needs --certificate FILE, the file that it was started with."
        )
    if not insecure:
        raise SwelltreeError(
            f"scheduler '{scheduler}' runs the code of anybody who can reach it, as you. Start it "
            "with a certificate (`swelltree certificate FILE`, see the page about campaigns) and "
            "give tls://host:8786 and --certificate FILE; or give --insecure on a network of your "
            "own."
        )
    return None


def worker_command(scheduler: str, certificate: str | Path | None) -> str:
    """Command that starts a worker of a scheduler."""
    file = "" if certificate is None else str(certificate)
    tls = f" --tls-ca-file {file} --tls-cert {file} --tls-key {file}" if file else ""
    return f"PYTHONSAFEPATH=1 dask worker {scheduler} --nthreads 1{tls}"
