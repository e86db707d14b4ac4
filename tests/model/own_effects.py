"""Effects as users write them, found by tests as "own_effects:Tether"."""

import jax.numpy as jnp
import numpy as np

import swelltree as sw
from swelltree.model.sea import water_at


@sw.effect
class Tether(sw.Effect):
    """A spring and damper from a point of a body to a place in the world, all three ways."""

    name: str
    body: str
    stiffness: float
    damping: float = 0.0
    point: tuple = (0.0, 0.0, 0.0)
    place: tuple = (0.0, 0.0, 0.0)

    channels = (sw.Channel("pull", units="N"),)

    def loads(self, model, now):
        _, seen = sw.body_point(model, now, self.body, self.point)
        off = seen.position - self.place
        force = -self.stiffness * off - self.damping * seen.velocity
        wrench = sw.wrench_at(model, now, self.body, force, point=self.point)
        stored = 0.5 * self.stiffness * (off * off).sum()
        power = -self.damping * (seen.velocity * seen.velocity).sum()
        return sw.Loads(wrench, stored, power, {"pull": force})


@sw.effect
class Propeller(sw.HasStates):
    """Thrust along x that follows its set value with a lag: an internal state."""

    name: str
    body: str
    requested: float
    lag: float

    def internal_start(self):
        return np.zeros(1)

    def internal_rate(self, model, now):
        return (self.requested - now.states(self)) / self.lag

    def loads(self, model, now):
        thrust = jnp.concatenate([jnp.asarray(now.states(self)), jnp.zeros(2)])
        return sw.Loads(sw.wrench_at(model, now, self.body, thrust), channels={"thrust": thrust})


@sw.effect
class Crooked(sw.Effect):
    name: str

    def loads(self, model, now):
        return sw.Loads(jnp.zeros(6))


@sw.effect
class Broken(sw.Effect):
    name: str

    def loads(self, model, now):
        return sw.Loads(now.nothing)


@sw.effect
class Choosing(sw.Effect):
    """An if on a state: numpy lets it pass, a compiled program cannot."""

    name: str
    body: str

    def loads(self, model, now):
        _, seen = sw.body_point(model, now, self.body)
        force = jnp.zeros(3)
        if seen.velocity[2] > 0.0:
            force = jnp.ones(3)
        return sw.Loads(sw.wrench_at(model, now, self.body, force))


@sw.effect
class ChoosingRate(Propeller):
    """The same in the rate of its state."""

    name: str
    body: str
    requested: float
    lag: float

    def internal_rate(self, model, now):
        state = now.states(self)
        return state if state[0] > 0.0 else -state


@sw.effect
class Float(sw.ExcitedByWaves):
    """Pushed up and down by the velocity of the water at the reference point of a body."""

    name: str
    body: str
    damping: float

    feels = ("waves",)

    def loads(self, model, now):
        _, seen = sw.body_point(model, now, self.body)
        up = water_at(model, now.t, seen.position[None]).velocity[0, 2]
        force = jnp.stack([0.0 * up, 0.0 * up, self.damping * up])
        return sw.Loads(sw.wrench_at(model, now, self.body, force), channels={"push": force})
