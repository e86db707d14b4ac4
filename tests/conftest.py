"""Shared by all tests: shapes and types are checked on every call, numbers are float64.

The hook must stand before the first import of the package, so it stands here. Helpers live in
`support.py` (`from support import refdata`).
"""

import os

# one core per worker: linear algebra of several threads each would only wait for one another
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if _worker and hasattr(os, "sched_setaffinity"):
    _cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {_cores[int(_worker.removeprefix("gw")) % len(_cores)]})

import jax  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

jax.config.update("jax_enable_x64", True)
install_import_hook("swelltree", "typecheck.check")
