r"""Bending stiffness: a quadratic energy of the kinks between segments.

.. math:: V = \tfrac12 \sum_i w_i |t_i - t_{i-1}|^2, \quad t_s = (r_{s+1} - r_s)/l_s, \quad
   w_i = \frac{2 EI}{l_i + l_{i-1}}

For equal segments this is EI/(2 l^3) |r_{i-1} - 2 r_i + r_{i+1}|^2. A clamped end holds the point
one metre beyond it, so its direction is t_{-1}, and there half a segment bends: w = 2 EI/l. The
energy is quadratic: its gradient at the mean of q_+ and q_- is the discrete gradient.

On a winch the lengths l change as well. Forces take their mean; what the change itself puts into
the kinks is the winch's work (`wound`), and with it the books close.
"""

from __future__ import annotations

from dataclasses import replace

from swelltree.effects.lines.dynamic.arrays import LineArrays
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp


@pytree()
class Bending:
    """Bending of lines, on their nodes and the points beyond both ends (line, node + 2).

    Args:
        force: gradient of the energy (line, node + 2, 3) [N].
        diagonal: stiffness on the node itself (line, node + 2) [N/m].
        one: on the next node (line, node + 1).
        two: on the node after it (line, node).
        energy: at the mean position (line,) [J].
    """

    force: Array
    diagonal: Array
    one: Array
    two: Array
    energy: Array


def bend(
    line: LineArrays,
    active: Array,
    beyond: tuple[Array, Array],
    qm: Array,
    qp: Array,
    theta: Array | float,
    both: Array | float,
) -> Bending:
    """Bending forces of one line at the weighted mean of t_{n-1} and t_{n+1}.

    Args:
        line: one line.
        active: one for segments in use (segment,).
        beyond: points beyond its ends at both times (2, 3) each.
        qm: positions at t_{n-1} (node, 3).
        qp: positions at t_{n+1}.
        theta: weight of t_{n+1}.
        both: derivative of the mean by q_+.
    """
    mean = theta * qp + (1.0 - theta) * qm
    ends = theta * beyond[1] + (1.0 - theta) * beyond[0]
    n = qp.shape[0] - 1
    node = jnp.arange(n + 1)
    # idle nodes stand for the point beyond A
    r = jnp.where((node < line.first)[:, None], ends[0], mean)
    r = jnp.concatenate([ends[:1], r, ends[1:]])
    inverse = jnp.where(active > 0.0, 1.0 / line.rest_length, 1.0)
    inverse = jnp.concatenate([jnp.ones(1), inverse, jnp.ones(1)])
    t = (r[1:] - r[:-1]) * inverse[:, None]
    w = kink_weights(line, active)
    kink = w[:, None] * (t[1:] - t[:-1])
    zero = jnp.zeros((1, 3))
    pull = (jnp.concatenate([zero, kink]) - jnp.concatenate([kink, zero])) * inverse[:, None]
    force = jnp.concatenate([zero, pull]) - jnp.concatenate([pull, zero])
    # second derivatives by the directions t, then by the positions
    none = jnp.zeros(1)
    d = jnp.concatenate([none, w]) + jnp.concatenate([w, none])
    i0, i1 = inverse[:-1], inverse[1:]
    left, right = jnp.concatenate([none, inverse]), jnp.concatenate([inverse, none])
    d_left, d_own = jnp.concatenate([none, d]), jnp.concatenate([d, none])
    cross = jnp.concatenate([none, 2.0 * i0 * i1 * w, none])
    side = jnp.concatenate([none, i0 * i1 * w])
    other = jnp.concatenate([i0 * i1 * w, none])
    return Bending(
        force=force,
        diagonal=both * (left**2 * d_left + right**2 * d_own + cross),
        one=both * (-side - inverse**2 * d - other),
        two=both * i0 * i1 * w,
        energy=0.5 * jnp.sum(w * jnp.sum((t[1:] - t[:-1]) ** 2, -1)),
    )


def kink_weights(line: LineArrays, active: Array) -> Array:
    """Stiffness of the kink at every node of one line (node,) [N m]."""
    n = active.shape[0]
    EI = line.EI * active
    L = line.rest_length * active
    inner = (EI[1:] + EI[:-1]) / jnp.maximum(L[1:] + L[:-1], 1e-12)
    inner = inner * active[:-1]
    w = jnp.concatenate([jnp.zeros(1), inner, jnp.zeros(1)])
    node = jnp.arange(n + 1)
    end = jnp.concatenate([2.0 * EI / line.rest_length, jnp.zeros(1)])
    w = jnp.where(node == line.first, line.clamped[0] * end, w)
    last = line.clamped[1] * 2.0 * EI[-1] / line.rest_length[-1]
    return jnp.where(node == n, last, w)


def kink_energy(line: LineArrays, active: Array, rest: Array, beyond: Array, q: Array) -> Array:
    """Bending energy of one line with those rest lengths, at positions q (node, 3) [J]."""
    line = replace(line, rest_length=rest)
    return bend(line, active, (beyond, beyond), q, q, 1.0, 1.0).energy


def wound(
    line: LineArrays,
    active: Array,
    rest: Array,
    beyond: tuple[Array, Array],
    q: tuple[Array, Array],
) -> Array:
    """Energy that a change of rest lengths alone puts into the kinks of one line [J].

    Args:
        line: one line.
        active: one for segments in use (segment,).
        rest: lengths at t_{n-1} and t_{n+1} (2, segment) [m].
        beyond: points beyond its ends at both times (2, 3) each.
        q: positions at both times (node, 3) each.
    """
    mean = 0.5 * (rest[0] + rest[1])

    def at(k: int, lengths: Array) -> Array:
        return kink_energy(line, active, lengths, beyond[k], q[k])

    return at(1, rest[1]) - at(1, mean) + at(0, mean) - at(0, rest[0])
