"""Shared by all tests: shapes and types of calls are checked, numbers are float64.

The hook must stand before the first import of the package, so it stands here. Helpers live in
`support.py` (`from support import refdata`).
"""

import ctypes
import gc
import importlib.util
import os
from pathlib import Path

# one core per worker: linear algebra of several threads each would only wait for one another
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if _worker and hasattr(os, "sched_setaffinity"):
    _cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {_cores[int(_worker.removeprefix("gw")) % len(_cores)]})

import jax  # noqa: E402
import pytest  # noqa: E402

import typecheck  # noqa: E402

jax.config.update("jax_enable_x64", True)


def checked_modules() -> list[str]:
    """The package but for `jit`, which makes millions of small calls, and the validation cases."""
    spec = importlib.util.find_spec("swelltree")
    folder = Path(str(spec and spec.origin)).parent
    names = {path.stem for path in folder.iterdir() if path.name[0] not in "_."} - {"jit", "py"}
    return ["validation", *sorted(f"swelltree.{name}" for name in names)]


typecheck.install(checked_modules())

LARGE = 1_500_000_000  # bytes of a worker, above which compiled programs are let go
LARGER = 2_200_000_000  # the same within a module, whose tests share programs


def resident() -> int:
    """Memory of this process in use [bytes]; zero where the system does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def let_go() -> None:
    """Compiled programs and what they hold go back to the system; the disk still has them."""
    jax.clear_caches()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@pytest.fixture(autouse=True, scope="module")
def bounded_memory():
    """Modules share few programs: after one that left much behind, all are let go."""
    yield
    if resident() > LARGE:
        let_go()


@pytest.fixture(autouse=True)
def bounded_memory_of_a_module():
    """A module of many large systems does not grow without end."""
    yield
    if resident() > LARGER:
        let_go()
