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


@sw.pto_law
class Anchored(sw.PtoLaw):
    """A spring to the place that stroke and rate at the start point to, and a lagged damper."""

    k: float
    lead: float
    states = 2

    def begun(self, now):
        return jnp.stack([now.z[0], now.x + self.lead * now.v])

    def force(self, now):
        return -self.k * (now.x - now.z[1]) - 0.3 * now.z[0]

    def rates(self, now):
        return jnp.stack([now.v - now.z[0], 0.0 * now.v])


@sw.pto_law
class Arrest(sw.PtoLaw):
    """Locks at full speed when it has gone a distance from where it began."""

    distance: float
    states = 2
    events = 1
    holds = True

    def begun(self, now):
        return jnp.stack([now.z[0], now.x])

    def force(self, now):
        return 0.0 * now.x

    def event_values(self, now):
        gone = jnp.abs(now.x - now.z[1])
        return jnp.where(now.z[0] > 0.5, 1.0, self.distance - gone)[None]

    def switched(self, now, hit):
        return jnp.stack([jnp.where(hit[0], 1.0, now.z[0]), now.z[1]])


@sw.coupling_law
class Cam(sw.CouplingLaw):
    """A follower on an eccentric disc: x1 = lift cos x0."""

    lift: float

    def value(self, x):
        return x[1] - self.lift * jnp.cos(x[0])


@sw.coupling_law
class Branching(sw.CouplingLaw):
    """An if on a coordinate: numpy lets it pass, a compiled program cannot."""

    def value(self, x):
        return x[1] - x[0] if x[0] > 0.0 else x[1]


@sw.coupling_law
class Rooted(sw.CouplingLaw):
    """Not a number where the first coordinate is below one."""

    def value(self, x):
        return x[1] - jnp.sqrt(x[0] - 1.0)


@sw.coupling_law
class Pair(sw.CouplingLaw):
    """Two values where one is wanted."""

    def value(self, x):
        return x
