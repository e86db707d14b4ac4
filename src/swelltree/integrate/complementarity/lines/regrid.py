r"""Segments of lines on winches: one more when the first is long, one less when it is short.

A split puts a node on the first segment. With the rest lengths l above and L below it the node lies
at equal strain, moved along the line by

.. math:: s = \frac{w}{EA} \frac{l L}{l + L}

with w its own weight less inertia along the line. So every node keeps its acceleration, and the
force on what holds the line is continuous. Merging takes the node away again. Positions now and one
step ago are changed alike, so velocities and the damping of the rope go on as they were.

In a line that bends the new node goes sideways too, to where its kinks and the tension leave it at
rest between its neighbours. The change of energy is accounted for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.lines.bending import bend, kink_energy
from swelltree.integrate.complementarity.lines.stretch import stored
from swelltree.jit import Array, Tree, jax, jnp, pytree
from swelltree.mooring.dynamic.arrays import LineArrays, with_first

SAME = 1e-6  # of a length


@pytree()
class Grid:
    """Lines on winches at two instants, (winch, ...)."""

    first: Array  # idle segments
    rest_last: Array  # m, of the first segment in use
    rest: Array
    q_last: Array  # (winch, node, 3)
    q: Array
    mu: Array  # (winch, segment)
    nu: Array  # (winch, node)
    excess: Tree = None  # points beyond the ends one step ago and now, (winch, 2, 3) each


@pytree()
class Sums:
    """Energy and momentum of lines at two instants, (winch, ...)."""

    energy: Array
    momentum: Array  # (winch, 3)


def regridded(
    arrays: LineArrays, grid: Grid, segment: Array, split: Array, merge: Array, load: Array
) -> tuple[Grid, Array]:
    """Lines split or merged where due, and 1 for a split, -1 for a merge, 0 for neither.

    Args:
        arrays: of the lines on winches, as described.
        grid: after a step.
        segment: rest length of a whole first segment (winch,) [m].
        split: first segments longer than this are split (winch,) [m].
        merge: shorter ones are merged with the next (winch,) [m].
        load: force on the node after the first segment, tension apart, for each metre of rest
            length, less inertia (winch, 3) [N/m].
    """
    return jax.vmap(_one)(arrays, grid, segment, split, merge, load)


def _one(
    line: LineArrays, grid: Grid, segment: Array, split: Array, merge: Array, load: Array
) -> tuple[Grid, Array]:
    n = line.rest_length.shape[0]
    node, part = jnp.arange(n + 1), jnp.arange(n)
    k = grid.first
    pick = lambda x, i: jnp.sum(jnp.where(_at(x, i), x, 0.0), 0)  # noqa: E731
    longer = (grid.rest > split) & (k > 0)
    next_rest = pick(line.rest_length, k + 1)
    like = jnp.abs(next_rest - segment) < SAME * segment
    shorter = (grid.rest < merge) & (k + 1 < n) & like
    # a node more: node k leaves A
    above = grid.rest - segment
    along = pick(grid.q, k + 1) - pick(grid.q, k)
    t = along / jnp.sqrt(jnp.sum(along**2) + 1e-20)
    difference = 0.5 * (above + segment) * jnp.sum(load * t)
    pull = pick(grid.mu, k)
    # tensions above and below the new node stay positive, where the line cannot push
    within = jnp.clip(difference, -0.5 * pull, 0.5 * pull)
    difference = jnp.where(pick(1.0 * line.pushes, k) > 0.0, difference, within)
    EA = pick(jnp.where(jnp.isfinite(line.EA), line.EA, 0.0), k)
    soft = EA > 0.0
    shift = (
        jnp.where(soft, difference / jnp.where(soft, EA, 1.0), 0.0) * above * segment / grid.rest
    )

    moved = shift * t

    def new_node(q: Array, rest: Array) -> Array:
        A, B = pick(q, k), pick(q, k + 1)
        return A + (B - A) * ((rest - segment) / rest) + moved

    if grid.excess is not None:
        q = jnp.where((node == k)[:, None], new_node(grid.q, grid.rest), grid.q)
        moved = moved + _sideways(line, grid, q, k, above, segment, pull, t)

    def nodes(q: Array, rest: Array) -> Array:
        more = jnp.where((node == k)[:, None], new_node(q, rest), q)
        less = jnp.where((node == k + 1)[:, None], pick(q, k), q)
        return jnp.where(longer, more, jnp.where(shorter, less, q))

    upper, lower = pull + difference * segment / grid.rest, pull - difference * above / grid.rest
    more = jnp.where(part == k - 1, upper, jnp.where(part == k, lower, grid.mu))
    both = (pull * grid.rest + pick(grid.mu, k + 1) * next_rest) / (grid.rest + segment)
    less = jnp.where(part == k, 0.0, jnp.where(part == k + 1, both, grid.mu))
    step = jnp.where(longer, -1, jnp.where(shorter, 1, 0)).astype(k.dtype)
    change = step * segment
    return (
        Grid(
            first=k + step,
            rest_last=grid.rest_last + change,
            rest=grid.rest + change,
            q_last=nodes(grid.q_last, grid.rest_last),
            q=nodes(grid.q, grid.rest),
            mu=jnp.where(longer, more, jnp.where(shorter, less, grid.mu)),
            nu=jnp.where(shorter & (node == k + 1), 0.0, grid.nu),
            excess=grid.excess,
        ),
        -step.astype(float),
    )


def _sideways(
    line: LineArrays,
    grid: Grid,
    q: Array,
    k: Array,
    above: Array,
    segment: Array,
    pull: Array,
    t: Array,
) -> Array:
    """Way across the line that brings its new node to rest between its neighbours (3,) [m].

    Args:
        line: one line.
        grid: of it, before the split.
        q: its positions with the new node, number k.
        k: idle segments before the split.
        above: rest length between the end and the new node [m].
        segment: rest length below it [m].
        pull: tension there [N].
        t: unit vector along the line there (3,).
    """
    part = jnp.arange(q.shape[0] - 1)
    rest = jnp.where(part == k - 1, above, line.rest_length)
    split = replace(line, first=k - 1, rest_length=rest)
    ends = grid.excess[1]
    bent = bend(split, (part >= k - 1).astype(float), (ends, ends), q, q, 1.0, 1.0)
    number = jnp.arange(q.shape[0] + 2) == k + 1  # one point more, beyond end A
    force = jnp.where(number[:, None], bent.force, 0.0).sum(0)
    K = jnp.where(number[:, None, None], bent.diagonal, 0.0).sum(0)
    stiffness = 0.5 * (jnp.trace(K) - jnp.sum(t * jnp.sum(K * t, -1)))
    string = jnp.maximum(pull, 0.0) * (1.0 / jnp.where(above > 0.0, above, 1.0) + 1.0 / segment)
    across = force - jnp.sum(force * t) * t
    stiffness = jnp.where(stiffness > 0.0, stiffness + string, 1.0)
    return -across / stiffness


def _at(x: Array, i: Array) -> Array:
    mask = np.arange(x.shape[0]) == i
    return mask if x.ndim == 1 else mask[:, None]


def sums(arrays: LineArrays, grid: Grid, speed: Array, gravity: Array, h: Array) -> Sums:
    """Energy and momentum of the rope itself, without the water it carries.

    The half segment at A moves with the rope: with A and the speed of the winch.

    Args:
        arrays: of the lines on winches, as described.
        grid: at two instants.
        speed: of the winches (winch,) [m/s].
        gravity: less the buoyancy of a kilogram of rope at the winch (winch,) [m/s^2].
        h: step [s].
    """

    def one(
        line: LineArrays, now: LineArrays, before: Array, g: Grid, speed: Array, gravity: Array
    ) -> Sums:
        used = jnp.arange(line.rest_length.shape[0]) >= g.first
        half = jnp.where(used, 0.5 * now.mass_per_length * now.rest_length, 0.0)
        zero = jnp.zeros(1)
        mass = jnp.concatenate([zero, half]) + jnp.concatenate([half, zero])
        v = (g.q - g.q_last) / h
        length = lambda q: jnp.sqrt(jnp.sum((q[1:] - q[:-1]) ** 2, -1) + 1e-20)  # noqa: E731
        retained = stored(line, length(g.q), now.rest_length) + stored(
            line, length(g.q_last), before
        )
        z = 0.5 * (g.q + g.q_last)[:, 2]
        energy = 0.5 * jnp.sum(mass * jnp.sum(v * v, -1)) + gravity * jnp.sum(mass * z)
        energy = energy + 0.5 * jnp.sum(jnp.where(used, retained, 0.0))
        if g.excess is not None:
            active = used.astype(float)
            kinks = kink_energy(now, active, now.rest_length, g.excess[1], g.q)
            kinks = kinks + kink_energy(now, active, before, g.excess[0], g.q_last)
            energy = energy + 0.5 * kinks
        along = jnp.where((jnp.arange(used.shape[0]) == g.first)[:, None], g.q[1:] - g.q[:-1], 0.0)
        along = along.sum(0)
        t = along / jnp.sqrt(jnp.sum(along**2) + 1e-20)
        tip = jnp.sum(jnp.where(jnp.arange(used.shape[0]) == g.first, half, 0.0))
        return Sums(energy, jnp.sum(mass[:, None] * v, 0) + tip * speed * t)

    now = with_first(arrays, grid.first, grid.rest)
    before = with_first(arrays, grid.first, grid.rest_last).rest_length
    return jax.vmap(one)(arrays, now, before, grid, speed, gravity)
