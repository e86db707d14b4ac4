r"""Bending stiffness: an energy of the angles between segments.

.. math:: V = \tfrac12 \sum_i w_i |t_i - t_{i-1}|^2 = \sum_i w_i (1 - \cos\theta_i), \quad
   t_s = d_s/|d_s|, \quad w_i = \frac{2 EI}{l_i + l_{i-1}}

The tangents are unit vectors, so bending turns segments and does not shorten them. A clamped end
holds the point one metre beyond it, so its direction is t_{-1}, and there half a segment bends:
w = 2 EI/l. The energy is bilinear in tangents, and a tangent over two instants obeys exactly

.. math:: t_+ - t_- = D (d_+ - d_-), \quad
   D = \tfrac12 (1/l_+ + 1/l_-) I - \frac{2}{l_+ l_- (l_+ + l_-)} \bar d \bar d^\top

with the mean :math:`\bar d` of the segment vectors. Mean tangents and D make the discrete
gradient: the work of the bending forces is the change of V (Gonzalez 1996).

On a winch the lengths l change as well. Weights w take their mean; what the change itself puts into
the kinks is the winch's work (`wound`), and with it the energy balance closes.
"""

from __future__ import annotations

from dataclasses import replace

from swelltree.jit import Array, jnp, pytree
from swelltree.mooring.dynamic.arrays import LineArrays

TINY = 1e-20


@pytree()
class Bending:
    """Bending of lines, on their nodes and the points beyond both ends (line, node + 2).

    Args:
        force: gradient of the energy (line, node + 2, 3) [N].
        diagonal: its derivative by the node itself (line, node + 2, 3, 3) [N/m].
        up1: by the next node (line, node + 1, 3, 3).
        up2: by the node after it (line, node, 3, 3).
        low1: on the next node, by this one (line, node + 1, 3, 3).
        low2: on the node after it, by this one (line, node, 3, 3).
    """

    force: Array
    diagonal: Array
    up1: Array
    up2: Array
    low1: Array
    low2: Array


def bend(
    line: LineArrays,
    active: Array,
    excess: tuple[Array, Array],
    qm: Array,
    qp: Array,
    theta: Array | float,
    both: Array | float,
    secant: Array | float = 0.0,
) -> Bending:
    """Bending forces of one line between t_{n-1} and t_{n+1}.

    Args:
        line: one line.
        active: one for segments in use (segment,).
        excess: points beyond its ends at both times (2, 3) each.
        qm: positions at t_{n-1} (node, 3).
        qp: positions at t_{n+1}.
        theta: weight of t_{n+1}: 1/2 for the discrete gradient, 1 for the gradient there.
        both: derivative of the mean by q_+.
        secant: 1 leaves out the part of the derivative that may be negative.
    """
    first = 2.0 * theta - 1.0
    dp = _segments(line, excess[1], qp)
    dm = first * dp + (1.0 - first) * _segments(line, excess[0], qm)
    w = kink_weights(line, active)
    # points beyond the ends are a metre away, idle segments carry nothing: their d is their t
    fixed = jnp.concatenate([jnp.ones(1), 1.0 - active, jnp.ones(1)])[:, None] > 0.0
    lp, lm = (
        jnp.where(fixed, 1.0, jnp.sqrt((d * d).sum(-1, keepdims=True) + TINY)) for d in (dp, dm)
    )
    tp, tm = dp / lp, dm / lm
    mean_t, mean_d = 0.5 * (tp + tm), 0.5 * (dp + dm)
    kink = w[:, None] * (mean_t[1:] - mean_t[:-1])
    zero = jnp.zeros((1, 3))
    m = jnp.concatenate([zero, kink]) - jnp.concatenate([kink, zero])
    a = 0.5 * (1.0 / lp + 1.0 / lm)
    s = jnp.where(fixed, 0.0, 2.0 / (lp * lm * (lp + lm)))
    along = (mean_d * m).sum(-1, keepdims=True)
    pull = a * m - s * along * mean_d
    force = jnp.concatenate([zero, pull]) - jnp.concatenate([pull, zero])
    # derivatives of the pulls by the segment vectors at t_{n+1}; d_- follows by `follows`
    follows = 2.0 * both - 1.0
    eye = jnp.eye(3)
    outer = lambda x, y: x[:, :, None] * y[:, None, :]  # noqa: E731
    flat = lambda t, l: (eye - jnp.where(fixed, 0.0, 1.0)[:, :, None] * outer(t, t)) / l[:, :, None]  # noqa: E731, E741
    D = a[:, :, None] * eye - outer(s * mean_d, mean_d)
    by_d = 0.5 * (flat(tp, lp) + follows * flat(tm, lm))

    def turned(t: Array, length: Array) -> Array:
        """Change of D m with a segment vector of that direction and length, at constant m."""
        grows = -0.5 / length**2 * m + s * (1.0 / length + 1.0 / (lp + lm)) * along * mean_d
        return outer(grows, t) - 0.5 * s[:, :, None] * (along[:, :, None] * eye + outer(mean_d, m))

    C = turned(tp, lp) + follows * turned(tm, lm)
    C = jnp.where(fixed[:, :, None], 0.0, (1.0 - secant) * C)
    multiply = lambda x, y: (x[:, :, :, None] * y[:, None, :, :]).sum(2)  # noqa: E731
    none = jnp.zeros(1)
    own = jnp.concatenate([none, w]) + jnp.concatenate([w, none])
    H = own[:, None, None] * multiply(D, by_d) + C
    up, low = (
        -w[:, None, None] * multiply(D[:-1], by_d[1:]),
        -w[:, None, None] * multiply(D[1:], by_d[:-1]),
    )
    # by positions: d_s = r_{s+1} - r_s, force on node i = pull_{i-1} - pull_i
    pad = jnp.zeros((1, 3, 3))
    before = lambda x: jnp.concatenate([pad, x])  # noqa: E731
    after = lambda x: jnp.concatenate([x, pad])  # noqa: E731
    return Bending(
        force=force,
        diagonal=before(H) + after(H) - before(after(low)) - before(after(up)),
        up1=before(up) - H + after(up),
        up2=-up,
        low1=before(low) - H + after(low),
        low2=-low,
    )


def _segments(line: LineArrays, excess: Array, q: Array) -> Array:
    """Segment vectors with those to the points beyond the ends (segment + 2, 3) [m]."""
    idle = (jnp.arange(q.shape[0]) < line.first)[:, None]
    # idle nodes stand for the point beyond A
    r = jnp.concatenate([excess[:1], jnp.where(idle, excess[0], q), excess[1:]])
    return r[1:] - r[:-1]


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


def tangents(line: LineArrays, active: Array, excess: Array, q: Array) -> Array:
    """Unit vectors along the segments of one line, and along those beyond its ends."""
    d = _segments(line, excess, q)
    fixed = jnp.concatenate([jnp.ones(1), 1.0 - active, jnp.ones(1)])[:, None] > 0.0
    return d / jnp.where(fixed, 1.0, jnp.sqrt((d * d).sum(-1, keepdims=True) + TINY))


def kink_energy(line: LineArrays, active: Array, rest: Array, excess: Array, q: Array) -> Array:
    """Bending energy of one line with those rest lengths, at positions q (node, 3) [J]."""
    t = tangents(line, active, excess, q)
    w = kink_weights(replace(line, rest_length=rest), active)
    return 0.5 * jnp.sum(w * jnp.sum((t[1:] - t[:-1]) ** 2, -1))


def bent(
    line: LineArrays, active: Array, excess: Array, q: Array, tension: Array
) -> tuple[Array, Array]:
    r"""Curvature [1/m] and bending moment [N m] at the nodes of one line (node,).

    The angle between two segments belongs to half of each; at a clamped end to half a segment.
    There tension turns the line within :math:`\sqrt{EI/T}` of the clamp, which may be shorter than
    a segment: a chain of segments of length l then has the moment of the beam divided by
    :math:`\sqrt{1 + T l^2/(4 EI)}` (both have decaying solutions, in the ratio
    :math:`2 \tanh(\lambda/2)` to :math:`2 \sinh(\lambda/2) = l \sqrt{T/EI}`), and this is
    made good.
    """
    t = tangents(line, active, excess, q)
    w = kink_weights(line, active)
    turn = jnp.cross(t[:-1], t[1:])
    angle = jnp.arctan2(jnp.sqrt((turn * turn).sum(-1) + TINY), (t[:-1] * t[1:]).sum(-1))
    # of lines without stiffness too, between two segments in use
    used = jnp.concatenate([jnp.zeros(1), active[:-1] * active[1:], jnp.zeros(1)])
    half = 0.5 * line.rest_length * active
    zero = jnp.zeros(1)
    length = jnp.concatenate([zero, half]) + jnp.concatenate([half, zero])
    node = jnp.arange(angle.shape[0])
    at_A, at_B = node == line.first, node == node[-1]
    pull = jnp.where(at_A[:-1], tension, 0.0).sum() * at_A + tension[-1] * at_B
    steeper = jnp.where(at_A | at_B, pull * length / jnp.maximum(w, TINY), 0.0)
    angle = angle * jnp.where(w > 0.0, jnp.sqrt(jnp.maximum(1.0 + steeper, 0.0)), 1.0)
    is_bent = (used > 0.0) | (w > 0.0)
    return jnp.where(is_bent, angle / jnp.where(length > 0.0, length, 1.0), 0.0), w * angle


def wound(
    line: LineArrays,
    active: Array,
    rest: Array,
    excess: tuple[Array, Array],
    q: tuple[Array, Array],
) -> Array:
    """Energy that a change of rest lengths alone puts into the kinks of one line [J].

    Args:
        line: one line.
        active: one for segments in use (segment,).
        rest: lengths at t_{n-1} and t_{n+1} (2, segment) [m].
        excess: points beyond its ends at both times (2, 3) each.
        q: positions at both times (node, 3) each.
    """
    mean = 0.5 * (rest[0] + rest[1])

    def at(k: int, lengths: Array) -> Array:
        return kink_energy(line, active, lengths, excess[k], q[k])

    return at(1, rest[1]) - at(1, mean) + at(0, mean) - at(0, rest[0])
