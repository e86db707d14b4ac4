"""Linear algebra of lines that bend: five nodes are coupled, so blocks of two nodes are swept.

Every node has five unknowns (dr, dnu, dmu of the segment before it); the points beyond the ends,
the ends and idle nodes are rows "dr = given". The right-hand sides are the residual and one column
per coordinate of the four points.
"""

from __future__ import annotations

from swelltree.integrate.complementarity.lines.rows import LineRows
from swelltree.jit import Array, jax, jnp

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
    """First and last of the array, zero between: what the nodes do not hold already."""
    keep = jnp.zeros(x.shape[0]).at[0].set(1.0).at[-1].set(1.0)
    return x * keep.reshape(-1, *([1] * (x.ndim - 1)))


def _shift(x: Array, by: int) -> Array:
    """x[i + by], zero outside."""
    zero = jnp.zeros_like(x[: abs(by)])
    return jnp.concatenate([x[by:], zero]) if by > 0 else jnp.concatenate([zero, x[:by]])


def _pairs(D: Array, up1: Array, up2: Array, low1: Array, low2: Array, right: Array) -> Array:
    """Solve the rows of all nodes in blocks of two, first forwards, then backwards."""
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
