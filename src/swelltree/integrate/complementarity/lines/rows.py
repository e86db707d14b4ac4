r"""Balance of every node, law of every segment and contact of every node, with their derivatives.

The step from t_n to t_{n+1} = t_n + h solves for the positions q_+, the multipliers mu of the
segments and nu of the bed:

.. math::
   M_n (q_+ - 2 q_n + q_-)/h^2 = F(q_n, \bar v) - \hat G^\top \mu + N^\top \nu

with :math:`\bar v = (q_+ - q_-)/2h`; theory page "Lines". Rows are linearised as
``K dr - E (dr of neighbours) + g dmu ... = -R`` and ``gb . (dr_b - dr_a) - c dmu = F``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from swelltree.integrate.complementarity.lines.bending import Bending, bend
from swelltree.integrate.complementarity.lines.forces import LaggedCoefficients, to_nodes
from swelltree.integrate.complementarity.lines.stretch import one_sided, stretch_law
from swelltree.integrate.complementarity.solve.complementarity import (
    Slack,
    fischer_burmeister,
    interior_point,
    smooth_minimum,
)
from swelltree.integrate.complementarity.solve.friction import friction
from swelltree.jit import Array, Tree, jax, jnp, pytree
from swelltree.mooring.dynamic.arrays import LineArrays

TINY = 1e-20
ROUNDING = 2e-15  # of a tension, in the balance of its nodes
STICKS = 1e8  # see `friction`
GIVES = 1e-12  # of the way that the force alone would move the nodes in a step


@pytree("bed")
class LineRows:
    """Linearised rows of all lines at one iterate, (line, ...).

    Args:
        R: balance of the nodes (line, node, 3) [N].
        K: its derivative by the node's own position (line, node, 3, 3) [N/m].
        E: geometric stiffness of the segments (line, segment) [N/m].
        g: direction of the tension, by which mu enters the balance (line, segment, 3).
        gb: derivative of the segment's law by the position of its second node (line, segment, 3).
        c: derivative of the segment's law by its multiplier (line, segment) [m/N].
        F: the law itself (line, segment) [m].
        bed_row: derivative of the row of the bed by the node's position (line, node, 3).
        bed_column: direction in which nu pushes (line, node, 3).
        bed_c: derivative of the row of the bed by nu (line, node) [m/N].
        bed_F: the row of the bed (line, node) [m].
        bending: stiffness between three neighbours, or None.
        first: first segment in use (line,).
        error: largest scaled residual of the inner rows (line,) [m].
        merit: sum of their squares (line,) [m^2].
        rub: change of the friction forces that the rows hold already (line, node, 3) [N], or None.
        rub_r: their derivative by the node's position (line, node, 3, 3) [N/m], or None.
        rub_nu: by nu (line, node, 3), or None.
        bed: "none", "rigid" or "soft".
    """

    R: Array
    K: Array
    E: Array
    g: Array
    gb: Array
    c: Array
    F: Array
    bed_row: Array
    bed_column: Array
    bed_c: Array
    bed_F: Array
    bending: Bending | None
    first: Array
    error: Array
    merit: Array
    rub: Array | None
    rub_r: Array | None
    rub_nu: Array | None
    bed: str


def assemble(
    lines: LineArrays,
    frozen: LaggedCoefficients,
    h: Array | float,
    q_minus: Array,
    q_n: Array,
    q_plus: Array,
    mu: Array,
    nu: Array,
    tau: Array | float = 1e-16,
    theta: Array | float = 0.5,
    start: Array | float = 0.0,
    excess: tuple[Array, Array] | None = None,
    slack: Slack | None = None,
    secant: Array | float = 0.0,
    rub: tuple[Array, Array] | None = None,
) -> LineRows:
    """Rows of all lines at the iterate (q_plus, mu, nu, rub).

    Args:
        lines: all lines.
        frozen: their data at q_n.
        h: step [s].
        q_minus: positions at t_{n-1} (line, node, 3) [m].
        q_n: positions at t_n.
        q_plus: iterate of the positions at t_{n+1}, ends included.
        mu: iterate of the multipliers (line, segment) [N].
        nu: iterate of the contact forces (line, node) [N].
        tau: product on the central path of complementarity [m^2].
        theta: weight of q_plus in directions and laws, 1/2 (energy exact) to 1 (convex step).
        start: 1 at the first step from a given velocity, where q_minus = q_plus - 2 h velocity
            follows the iterate; 0 otherwise.
        excess: of lines that bend, the points one metre beyond the ends A and B at t_{n-1} and
            t_{n+1}, each (line, 2, 3).
        slack: variables of the interior point, instead of Fischer and Burmeister's function.
        secant: 1 leaves out what is negative in the derivatives of bending and compression.
        rub: friction forces of the bed in the last step, and their iterate (line, node, 3) [N];
            none if not given.
    """
    if lines.bending and excess is None:
        excess = straight_on(q_minus), straight_on(q_plus)

    if rub is None:
        rub = jnp.zeros_like(q_plus), jnp.zeros_like(q_plus)

    def one(*args: Tree) -> LineRows:
        return _assemble_one(Numbers(h, tau, theta, start, secant), *args)

    return jax.vmap(one)(lines, frozen, q_minus, q_n, q_plus, mu, nu, rub, excess, slack)


def straight_on(q: Array) -> Array:
    """Points one metre beyond pinned ends; any will do, they carry no moment."""
    return jnp.stack([q[:, 0], q[:, -1]], axis=1)


class Numbers(NamedTuple):
    """Coefficients of a step; see `assemble`."""

    h: Array | float
    tau: Array | float
    theta: Array | float
    start: Array | float
    secant: Array | float

    @property
    def by_velocity(self) -> Array | float:
        """Derivative of the mean velocity by the next positions [1/s]."""
        return (1.0 - self.start) / (2.0 * self.h)

    @property
    def both(self) -> Array | float:
        """Derivative of the weighted mean of the last and the next positions."""
        return self.theta + (1.0 - self.theta) * self.start


def _assemble_one(
    numbers: Numbers,
    line: LineArrays,
    frozen: LaggedCoefficients,
    qm: Array,
    qn: Array,
    qp: Array,
    mu: Array,
    nu: Array,
    friction_forces: tuple[Array, Array],
    excess: tuple[Array, Array] | None,
    slack: Slack | None,
) -> LineRows:
    h, theta, start = numbers.h, numbers.theta, numbers.start
    vbar = (qp - qm) / (2.0 * h)
    flow, resistance = drag(frozen, vbar)
    inertia = jnp.sum(frozen.mass * (qp - 2.0 * qn + qm)[:, None, :], -1) / h**2
    R = inertia - frozen.force - flow
    K = frozen.mass * ((1.0 + start) / h**2) + resistance * numbers.by_velocity
    # in steps of statics the lift follows the heights
    sink = (2.0 * theta - 1.0) * frozen.sink[:, None] * jnp.array([0.0, 0.0, 1.0])
    R = R + sink * (qp - qn)
    K = K + sink[:, :, None] * jnp.eye(3)
    # segments
    L = 0.5 * (frozen.rest[0] + frozen.rest[1])
    d_plus, d_minus = qp[1:] - qp[:-1], qm[1:] - qm[:-1]
    active = frozen.active
    g = (theta * d_plus + (1.0 - theta) * d_minus) * (active / L)[:, None]
    E = numbers.both * _taut(line, mu, numbers.secant) * active / L
    F, c, gb = _segment_rows(line, frozen, (d_minus, d_plus), mu, numbers, slack)
    pull = mu[:, None] * g
    zero = jnp.zeros_like(pull[:1])
    R = R + jnp.concatenate([zero, pull]) - jnp.concatenate([pull, zero])
    stiff = to_nodes(E)
    # bed
    row = column = jnp.zeros_like(qp)
    bed_c, bed_F = jnp.ones_like(nu), jnp.zeros_like(nu)
    rub = rub_r = rub_nu = None
    rub_row = jnp.zeros_like(qp)
    if frozen.contact.kind != "none":
        row, column, bed_c, bed_F = _bed_rows(frozen, qm, qp, nu, numbers, slack)
        R = R - nu[:, None] * column
        if frozen.contact.rough:
            contact, (last, p) = frozen.contact, friction_forces
            held = friction(
                contact.friction * contact.touch,
                last,
                p,
                nu,
                (qp - qn) / h,
                contact.normal,
                frozen.scale,
                h,
                STICKS,
            )
            rub, rub_r, rub_nu = held.start - p, held.by_u / h, held.by_nu
            rub_row, R, K, column = held.row, R - p, K - rub_r, column + rub_nu
    bending = None
    if line.bending:
        assert excess is not None
        mean = replace(line, rest_length=L)
        bending = bend(mean, active, excess, qm, qp, theta, numbers.both, numbers.secant)
        R = R + bending.force[1:-1]
        K = K + bending.diagonal[1:-1]
    K = K + stiff[:, None, None] * jnp.eye(3)
    error, merit = _residuals(line, h * h / frozen.scale, R, F, bed_F, rub_row, mu)
    return LineRows(
        R=R if rub is None else R - rub,
        K=K,
        E=E,
        g=g,
        gb=gb,
        c=c,
        F=F,
        bed_row=row,
        bed_column=column,
        bed_c=bed_c,
        bed_F=bed_F,
        bending=bending,
        first=line.first,
        error=error,
        merit=merit,
        rub=rub,
        rub_r=rub_r,
        rub_nu=rub_nu,
        bed=frozen.contact.kind,
    )


def _taut(line: LineArrays, mu: Array, secant: Array | float) -> Array:
    """Geometric stiffness multipliers of the segments of one line; negative in compression."""
    taut = jnp.maximum(mu, 0.0)
    if not line.bending:
        return taut
    return jnp.where(line.pushes, mu - secant * (mu - taut), taut)


def _residuals(
    line: LineArrays, rs: Array, R: Array, F: Array, bed_F: Array, rub: Array, mu: Array
) -> tuple[Array, Array]:
    """Maximum scaled residual of active inner nodes, active segments and the bed; its squares."""
    node = jnp.arange(R.shape[0])
    inner = (node > line.first) & (node < R.shape[0] - 1)
    scaled = jnp.where(inner[:, None], R * rs[:, None], 0.0)
    # rounding of large tensions is not an error
    rounding = ROUNDING * rs * to_nodes(jnp.abs(mu))
    exceeds_rounding = jnp.maximum(jnp.abs(scaled) - rounding[:, None], 0.0)
    largest = jnp.maximum(jnp.max(exceeds_rounding), jnp.max(jnp.abs(F)))
    merit = jnp.sum(scaled**2) + jnp.sum(F**2) + jnp.sum(bed_F**2) + jnp.sum(rub**2)
    on_bed = jnp.maximum(jnp.max(jnp.abs(bed_F)), jnp.max(jnp.abs(rub)))
    return jnp.maximum(largest, on_bed), merit


def _segment_rows(
    line: LineArrays,
    frozen: LaggedCoefficients,
    d: tuple[Array, Array],
    mu: Array,
    numbers: Numbers,
    slack: Slack | None,
) -> tuple[Array, Array, Array]:
    """Law of every segment, its derivatives by mu and by the position of the second node."""
    h, tau, theta, start, _ = numbers
    active, rest = frozen.active, (frozen.rest[0], frozen.rest[1])
    (d_minus, d_plus), (L_minus, L_plus) = d, rest
    rs = 2.0 * h * h / (frozen.scale[1:] + frozen.scale[:-1])
    L = 0.5 * (L_minus + L_plus)
    squared = jnp.sum(d_plus**2, -1)
    F = c = by_plus = by_minus = jnp.zeros_like(mu)
    soft = jnp.isfinite(line.EA)
    if line.elastic:
        alpha = L / jnp.where(soft, line.EA, 1.0)
        lengths = jnp.sqrt(jnp.sum(d_minus**2, -1) + TINY), jnp.sqrt(squared + TINY)
        law, by_minus, by_plus = stretch_law(line, lengths, rest, h, theta, frozen.spring)
        gap = alpha * mu - law
        rows = fischer_burmeister(rs * mu, gap, tau)
        F, by_a, by_gap = _one_or_two_sided(line, (gap, 0.0, 1.0), rows)
        c = rs * by_a + alpha * by_gap
        by_plus, by_minus = by_gap * by_plus, start * by_gap * by_minus
    if line.inextensible:
        # psi = (|d|^2 - L^2)/(2 L) <= 0 at t_{n+1}
        gap = (L_plus**2 - squared) / (2.0 * L_plus)
        if slack is None:
            value, by_a, by_gap = fischer_burmeister(rs * mu, gap, tau)
        else:
            value, by_a, by_gap = interior_point(rs * mu, gap, slack.tension, slack.tension_target)
        # a stiff segment between two bodies gives by a trifle, in the long steps of statics too
        give = GIVES * jnp.minimum(1.0, 1.0 / h**2)
        equal = gap + give * rs * mu, give, 1.0
        value, by_a, by_gap = _one_or_two_sided(line, equal, (value, by_a, by_gap))
        pick = lambda stretchy, stiff: jnp.where(soft, stretchy, stiff)  # noqa: E731
        F, c = pick(F, value), pick(c, rs * by_a)
        by_plus, by_minus = pick(by_plus, by_gap / L_plus), pick(by_minus, 0.0)
    gb = by_plus[:, None] * d_plus + by_minus[:, None] * d_minus
    used = active > 0.0
    return jnp.where(used, F, 0.0), jnp.where(used, c, 1.0), gb * active[:, None]


Row = tuple[Array | float, Array | float, Array | float]


def _one_or_two_sided(line: LineArrays, equation: Row, complementary: Row) -> Row:
    """Rows of the segments: an equation where they carry compression, else complementarity."""
    if not line.bending:
        return complementary
    value, by_a, by_gap = (
        jnp.where(line.pushes, a, b) for a, b in zip(equation, complementary, strict=True)
    )
    return value, by_a, by_gap


def drag(frozen: LaggedCoefficients, v: Array) -> tuple[Array, Array]:
    """Drag and lift of the nodes (node, 3), and how they oppose a change of v (node, 3, 3).

    Args:
        frozen: data of one line.
        v: velocity of its nodes (node, 3).
    """
    w = frozen.velocity - v
    t = frozen.tangent
    along = jnp.sum(w * t, -1)
    across = w - along[:, None] * t
    speed = jnp.sqrt(jnp.sum(across**2, -1) + TINY)
    Dn, Dt = frozen.drag[:, 0], frozen.drag[:, 1]
    sideways, lengthways = Dn * speed, Dt * jnp.abs(along)
    force = sideways[:, None] * across + (lengthways * along)[:, None] * t

    def outer(size: Array, a: Array, b: Array) -> Array:
        return (size[:, None] * a)[:, :, None] * b[:, None, :]

    eye = jnp.eye(3)
    by_w = (
        sideways[:, None, None] * eye
        + outer(Dn / speed, across, across)
        + outer(2.0 * lengthways - sideways, t, t)
    )
    if frozen.drag.shape[1] > 2:
        Dl, Dp = frozen.drag[:, 2], frozen.drag[:, 3]
        full = jnp.sqrt(jnp.sum(w**2, -1) + TINY)
        side = jnp.cross(t, across)
        force = force + (Dl * speed)[:, None] * side + (Dp * full)[:, None] * w
        # the cross product with t as a matrix, column by column
        turn = jnp.cross(t[:, None, :], eye - t[:, :, None] * t[:, None, :], axis=-1)
        by_w = (
            by_w
            + (Dl * speed)[:, None, None] * turn.swapaxes(1, 2)
            + outer(Dl / speed, side, across)
            + (Dp * full)[:, None, None] * eye
            + outer(Dp / full, w, w)
        )
    return force, by_w


def _bed_rows(
    frozen: LaggedCoefficients,
    qm: Array,
    qp: Array,
    nu: Array,
    numbers: Numbers,
    slack: Slack | None,
) -> tuple[Array, Array, Array, Array]:
    """Contact of nodes with the bed: row, column, derivative by nu, value.

    Rigid: the clearance at t_{n+1} is not negative (plastic contact). Soft: the discrete gradient
    of a one-sided spring with a continuous damper.

    Args:
        frozen: of the line, with the bed under its nodes.
        qm: positions at t_{n-1} (node, 3).
        qp: positions at t_{n+1}.
        nu: contact forces (node,) [N].
        numbers: of the step.
        slack: variables of the interior point, or None.
    """
    h, tau, theta, start, _ = numbers
    contact, rs = frozen.contact, h * h / frozen.scale
    n, touch = contact.normal, contact.touch
    gap = jnp.sum(n * qp, -1) - contact.offset
    if contact.kind == "soft":
        before = jnp.sum(n * qm, -1) - contact.offset
        law, by_minus, by_plus = one_sided(-before, -gap, contact.kappa, h, theta)
        F, by_a, by_gap = smooth_minimum(rs * nu, contact.alpha * nu - law, tau)
        c = rs * by_a + contact.alpha * by_gap
        b = by_gap * (by_plus + start * by_minus)
    elif slack is None:
        F, by_a, b = fischer_burmeister(rs * nu, gap, tau)
        c = rs * by_a
    else:
        F, by_a, b = interior_point(rs * nu, gap, slack.bed, slack.bed_target)
        c = rs * by_a
    used = touch > 0.0
    column, row = n * touch[:, None], (b * touch)[:, None] * n
    return row, column, jnp.where(used, c, 1.0), jnp.where(used, F, 0.0)
