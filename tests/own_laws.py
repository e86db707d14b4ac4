"""Laws that tests give from outside the package."""

import jax.numpy as jnp

import swelltree as sw


@sw.pto_law
class CubicSpring(sw.PtoLaw):
    """F = -k x^3 - c v^2 sign v: stored and lost."""

    k: float
    c: float = 0.0

    def force(self, now):
        return -self.k * now.x**3 + now.u - self.lost(now) / jnp.where(now.v == 0.0, 1.0, now.v)

    def stored(self, x, z):
        return 0.25 * self.k * x**4

    def lost(self, now):
        return self.c * jnp.abs(now.v) ** 3


@sw.pto_law
class Lag(sw.PtoLaw):
    """A damper behind a lag: z' = (v - z) / T, F = -c z."""

    c: float
    T: float
    states = 1

    def force(self, now):
        return -self.c * now.z[0]

    def rates(self, now):
        return (now.v - now.z) / self.T


@sw.pto_law
class Catch(sw.PtoLaw):
    """Locks at the first standstill, for good."""

    c: float
    states = 1
    events = 1
    holds = True

    def force(self, now):
        return -self.c * now.v

    def event_values(self, now):
        return jnp.where(now.z > 0.5, -1.0, -now.v[None])

    def switched(self, now, hit):
        return jnp.where(hit, 1.0, now.z)
