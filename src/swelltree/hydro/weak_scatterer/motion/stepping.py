"""Time steps of free surface and bodies together: Runge-Kutta of fourth order.

The matrices are made for the geometry of every stage ("full"), once for that in the middle of the
step ("mid", a fourth of the work and as good), or at its start ("start"); where nothing moves, in
mode "linear", once for all. Positions and normals of bodies are always those of the stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.weak_scatterer.incident.interface import Incident
from swelltree.hydro.weak_scatterer.motion.coupling import Mechanics, coupling
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Hydrodynamics,
    Prepared,
    Water,
    evaluate,
    prepare,
)
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.jit import Array, jax, jitted, jnp, pytree

GEOMETRIES = ("full", "mid", "start")
# how far along the rate before a stage lies, and its weight in the step
STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))


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
        acceleration = coupling(self.couple)(water, prepared, system)
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
    """A simulation whose choices exist.

    Args:
        scene: the water and its bodies.
        wave: incident.
        system: the multibody system.
        geometry: "full", "mid" or "start".
        couple: "schur" or "monolithic".
    """
    if geometry not in GEOMETRIES:
        raise SwelltreeError(
            f"geometry '{geometry}' is not known.{suggest(geometry, GEOMETRIES)} Give one of "
            f"{listed(GEOMETRIES)}."
        )
    coupling(couple)
    return Simulation(scene, wave, system, geometry, couple)


def longest_step(scene: Scene) -> float:
    r"""Beyond which Runge-Kutta steps of the free surface grow, :math:`\sqrt{8 h/(\pi g)}` [s]."""
    return math.sqrt(8.0 * scene.spacing / (math.pi * scene.g))


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
    look: int = 20,
) -> tuple[State, Array, Array]:
    """Step through a duration; a run that diverges is stopped with an error message.

    Args:
        simulation: what is stepped.
        start: first state.
        duration: [s].
        dt: step [s].
        record: what is kept of every state.
        look: steps between looks at the state.

    Returns:
        last state, times, and what was recorded, first state included.
    """
    limit = longest_step(simulation.scene)
    if not 0.0 < dt <= limit:
        raise SwelltreeError(
            f"step {dt} s is too large for a free surface with a spacing of "
            f"{simulation.scene.spacing:.3g} m. Give at most {limit:.3g} s."
        )
    steps = max(1, round(duration / dt))
    state, rows = start, [record(start)]
    fixed = _prepared(simulation, start) if simulation.fixed else None
    for number in range(1, steps + 1):
        state = _step(simulation, state, dt, fixed)
        rows.append(record(state))
        if number % look == 0 or number == steps:
            _check_bounded(simulation.scene, state)
    return state, start.t + dt * jnp.arange(steps + 1), jnp.stack(rows)


_prepared = jitted(Simulation.prepared)
_step = jitted(Simulation.step)


def _check_bounded(scene: Scene, state: State) -> None:
    """Stop when the perturbation diverges."""
    highest = float(jnp.abs(state.water.eta).max()) if len(state.water.eta) else 0.0
    if scene.shells and not math.isfinite(highest):
        raise SwelltreeError(
            f"weak scatterers: the run ended before t = {float(state.t):.4g} s: a "
            "surface-piercing hull left the water or submerged, or the run diverged. Lower the "
            "waves, give the hull more freeboard, or a smaller step."
        )
    if not highest < scene.depth:
        raise SwelltreeError(
            f"weak scatterers: the run diverged before t = {float(state.t):.4g} s: the surface "
            f"rose by {highest:.3g} m. Give a smaller step, or a finer free surface over bodies "
            "that come near it."
        )
