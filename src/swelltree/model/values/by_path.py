r"""A compiled model with other numbers of its description, by their path in the case file.

Numbers that feed more than one entry of one array (a depth the seabed and the waves) are changed by
compiling the changed description, in numpy. Where the radiation data stay, so does the fit of the
radiation memory. Inside `jit`, `grad` and `vmap` compiled programs call back to do so. Derivatives
there are central differences of fourth order of the compilation alone,

.. math:: f' = \frac{8 (f_1 - f_{-1}) - (f_2 - f_{-2})}{12 h} + O(h^4)

which is smooth arithmetic: about ten digits are right. At the ends of what a number may be they are
one-sided. Numbers that change more than numbers (the layout of the tree, which rows depend on one
another, sizes of arrays) are rejected; so are derivatives where the radiation would be fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe import System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.paths import number_at, with_numbers
from swelltree.jit import Array, Tree, TreeDef, flatten, known
from swelltree.model.capabilities import HasRadiation, having

if TYPE_CHECKING:
    from swelltree.hydro.linear.data import RadiationMemory
    from swelltree.model.model import Described, Model

STEP = 1e-4  # of a number, to take differences by
ONE_SIDED = {0: -25 / 12, 1: 4.0, 2: -3.0, 3: 4 / 3, 4: -1 / 4}
STENCILS = (
    {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12},
    ONE_SIDED,
    {-k: -weight for k, weight in ONE_SIDED.items()},
)
PROBES = (0.7e-3, -1.3e-3)  # of a number: changes that show which arrays it feeds


def described_value(model: Model, path: str) -> Array:
    traced = model.described.traced.get(path)
    return np.asarray(number_at(_system(model), path)) if traced is None else traced


def _system(model: Model) -> System:
    if model.described.again is None or model.described.specified is None:
        raise SwelltreeError(
            "this model has no description (it came from "
            "another process). Compile the changed system."
        )
    return model.described.specified


def with_described(model: Model, values: dict[str, Array]) -> Model:
    """The model that the changed description compiles to; other changes of the model stay."""
    system, described = _system(model), model.described
    for path, value in values.items():
        shape = np.shape(number_at(system, path))
        if np.shape(value) != shape:
            raise SwelltreeError(
                f"'{path}': the value has shape {np.shape(value)}. Give {shape or 'one number'}."
            )
    plain = {path: _tuples(value) for path, value in values.items() if not _traced(value)}
    traced = {path: x for path, x in described.traced.items() if path not in plain}
    traced |= {path: x for path, x in values.items() if _traced(x)}
    new = recompiled(described, with_numbers(system, plain))
    model = merged(model, described.compiled, new, plain)
    return _with_traced(model, traced) if traced else model


def recompiled(described: Described, system: System) -> Model:
    """The model of a changed system, with the fit of the radiation where its data are the same."""
    again, base = described.again, described.compiled
    assert again is not None
    fitted, bare = _fitted(base), None
    if fitted is None:
        new = again(system)
    else:
        assert isinstance(again, partial)
        bare = again(system, radiation="none")
        before, after = (_radiation(model).radiation_data for model in (described.bare, bare))
        if not all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)):
            return again(system)
        # added mass of resonances above the band belongs to the fit
        above = np.asarray(base.added_mass) - np.asarray(described.bare.added_mass)
        new = bare.with_effect(_radiation(bare).with_memory(fitted))
        new = new.replace(
            added_mass=np.asarray(bare.added_mass) + above,
            users_code=base.users_code,
            described=bare.described.knowing(system, again).noted(
                *base.report[len(described.bare.report) :]
            ),
        )
        new.described.keep(bare=bare)
    new.described.keep(compiled=new)
    return new


def _radiation(model: Model) -> HasRadiation:
    return next(iter(having(model, HasRadiation)))


def _fitted(model: Model) -> RadiationMemory | None:
    """The radiation memory of a model where it was fitted."""
    memories = (effect.memory for effect in having(model, HasRadiation))
    return next((m for m in memories if m is not None and m.fitted is not None), None)


def check_fit(paths: Iterable[str], before: Model, after: Model) -> None:
    """Reject derivatives across two fits of the radiation."""
    pairs = zip(*(flatten(_fitted(model))[0] for model in (before, after)), strict=False)
    if not all(np.array_equal(a, b) for a, b in pairs):
        raise SwelltreeError(
            f"{', '.join(repr(path) for path in paths)}: this changes the radiation data, and "
            "their fit has no derivative. Compile with radiation='convolution' or 'constant', or "
            "compare runs of compiled systems."
        )


def _traced(value: Array) -> bool:
    return not known(value) and not isinstance(value, list | tuple)


def _tuples(value: Array) -> Tree:
    """Arrays as descriptions keep them."""
    rows = np.asarray(value, dtype=float).tolist()
    return _tuple(rows)


def _tuple(rows: Tree) -> Tree:
    return tuple(_tuple(row) for row in rows) if isinstance(rows, list) else rows


def merged(model: Model, base: Model, new: Model, paths: Iterable[str]) -> Model:
    """The model with those entries replaced in which the new compilation differs from the base."""
    ours, form = flatten(model)
    old, before = flatten(base)
    changed, after = flatten(new)
    check_same(paths, old, before, changed, after)
    if form != before:
        raise SwelltreeError(
            "the model was changed after compilation (waves, locked DOFs), so parameters of its "
            "description cannot be set. Use with_values first."
        )
    rows = [_taken(a, b, c) for a, b, c in zip(ours, old, changed, strict=True)]
    return after.unflatten(rows)


def _taken(ours: Array, old: Array, new: Array) -> Array:
    if np.array_equal(old, new):
        return ours
    if known(ours) and np.array_equal(ours, old):
        return new
    from swelltree.jit import jnp

    xp = np if known(ours) else jnp
    return xp.where(np.asarray(old) != np.asarray(new), new, ours)


def check_same(
    paths: Iterable[str], old: list[Array], before: TreeDef, new: list[Array], after: TreeDef
) -> None:
    """Reject what changes more than numbers."""
    same = before == after and all(
        np.shape(a) == np.shape(b) for a, b in zip(old, new, strict=True)
    )
    if not same:
        raise SwelltreeError(
            f"{', '.join(repr(path) for path in paths)}: this changes the layout of the model (its "
            "tree, its constraints, sizes of its arrays), not only numbers. Compile the changed "
            "system."
        )


class _Fed(NamedTuple):
    """The entries of a model that some numbers feed."""

    leaves: list[Array]  # of the base
    form: TreeDef
    masks: list[np.ndarray]  # of each leaf, the entries fed


def _with_traced(model: Model, values: dict[str, Array]) -> Model:
    """The model with numbers that JAX is tracing, by calling back to compile."""
    from swelltree.jit import jnp

    system, described = _system(model), model.described
    start = {path: np.asarray(number_at(system, path)) for path in values}
    sizes = [x.size for x in start.values()]

    def compiled(x: np.ndarray) -> Model:
        parts = np.split(np.asarray(x, float), np.cumsum(sizes)[:-1])
        rows = zip(start.items(), parts, strict=True)
        numbers = {p: _tuples(v.reshape(o.shape)) for (p, o), v in rows}
        return recompiled(described, with_numbers(system, numbers))

    x0 = np.concatenate([x.ravel() for x in start.values()])
    probes = _allowed([lambda part=part: compiled(x0 + part * _scale(x0)) for part in PROBES])
    fed = _fed(described.compiled, probes, values)

    def entries(x: np.ndarray, fitted: Model | None = None) -> np.ndarray:
        new = compiled(x)
        leaves, form = flatten(new)
        check_same(values, fed.leaves, fed.form, leaves, form)
        if fitted is not None:
            check_fit(values, fitted, new)
        pairs = zip(leaves, fed.masks, strict=True)
        return np.concatenate(
            [np.zeros(0), *(np.asarray(np.asarray(a)[m], float) for a, m in pairs)]
        )

    x = jnp.concatenate([jnp.ravel(jnp.asarray(value, float)) for value in values.values()])
    slopes = partial(entries, fitted=described.compiled)
    result = _called(entries, slopes, int(sum(m.sum() for m in fed.masks)), x)
    ours, form = flatten(model)
    rows, first = [], 0
    for leaf, mask in zip(ours, fed.masks, strict=True):
        count = int(mask.sum())
        if count:
            where = np.nonzero(mask) if mask.ndim else ()
            leaf = (
                jnp.asarray(leaf)
                .at[where]
                .set(result[first : first + count].reshape(() if not mask.ndim else (count,)))
            )
        rows.append(leaf)
        first += count
    model = form.unflatten(rows)
    return model.replace(described=model.described.with_traced(values))


def _allowed(tries: list[Callable[[], Model]]) -> list[Model]:
    """Results of those that the description allows; its message where it allows none."""
    result, unsupported_reason = [], None
    for one in tries:
        try:
            result.append(one())
        except SwelltreeError as error:
            unsupported_reason = error
    if not result and unsupported_reason is not None:
        raise unsupported_reason
    return result


def _scale(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0.0, 1.0, np.abs(x))


def _fed(base: Model, probes: list[Model], paths: Iterable[str]) -> _Fed:
    old, form = flatten(base)
    masks = [np.zeros(np.shape(leaf), dtype=bool) for leaf in old]
    for probe in probes:
        new, other = flatten(probe)
        check_same(paths, old, form, new, other)
        pairs = zip(masks, old, new, strict=True)
        masks = [m | (np.asarray(a) != np.asarray(b)) for m, a, b in pairs]
    return _Fed(old, form, masks)


def difference(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: np.ndarray) -> Array:
    """Change of a function per step h, from the side that the description allows."""
    unsupported_reason = None
    here = function(x)  # taken off first, so that what does not change has no rounding
    for stencil in STENCILS:
        try:
            return sum(weight * (function(x + k * h) - here) for k, weight in stencil.items())
        except SwelltreeError as error:
            unsupported_reason = unsupported_reason or error
    assert unsupported_reason is not None
    raise unsupported_reason


def _called(
    function: Callable[[np.ndarray], np.ndarray],
    smooth: Callable[[np.ndarray], np.ndarray],
    count: int,
    x: Array,
) -> Array:
    """Values (count,) of a plain function of a vector, with derivatives by differences.

    Args:
        function: of the vector.
        smooth: the same; rejects what has no derivative.
        count: of values.
        x: the vector.
    """
    from swelltree.jit import jax

    def differences(x: Array) -> np.ndarray:
        x = np.asarray(x, float)
        columns = []
        for i, size in enumerate(_scale(x)):
            h = STEP * size * (np.arange(x.size) == i)
            columns.append(difference(smooth, x, h) / (STEP * size))
        return np.stack(columns, axis=1)

    @jax.custom_jvp
    def call(x: Array) -> Array:
        shape = jax.ShapeDtypeStruct((count,), float)
        return jax.pure_callback(
            lambda x: function(np.asarray(x)), shape, x, vmap_method="sequential"
        )

    @call.defjvp
    def derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (x,), (dx,) = primals, tangents
        shape = jax.ShapeDtypeStruct((count, x.shape[0]), float)
        J = jax.pure_callback(differences, shape, x, vmap_method="sequential")
        return call(x), J @ dx

    return call(x)
