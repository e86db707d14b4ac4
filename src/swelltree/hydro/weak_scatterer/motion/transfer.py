"""Values on the free surface, taken over from one mesh to another.

Around every new vertex a quadratic is fitted to the nearest old ones, near ones with far more
weight, so that a vertex that stays keeps its value. What comes out lies between the values of these
neighbours, and fades to zero where there was no water near.

The water on the surface stays as much as it was: what closes over a body stands no higher than
there is water for, and what elevations hold more or less on the new mesh then is taken from the
highest of them. (Carried on over the hole of a sphere of 5 m that went under, they brought 27 m^3
of spurious water, and a tenth of the largest kinetic energy.)
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.jit import Array, jax, jnp

NEAREST = 14
NEAR, FAR = 0.5, 0.8  # distance to the nearest over that to the last of them: values fade between
SHARP = 1e-3  # of the distance to the farthest of them: nearer points count alike


def transferred(
    old: Float[Array, "old xy"],
    taken: Float[Array, " old"],
    values: Float[Array, "kind old"],
    new: Float[Array, "new xy"],
    symmetric: bool,
) -> Float[Array, "kind new"]:
    """Values at new places.

    Args:
        old: places of the old vertices [m].
        taken: 1.0 where a vertex is one.
        values: at the old vertices.
        new: places of the new vertices [m].
        symmetric: values are even in y, and only y >= 0 is meshed.
    """
    if symmetric:
        old = jnp.concatenate([old, old * jnp.array([1.0, -1.0])])
        taken, values = jnp.tile(taken, 2), jnp.tile(values, (1, 2))
    d2 = ((new[:, None] - old[None]) ** 2).sum(-1)
    d2 = jnp.where(taken[None] > 0.0, d2, jnp.inf)
    near, number = jax.lax.top_k(-d2, NEAREST)
    unit2 = -near[:, -1:]
    unit = jnp.sqrt(unit2)
    away = (old[number] - new[:, None]) / unit[..., None]
    weight = 1.0 / (-near / unit2 + SHARP**2) ** 2
    x, y = away[..., 0], away[..., 1]
    basis = jnp.stack([jnp.ones_like(x), x, y, x * x, x * y, y * y], -1)
    normal = jnp.einsum("nk,nki,nkj->nij", weight, basis, basis)
    # places in a row leave a quadratic open: a little of its square is asked to be small
    scale = jnp.trace(normal, axis1=1, axis2=2)[:, None, None]
    normal = normal + 1e-12 * scale * jnp.eye(6)
    known = values[:, number]
    right = jnp.einsum("nk,nki,vnk->nvi", weight, basis, known)
    fitted = jnp.linalg.solve(normal, jnp.swapaxes(right, 1, 2))[:, 0].T
    # among old vertices the nearest is within a third of the distance to the farthest of them
    fade = jnp.clip((FAR - jnp.sqrt(-near[:, 0]) / unit[:, 0]) / (FAR - NEAR), 0.0, 1.0)
    return fade * jnp.clip(fitted, known.min(-1), known.max(-1))


def with_volume(
    eta: Float[Array, " new"],
    share: Float[Array, " new"],
    fresh: Float[Array, " new"],
    volume: Array,
) -> Float[Array, " new"]:
    """Elevations that hold a volume of water [m].

    Args:
        eta: as they were taken over [m].
        share: area in plan of each vertex, zero where there is none [m^2].
        fresh: 1.0 where there was no water before.
        volume: that the surface held before [m^3].
    """
    each = share * eta
    own, rest = (each * fresh).sum(), (each * (1.0 - fresh)).sum()
    part = jnp.clip((volume - rest) / jnp.where(own != 0.0, own, 1.0), 0.0, 1.0)
    eta = eta * (1.0 - fresh + part * fresh)
    # the highest first; no elevation changes by more than half at a time
    for power in (2, 1):
        high = jnp.abs(eta).max(initial=0.0)
        weight = jnp.abs(eta) * (jnp.abs(eta) / jnp.where(high > 0.0, high, 1.0)) ** (power - 1)
        full = (share * weight).sum()
        change = (volume - (share * eta).sum()) / jnp.where(full > 0.0, full, 1.0)
        eta = eta + jnp.clip(change, -0.5, 0.5) * weight
    return eta


def inside(
    ring: Float[Array, "line xy"], places: Float[Array, "n xy"], symmetric: bool
) -> Float[Array, " n"]:
    """1.0 at places within a waterline; arguments as `transferred`, the ring in order."""
    if symmetric:
        ring = jnp.concatenate([ring, (ring * jnp.array([1.0, -1.0]))[::-1]])
    a = ring[None] - places[:, None]
    b = jnp.roll(ring, -1, axis=0)[None] - places[:, None]
    cross = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    turn = jnp.arctan2(cross, (a * b).sum(-1)).sum(1)
    return jnp.where(jnp.abs(turn) > jnp.pi, 1.0, 0.0)
