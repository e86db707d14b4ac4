r"""What the solver asks of an incident wave, and the derivatives it makes of it.

A wave is a pytree with two scalar functions, the potential of (t, x) and the elevation of
(t, x, y). One that has no potential, as a sea on a grid, gives the derivatives of it (`flow`)
itself. Bernoulli's constant belongs to the potential, so that the pressure is zero on the surface.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from jaxtyping import Float

from swelltree.jit import Array, jax, jnp, pytree


class Incident:
    exact: ClassVar[bool] = True  # solves the nonlinear conditions of the free surface

    def potential(self, t: Array, x: Float[Array, " xyz"]) -> Array:
        """Velocity potential at one place [m^2/s]."""
        raise NotImplementedError

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        """Surface over one place [m]."""
        raise NotImplementedError

    def flow(self, t: Array, points: Float[Array, "point xyz"]) -> Flow:
        def at(tx: Array) -> Array:
            return self.potential(tx[0], tx[1:])

        def one(x: Array) -> tuple[Array, Array]:
            tx = jnp.concatenate([jnp.asarray(t, x.dtype)[None], x])
            return jax.grad(at)(tx), jax.hessian(at)(tx)

        first, second = jax.vmap(one)(points)
        return Flow(first[:, 0], first[:, 1:], second[:, 0, 1:], second[:, 1:, 1:])

    def grown(self, t: Array) -> Incident:
        return self


@pytree()
class Still(Incident):
    """No wave."""

    def potential(self, t: Array, x: Float[Array, " xyz"]) -> Array:
        return 0.0 * (t + x[0])

    def elevation(self, t: Array, xy: Float[Array, " xy"]) -> Array:
        return 0.0 * (t + xy[0])


class Flow(NamedTuple):
    """The incident wave at points.

    Args:
        rate: derivative of the potential by time [m^2/s^2].
        velocity: [m/s].
        velocity_rate: its derivative by time at the fixed point [m/s^2].
        hessian: second derivatives of the potential [1/s].
    """

    rate: Float[Array, " point"]
    velocity: Float[Array, "point xyz"]
    velocity_rate: Float[Array, "point xyz"]
    hessian: Float[Array, "point xyz also"]


class Elevation(NamedTuple):
    """The incident surface at places.

    Args:
        level: [m].
        slope: by x and y [-].
        rate: [m/s].
    """

    level: Float[Array, " place"]
    slope: Float[Array, "place xy"]
    rate: Float[Array, " place"]


def flow(wave: Incident, t: Array, points: Float[Array, "point xyz"]) -> Flow:
    return wave.flow(t, points)


def surface(wave: Incident, t: Array, places: Float[Array, "place xy"]) -> Elevation:
    """Level, slope and rate of the incident surface."""

    def at(txy: Array) -> Array:
        return wave.elevation(txy[0], txy[1:])

    def one(xy: Array) -> tuple[Array, Array]:
        return jax.value_and_grad(at)(jnp.concatenate([jnp.asarray(t, xy.dtype)[None], xy]))

    level, first = jax.vmap(one)(places)
    return Elevation(level, first[:, 1:], first[:, 0])


def residuals(
    wave: Incident, t: Array, points: Float[Array, "point xyz"], g: float
) -> tuple[Float[Array, " point"], Float[Array, " point"]]:
    r"""What a wave leaves of the two conditions on its own surface.

    .. math::
        r_d = \phi_t + \tfrac12|\nabla\phi|^2 + g\eta, \qquad
        r_k = \eta_t + \nabla\phi\cdot\nabla\eta - \phi_z

    Zero for an exact wave, as it states: the residual of Newton's method is not a forcing. Nor is a
    ramp: water that obeyed both conditions while the wave is switched on would stay at rest.

    Args:
        wave: incident.
        t: [s].
        points: on its surface [m].
        g: [m/s^2].
    """
    if wave.exact:
        return jnp.zeros(len(points)), jnp.zeros(len(points))
    now = wave.grown(t)
    flowing, top = flow(now, t, points), surface(now, t, points[:, :2])
    velocity = flowing.velocity
    dynamic = flowing.rate + 0.5 * (velocity**2).sum(1) + g * top.level
    kinematic = top.rate + (velocity[:, :2] * top.slope).sum(1) - velocity[:, 2]
    return dynamic, kinematic
