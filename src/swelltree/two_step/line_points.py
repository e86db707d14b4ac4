"""Points that lines hang on: held at given places, or free with a mass of their own.

Enough for lines by themselves: anchors, moved fairleads, junctions, payloads. Whole bodies are
joined in the coupled step, by the same condensed lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.model.bed import Contact
from swelltree.spatial.arrays import Array, pytree
from swelltree.spatial.engine import jnp
from swelltree.two_step.block_solve import Condensed
from swelltree.two_step.line_rows import bed_rows


@pytree("any_free")
class Points:
    """Points (point, ...) and which line ends hang on them.

    Args:
        free: 1 where the point moves by its own balance, 0 where it is held (point,).
        mass: (point,) [kg].
        force: constant force on it, its weight included (point, 3) [N].
        area: by which it rests on a soft bed; 0 where it cannot touch (point,) [m^2].
        ends: 1 where an end hangs on a point (line, 2, point).
        any_free: whether any point is free.
    """

    free: Array
    mass: Array
    force: Array
    area: Array
    ends: Array
    any_free: bool


def held_ends(n_lines: int) -> Points:
    """Every line end a held point of its own, in the order (line, end)."""
    n = 2 * n_lines
    ends = np.eye(n).reshape(n_lines, 2, n)
    zero = np.zeros(n)
    return Points(
        free=zero, mass=zero, force=np.zeros((n, 3)), area=zero, ends=ends, any_free=False
    )


def make_points(ends: Any, free: Any, mass: Any = 0.0, force: Any = 0.0, area: Any = 0.0) -> Points:
    """Points by the numbers of the two points each line hangs on; plain numpy.

    Args:
        ends: (line, 2) integers.
        free: (point,) flags.
        mass: (point,) [kg].
        force: (point, 3) [N].
        area: (point,) [m^2].
    """
    free = np.asarray(free, float)
    n = free.shape[0]
    return Points(
        free=free,
        mass=np.broadcast_to(np.asarray(mass, float), (n,)).copy(),
        force=np.broadcast_to(np.asarray(force, float), (n, 3)).copy(),
        area=np.broadcast_to(np.asarray(area, float), (n,)).copy(),
        ends=(np.asarray(ends)[:, :, None] == np.arange(n)).astype(float),
        any_free=bool(free.any()),
    )


def at_ends(points: Points, x: Array) -> Array:
    """Values at points (point, 3) carried to the line ends (line, 2, 3)."""
    return jnp.sum(points.ends[..., None] * x, 2)


@pytree()
class PointRows:
    """Balance of the points and of their contact at one iterate, and the matrix of their step."""

    R: Array
    K: Array
    row: Array
    column: Array
    c: Array
    F: Array
    scale: Array


def point_rows(
    points: Points,
    contact: Contact,
    h: Any,
    x: tuple[Array, Array, Array],
    nu: Array,
    line_mass: Array,
    tau: Any,
    theta: Any,
    start: Any,
    slack: tuple[Array, Array] | None = None,
    secant: Any = 0.0,
) -> PointRows:
    """Rows of the points, without the lines on them.

    Args:
        points: the points.
        contact: the bed under them.
        h: step [s].
        x: their places at t_{n-1}, t_n and t_{n+1} (point, 3) each.
        nu: contact forces (point,) [N].
        line_mass: mass of the lines' end nodes on them (point,) [kg].
        tau: product on the central path [m^2].
        theta: weight of t_{n+1}.
        start: 1 where t_{n-1} follows t_{n+1}.
        slack: slack and target of the interior point.
        secant: share of the secant in the derivative of friction.
    """
    x_minus, x_n, x_plus = x
    R = points.mass[:, None] * (x_plus - 2.0 * x_n + x_minus) / h**2 - points.force
    K = (points.mass * (1.0 + start) / h**2)[:, None, None] * jnp.eye(3)
    scale = h * h / jnp.maximum(points.mass + line_mass, 1e-12)
    if contact.kind == "none":
        zero = jnp.zeros_like(nu)
        return PointRows(R=R, K=K, row=0.0 * R, column=0.0 * R, c=zero + 1.0, F=zero, scale=scale)
    vbar = (x_plus - x_minus) / (2.0 * h)
    row, column, c, F, rub = bed_rows(
        contact, x_minus, x_plus, vbar, nu, scale, h, tau, theta, start, slack, secant
    )
    R = R - nu[:, None] * column
    K = K + rub * ((1.0 - start) / (2.0 * h))
    return PointRows(R=R, K=K, row=row, column=column, c=c, F=F, scale=scale)


def balance(points: Points, rows: PointRows, ends: Array) -> Array:
    """Scaled balance of the free points with the lines' end rows (point, 3) [m]."""
    total = rows.R + jnp.sum(points.ends[..., None] * ends[:, :, None], (0, 1))
    return total * (points.free * rows.scale)[:, None]


def solve_points(
    points: Points, rows: PointRows, cond: Condensed
) -> tuple[Array, Array, Array | None]:
    """Newton increments of the points (point, 3), their contact forces and last multipliers."""
    n = points.free.shape[0]
    if not points.any_free:
        return jnp.zeros((n, 3)), jnp.zeros(n), None
    ends, free = points.ends, points.free
    residual = rows.R + jnp.sum(ends[..., None] * cond.balance[:, :2, None, :], (0, 1))
    S = cond.matrix[:, :6, :6].reshape(-1, 2, 3, 2, 3)
    matrix = jnp.einsum("lap,laibj,lbq->piqj", ends, S, ends)
    eye_n, eye = jnp.eye(n), jnp.eye(3)
    matrix = matrix + eye_n[:, None, :, None] * rows.K[:, :, None, :]
    # rows scaled to lengths; held points stay
    scale = (free * rows.scale)[:, None]
    held = (1.0 - free)[:, None, None, None] * eye_n[:, None, :, None] * eye[:, None]
    matrix = (matrix * scale[:, :, None, None] + held).reshape(3 * n, 3 * n)
    # contact forces and last multipliers in units of the scale
    unit = 1.0 / rows.scale
    push = -(eye_n[:, None, :] * rows.column[:, :, None] * free[:, None, None])
    press = eye_n[:, :, None] * rows.row[:, None, :] * free[:, None, None]
    line_unit = 1.0 / jnp.max(jnp.max(ends * rows.scale, -1), -1)
    column = cond.column[:, :6].reshape(-1, 2, 3)
    column = jnp.einsum("lap,lai->pil", ends, column) * scale[..., None] * line_unit
    row = jnp.einsum("lap,lai->lpi", ends, cond.row[:, :6].reshape(-1, 2, 3))
    lines = column.shape[2]
    no = jnp.zeros
    system = jnp.concatenate(
        [
            jnp.concatenate([matrix, push.reshape(3 * n, n), column.reshape(3 * n, lines)], 1),
            jnp.concatenate([press.reshape(n, 3 * n), jnp.diag(rows.c * unit), no((n, lines))], 1),
            jnp.concatenate(
                [row.reshape(lines, 3 * n), no((lines, n)), -jnp.diag(cond.c * line_unit)], 1
            ),
        ]
    )
    right = jnp.concatenate([-(residual * scale).reshape(-1), -rows.F, cond.last])
    solved = jnp.linalg.solve(system, right)
    return (
        solved[: 3 * n].reshape(n, 3),
        solved[3 * n : 4 * n] * unit,
        solved[4 * n :] * line_unit,
    )
