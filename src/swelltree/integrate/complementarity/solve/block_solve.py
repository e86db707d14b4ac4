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

from swelltree.integrate.complementarity.lines.rows import LineRows
from swelltree.jit import Array, Tree, jax, jnp, pytree

# Linear algebra of lines that bend: five nodes are coupled, so blocks of two nodes are swept.
#
# Every node has five unknowns (dr, dnu, dmu of the segment before it); the points beyond the
# ends, the ends and idle nodes are rows "dr = given". The right-hand sides are the residual and
# one column per coordinate of the four points.

POINTS = 4  # A, B, beyond A, beyond B
SIZE = 5


def eliminate_bending(rows: LineRows) -> tuple[Array, Array, tuple[Array]]:
    """Balance of the four points, its derivative, and all columns of the unknowns of one line."""
    bending = rows.bending
    assert bending is not None
    n = rows.E.shape[0]
    N = n + 3  # with the points beyond
    eye = jnp.eye(3)
    pad = lambda x: jnp.concatenate([jnp.zeros_like(x[:1]), x, jnp.zeros_like(x[:1])])  # noqa: E731
    # everything on N nodes; segment s of these lies between the nodes s and s + 1 (N - 1)
    R = pad(rows.R) + _only_ends(bending.force)
    K = pad(rows.K) + _only_ends(bending.diagonal)
    E, g, gb = pad(rows.E), pad(rows.g), pad(rows.gb)
    c = jnp.concatenate([jnp.ones(1), rows.c, jnp.ones(1)])
    F = pad(rows.F)
    row, column = pad(rows.bed_row), pad(rows.bed_column)
    bed_c = jnp.concatenate([jnp.ones(1), rows.bed_c, jnp.ones(1)])
    bed_F = pad(rows.bed_F)
    pull = E[:, None, None] * eye
    up, low = bending.up1 - pull, bending.low1 - pull
    # which point a node stands for: 0 A, 1 B, 2 beyond A, 3 beyond B, -1 free
    node = jnp.arange(N) - 1
    point = jnp.where(node == rows.first, 0, -1)
    point = jnp.where(node < rows.first, 2, point)
    point = jnp.where(node == n, 1, jnp.where(node == n + 1, 3, point))
    free = (point < 0).astype(float)
    stands = (point[:, None] == jnp.arange(POINTS)).astype(float)
    specified = stands[:, None, :, None] * eye[:, None, :]
    specified = specified.reshape(N, 3, 3 * POINTS)

    def block(position: Array, by_nu: Array, by_mu: Array, nu_row: Array, mu_row: Array) -> Array:
        """(N, 5, 5) from (N, 3, 3), columns (N, 3), rows (N, 3)."""
        top = jnp.concatenate([position, by_nu[:, :, None], by_mu[:, :, None]], 2)
        zero = jnp.zeros((position.shape[0], 1, 2))
        middle = jnp.concatenate([nu_row[:, None], zero], 2)
        return jnp.concatenate([top, middle, jnp.concatenate([mu_row[:, None], zero], 2)], 1)

    f3, f1 = free[:, None, None], free[:, None]
    before = lambda x: jnp.concatenate([jnp.zeros_like(x[:1]), x])  # noqa: E731
    after = lambda x: jnp.concatenate([x, jnp.zeros_like(x[:1])])  # noqa: E731
    none = jnp.zeros((N, 3))
    D = block(f3 * K + (1 - f3) * eye, -f1 * column, f1 * before(g), f1 * row, before(gb))
    corner = jnp.concatenate([jnp.ones(1), c])
    D = D + jnp.zeros((SIZE, SIZE)).at[3, 3].set(1.0) * bed_c[:, None, None]
    D = D - jnp.zeros((SIZE, SIZE)).at[4, 4].set(1.0) * corner[:, None, None]
    up1 = block(f3 * after(up), none, -f1 * after(g), none, none)
    up2 = block(f3 * after(after(bending.up2)), none, none, none, none)
    low1 = block(f3 * before(low), none, none, none, -before(gb))
    low2 = block(f3 * before(before(bending.low2)), none, none, none, none)
    right = jnp.concatenate([-R * f1, -(free * bed_F)[:, None], before(F)[:, None]], 1)[:, :, None]
    columns = jnp.concatenate([specified, jnp.zeros((N, 2, 3 * POINTS))], 1)
    right = jnp.concatenate([right, columns], 2)
    x = _pairs(D, up1, up2, low1, low2, right)
    # balance of the points: rows of the nodes that stand for them
    r, mu = x[:, :3], x[:, 4]
    times = lambda a, x: jnp.sum(a[:, :, :, None] * x[:, None], 2)  # noqa: E731
    k = times(K, r) + times(after(up), _shift(r, 1)) + times(before(low), _shift(r, -1))
    k = k + times(after(after(bending.up2)), _shift(r, 2))
    k = k + times(before(before(bending.low2)), _shift(r, -2))
    k = k + before(g)[:, :, None] * mu[:, None] - after(g)[:, :, None] * _shift(mu, 1)[:, None]
    k = k + jnp.concatenate([R[:, :, None], jnp.zeros((N, 3, 3 * POINTS))], 2)
    ends = jnp.sum(stands[:, :, None, None] * k[:, None], 0)
    S = ends[:, :, 1:].reshape(3 * POINTS, 3 * POINTS)
    # idle nodes move with A
    with_A = jnp.zeros((SIZE, x.shape[2])).at[:3, 1:4].set(eye)
    x = jnp.where((node < rows.first)[:, None, None], with_A, x)
    return ends[:, :, 0], S, (x[1:-1],)


def _only_ends(x: Array) -> Array:
    """First and last entries, zeros between: values at nodes are added elsewhere."""
    keep = jnp.zeros(x.shape[0]).at[0].set(1.0).at[-1].set(1.0)
    return x * keep.reshape(-1, *([1] * (x.ndim - 1)))


def _shift(x: Array, by: int) -> Array:
    """x[i + by], zero outside."""
    zero = jnp.zeros_like(x[: abs(by)])
    return jnp.concatenate([x[by:], zero]) if by > 0 else jnp.concatenate([zero, x[:by]])


def _pairs(D: Array, up1: Array, up2: Array, low1: Array, low2: Array, right: Array) -> Array:
    """Solve the rows of all nodes in blocks of two, forward then backward."""
    N, size = D.shape[0], D.shape[1]
    if N % 2:
        more = lambda x, v: jnp.concatenate([x, v[None]])  # noqa: E731
        zero = jnp.zeros((size, size))
        D, up1, up2 = more(D, jnp.eye(size)), more(up1, zero), more(up2, zero)
        low1, low2 = more(low1, zero), more(low2, zero)
        right = more(right, jnp.zeros_like(right[0]))
    even, odd = slice(0, None, 2), slice(1, None, 2)
    zero = jnp.zeros_like(D[even])

    def square(a: Array, b: Array, c: Array, d: Array) -> Array:
        return jnp.concatenate([jnp.concatenate([a, b], 2), jnp.concatenate([c, d], 2)], 1)

    diagonal = square(D[even], up1[even], low1[odd], D[odd])
    upper = square(up2[even], zero, up1[odd], up2[odd])
    lower = square(low2[even], low1[even], zero, low2[odd])
    b = jnp.concatenate([right[even], right[odd]], 1)
    width = 2 * size
    start = jnp.zeros((width, width)), jnp.zeros((width, b.shape[2]))

    def forward(carry, x):
        C, y = carry
        diagonal, upper, lower, b = x
        mult = lambda a, m: jnp.sum(a[:, :, None] * m[None], 1)  # noqa: E731
        table = jnp.concatenate([diagonal - mult(lower, C), upper, b - mult(lower, y)], 1)
        solved = _gauss(table, width)
        C, y = solved[:, :width], solved[:, width:]
        return (C, y), (C, y)

    _, (C, y) = jax.lax.scan(forward, start, (diagonal, upper, lower, b))

    def backward(x, step):
        C, y = step
        x = y - jnp.sum(C[:, :, None] * x[None], 1)
        return x, x

    _, x = jax.lax.scan(backward, jnp.zeros_like(y[0]), (C, y), reverse=True)
    return x.reshape(-1, size, x.shape[2])[:N]


def _gauss(table: Array, width: int) -> Array:
    """Gauss–Jordan without pivoting, in the order of the unknowns; returns the solved columns."""

    def step(k, table):
        row = jax.lax.dynamic_index_in_dim(table, k, 0, keepdims=False)
        row = row / jax.lax.dynamic_index_in_dim(row, k, 0, keepdims=False)
        factor = jax.lax.dynamic_index_in_dim(table, k, 1, keepdims=False)
        me = jnp.arange(width) == k
        return jnp.where(me[:, None], row[None], table - factor[:, None] * row[None])

    return jax.lax.fori_loop(0, width, step, table)[:, width:]


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
    """Small matrix or vector product written out."""
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
