r"""The interior point of Mehrotra: predictor and corrector, with slacks of their own.

The affine direction aims at zero products of multipliers and slacks; its success sets the centring
:math:`\sigma = (\bar\tau_{aff}/\bar\tau)^3`; the corrector adds its second-order term, with the
same matrix. Products end at tau, where Fischer and Burmeister's rows end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swelltree.jit import Array, Tree, jax, jnp

FLOOR = 1e-2  # m, of multipliers and slacks at the start
REACH = 0.995  # of the way to the boundary


class Pairs(NamedTuple):
    """Rows of complementarity of several kinds, each an array of them.

    Args:
        masks: which rows are complementary.
        scales: from multipliers to metres.
        gaps: function of the unknowns.
        multipliers: function of the unknowns, or of a change of them.
        with_multipliers: the unknowns with other multipliers.
    """

    masks: tuple[Array, ...]
    scales: tuple[Array, ...]
    gaps: Callable[[Tree], tuple[Array, ...]]
    multipliers: Callable[[Tree], tuple[Array, ...]]
    with_multipliers: Callable[[Tree, list[Array]], Tree]


def interior_point(
    pairs: Pairs,
    rows_at: Callable[[Tree, list[Array], list[Array]], tuple[Tree, Array]],
    direction: Callable[[Tree, list[Array]], Tree],
    moved: Callable[[Tree, Tree, Array], Tree],
    u: Tree,
    tau: Array,
    tolerance: Array,
    max_iterations: int,
) -> tuple[Tree, Array, Array]:
    """Solve from a guess of the positions; multipliers begin cold.

    Args:
        pairs: what is complementary.
        rows_at: (unknowns, slacks, wanted products) -> rows and their error, one or per line [m].
        direction: (rows, what to add to each kind) -> change of the unknowns.
        moved: (unknowns, change, share) -> unknowns.
        u: guess.
        tau: product at the end [m^2].
        tolerance: on the error [m].
        max_iterations: at most.

    Returns:
        unknowns, error and iterations.
    """
    masks, scales = pairs.masks, pairs.scales
    count = jnp.maximum(sum(jnp.sum(m) for m in masks), 1)

    # start: well inside, as far as constraints are broken now
    gaps = pairs.gaps(u)
    broken = [jnp.max(jnp.where(m, -g, 0.0), initial=0.0) for m, g in zip(masks, gaps, strict=True)]
    floor = jnp.maximum(jnp.max(jnp.stack(broken)), FLOOR)
    both = zip(scales, pairs.multipliers(u), strict=True)
    a = [jnp.maximum(s * m, floor) for s, m in both]
    s = [jnp.maximum(g, floor) for g in gaps]

    def carrying(v: Tree, a: list[Array]) -> Tree:
        old = pairs.multipliers(v)
        new = [jnp.where(m, x / r, y) for m, x, r, y in zip(masks, a, scales, old, strict=True)]
        return pairs.with_multipliers(v, new)

    def product(a: list[Array], s: list[Array]) -> Array:
        return sum(jnp.sum(jnp.where(m, x * y, 0.0)) for m, x, y in zip(masks, a, s, strict=True))

    def furthest(values: list[Array], steps: list[Array]) -> Array:
        """Largest fraction of a step that keeps all values positive."""
        share = jnp.asarray(1.0)
        for m, v, d in zip(masks * 2, values, steps, strict=True):
            way = jnp.where(m & (d < 0.0), -REACH * v / d, 1.0)
            share = jnp.minimum(share, jnp.min(way, initial=1.0))
        return share

    def unfinished(carry: Tree) -> Array:
        return jnp.any(~(carry[3] <= tolerance)) & (carry[4] < max_iterations)

    def iterate(carry: Tree) -> Tree:
        v, a, s, _, k = carry
        to_tau = [jnp.full_like(x, tau) for x in a]
        rows, error = rows_at(v, s, to_tau)

        def aimed(targets: list[Array]) -> tuple[Tree, list[Array], list[Array]]:
            """Direction with other products than tau."""
            add = [(tau - t) / (x + y) for t, x, y in zip(targets, a, s, strict=True)]
            add = [jnp.where(m, x, 0.0) for m, x in zip(masks, add, strict=True)]
            du = direction(rows, add)
            da = [r * m for r, m in zip(scales, pairs.multipliers(du), strict=True)]
            ds = [(t - x * y - y * d) / x for t, x, y, d in zip(targets, a, s, da, strict=True)]
            return du, da, ds

        def both_directions(_: None) -> Tree:
            _, da, ds = aimed([0.0 * t for t in to_tau])
            share = furthest([*a, *s], [*da, *ds])
            mean = product(a, s) / count
            ahead = product(
                [x + share * d for x, d in zip(a, da, strict=True)],
                [x + share * d for x, d in zip(s, ds, strict=True)],
            )
            sigma = jnp.clip(ahead / count / jnp.maximum(mean, tau), 0.0, 1.0) ** 3
            centre = jnp.maximum(sigma * mean, tau)
            # second-order term, kept within reason far from the path
            second = [jnp.clip(x * y, -mean, mean) for x, y in zip(da, ds, strict=True)]
            aim = [jnp.where(m, centre - x, tau) for m, x in zip(masks, second, strict=True)]
            near = mean <= 2.0 * tau
            return aimed([jnp.where(near, tau, x) for x in aim])

        def nothing(_: None) -> Tree:
            return jax.tree.map(jnp.zeros_like, v), [0.0 * x for x in a], [0.0 * x for x in s]

        requested = jnp.any(~(error <= tolerance))
        du, da, ds = jax.lax.cond(requested, both_directions, nothing, None)
        share = furthest([*a, *s], [*da, *ds])
        a = [x + share * d for x, d in zip(a, da, strict=True)]
        s = [x + share * d for x, d in zip(s, ds, strict=True)]
        return carrying(moved(v, du, share), a), a, s, error, k + 1

    start = carrying(u, a)
    shape = jax.eval_shape(lambda v: rows_at(v, s, [jnp.full_like(x, tau) for x in a])[1], start)
    big = jnp.full(shape.shape, jnp.inf)
    u, _, _, error, k = jax.lax.while_loop(unfinished, iterate, (start, a, s, big, jnp.asarray(0)))
    return u, error, k
