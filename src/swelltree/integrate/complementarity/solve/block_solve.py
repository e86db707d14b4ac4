r"""Linear algebra of a line: its inner unknowns in terms of its ends.

Unknowns are ordered (dr_i, dnu_i, dmu_{i-1}): every multiplier comes with the node after it, so all
pivots stay of order one when gaps close. Node i feels what lies beyond it only through the force
:math:`k_i = E_i\,dr_{i+1} + g_i\,d\mu_i`, and the sweep keeps

.. math::
   dr_i = p_i + P_i\,dr_A + Z_i k_i, \qquad
   d\mu_{i-1} = p^\mu_i + P^\mu_i\cdot dr_A + w_i\cdot k_i

with Z a compliance. At the other end the balance of the two ends and the last multiplier remain.
Lines that bend couple five nodes and are swept in pairs (`bending_solve`).
"""

from __future__ import annotations

from functools import partial

from jaxtyping import Float

from swelltree.integrate.complementarity.lines.bending_solve import eliminate_bending
from swelltree.integrate.complementarity.lines.rows import LineRows
from swelltree.jit import Array, Tree, jax, jnp, pytree


@pytree()
class Condensed:
    """Lines reduced to their ends, (line, ...); points are A, B and, if lines bend, those beyond.

    Of lines that are all anchored only B is left: A does not move.

    The multiplier of the last segment may stay an unknown of the system of the ends, which then
    reads ``balance + matrix d_ends + column dmu`` and ``row . d_ends - c dmu = last``. That form
    stays well conditioned when a straight inextensible line is rigid. `S` and
    `end_force_residual` have the multiplier eliminated too.

    Args:
        balance: rows of the ends, to be added to the balance of what they hang on
            (line, point, 3) [N].
        matrix: derivative by the places of the points (line, point * 3, point * 3) [N/m].
        column: by the last multiplier (line, point * 3).
        row: derivative of the last segment's law by the points (line, point * 3).
        c: its derivative by the last multiplier, with sign turned (line,) [m/N].
        last: its value, with sign turned (line,) [m].
        error: largest scaled residual of the inner rows before the step (line,) [m].
        merit: sum of their squares (line,) [m^2].
        back: what back substitution needs.
    """

    balance: Array
    matrix: Array
    column: Array
    row: Array
    c: Array
    last: Array
    error: Array
    merit: Array
    back: Tree

    @property
    def S(self) -> Array:
        """Derivative of the balance by the points, all multipliers eliminated."""
        return self.matrix + self.column[:, :, None] * (self.row / self.c[:, None])[:, None, :]

    @property
    def end_force_residual(self) -> Array:
        """Balance of the points, all multipliers eliminated (line, point, 3) [N]."""
        return self.balance - (self.column * (self.last / self.c)[:, None]).reshape(
            self.balance.shape
        )


def eliminate(rows: LineRows, anchored: bool = False) -> Condensed:
    """Reduce the rows of all lines to their ends.

    Args:
        rows: as `assemble` gives them.
        anchored: A of every line is fixed: half of the work.
    """
    if rows.bending is not None:
        balance, matrix, back = jax.vmap(eliminate_bending)(rows)
        none = 0.0 * matrix[:, 0]
        column, row, c, last = none, none, 1.0 + none[:, 0], none[:, 0]
    else:
        one = partial(_eliminate_one, anchored=anchored)
        balance, matrix, column, row, c, last, back = jax.vmap(one)(rows)
    return Condensed(
        balance=balance,
        matrix=matrix,
        column=column,
        row=row,
        c=c,
        last=last,
        error=rows.error,
        merit=rows.merit,
        back=back,
    )


def back_substitute(
    cond: Condensed,
    d_ends: Float[Array, "line point 3"],
    d_last: Float[Array, " line"] | None = None,
) -> tuple[Float[Array, "line node 3"], Float[Array, "line segment"], Float[Array, "line node"]]:
    """Newton increments of all positions (ends included), multipliers and contact forces.

    Args:
        cond: reduced lines.
        d_ends: increments of the points that are left: A, B and those beyond, or B alone [m].
        d_last: increment of the last multiplier, where the system of the ends has found it [N].
    """
    flat = d_ends.reshape(d_ends.shape[0], -1)
    if len(cond.back) == 1:  # lines that bend: all columns are there
        columns = cond.back[0]
        x = columns[..., 0] + jnp.sum(columns[..., 1:] * flat[:, None, None], -1)
        return x[..., :3], x[:, 1:, 4], x[..., 3]
    if d_last is None:
        d_last = (jnp.sum(cond.row * flat, -1) - cond.last) / cond.c
    return jax.vmap(_back_one)(cond.back, d_ends, d_last)


def dot(a: Array, b: Array) -> Array:
    """Small product without a library call: matrix or row times matrix or column."""
    if b.ndim == 1:
        return jnp.sum(a * b, -1)
    if a.ndim == 1:
        return jnp.sum(a[:, None] * b, 0)
    return jnp.sum(a[:, :, None] * b[None, :, :], 1)


def inverse3(K: Array) -> Array:
    """Inverse of a well-conditioned 3 x 3 matrix by its cofactors."""
    a, b, c = K[0], K[1], K[2]
    adjugate = jnp.stack([jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)], 1)
    return adjugate * (1.0 / jnp.sum(a * adjugate[:, 0]))


def _eliminate_one(rows: LineRows, anchored: bool) -> tuple[Tree, ...]:
    """Sweep of one line from A to B."""
    n = rows.E.shape[0]
    eye = jnp.eye(3)
    bed = rows.bed != "none"
    zero3, zero = jnp.zeros(3), jnp.zeros((3, 3))
    none = jnp.zeros(())
    # what is carried on; kept for the way back are the node, its contact and what A does to both
    start = (zero3, zero) if anchored else (zero3, zero, eye, zero3, zero, eye)
    idle_back = (
        (zero3, zero, none, zero3),
        (none, zero3) if bed else (),
        () if anchored else (eye, zero3, zero3),
    )

    def node(carry, x):
        p, Z, *through = carry
        i, K, R, E, g, gb, c, F, row, column, bed_c, bed_F = x
        Zgb = dot(gb, Z)
        Zg = dot(Z, g)
        # rows of the node and of the segment before it, the node before eliminated
        inverse = inverse3(K - (E * E) * Z)
        gt, ht = g - E * Zg, gb - E * Zgb
        ct = c + dot(gb, Zg)
        shift, press, bed_pivot = zero3, zero3, none
        if bed:
            # Sherman and Morrison: the contact force of the node
            push, press = dot(inverse, column), dot(row, inverse)
            # one quotient for all: divisions are what a sweep waits for
            bed_pivot = 1.0 / (bed_c + dot(row, push))
            press = press * bed_pivot
            shift = -push * (bed_F * bed_pivot)
            inverse = inverse - push[:, None] * press[None, :]
        u, w = dot(inverse, gt), dot(ht, inverse)
        pivot = 1.0 / (ct + dot(ht, u))
        w = w * pivot
        Z_new = inverse - u[:, None] * w[None, :]
        rho = E * p - R
        gap = (dot(ht, shift) - F - dot(gb, p)) * pivot
        p_new = dot(Z_new, rho) + shift - u * gap
        pm = dot(w, rho) + gap
        new, from_A, pressed = (p_new, Z_new), (), ()
        if bed:
            pressed = (
                -bed_F * bed_pivot - dot(press, rho - gt * pm),
                dot(press, gt) * w - press,
            )
        if not anchored:
            P, kp, KP, KZ = through
            gap_A = -dot(gb, P) * pivot
            P_new = E * dot(Z_new, P) - u[:, None] * gap_A[None, :]
            Pm = E * dot(w, P) + gap_A
            from_A = (P_new, Pm, -E * dot(press, P) + dot(press, gt) * Pm)
            # the force on A through all segments so far
            kp_new = kp + dot(KZ, E * p_new + g * pm)
            KP_new = KP + dot(KZ, E * P_new + g[:, None] * Pm[None, :])
            KZ_new = dot(KZ, E * Z_new + g[:, None] * w[None, :])
            new += (P_new, kp_new, KP_new, KZ_new)
        used = i > rows.first
        stored = ((p_new, Z_new, pm, w), pressed, from_A)
        return jax.tree.map(lambda a, b: jnp.where(used, a, b), (new, stored), (start, idle_back))

    inner = slice(1, n)
    xs = (
        jnp.arange(1, n),
        rows.K[inner],
        rows.R[inner],
        rows.E[:-1],
        rows.g[:-1],
        rows.gb[:-1],
        rows.c[:-1],
        rows.F[:-1],
        rows.bed_row[inner],
        rows.bed_column[inner],
        rows.bed_c[inner],
        rows.bed_F[inner],
    )
    (p, Z, *through), stored = jax.lax.scan(node, start, xs)
    # what is left: the ends and the last multiplier
    E, g, gb, c, F = rows.E[-1], rows.g[-1], rows.gb[-1], rows.c[-1], rows.F[-1]
    Zg = dot(Z, g)
    at_B, K_B = rows.R[-1] - E * p, rows.K[-1] - E * E * Z
    column, row = g - E * Zg, gb - E * dot(gb, Z)
    c, last, back = c + dot(gb, Zg), F + dot(gb, p), (stored, (rows.E, rows.g))
    if anchored:
        return at_B[None], K_B, column, row, c, last, back
    P, kp, KP, KZ = through
    at_A = (jnp.arange(n + 1) <= rows.first).astype(float)
    R_A = jnp.sum(at_A[:, None] * rows.R, 0)
    K_A = jnp.sum(at_A[:, None, None] * rows.K, 0)
    balance = jnp.stack([R_A - kp, at_B])
    upper = jnp.concatenate([K_A - KP, -E * KZ], 1)
    matrix = jnp.concatenate([upper, jnp.concatenate([-E * P, K_B], 1)])
    column = jnp.concatenate([-dot(KZ, g), column])
    row = jnp.concatenate([-dot(gb, P), row])
    return balance, matrix, column, row, c, last, back


def _back_one(back: Tree, d_ends: Array, dm_last: Array) -> tuple[Array, Array, Array]:
    """Increments of one line from those of its ends."""
    ((base, Z, base_m, w), contact, from_A), (E, g) = back
    dA, dB, by_A = jnp.zeros(3), d_ends[-1], 0.0
    if from_A:
        dA = d_ends[0]
        more, more_m, by_A = (jnp.sum(x * dA, -1) for x in from_A)
        base, base_m = base + more, base_m + more_m

    def node(carry, x):
        dr, dm = carry
        Z, w, E, g, base, base_m = x
        k = E * dr + g * dm
        new = base + dot(Z, k), base_m + dot(w, k)
        return new, (*new, k)

    xs = (Z, w, E[1:], g[1:], base, base_m)
    _, (dr, dm, k) = jax.lax.scan(node, (dB, dm_last), xs, reverse=True)
    dq = jnp.concatenate([dA[None], dr, dB[None]])
    dmu = jnp.concatenate([dm, dm_last[None]])
    if not contact:
        return dq, dmu, jnp.zeros(dq.shape[0])
    dnu = contact[0] + by_A + jnp.sum(contact[1] * k, -1)
    return dq, dmu, jnp.concatenate([jnp.zeros(1), dnu, jnp.zeros(1)])
