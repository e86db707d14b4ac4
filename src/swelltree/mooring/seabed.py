"""The seabed under lines and points: a plane or a grid of heights, rigid or soft, with friction."""

from __future__ import annotations

import numpy as np

from swelltree.jit import Array, Numbers, namespace, pytree


@pytree("soft", "rough")
class Bed:
    """Seabed.

    Args:
        height: z of the bed at x = y = 0 [m].
        slope: its rise along x and y (2,).
        stiffness: pressure per penetration [Pa/m], of a soft bed.
        damping: pressure per speed of penetration [Pa s/m], of a soft bed.
        friction: Coulomb's coefficient.
        origin: x and y of the first grid point (2,).
        spacing: of the grid (2,).
        grid: heights and rises along x and y at the grid points (x, y, 3), or None for a plane.
        soft: whether the bed gives way.
        rough: whether it has friction.
    """

    height: Array
    slope: Array
    stiffness: Array
    damping: Array
    friction: Array
    origin: Array
    spacing: Array
    grid: Array | None
    soft: bool
    rough: bool


def make_bed(
    depth: float,
    slope: Numbers = (0.0, 0.0),
    stiffness: float | None = None,
    damping: float = 0.0,
    friction: float = 0.0,
    grid: tuple[Numbers, Numbers, Numbers] | None = None,
) -> Bed:
    """Arrays of a seabed; plain numpy.

    Args:
        depth: of the water at x = y = 0 [m].
        slope: rise of the bed along x and y.
        stiffness: [Pa/m], or None for a rigid bed.
        damping: [Pa s/m].
        friction: Coulomb's coefficient.
        grid: x (i,), y (j,) evenly spaced and z of the bed (i, j), instead of depth and slope.
    """
    origin, spacing, table = np.zeros(2), np.ones(2), None
    if grid is not None:
        x, y, z = (np.asarray(a, float) for a in grid)
        origin = np.array([x[0], y[0]])
        spacing = np.array([x[1] - x[0], y[1] - y[0]])
        table = np.stack([z, *np.gradient(z, spacing[0], spacing[1])], axis=-1)
    return Bed(
        height=np.asarray(-depth, float),
        slope=np.asarray(slope, float),
        stiffness=np.asarray(0.0 if stiffness is None else stiffness, float),
        damping=np.asarray(damping, float),
        friction=np.asarray(friction, float),
        origin=origin,
        spacing=spacing,
        grid=table,
        soft=stiffness is not None,
        rough=friction > 0.0,
    )


@pytree("kind", "rough")
class Contact:
    """The bed under some points, as a step sees it from t_n (..., point).

    Args:
        normal: of the bed (point, 3).
        offset: the clearance of a place r is normal . r - offset (point,) [m].
        alpha: compliance, 0 where rigid (point,) [m/N].
        kappa: damping over stiffness (point,) [s].
        touch: whether the point can touch (point,), 1 or 0.
        friction: Coulomb's coefficient (point,).
        kind: "none", "rigid" or "soft".
        rough: whether there is friction.
    """

    normal: Array
    offset: Array
    alpha: Array
    kappa: Array
    touch: Array
    friction: Array
    kind: str
    rough: bool


def contact_under(bed: Bed | None, r: Array, area: Array, touch: Array) -> Contact:
    """The bed under points at t_n.

    Args:
        bed: the seabed, or None.
        r: points (point, 3) [m].
        area: by which they rest on a soft bed (point,) [m^2].
        touch: whether they can touch (point,), 1 or 0.
    """
    xp = namespace(r)
    zero = xp.zeros(r.shape[0])
    if bed is None:
        return Contact(
            normal=xp.zeros_like(r),
            offset=zero,
            alpha=zero,
            kappa=zero,
            touch=zero,
            friction=zero,
            kind="none",
            rough=False,
        )
    normal, offset = bed_plane(bed, r)
    return Contact(
        normal=normal,
        offset=offset,
        alpha=1.0 / (bed.stiffness * xp.maximum(area, 1e-12)) if bed.soft else zero,
        kappa=zero + bed.damping / bed.stiffness if bed.soft else zero,
        touch=touch,
        friction=zero + bed.friction,
        kind="soft" if bed.soft else "rigid",
        rough=bed.rough,
    )


def bed_plane(bed: Bed, r: Array) -> tuple[Array, Array]:
    """Unit normal (..., 3) and offset (...) of the bed: clearance = normal . r - offset.

    On a grid the height is bilinear, and so is the rise, whose values at the grid points are
    central differences: the normal turns without jumps. Outside the grid its edge goes on.

    Args:
        bed: the seabed.
        r: points (..., 3).
    """
    xp = namespace(r)
    if bed.grid is None:
        rise = xp.broadcast_to(bed.slope, (*r.shape[:-1], 2))
        z = bed.height + xp.sum(rise * r[..., :2], -1)
    else:
        values = _bilinear(bed, r)
        z, rise = values[..., 0], values[..., 1:]
    normal = xp.concatenate([-rise, xp.ones_like(rise[..., :1])], -1)
    normal = normal / xp.sqrt(1.0 + xp.sum(rise**2, -1, keepdims=True))
    foot = xp.concatenate([r[..., :2], z[..., None]], -1)
    return normal, xp.sum(normal * foot, -1)


def _bilinear(bed: Bed, r: Array) -> Array:
    """Bilinear interpolation."""
    assert bed.grid is not None
    xp = namespace(r)
    nx, ny = bed.grid.shape[:2]
    most = xp.array([nx - 1.0, ny - 1.0])
    at = xp.clip((r[..., :2] - bed.origin) / bed.spacing, 0.0, most)
    cell = xp.clip(xp.floor(at), 0.0, most - 1.0)
    f = at - cell
    i, j = cell[..., 0].astype(int), cell[..., 1].astype(int)
    g = xp.asarray(bed.grid)
    fx, fy = f[..., :1], f[..., 1:]
    low = g[i, j] * (1 - fx) + g[i + 1, j] * fx
    high = g[i, j + 1] * (1 - fx) + g[i + 1, j + 1] * fx
    return low * (1 - fy) + high * fy
