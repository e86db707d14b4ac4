r"""A stepper of free surface and one body for verification, with the coupling in two equal forms.

Runge-Kutta of fourth order, as `simulate` takes its steps. The matrices are made for the geometry
of every stage ("full"), once for that in the middle of the step ("mid", a fourth of the work and as
good), or at its start ("start"); where nothing moves, in mode "linear", once for all.

The bodies accelerate with :math:`\alpha = J\dot v + \dot J v`, and
:math:`H\dot v + J^\top A\alpha = \tau + J^\top F`, with the added mass A and the wrench F of
`hydrodynamics`. `schur` solves just this. `monolithic` is the system A X = B of Wuillaume et al.
(2017), section 5, for the rates of the potential, the flux on the bodies and the accelerations at
once; in print its eq. 24 has phi_t for phi_tn in the last term on the left, and B has C_D phi_m
for -C_S phi_tn of the walls and lost a dot on J.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.effect import STAGES
from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Hydrodynamics,
    Prepared,
    Water,
    evaluate,
    prepare,
)
from swelltree.hydro.weak_scatterer.motion.scene import Scene, longest_step
from swelltree.jit import Array, jax, jitted, jnp, pytree


@pytree()
class Mechanics:
    """A multibody system at an instant, of n velocities v.

    Args:
        bodies: motion of the bodies in the water.
        jacobian: J of their velocities by v, all bodies in a row.
        bias: J-dot v, their accelerations without rates of v.
        mass: H.
        load: tau, all loads but those of the water, less velocity-dependent inertia.
    """

    bodies: Bodies
    jacobian: Float[Array, "dofs n"]
    bias: Float[Array, " dofs"]
    mass: Float[Array, "n n"]
    load: Float[Array, " n"]


def schur(water: Hydrodynamics, prepared: Prepared, system: Mechanics) -> Float[Array, " n"]:
    """Accelerations from the added mass and the wrench of the water."""
    J, A = system.jacobian, water.added_mass
    load = system.load + J.T @ (water.wrench - A @ system.bias)
    return jnp.linalg.solve(system.mass + J.T @ A @ J, load)


def monolithic(water: Hydrodynamics, prepared: Prepared, system: Mechanics) -> Float[Array, " n"]:
    """Accelerations from one system with the rates of the potential and the flux on bodies."""
    matrices, second, J = prepared.matrices, water.second, system.jacobian
    A = matrices.unknowns
    n, flux, v = len(A), len(second.flux), len(system.load)
    S = matrices.per_flux
    CK = second.per_acceleration
    big = jnp.block(
        [
            [A, -S, jnp.zeros((n, v))],
            [jnp.zeros((flux, n)), jnp.eye(flux), -CK @ J],
            [-J.T @ second.wrench_of, -J.T @ second.wrench_of_flux, system.mass],
        ]
    )
    right = jnp.concatenate(
        [
            second.right,
            CK @ system.bias + second.flux,
            system.load + J.T @ second.known,
        ]
    )
    return jnp.linalg.solve(big, right)[n + flux :]


COUPLINGS = {"schur": schur, "monolithic": monolithic}


@runtime_checkable
class Multibody(Protocol):
    """What the stepper asks of a multibody system with positions q and velocities v."""

    def at(self, t: Array, q: Array, v: Array) -> Mechanics:
        """Motion, Jacobian, masses and loads."""
        ...

    def rate(self, q: Array, v: Array) -> Array:
        """Of the positions."""
        ...


@pytree()
class State:
    """Free surface and multibody system at an instant."""

    t: Array
    water: Water
    q: Array
    v: Array


class Evaluated(NamedTuple):
    """A stage: its rate, and what made it."""

    rate: State
    water: Hydrodynamics
    acceleration: Array


@pytree("geometry", "couple")
class Simulation:
    """A scene, a wave and a multibody system, stepped together."""

    scene: Scene
    wave: Incident
    system: Multibody
    geometry: str
    couple: str

    @property
    def fixed(self) -> bool:
        """Nothing of the mesh moves."""
        return not (self.scene.wavy or self.scene.moving)

    def start(self, q: Array, v: Array) -> State:
        """At t = 0 without perturbation."""
        zero = jnp.zeros(self.scene.boundary.surface)
        q, v = jnp.asarray(q, float), jnp.asarray(v, float)
        return State(jnp.asarray(0.0), Water(zero, zero), q, v)

    def prepared(self, state: State) -> Prepared:
        """Matrices for the geometry of a state."""
        bodies = self.system.at(state.t, state.q, state.v).bodies
        return prepare(self.scene, self.wave, state.t, bodies)

    def evaluated(self, prepared: Prepared, state: State) -> Evaluated:
        """Rate of a state."""
        system = self.system.at(state.t, state.q, state.v)
        water = evaluate(self.scene, self.wave, prepared, state.t, state.water, system.bodies)
        acceleration = COUPLINGS[self.couple](water, prepared, system)
        rates = water.surface
        rate = State(
            jnp.asarray(1.0),
            Water(rates.potential, rates.elevation),
            self.system.rate(state.q, state.v),
            acceleration,
        )
        return Evaluated(rate, water, acceleration)

    def step(self, state: State, dt: Array, prepared: Prepared | None = None) -> State:
        """One step of Runge and Kutta.

        Args:
            state: at its start.
            dt: [s].
            prepared: matrices that hold for all times, where nothing moves.
        """
        once = prepared
        if once is None and self.geometry != "full":
            half = 0.5 * dt if self.geometry == "mid" else 0.0
            # bodies in the middle of the step, extrapolated by their velocities
            ahead = state.q + half * self.system.rate(state.q, state.v)
            once = self.prepared(State(state.t + half, state.water, ahead, state.v))

        def rate(at: State) -> State:
            return self.evaluated(self.prepared(at) if once is None else once, at).rate

        def stage(carry: tuple[State, State], row: Array) -> tuple[tuple[State, State], None]:
            k, total = carry
            k = rate(_ahead(state, k, row[0] * dt))
            return (k, _ahead(total, k, row[1] * dt)), None

        nothing = jax.tree.map(jnp.zeros_like, state)
        return jax.lax.scan(stage, (nothing, state), jnp.asarray(STAGES))[0][1]


def _ahead(state: State, rate: State, dt: Array) -> State:
    return jax.tree.map(lambda y, k: y + dt * k, state, rate)


def simulation(
    scene: Scene,
    wave: Incident,
    system: Multibody,
    *,
    geometry: str = "mid",
    couple: str = "schur",
) -> Simulation:
    """A simulation.

    Args:
        scene: the water and its bodies.
        wave: incident.
        system: the multibody system.
        geometry: "full", "mid" or "start".
        couple: "schur" or "monolithic".
    """
    return Simulation(scene, wave, system, geometry, couple)


def positions_and_velocities(state: State) -> Array:
    """Of the multibody system."""
    return jnp.concatenate([state.q, state.v])


def run(
    simulation: Simulation,
    start: State,
    duration: float,
    dt: float,
    *,
    record: Callable[[State], Array] = positions_and_velocities,
) -> tuple[State, Array, Array]:
    """Step through a duration.

    Args:
        simulation: what is stepped.
        start: first state.
        duration: [s].
        dt: step [s].
        record: what is kept of every state.

    Returns:
        last state, times, and what was recorded, first state included.
    """
    assert 0.0 < dt <= longest_step(simulation.scene)
    steps = max(1, round(duration / dt))
    state, rows = start, [record(start)]
    fixed = _prepared(simulation, start) if simulation.fixed else None
    for _ in range(steps):
        state = _step(simulation, state, dt, fixed)
        rows.append(record(state))
    return state, start.t + dt * jnp.arange(steps + 1), jnp.stack(rows)


_prepared = jitted(Simulation.prepared)
_step = jitted(Simulation.step)


@pytree()
class Rail:
    """One body that slides along a direction without turning, on a spring and a damper.

    Args:
        origin: of the reference point where the stroke is zero [m].
        direction: unit vector.
        mass: [kg].
        weight: load along the direction of everything but water and spring [N].
        stiffness: [N/m].
        damping: [N s/m].
    """

    origin: Float[Array, " xyz"]
    direction: Float[Array, " xyz"]
    mass: Array
    weight: Array
    stiffness: Array
    damping: Array

    def at(self, t: Array, q: Array, v: Array) -> Mechanics:
        """Motion, masses and loads."""
        J = jnp.concatenate([self.direction, jnp.zeros(3)])[:, None]
        position = self.origin + q[0] * self.direction
        bodies = Bodies(position[None], jnp.eye(3)[None], (J @ v)[None])
        load = self.weight - self.stiffness * q - self.damping * v
        mass = jnp.asarray(self.mass, float)
        return Mechanics(bodies, J, jnp.zeros(6), mass[None, None], load)

    def rate(self, q: Array, v: Array) -> Array:
        """Of the stroke."""
        return v
