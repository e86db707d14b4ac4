"""Functions of JAX as native code: for one case, for many points, for an ensemble on a target.

`Program` compiles a function for one case, `Points` for many points with derivatives,
`LaneProgram` and `GpuProgram` for an ensemble on a target; each explains by `engine` or
`unsupported_reason` what runs where and why. `jax`, `jnp`, `pytree` and the tree functions stand
for JAX without importing it before it is needed. README.md says what is lowered and what is not.

The rest of the package imports from here and from no module below. A name is looked up when it is
first used, so that neither JAX nor LLVM is imported with this module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swelltree.jit.arrays import Array as Array
    from swelltree.jit.arrays import Numbers as Numbers
    from swelltree.jit.arrays import Tree as Tree
    from swelltree.jit.arrays import known as known
    from swelltree.jit.arrays import namespace as namespace
    from swelltree.jit.arrays import pytree as pytree
    from swelltree.jit.backend import cache_folder as cache_folder
    from swelltree.jit.backend import is_jax as is_jax
    from swelltree.jit.backend import is_traced as is_traced
    from swelltree.jit.backend import is_tracer as is_tracer
    from swelltree.jit.backend import jax as jax
    from swelltree.jit.backend import jitted as jitted
    from swelltree.jit.backend import jnp as jnp
    from swelltree.jit.backend import on_first_choice as on_first_choice
    from swelltree.jit.backend import ravel_pytree as ravel_pytree
    from swelltree.jit.backend import trim_cache as trim_cache
    from swelltree.jit.cache import clean_seldom as clean_seldom
    from swelltree.jit.cache import hashed as hashed
    from swelltree.jit.cache import private_bytes as private_bytes
    from swelltree.jit.cache import private_folder as private_folder
    from swelltree.jit.cuda import Device as Device
    from swelltree.jit.cuda import Memory as Memory
    from swelltree.jit.cuda import gpu as gpu
    from swelltree.jit.engine import BY_LLVM as BY_LLVM
    from swelltree.jit.engine import note as note
    from swelltree.jit.engine import noted as noted
    from swelltree.jit.ensemble.gpu_runs import DeviceInputs as DeviceInputs
    from swelltree.jit.ensemble.gpu_runs import DeviceRun as DeviceRun
    from swelltree.jit.ensemble.gpu_runs import GpuProgram as GpuProgram
    from swelltree.jit.ensemble.gpu_runs import Seconds as Seconds
    from swelltree.jit.ensemble.kernels import KernelBody as KernelBody
    from swelltree.jit.ensemble.kernels import LaneKernelBody as LaneKernelBody
    from swelltree.jit.ensemble.kernels import Register as Register
    from swelltree.jit.ensemble.kernels import Slot as Slot
    from swelltree.jit.ensemble.kernels import Term as Term
    from swelltree.jit.ensemble.kernels import kernel_text as kernel_text
    from swelltree.jit.ensemble.kernels import lane_kernel_text as lane_kernel_text
    from swelltree.jit.ensemble.lane_runs import LaneInputs as LaneInputs
    from swelltree.jit.ensemble.lane_runs import LaneProgram as LaneProgram
    from swelltree.jit.ensemble.lane_runs import Samples as Samples
    from swelltree.jit.ensemble.programs import Cases as Cases
    from swelltree.jit.ensemble.programs import ManyProgram as ManyProgram
    from swelltree.jit.ensemble.programs import PerCase as PerCase
    from swelltree.jit.ensemble.rows import grouped as grouped
    from swelltree.jit.ensemble.threads import GROUP as GROUP
    from swelltree.jit.entries import shapes_of as shapes_of
    from swelltree.jit.entries import users_code as users_code
    from swelltree.jit.fingerprint import Contents as Contents
    from swelltree.jit.fingerprint import content_key as content_key
    from swelltree.jit.fingerprint import installed_version as installed_version
    from swelltree.jit.fingerprint import versions as versions
    from swelltree.jit.graph import UnsupportedOperationError as UnsupportedOperationError
    from swelltree.jit.lazy_import import after_import as after_import
    from swelltree.jit.lazy_import import is_imported as is_imported
    from swelltree.jit.loops import derivatives_along as derivatives_along
    from swelltree.jit.loops import each as each
    from swelltree.jit.loops import each_sum as each_sum
    from swelltree.jit.native import Native as Native
    from swelltree.jit.native import cores as cores
    from swelltree.jit.native import lane_width as lane_width
    from swelltree.jit.native import object_code as object_code
    from swelltree.jit.native import object_file as object_file
    from swelltree.jit.native import threads as threads
    from swelltree.jit.points import Points as Points
    from swelltree.jit.program import MAX_EXPRESSIONS as MAX_EXPRESSIONS
    from swelltree.jit.program import XLA_REQUESTED as XLA_REQUESTED
    from swelltree.jit.program import Bound as Bound
    from swelltree.jit.program import Portable as Portable
    from swelltree.jit.program import Program as Program
    from swelltree.jit.program import let_go_of_large as let_go_of_large
    from swelltree.jit.program import packed as packed
    from swelltree.jit.program import switched_off as switched_off
    from swelltree.jit.program import taken as taken
    from swelltree.jit.rows.loops import Axes as Axes
    from swelltree.jit.traced_types import Shaped as Shaped
    from swelltree.jit.trees import TreeDef as TreeDef
    from swelltree.jit.trees import flatten as flatten
    from swelltree.jit.trees import leaves_of as leaves_of
    from swelltree.jit.trees import mapped as mapped
    from swelltree.jit.trees import structure_of as structure_of

_NAMES = {
    "arrays": "Array Numbers Tree known namespace pytree",
    "backend": "cache_folder is_jax is_traced is_tracer jax "
    "jitted jnp on_first_choice ravel_pytree trim_cache",
    "cache": "clean_seldom hashed private_bytes private_folder",
    "cuda": "Device Memory gpu",
    "engine": "BY_LLVM note noted",
    "ensemble.gpu_runs": "DeviceInputs DeviceRun GpuProgram Seconds",
    "ensemble.kernels": "KernelBody LaneKernelBody Register Slot Term kernel_text lane_kernel_text",
    "ensemble.lane_runs": "LaneInputs LaneProgram Samples",
    "ensemble.programs": "Cases ManyProgram PerCase",
    "ensemble.rows": "grouped",
    "ensemble.threads": "GROUP",
    "entries": "shapes_of users_code",
    "fingerprint": "Contents content_key installed_version versions",
    "graph": "UnsupportedOperationError",
    "lazy_import": "after_import is_imported",
    "loops": "derivatives_along each each_sum",
    "native": "Native cores lane_width object_code object_file threads",
    "points": "Points",
    "program": "Bound MAX_EXPRESSIONS Portable Program XLA_REQUESTED let_go_of_large packed "
    "switched_off taken",
    "rows.loops": "Axes",
    "traced_types": "Shaped",
    "trees": "TreeDef flatten leaves_of mapped structure_of",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'swelltree.jit' has no attribute '{name}'")
    value = getattr(import_module(f"swelltree.jit.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
