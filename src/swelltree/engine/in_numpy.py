"""Programs of JAX that run in numpy: traced and differentiated, but never compiled.

XLA takes seconds to compile what one study evaluates a dozen times. Here the traced program is
written out as lines of numpy, batches and derivatives included, which takes some hundredths of a
second; on batches it runs about as fast. Shapes are known, so nothing is broadcast before it must
be, and what depends on nothing is computed once. Arrays lie with their first axis, the batch, last
in memory, where numpy is fast. A program with something that is not known here is compiled as
usual.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_ as _is
from typing import Any

import numpy as np

from swelltree.engine import numpy_algebra, numpy_loops, numpy_places, numpy_shapes, numpy_sums
from swelltree.engine.backend import Tracer, jax, jaxpr_as_fun, jnp
from swelltree.engine.numpy_writer import NotKnownError, run_of

RULES = (numpy_algebra, numpy_loops, numpy_places, numpy_shapes, numpy_sums)  # in the table
KEPT = 64  # programs of one function, for as many shapes


class Staged:
    """A function whose Python runs once for every shape of the arguments.

    Transformations of it then work on the traced program, which is quicker than running Python
    inside of each.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.known: dict[Any, Any] = {}

    def closed(self, *args: Any) -> tuple[Any, Any]:
        """The traced program for arguments of these shapes, and the tree of its results."""
        leaves, tree = jax.tree.flatten(args)
        like = [jax.ShapeDtypeStruct(np.shape(x), jnp.result_type(x)) for x in leaves]
        key = (tree, tuple((x.shape, x.dtype) for x in like))
        if key not in self.known:
            while len(self.known) >= KEPT:
                self.known.pop(next(iter(self.known)))
            closed, out = jax.make_jaxpr(
                lambda *x: self.function(*jax.tree.unflatten(tree, x)), return_shape=True
            )(*like)
            self.known[key] = closed, jax.tree.structure(out)
        return self.known[key]

    def __call__(self, *args: Any) -> Any:
        closed, out = self.closed(*args)
        return jax.tree.unflatten(out, jaxpr_as_fun(closed)(*jax.tree.leaves(args)))


def staged(function: Callable[..., Any]) -> Staged:
    """The same function, traced once for every shape of the arguments."""
    return Staged(function)


class InNumpy:
    """A function that is traced for every shape of its arguments and then runs in numpy."""

    def __init__(self, function: Callable[..., Any], fixed: int = 0) -> None:
        self.function, self.fixed = function, fixed
        self.compiled = jax.jit(function)
        self.programs: dict[Any, Any] = {}
        self.reasons: dict[Any, str] = {}  # why some programs cannot run in numpy
        self.reason = ""  # of the last call; empty where it ran in numpy
        self.last: tuple[Any, Any, Any] = (None, (), ())  # program, fixed arguments, what they gave

    def __call__(self, *args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        if any(isinstance(x, Tracer) for x in leaves):
            return self.function(*args)
        arrays = [np.asarray(x) for x in leaves]
        key = (tree, tuple((x.shape, x.dtype) for x in arrays))
        if key not in self.programs:
            while len(self.programs) >= KEPT:
                self.programs.pop(next(iter(self.programs)))
            self.programs[key] = self._made(key, args)
        program = self.programs[key]
        self.reason = "" if program is not None else self.reasons[key]
        if program is None:
            return jax.tree.map(np.asarray, self.compiled(*args))
        count, before, after, out = program
        with np.errstate(all="ignore"):
            inputs = leaves[:count]
            same = self.last[0] is program and all(map(_is, self.last[1], inputs))
            if not same:
                self.last = (program, inputs, before(*arrays[:count]))
            return jax.tree.unflatten(out, after(*self.last[2], *arrays[count:]))

    def _made(self, key: Any, args: tuple[Any, ...]) -> Any:
        traced = self.compiled.trace(*args)
        count = len(jax.tree.leaves(args[: self.fixed]))
        try:
            return count, *run_of(traced.jaxpr, count), jax.tree.structure(traced.out_info)
        except NotKnownError as error:
            self.reasons[key] = str(error)
            return None


def in_numpy(function: Callable[..., Any], fixed: int = 0) -> InNumpy:
    """A function of JAX that runs in numpy; for programs evaluated a few times only.

    Args:
        function: as for `jax.jit`; arguments and results are trees of arrays.
        fixed: so many first arguments are often the very same objects from call to call; what
            depends on them alone is then computed once. They must not be changed in place.
    """
    return InNumpy(function, fixed)
