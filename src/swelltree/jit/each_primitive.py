"""The JAX primitive `each`: one body for every row of some arrays.

XLA sees `jax.vmap` of the body, native code a loop. Derivatives, transposes and batches of the
primitive are `each` again: what is shared by all rows has a sum as its cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax, jnp
from swelltree.jit.traced_types import ClosedProgram, Shaped

Axes = tuple[int | None, ...]  # of every argument; None: all rows share it
Summed = tuple[bool, ...]  # of every result

each_p = Primitive("each")
each_p.multiple_results = True


def bind_each(
    function: Callable[..., list[Array]], rows: Sequence[Array], axis: int, summed: bool
) -> list[Array]:
    """Results for all rows along an axis, or their sums."""
    rows = [jnp.asarray(x) for x in rows]
    for x in rows:
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"each: an array of shape {x.shape} has no axis {axis}.")
    lengths = sorted({x.shape[axis] for x in rows})
    if len(lengths) != 1:
        raise ValueError(f"each: {lengths} rows; give arrays with the same number of rows.")
    axes = [axis % x.ndim for x in rows]
    return _bound(function, rows, axes, lengths[0], lambda count: (summed,) * count)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _all_rows(
    *args: Array, jaxpr: ClosedProgram, axes: Axes, length: int, summed: Summed
) -> list[Array]:
    """The lowering for XLA: `jax.vmap`; a single row without it."""
    if length == 1:
        row = [x if k is None else jnp.squeeze(x, k) for x, k in zip(args, axes, strict=True)]
        outs = jaxpr_as_fun(jaxpr)(*row)
        return [x if s else jnp.expand_dims(x, 0) for x, s in zip(outs, summed, strict=True)]
    # what is summed keeps its axis where it is in the rows: XLA needs not turn it
    last = any(axis for axis in axes)
    places = [-1 if s and last else 0 for s in summed]
    outs = jax.vmap(jaxpr_as_fun(jaxpr), axes, places, axis_size=length)(*args)
    return [_total(x, k) if s else x for x, k, s in zip(outs, places, summed, strict=True)]


def _total(x: Array, axis: int) -> Array:
    """Sum over an axis; over the first as a product, which XLA vectorises."""
    if axis or x.ndim == 1 or not jnp.issubdtype(x.dtype, jnp.floating):
        return x.sum(axis, dtype=x.dtype)
    return jnp.tensordot(jnp.ones(len(x), x.dtype), x, 1)


_compiled = jax.jit(_all_rows, static_argnames=("jaxpr", "axes", "length", "summed"))
each_p.def_impl(lambda *args, **params: _compiled(*args, **params))
mlir.register_lowering(each_p, mlir.lower_fun(_all_rows, multiple_results=True))


@each_p.def_abstract_eval
def _shapes(
    *_: object, jaxpr: ClosedJaxpr, length: int, summed: Summed, **__: object
) -> list[Shaped]:
    return [
        x if s else x.update(shape=(length, *x.shape))
        for x, s in zip(jaxpr.out_avals, summed, strict=True)
    ]


def _bound(
    function: Callable[..., Sequence[Array]],
    args: list[Array],
    axes: list[int | None],
    length: int,
    summed: Callable[[int], Sequence[bool]],
) -> list[Array]:
    """Bind the primitive; constants of the body become operands that all rows share."""
    bodies = [
        jax.ShapeDtypeStruct(x.shape if axis is None else _without(x.shape, axis), x.dtype)
        for x, axis in zip(args, axes, strict=True)
    ]
    body = jax.make_jaxpr(function)(*bodies)
    if body.consts:
        specified, inner = [jnp.asarray(x) for x in body.consts], body.jaxpr
        count = len(specified)

        def full(*all_args: Array) -> list[Array]:
            return jaxpr_as_fun(ClosedJaxpr(inner, all_args[:count]))(*all_args[count:])

        args, axes = [*specified, *args], [None] * count + axes
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in specified]
        body = jax.make_jaxpr(full)(*shapes, *bodies)
    flags = tuple(summed(len(body.out_avals)))
    return each_p.bind(*args, jaxpr=body, axes=tuple(axes), length=length, summed=flags)


def _batch(
    args: Tree,
    dims: Sequence[int | None],
    *,
    jaxpr: ClosedProgram,
    axes: Axes,
    length: int,
    summed: Summed,
) -> tuple[list[Array], list[int]]:
    now, inner = [], []
    for axis, d in zip(axes, dims, strict=True):
        if d is None:
            now.append(axis)
            inner.append(None)
        elif axis is None:
            now.append(None)
            inner.append(d)
        else:
            now.append(axis + 1 if d <= axis else axis)
            inner.append(d - 1 if now[-1] < d else d)
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    body = jax.vmap(jaxpr_as_fun(jaxpr), tuple(inner), axis_size=size)
    outs = _bound(body, list(args), now, length, lambda _: summed)
    return outs, [0 if s else 1 for s in summed]


batching.primitive_batchers[each_p] = _batch


def _jvp(
    primals: Sequence[Array],
    tangents: Sequence[Array],
    *,
    jaxpr: ClosedJaxpr,
    axes: Axes,
    length: int,
    summed: Summed,
) -> tuple[list[Array], list[Array]]:
    """Tangents by a second `each`, which is linear in the tangents of the operands."""
    params = {"jaxpr": jaxpr, "axes": axes, "length": length, "summed": summed}
    outs = each_p.bind(*primals, **params)
    moving = [k for k, change in enumerate(tangents) if not isinstance(change, ad.Zero)]
    floats = [k for k, x in enumerate(jaxpr.out_avals) if jnp.issubdtype(x.dtype, jnp.inexact)]
    n = len(primals)

    def change(*args: Array) -> list[Array]:
        def moved(*varied: Array) -> list[Array]:
            there = list(args[:n])
            for k, x in zip(moving, varied, strict=True):
                there[k] = x
            found = jaxpr_as_fun(jaxpr)(*there)
            return [found[k] for k in floats]

        return jax.jvp(moved, tuple(args[k] for k in moving), args[n:])[1]

    both = [*primals, *(tangents[k] for k in moving)]
    of_both = [*axes, *(axes[k] for k in moving)]
    changes = _bound(change, both, of_both, length, lambda _: [summed[k] for k in floats])
    result: list[Array] = [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in outs]
    for k, x in zip(floats, changes, strict=True):
        result[k] = x
    return outs, result


ad.primitive_jvps[each_p] = _jvp


def _transpose(
    cotangents: Sequence[Array],
    *args: Array,
    jaxpr: ClosedJaxpr,
    axes: Axes,
    length: int,
    summed: Summed,
) -> list[Array]:
    """Cotangents of linear operands, summed where all rows share one."""
    linear = [k for k, x in enumerate(args) if ad.is_undefined_primal(x)]
    known = [k for k in range(len(args)) if k not in linear]
    requested = [k for k, x in enumerate(cotangents) if not isinstance(x, ad.Zero)]
    n = len(known)

    def back(*specified: Array) -> Sequence[Array]:
        def forth(*varied: Array) -> list[Array]:
            there: list[Array] = [None] * len(args)
            for k, x in zip((*known, *linear), (*specified[:n], *varied), strict=True):
                there[k] = x
            found = jaxpr_as_fun(jaxpr)(*there)
            return [found[k] for k in requested]

        of = [jaxpr.in_avals[k] for k in linear]
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in of]
        return jax.linear_transpose(forth, *shapes)(list(specified[n:]))

    specified = [*(args[k] for k in known), *(cotangents[k] for k in requested)]
    of_specified = [*(axes[k] for k in known), *(None if summed[k] else 0 for k in requested)]
    found = _bound(
        back, specified, of_specified, length, lambda _: [axes[k] is None for k in linear]
    )
    result: list[Array] = [None] * len(args)
    for k, x in zip(linear, found, strict=True):
        axis = axes[k]
        result[k] = x if axis is None else jnp.moveaxis(x, 0, axis)
    return result


ad.primitive_transposes[each_p] = _transpose
