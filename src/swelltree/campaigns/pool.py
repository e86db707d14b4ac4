"""Processes that run the blocks of a campaign: this one, those of this machine, any Dask cluster.

A pool takes jobs one at a time and gives back what became of them in any order; a job whose process
died comes back as an error, like one that raised.

Who may give work to the processes of a campaign: only those who have its certificate.

A Dask scheduler runs whatever code reaches it. Processes of one machine get a certificate that is
made for the run and lives in memory. Those of several machines share a file that only its owner may
read; `swelltree certificate` writes it. Both sides show it to one another (TLS), so that whoever
has none is refused before the first byte of a job.
"""

from __future__ import annotations

import logging
import os
import signal
import stat
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from swelltree.campaigns.work import Block, UnfitProcess, one_thread, packed, run_block, run_here
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.files.atomic import unwritable, user_path
from swelltree.describe.values import NamedValues
from swelltree.jit import Tree, cores, lane_width
from swelltree.studies.batch.batch import BatchPlan
from swelltree.studies.batch.cases import BatchCase

AHEAD = 3  # jobs per process that wait
BLOCK = 32  # cases of a process with one core, at most: what is cut off is run again
SHARES = 4  # blocks for each process at least, where there are cases enough: none waits long
COUNTED = 5.0  # s between looks at how many processes there are
SAFE_PATH = "PYTHONSAFEPATH"  # Python does not look for modules in the current folder
LOOKED = 1.0  # s between looks at a cluster that sends nothing


class Job(NamedTuple):
    """Consecutive cases of one block."""

    block: int
    first: int  # lane of the first case
    cases: tuple[BatchCase, ...]
    attempt: int = 1


class Done(NamedTuple):
    """Outcome of a job."""

    job: Job
    block: Block | None
    error: BaseException | None


class Pool(ABC):
    """Executor of jobs."""

    @property
    @abstractmethod
    def room(self) -> int:
        """Number of jobs that can be submitted now."""

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Begin a job."""

    @abstractmethod
    def next(self) -> Done:
        """Wait for any job to end."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the processes."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Here(Pool):
    """Runs jobs in this process, sequentially."""

    def __init__(self, planned: BatchPlan, names: tuple[str, ...]) -> None:
        self._run = lambda job: run_here(planned, names, list(job.cases), job.first)
        self._waiting: list[Job] = []

    @property
    def room(self) -> int:
        return 1

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def next(self) -> Done:
        job = self._waiting.pop(0)
        try:
            return Done(job, self._run(job), None)
        except Exception as error:
            return Done(job, None, error)

    def close(self) -> None:
        """There is nothing to let go of."""


class Cluster(Pool):
    """Processes of a Dask cluster.

    Args:
        planned: how cases are run.
        names: of reductions.
        workers: processes to start on this machine, without a scheduler.
        scheduler: address of one that runs already.
        retries: how often the cluster itself begins a job again whose process died.
        say: prints a message for the user.
        certificate: file that the scheduler and its workers have, too.
        insecure: take a scheduler without one.
    """

    def __init__(
        self,
        planned: BatchPlan,
        names: tuple[str, ...],
        workers: int,
        scheduler: str | None = None,
        retries: int = 1,
        say: Callable[[str], None] = print,
        certificate: str | Path | None = None,
        insecure: bool = False,
    ) -> None:
        dask, distributed = dask_cluster()
        self._cluster: Tree = None
        self._client: Tree = None
        self._scheduler, self._say = scheduler, say
        self._certificate = certificate
        self._ending = ExitStack()
        self._jobs: dict[str, Job] = {}
        try:
            if scheduler is None:
                self._start(dask, distributed, workers, retries)
            else:
                security = scheduler_security(scheduler, certificate, insecure)
                self._client = connected(distributed, scheduler, security)
            self._ended = distributed.as_completed()
            self._workers, self._counted, self._left = workers, -COUNTED, False
            self._wait_for_workers(scheduler)
            self._content = self._sent(packed(planned, names))
        except BaseException:
            self.close()
            raise

    def _start(self, dask: Tree, distributed: Tree, workers: int, retries: int) -> None:
        """Start worker processes on this machine that other users cannot reach."""
        security = temporary_security()
        # no modules from the current folder; taken back at the end, as Dask does not
        own = {SAFE_PATH: "1", **one_thread()}
        self._ending.enter_context(saved_environment(own))
        # Dask puts this folder in front of the path of each process
        scratch = self._ending.enter_context(TemporaryDirectory(prefix="swelltree-"))
        settings: NamedValues = {
            "distributed.nanny.pre-spawn-environ": own,
            "distributed.scheduler.allowed-failures": retries,
            "distributed.worker.preload": ["swelltree.campaigns.pool"],
        }
        loop = self._ending.enter_context(quiet_loop(distributed))
        with dask.config.set(settings):
            self._cluster = distributed.LocalCluster(
                loop=loop,
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0" if has_dashboard() else None,
                silence_logs=40,
                protocol="tls://",
                security=security,
                local_directory=scratch,
            )
        self._client = distributed.Client(self._cluster)

    @property
    def room(self) -> int:
        """A few jobs per process; processes that join later are included."""
        self._count_workers()
        return AHEAD * max(self._workers, 1)

    def _count_workers(self) -> None:
        """Number of worker processes, updated every few seconds."""
        now = time.monotonic()
        if now - self._counted > COUNTED and self._client.status == "running":
            with self._connection():
                self._workers, self._counted = len(self._client.nthreads()), now

    @property
    def dashboard(self) -> str:
        """Address of the dashboard; empty without one."""
        return str(self._client.dashboard_link or "") if has_dashboard() else ""

    def _wait_for_workers(self, scheduler: str | None) -> None:
        """Wait for the first worker: jobs of a batch queue may start hours after submission."""
        if scheduler is None or self._client.nthreads():
            return
        warn_user(
            f"scheduler '{scheduler}' has no workers yet; waiting for the first. Start some: "
            f"{worker_command(scheduler, self._certificate)}."
        )
        with self._connection():
            self._client.wait_for_workers(1)

    def _sent(self, content: bytes) -> Tree:
        """The model on the cluster, sent again if the workers that hold it are lost."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(bytes, content, pure=False)

    def submit(self, job: Job) -> None:
        with self._connection():
            future = self._client.submit(
                run_block, self._content, list(job.cases), job.first, pure=False, retries=0
            )
        self._jobs[future.key] = job
        self._ended.add(future)

    def next(self) -> Done:
        """Wait for any job; raises an error if the cluster or all its workers are lost."""
        while self._scheduler is not None and not self._ended.has_ready():
            if self._ended.is_empty() or self._client.status != "running":
                raise self._gone()
            self._warn_if_left()
            with self._ended.thread_condition:  # notified when a job ends
                if not self._ended.has_ready():
                    self._ended.thread_condition.wait(timeout=LOOKED)
        try:
            future = next(self._ended)
        except StopIteration:
            raise self._gone() from None
        job = self._jobs.pop(future.key)
        if future.cancelled() or self._client.status != "running":
            raise self._gone()
        with self._connection():
            error = future.exception()
            block = None if error is not None else future.result()
        if isinstance(error, ModuleNotFoundError):  # met while it read the job
            error = UnfitProcess(
                f"a process of the cluster cannot run cases: {error}. Install there what is "
                "installed here, and continue with --resume."
            )
        if error is None:
            future.release()
        return Done(job, block, error)

    def _warn_if_left(self) -> None:
        """Report once that no worker is left, and once that there are workers again."""
        self._count_workers()
        if (self._workers == 0) == self._left:
            return
        self._left = not self._left
        if not self._left:
            self._say(f"scheduler '{self._scheduler}' has workers again; going on.")
            return
        warn_user(
            f"scheduler '{self._scheduler}' has no workers any more since "
            f"{time.strftime('%H:%M:%S')}; {len(self._jobs)} blocks wait for some. Start some: "
            f"{worker_command(str(self._scheduler), self._certificate)}; or stop with Ctrl-C and "
            "continue with --resume."
        )

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """A connection that breaks in the block is reported as a lost scheduler.

        The scheduler can end at any instant: also after it has reported a job as finished and
        before it has sent the result.
        """
        try:
            yield
        except (OSError, CancelledError):
            raise self._gone() from None

    def _gone(self) -> SwelltreeError:
        return SwelltreeError(
            "the Dask scheduler is not reachable any more, and its running jobs are lost. Start it "
            "again and continue with --resume; all finished blocks are kept."
        )

    def close(self) -> None:
        """Release the jobs and stop the processes that were started here."""
        if self._client is not None:
            if self._jobs:
                self._client.cancel(list(self._ended.futures), force=True)
            self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=10)
        self._ending.close()


@contextmanager
def saved_environment(changes: dict[str, str]) -> Iterator[None]:
    """Set environment variables for processes started in the block."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def quiet_loop(distributed: Tree) -> Iterator[Tree]:
    """A loop of events whose thread, and the processes it starts, know nothing of the keyboard.

    Ctrl-C reaches all processes of a terminal: those that still import would show a traceback each.
    A signal that is blocked stays so in threads and processes that are begun from there.
    """
    runner = distributed.utils.LoopRunner(asynchronous=False)
    blocked = getattr(signal, "pthread_sigmask", None)
    before = None if blocked is None else blocked(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner.start()
    finally:
        if blocked is not None:
            blocked(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


def connected(distributed: Tree, scheduler: str, security: Tree | None = None) -> Tree:
    """A client of a scheduler that runs already.

    Args:
        distributed: the package.
        scheduler: its address.
        security: what it is reached with.
    """
    try:
        return distributed.Client(scheduler, timeout=20, security=security)
    except (OSError, TimeoutError, ValueError) as error:
        raise SwelltreeError(
            f"scheduler '{scheduler}' does not answer ({error}). Start one with `dask scheduler` "
            "and its certificate, and give its address: tls://host:8786."
        ) from None


def dask_cluster() -> tuple[Tree, Tree]:
    """Import Dask, or explain how to install it."""
    try:
        import dask
        import distributed
    except ImportError:
        raise SwelltreeError(
            "several processes need Dask's distributed. Install the extra: pip install "
            "'swelltree[campaign]'; or run in this process with --workers 0."
        ) from None
    return dask, distributed


def has_dashboard() -> bool:
    """Whether the packages of the dashboard are installed."""
    import importlib.util

    return importlib.util.find_spec("bokeh") is not None


def cases_per_block(count: int, processes: int | None) -> int:
    """Cases of a block that one core runs, in whole registers, so that each process has some.

    Args:
        count: of all cases.
        processes: with a core each; 0: this one, with all cores; None: not known.
    """
    if processes == 0:
        return count
    share = BLOCK if processes is None else count // (SHARES * processes)
    width = lane_width()
    return min(max(share // width, 1) * width, BLOCK)


def open_pool(
    planned: BatchPlan,
    names: tuple[str, ...],
    jobs: int,
    *,
    workers: int | None,
    scheduler: str | None,
    say: Callable[[str], None],
    certificate: str | Path | None = None,
    insecure: bool = False,
) -> Pool:
    """The pool that was asked for.

    Args:
        planned: how cases are run.
        names: of reductions.
        jobs: how many blocks there are to run.
        workers: processes on this machine; one per core by default, 0 for this process. Another
            device than the CPU is fed by one: this, or another where some are asked for.
        scheduler: address of a Dask scheduler.
        say: prints a message for the user.
        certificate: file that the scheduler has, too.
        insecure: take a scheduler without one.
    """
    one_device = planned.plan.device != "cpu"
    usual = 0 if one_device else cores()
    count = min(usual if workers is None else workers, jobs)
    if scheduler is None and count == 0:
        return Here(planned, names)
    if one_device:
        count = 1
    secured: NamedValues = {"certificate": certificate, "insecure": insecure}
    pool = Cluster(planned, names, count, scheduler, say=say, **secured)
    if pool.dashboard:
        say(f"dashboard: {pool.dashboard}")
    return pool


# --- Loaded by each process that a campaign starts: the keyboard stops the driver, which ends
# them

# where a process logs that its scheduler went, as it does when the driver is stopped
LOGGERS = ("distributed.worker", "distributed.core", "distributed.batched", "distributed.comm.tcp")


def dask_setup(worker: object) -> None:
    """Called by Dask in the main thread of a new process.

    The driver reports what becomes of cases and processes.

    Args:
        worker: of the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


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
