r"""Coulomb friction that sticks: a cone of tangential forces, solved with the forces as unknowns.

Sliding with the velocity u over the next half step, a contact with the normal force nu and the
coefficient m has the friction force p with

.. math:: p = \mathrm{proj}_{m\nu}(p - \varrho u), \qquad |p| \le m \nu

for any :math:`\varrho > 0` (Alart and Curnier 1991). Inside the disk the contact sticks, u = 0; on
its edge it slides against p. Newton's method on p and the positions chooses the branch by
:math:`p - \varrho u` with the inertia over the step for :math:`\varrho`, so it does not jump from
side to side as a steep law of the velocity does. A contact that sticks gives by a trifle while its
force changes, u = -(p - p_last)/c, so that p is eliminated contact by contact and several points of
a body share a load; under a steady force nothing moves.
"""

from __future__ import annotations

from swelltree.jit import Array, jnp, pytree

TINY = 1e-30
STIFFNESS = 1e3  # 1/s^2: of what slides in long steps, over its mass


@pytree()
class Friction:
    """Friction forces at an iterate, linearised: p = start + by_u du + by_nu dnu.

    Args:
        start: at the iterate (contact, 3) [N].
        by_u: derivative by the sliding velocity (contact, 3, 3) [N s/m].
        by_nu: by the normal force (contact, 3).
        row: how far the law is from being met (contact, 3) [m].
    """

    start: Array
    by_u: Array
    by_nu: Array
    row: Array


def friction(
    coefficient: Array,
    last: Array,
    p: Array,
    nu: Array,
    v: Array,
    normal: Array,
    mass: Array,
    h: Array | float,
    stiff: float,
    own: float = 1.0,
) -> Friction:
    """Friction of contacts at an iterate.

    Args:
        coefficient: of Coulomb (contact,), zero where nothing can touch.
        last: friction forces of the last step (contact, 3) [N].
        p: iterate of the friction forces, along the bed (contact, 3) [N].
        nu: iterate of the normal forces (contact,) [N].
        v: velocity over the next half step (contact, 3) [m/s].
        normal: of the bed (contact, 3).
        mass: that a contact moves (contact,) [kg].
        h: step [s].
        stiff: resistance of what sticks over the inertia of a step.
        own: fraction of the mass that moves where one contact alone gives way.
    """
    dot = lambda a, b: jnp.sum(a * b, -1, keepdims=True)  # noqa: E731
    outer = lambda a, b: a[:, :, None] * b[:, None, :]  # noqa: E731
    u = v - dot(v, normal) * normal
    limit = (coefficient * jnp.maximum(nu, 0.0))[:, None]
    rho = own * (mass / h)[:, None]
    # in the long steps of statics what sticks does not give by more
    c = stiff / own * jnp.maximum(1.0, 1e5 / stiff * h * h) * rho
    # there stiffness counts, not inertia: what slides by little must not look as if it stuck
    rho = rho * jnp.maximum(1.0, STIFFNESS * h * h)
    z = p - rho * u
    size = jnp.sqrt(dot(z, z) + TINY)
    sticks = size < limit
    # sliding: the size is the limit, the direction turns with the velocity
    way = z / size
    share = jnp.minimum(limit / size, 1.0)
    along = dot(p, way)
    gain = 1.0 / (1.0 - share + share * rho / c)
    flat = jnp.eye(3) - outer(normal, normal)
    slide = limit * way + (1.0 - gain) * (p - along * way)
    turn = (share * rho * gain)[:, :, None] * (flat - outer(way, way))
    grows = (coefficient * (nu > 0.0))[:, None] * way
    return Friction(
        start=jnp.where(sticks, last - c * u, slide),
        by_u=-jnp.where(sticks[:, :, None], c[:, :, None] * flat, turn),
        by_nu=jnp.where(sticks, 0.0, grows),
        row=jnp.where(sticks, h * (u + (p - last) / c), (p - limit * way) * h / rho),
    )


def smooth_friction(
    coefficient: Array,
    p: Array,
    nu: Array,
    v: Array,
    normal: Array,
    mass: Array,
    h: Array | float,
    slow: Array | float,
) -> Friction:
    r"""Friction by a law that falls off below a velocity, at an iterate.

    .. math:: p \sqrt{u^2 + w^2} + m \nu u = 0

    The forces are unknowns here too (Chan, Golub and Mulet 1999, of another steep law): Newton's
    method converges however small w is, if it is lowered in several turns. For steps in which it is
    not found at once what sticks, such as landings on several points.

    Args:
        coefficient: of Coulomb (contact,).
        p: iterate of the friction forces (contact, 3) [N].
        nu: iterate of the normal forces (contact,) [N].
        v: velocity over the next half step (contact, 3) [m/s].
        normal: of the bed (contact, 3).
        mass: that a contact moves (contact,) [kg].
        h: step [s].
        slow: the velocity w [m/s].
    """
    dot = lambda a, b: jnp.sum(a * b, -1, keepdims=True)  # noqa: E731
    u = v - dot(v, normal) * normal
    limit = (coefficient * jnp.maximum(nu, 0.0))[:, None]
    speed = jnp.sqrt(dot(u, u) + slow**2 + TINY)
    law = -limit * u / speed
    # a force beyond the limit would make a derivative that drives
    inside = p * jnp.minimum(1.0, limit / jnp.sqrt(dot(p, p) + TINY))
    flat = jnp.eye(3) - normal[:, :, None] * normal[:, None, :]
    turn = inside[:, :, None] * (u / speed)[:, None, :]
    return Friction(
        start=law,
        by_u=-(limit[:, :, None] * flat + turn) / speed[:, :, None],
        by_nu=-(coefficient * (nu > 0.0))[:, None] * u / speed,
        row=(p - law) * (h * h / mass)[:, None],
    )
