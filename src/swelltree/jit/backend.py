"""The numerical engine: the one place where JAX is imported and set up.

Everything above writes ``from swelltree.jit.backend import jax, jnp``. These two stand for the
modules and import them when something of them is first used: a run whose programs are found on
disk never does. Whoever imports JAX after this module, it

* switches on float64,
* computes on the CPU, also where JAX finds a GPU: programs of one run are many small
  steps, each of which would wait for the start of its kernels, and would share the device's memory
  with batches of runs, whose kernels are not JAX's. Work on large matrices asks for that processor
  (`on_first_choice`). Whoever has set ``jax_default_device`` or ``jax_platforms`` keeps that,
* takes memory of a GPU as it is needed: batches want the rest, and other processes.
  ``XLA_PYTHON_CLIENT_PREALLOCATE=true`` reserves three quarters of it at the start,
* asks XLA to emit small time loops as a single function ("one kernel"), which halves the
  cost of small models on the CPU. The option is undocumented, so nothing but speed may
  depend on it,
* keeps compiled programs in the user's cache folder, so that the second run of a model
  starts without compiling.

Environment variables: ``SWELLTREE_CACHE_DIR`` names the cache folder (``off`` switches the
cache off), ``SWELLTREE_ONE_KERNEL=0`` leaves XLA's own choice of kernels.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from swelltree.jit.arrays import Array, Tree, register_pytrees
from swelltree.jit.cache import clean_seldom, private_folder
from swelltree.jit.lazy_import import Late, after_import, is_imported
from swelltree.jit.traced_types import ClosedProgram

XLA_ENTRIES = r"[^.].*-(cache|atime)"  # names of the files that JAX keeps
MANY_PROGRAMS = 48  # made since traces were let go: those of a new law take some 3 MB
MANY_MAPS = 25_000  # pieces of memory: the limit of Linux is 65 530
# loops whose state is below this many bytes become one function; effectively "all of them"
_ONE_KERNEL = "xla_cpu_small_while_loop_byte_threshold=1000000000000"


def _ask_for_one_kernel() -> None:
    """Add the one-kernel option to XLA_FLAGS unless the user has set backend options."""
    flags = os.environ.get("XLA_FLAGS", "")
    requested = os.environ.get("SWELLTREE_ONE_KERNEL", "1") != "0"
    if requested and "xla_backend_extra_options" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_backend_extra_options={_ONE_KERNEL}".strip()


# XLA reads its flags when the first backend starts, so this comes before the import
_ask_for_one_kernel()
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp  # pyright: ignore[reportUnusedImport]
else:
    jax, jnp = Late("jax"), Late("jax.numpy")

OWN_CHOICE = "cpu"  # the device of JAX, where the user has set none

_core, _extension = Late("jax.core"), Late("jax.extend.core")
_ravelling = Late("jax.flatten_util")


def cache_folder() -> Path | None:
    """Folder of compiled programs: ``$SWELLTREE_CACHE_DIR``, the user's cache folder, or none."""
    chosen = os.environ.get("SWELLTREE_CACHE_DIR")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0") else Path(chosen)
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = str(Path.home() / "Library" / "Caches")
        else:
            base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    except RuntimeError:  # a user without a home, as in containers
        return None
    return Path(base) / "swelltree"


def _keep_compiled_programs() -> None:
    """Switch on JAX's persistent cache for every program, however small or quick."""
    if (
        getattr(jax.config, "jax_compilation_cache_dir", None) is not None
    ):  # the user has a cache already
        return
    folder = private_folder(cache_folder(), "xla")
    if folder is None:  # none is wanted, or others could write to it
        return
    clean_seldom(folder, XLA_ENTRIES)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _compute_on_the_cpu() -> None:
    required = (getattr(jax.config, name, None) for name in ("jax_default_device", "jax_platforms"))
    if not any(required):
        jax.config.update("jax_default_device", OWN_CHOICE)


def on_first_choice() -> AbstractContextManager[object]:
    """Within it JAX computes on the device that it prefers: a GPU, if there is one.

    A device that the user has set stays.
    """
    if getattr(jax.config, "jax_default_device", None) != OWN_CHOICE:
        return nullcontext()
    return jax.default_device(jax.devices()[0])


def _set_up() -> None:
    jax.config.update("jax_enable_x64", True)
    _compute_on_the_cpu()
    _keep_compiled_programs()
    register_pytrees()


after_import("jax", _set_up)


R = TypeVar("R")


def jitted(function: Callable[..., R], **options: Any) -> Callable[..., R]:
    """As `jax.jit`, for functions of modules: JAX is not imported before the first call."""

    @functools.cache
    def compiled() -> Callable[..., R]:
        return jax.jit(function, **options)

    @functools.wraps(function)
    def call(*args: object, **specified: object) -> R:
        return compiled()(*args, **specified)

    return call


def jaxpr_as_fun(closed: ClosedProgram) -> Callable[..., list[Array]]:
    return _extension.jaxpr_as_fun(closed)


def traced(function: Callable[..., Tree], *args: object) -> ClosedProgram:
    """The program of a function of arguments of such shapes."""
    built: Any = jax.make_jaxpr(function)(*args)
    return built


def ravel_pytree(tree: Tree) -> tuple[Array, Callable[[Array], Tree]]:
    """All numbers of a tree as one vector, and how to make the tree of it again."""
    return _ravelling.ravel_pytree(tree)


NEW_PROGRAMS: list[str] = []  # programs made since traces were let go


def trim_cache(most: int = MANY_MAPS) -> None:
    """Let go of compiled programs before the system runs out of places to map them to.

    Linux lets a process map some 65 000 pieces of memory, and every compiled model takes
    several hundred; and JAX keeps what it traced of every law. What is used again is compiled
    again, or read from the cache on disk.
    """
    maps = Path("/proc/self/maps")
    if not is_imported("jax") or not maps.exists():
        return
    if len(NEW_PROGRAMS) > MANY_PROGRAMS or maps.read_bytes().count(b"\n") > most:
        NEW_PROGRAMS.clear()
        jax.clear_caches()
        gc.collect()


def is_jax(x: Array) -> bool:
    """Is it an array of JAX, or one that is being traced?"""
    return is_imported("jax") and isinstance(x, jax.Array)


def is_tracer(x: Array) -> bool:
    """Is it part of a program that is being traced (jit, grad, vmap)?"""
    return is_imported("jax") and isinstance(x, _core.Tracer)


def is_traced(tree: Tree) -> bool:
    """Is something in a tree part of a program that is being traced?"""
    return is_imported("jax") and any(map(is_tracer, jax.tree.leaves(tree)))
