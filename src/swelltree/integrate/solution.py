"""How a solve ended: a code that fits in a compiled loop, and its message.

Failures inside a solve do not raise (a compiled loop cannot); they come back as one of these
integers next to the part that was computed.
"""

from __future__ import annotations

import enum
import functools
import importlib
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import ThreadpoolController

from swelltree.jit import Array

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class Code(enum.IntEnum):
    SUCCESS = 0
    STEP_TOO_SMALL = 1
    NOT_FINITE = 2
    TOO_MANY_STEPS = 3
    STOPPED_BY_USER = 4
    DIVERGED = 5
    NO_PROGRESS = 6
    LOOP_OPEN = 7
    ENERGY_LOST = 8
    LOOP_SINGULAR = 9


_TEXT = {
    Code.SUCCESS: "the solve finished",
    Code.STEP_TOO_SMALL: (
        "the step needed for the asked accuracy fell below the smallest step; "
        "the motion changes too fast here: try solver='stiff', softer elements or a larger rtol"
    ),
    Code.NOT_FINITE: (
        "the equations gave a number that is not finite; "
        "look for a singular mass, a zero length or a force without bound at this time"
    ),
    Code.TOO_MANY_STEPS: (
        "more steps than allowed between two output times; "
        "raise max_steps, loosen rtol or try solver='stiff'"
    ),
    Code.STOPPED_BY_USER: "the run was stopped by the user; the part computed so far is kept",
    Code.DIVERGED: (
        "the motion left the allowed limits; "
        "check stiffnesses, damping and initial position, or take a smaller step"
    ),
    Code.NO_PROGRESS: (
        "the residual could not be made smaller; start nearer to the solution or use more steps "
        "of continuation"
    ),
    Code.LOOP_OPEN: "a joint does not hold together, so what follows means nothing",
    Code.ENERGY_LOST: "the energy budget does not close, so what follows means nothing",
    Code.LOOP_SINGULAR: "a loop is singular, so what follows is not determined",
}

# found by looking at a run that went on
AFTERWARDS = (Code.LOOP_OPEN, Code.ENERGY_LOST, Code.LOOP_SINGULAR)


def describe(code: Array, time: Array = None, *, what: str = "time stepping") -> str:
    """Message of a code with its time."""
    code = Code(int(code))
    if code is Code.SUCCESS:
        return f"{what}: {_TEXT[code]}."
    at = "" if time is None else f" at t = {float(time):.6g} s"
    verb = "went wrong" if code in AFTERWARDS else "stopped"
    return f"{what} {verb}{at}: {_TEXT[code]}."


# --- Threads of the linear algebra: for matrices of some hundred rows they would only wait


@functools.lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Libraries with thread pools; looking for them takes milliseconds."""
    # scipy brings a library of its own, which must be there by now
    importlib.import_module("scipy.linalg")

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Context that limits NumPy and SciPy to one thread."""
    return _libraries().limit(limits=1)


# --- Routines of LAPACK, imported when they are first needed


@functools.lru_cache(maxsize=1)
def lapack() -> ModuleType:
    """The module with them."""
    import scipy.linalg.lapack as routines

    return routines


# --- A square matrix factored once, to solve with it many times


class Factor:
    """LU factors of a matrix; a singular matrix gives results that are not finite."""

    def __init__(self, A: np.ndarray) -> None:
        self.lu, self.pivots, info = lapack().dgetrf(A)
        self.good = info == 0 and bool(np.isfinite(self.lu).all())

    def solve(self, b: np.ndarray, transposed: bool = False) -> np.ndarray:
        """x of A x = b, or of the transpose of A."""
        if not self.good:
            return np.full(b.shape, np.nan)
        return lapack().dgetrs(self.lu, self.pivots, b, trans=int(transposed))[0]
