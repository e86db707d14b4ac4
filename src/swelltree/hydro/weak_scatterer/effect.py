"""Weak scatterers as an effect of a model: potential and elevation are its internal states.

Before the loads of an instant are asked for, `solved` finds the water there: rates of the free
surface, the wrench of bodies without acceleration, and an added mass that the mass matrix gets
(`with_solved_mass`). The matrices behind it may be those of the middle of the step
(`before_step`) or of the mean geometry (`before_run`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.beach import longest_wave, required_beach
from swelltree.hydro.weak_scatterer.checks import (
    Energies,
    fluid_energies,
    hydrostatic_energy,
)
from swelltree.hydro.weak_scatterer.entry import Entry, EntryLoads, entry_loads
from swelltree.hydro.weak_scatterer.in_multibody import schur
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.incident.of_sea import (
    check_spacing,
    incident_of,
    main_frequency,
)
from swelltree.hydro.weak_scatterer.masses import masses
from swelltree.hydro.weak_scatterer.motion.crossing import plan_quality
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Hydrodynamics,
    Prepared,
    Water,
    blocks_of_run,
    buoyancy,
    evaluate,
    hull_at,
    prepare,
    surface_only,
)
from swelltree.hydro.weak_scatterer.motion.mesher import DRY, ENTERING, Mesher
from swelltree.hydro.weak_scatterer.motion.scene import Scene, left_the_water, longest_step
from swelltree.hydro.weak_scatterer.problem.assembly import FixedBlocks
from swelltree.hydro.weak_scatterer.problem.solve import Factors
from swelltree.hydro.weak_scatterer.remeshed import State, packed, remeshed, unpacked
from swelltree.hydro.weak_scatterer.shown import pressure_of_acceleration, shown
from swelltree.jit import Array, Tree, jax, jitted, jnp, known, pytree
from swelltree.model.capabilities import (
    FluidSolver,
    HasCalmForm,
    HasConstants,
    HasLinearForm,
    HasNonlinearity,
    InternalState,
    ReportsFields,
)
from swelltree.model.effect import Instant, LinearForm, Loads
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, Pose
from swelltree.spatial.rotations import about_axis
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    from swelltree.multibody.formulations.base import Formulation, Kinematics

STEPS_PER_PERIOD = 30
# of Runge and Kutta: how far along the rate before a stage lies, and its weight in the step
STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
# terms of the energy balance beside its own
BEACH, WATERLINE, SMOOTHING, MESHES = "beach", "waterline", "smoothing", "meshes"
SPRAY = "spray"
# traced once for all programs of a run: stages, samples and their shapes
prepared_matrices, evaluated = jitted(prepare), jitted(evaluate)
blocks_once = jitted(blocks_of_run)


@pytree()
class Solution:
    """The water at an instant."""

    rates: Float[Array, "two surface"]  # of potential and elevation
    wrench: Float[Array, "body dof"]  # on bodies without acceleration
    added_mass: Float[Array, "dofs dofs"]
    energies: Energies
    water: Hydrodynamics
    entering: EntryLoads | None = None  # on bodies that are not in the mesh


@pytree(
    "names", "bodies", "geometry", "tank_radius", "tank_spacing", "specified_step",
    "specified_beach", "accuracy", "mesher",
)  # fmt: skip
class WeakScatterers(
    FluidSolver, HasCalmForm, HasNonlinearity, HasLinearForm, HasConstants, ReportsFields
):
    """Bodies in a tank of water.

    Args:
        scene: meshes and water.
        wave: incident.
        prepared: matrices that hold for a step or a run; None: made at every instant.
        solution: of an instant; None: only the weight of the water is known.
        names: of the effect, and of the terms of its energy balance that have names of their own.
        bodies: numbers of its bodies in the model.
        geometry: "full", "mid" or "start".
        tank_radius: [m].
        tank_spacing: of the free surface over the bodies [m].
        given_step: time step, None: from the waves [s].
        given_beach: the beach was given; else it is what waves of their frequency want.
        accuracy: asked relative error of coefficients, None: not asked.
        mesher: makes the scene again where bodies cross the surface; None: the scene stays.
        calm: of its beach over that of the mesher.
        blocks: of the matrices, which stay for a run; None: there are none, or not yet.
        entry: pressure and added mass of bodies that may cross the surface; None: none may.
    """

    kind: ClassVar[str] = "weak_scatterer"
    feels = ("waves",)

    scene: Scene
    wave: Tree
    prepared: Tree
    solution: Tree
    names: tuple[str, ...]
    bodies: tuple[int, ...]
    geometry: str
    tank_radius: float
    tank_spacing: float
    specified_step: float | None
    specified_beach: bool
    accuracy: float | None = None
    mesher: Mesher | None = None
    calm: Array | float = 1.0
    blocks: FixedBlocks | None = None
    entry: Entry | None = None

    @property
    def word(self) -> str:
        return "weak scatterers"

    @property
    def sample_size(self) -> int:
        """Surface and hull, with their places."""
        return 4 * (self.scene.boundary.surface + len(self.scene.boundary.wet))

    @property
    def fixed(self) -> bool:
        return not (self.scene.wavy or self.scene.moving)

    # --- in its sea, and its steps

    def in_sea(self, model: Model, waves: RealisedSea, padded: bool = False) -> WeakScatterers:
        name = self.names[0]
        wave = incident_of(name, waves, model, self.scene, self.tank_radius)
        check_spacing(name, waves, model, self.tank_spacing)
        scene, calm = self.scene, self.calm
        if not self.specified_beach:
            usual = longest_wave(self.tank_radius, scene.g)
            now, before = (
                required_beach(omega, self.tank_radius, scene.depth, scene.g)
                for omega in (main_frequency(waves), usual)
            )
            scene = replace(scene, beach=scene.beach * now / before)
            calm = calm * now / before
        step = self.specified_step
        if step is None:
            step = min(
                2.0 * math.pi / main_frequency(waves) / STEPS_PER_PERIOD, longest_step(scene)
            )
        entry = None if self.entry is None else self.entry.in_sea(model, waves, padded)
        return replace(self, scene=scene, wave=wave, specified_step=step, calm=calm, entry=entry)

    def in_still_water(self) -> WeakScatterers:
        entry = self.entry
        if entry is not None:
            entry = replace(entry, hulls=replace(entry.hulls, near=None))
        return replace(self, wave=Still(), entry=entry)

    @property
    def fixed_step(self) -> float:
        """Its step [s]."""
        limit = longest_step(self.scene)
        return 0.5 * limit if self.specified_step is None else float(self.specified_step)

    def check_step(self, step: float) -> None:
        """Reject steps with which the free surface would be unstable."""
        limit = longest_step(self.scene)
        if step > limit * (1 + 1e-9):
            raise SwelltreeError(
                f"force '{self.names[0]}': step {step:.4g} s is too large for a free surface with "
                f"a spacing of {self.scene.spacing:.3g} m. Give at most {limit:.3g} s."
            )

    def before_run(self, model: Model) -> WeakScatterers:
        """With the matrices of the mean geometry, or with what of them stays."""
        if not self.fixed:
            if self.mesher is not None:
                return self
            return replace(self, blocks=blocks_once(self.scene, self.wave))
        if self.prepared is not None:
            return self
        mean = Bodies(
            self.scene.mean_position, self.scene.mean_rotation, jnp.zeros((len(self.bodies), 6))
        )
        return replace(self, prepared=prepared_matrices(self.scene, Still(), 0.0, mean))

    def before_step(
        self,
        model: Model,
        t: Array,
        h: Array,
        motion_at: Callable[[Array], Motion],
        internal: InternalState,
    ) -> WeakScatterers:
        """With the matrices of one step.

        Args:
            model: with this effect.
            t: at its start [s].
            h: its length [s].
            motion_at: motion of all bodies so long after the start.
            internal: states at its start.
        """
        if self.fixed or self.geometry == "full":
            return self
        if self.mesher is not None:
            self = self.meshed(internal.elements[self.kind])
        ahead = 0.5 * h if self.geometry == "mid" else 0.0 * h
        bodies = self.bodies_of(motion_at(ahead))
        ready = prepared_matrices(self.scene, self.wave, t + ahead, bodies, self.blocks)
        return replace(self, prepared=ready)

    def at_instant(self, model: Model, now: Instant, moving: Array) -> WeakScatterers:
        """With the matrices of the positions now; where time stands still, with none."""
        if self.fixed:
            return self
        self = self.meshed(now.states(self))
        bodies = self.bodies_of(now.motion)

        def built() -> Prepared:
            return prepared_matrices(self.scene, self.wave, now.t, bodies, self.blocks)

        def nothing() -> Prepared:
            like = jax.eval_shape(built)
            none = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), like)
            n = self.scene.boundary.vertices
            full = Factors(jnp.eye(n), jnp.arange(n, dtype=like.factors.order.dtype))
            return replace(none, factors=full)

        return replace(self, prepared=jax.lax.cond(moving, built, nothing))

    # --- states

    def internal_advanced(self, model: Model, now: Instant, v_half: Array, h: Array) -> Array:
        """Potential and elevation a step later, by Runge and Kutta along a known motion."""
        states = jnp.asarray(now.states(self))
        n = self.scene.boundary.surface
        bodies = self.bodies_of(now.motion)
        change = v_half[np.array(self.bodies, dtype=int)] - bodies.velocity
        per_step = jnp.where(h > 0.0, 1.0 / jnp.where(h > 0.0, h, 1.0), 0.0)

        def rate(ahead: Array, top: Array) -> Array:
            moved = ahead * bodies.velocity + ahead**2 * per_step * change
            angle = jnp.sqrt((moved[:, 3:] ** 2).sum(1) + 1e-300)
            turn = about_axis(moved[:, 3:] / angle[:, None], angle)
            there = Bodies(
                bodies.position + moved[:, :3],
                jnp.einsum("bij,bjk->bik", turn, bodies.rotation),
                bodies.velocity + 2.0 * ahead * per_step * change,
            )
            at = (self.scene, self.wave, self.prepared, now.t + ahead)
            found = surface_only(*at, Water(top[0], top[1]), there)
            return jnp.stack([found.potential, found.elevation])

        top = states[:, :n]

        def stage(carry: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], None]:
            k, total = carry
            k = rate(row[0] * h, top + row[0] * h * k)
            return (k, total + row[1] * h * k), None

        after = jax.lax.scan(stage, (0.0 * top, top), jnp.asarray(STAGES))[0][1]
        return states.at[:, :n].set(after)

    def internal_start(self) -> Array:
        """No perturbation: potential and elevation of the free surface, and what its mesh is of."""
        top = np.zeros((2, self.scene.boundary.surface))
        if self.mesher is None:
            return top
        return self._rested(self.mesher.described())

    def internal_rate(self, model: Model, now: Instant) -> Array:
        solved = self if self.solution is not None else self.solved(model, now)
        rates = solved.solution.rates
        more = jnp.asarray(now.states(self)).shape[1] - rates.shape[1]
        return jnp.pad(rates, ((0, 0), (0, more)))

    def equilibrium_states(self, states: Array, pose: Pose) -> Array:
        """With a mesh for the bodies where they are."""
        if self.mesher is None or not known(pose.p):
            return states
        rows = list(self.bodies)
        return self._rested(self.mesher.at_rest(np.asarray(pose.p)[rows], np.asarray(pose.R)[rows]))

    def _rested(self, reference: np.ndarray) -> np.ndarray:
        """States of still water with the mesh of a reference."""
        assert self.mesher is not None
        scene = self.mesher.scene(reference)
        quality = float(plan_quality(scene, np.asarray(scene.still)))
        return packed(np.zeros((2, scene.boundary.surface)), reference, quality, 0.0, 0.0)

    def state_of(self, states: Array) -> State:
        return unpacked(jnp.asarray(states), self.scene.boundary.surface, len(self.bodies))

    def meshed(self, states: Array) -> WeakScatterers:
        """With the mesh of its internal states, where bodies cross the surface."""
        if self.mesher is None:
            return self
        scene = self.mesher.traced(self.scene, self.state_of(states).reference)
        return replace(self, scene=replace(scene, beach=self.calm * scene.beach))

    def after_step(self, model: Model, now: Instant) -> Array:
        """States on a new mesh, where a body crossed the surface or the mesh is worn."""
        if self.mesher is None:
            return now.states(self)
        return remeshed(self, model, now)

    def out_of_range(self, states: Array) -> Array:
        """Whether the surface rose beyond all measure."""
        top = states[1, : self.scene.boundary.surface]
        return jnp.abs(top).max(initial=0.0) > self.scene.depth

    def why_stopped(self, states: Array) -> str:
        """What to look at when a run ended early."""
        highest = np.abs(np.asarray(states)[1, : self.scene.boundary.surface]).max(initial=0.0)
        if self.mesher is not None and self.mesher.trouble:
            return f"Weak scatterers could not be remeshed: {self.mesher.trouble}"
        if highest > 0.5 * self.scene.depth:
            return (
                f"Weak scatterers: the perturbation of the surface grew to {highest:.3g} m. Give a "
                "smaller step, or a finer free surface over bodies that come near it."
            )
        if self.scene.shells:
            return (
                "Weak scatterers: a hull that pierces the surface may have left the water or gone "
                "under it. Name its body in crossing if it shall, else check its mass, lower the "
                "waves, or give the hull more freeboard or a smaller step."
            )
        return (
            "Weak scatterers: a body under water may have come to the surface or to the bottom. "
            "Lower the waves, or place the body further away from both."
        )

    # --- loads

    def bodies_of(self, motion: Motion) -> Bodies:
        rows = np.array(self.bodies, dtype=int)
        p, R, v = (jnp.asarray(x) for x in (motion.pose.p, motion.pose.R, motion.v))
        return Bodies(p[rows], R[rows], v[rows])

    def solved(self, model: Model, now: Instant) -> WeakScatterers:
        bodies = self.bodies_of(now.motion)
        ready = self.prepared
        if ready is None:
            self = self.meshed(now.states(self))
            ready = prepared_matrices(self.scene, self.wave, now.t, bodies, self.blocks)
        state = Water(*self.state_of(now.states(self)).top)
        water = evaluated(self.scene, self.wave, ready, now.t, state, bodies)
        # a body that leaves the water, or the mesh, ends the run
        lost = jnp.where(left_the_water(self.scene, self.wave, now.t, bodies), jnp.nan, 0.0)
        entering, wrench, added = self.entering(model, now), water.wrench, water.added_mass
        if entering is not None:
            wrench = wrench + entering.wrench.reshape(-1)
            added = added + entering.added_mass
        solution = Solution(
            rates=jnp.stack([water.surface.potential, water.surface.elevation]),
            wrench=wrench.reshape(-1, 6) + lost,
            added_mass=added,
            energies=fluid_energies(self.scene, state, water, bodies),
            water=water,
            entering=entering,
        )
        return replace(self, solution=solution)

    def entering(self, model: Model, now: Instant) -> EntryLoads | None:
        """Loads on bodies that may cross the surface and are not in the mesh; None: none may."""
        if self.entry is None:
            return None
        return entry_loads(self, model, now, self.state_of(now.states(self)).reference[:, 0])

    def loads(self, model: Model, now: Instant) -> Loads:
        """Wrench of bodies without acceleration; at rest, before anything is solved, buoyancy."""
        bodies = self.bodies_of(now.motion)
        if self.solution is None:
            hull = hull_at(self.scene, self.wave, now.t, bodies)
        else:
            hull = self.solution.water.placed.hull
        stored = hydrostatic_energy(self.scene, bodies, hull)
        more = self._energy_terms({})
        if self.mesher is not None:
            added = self.state_of(now.states(self)).with_energy_terms
            more = self._energy_terms({MESHES: -added})
        if self.solution is None:
            entering = self.entering(model, now)
            wrench = buoyancy(self.scene, self.wave, now.t, bodies, hull)
            if entering is not None:
                wrench, stored = wrench + entering.wrench, stored + entering.stored
            first = self._first(stored)
            return Loads(self._spread(model, wrench), first, 0.0 * first, {})
        found, spray = self.solution, 0.0
        if found.entering is not None:
            stored, spray = stored + found.entering.stored, found.entering.spray
        force = self._spread(model, found.wrench)
        channels = {
            "force": force,
            "fluid_energy": found.energies.fluid,
            "beach_power": found.energies.beach,
            "waterline_power": found.energies.waterline,
            "smoothing_power": found.energies.smoothing,
            **self._masses(model, now, bodies),
            **shown(self, now, bodies),
        }
        power = (found.wrench * bodies.velocity).sum()
        if isinstance(self.wave, Still):
            # all that the wrench does to the bodies comes from the water, or goes to its beach
            stored = self._first(stored + found.energies.fluid) + more
            energies = found.energies
            taken = {
                BEACH: -energies.beach,
                WATERLINE: -energies.waterline,
                SMOOTHING: -energies.smoothing,
                SPRAY: spray,
            }
            return Loads(force, stored, self._energy_terms(taken), channels)
        return Loads(force, 0.0 * self._first(power), self._first(power), channels)

    def _masses(self, model: Model, now: Instant, bodies: Bodies) -> dict[str, Array]:
        """Channels of the mass of the water; on the surface a body that enters displaces none."""
        state = self.state_of(now.states(self))
        placed = self.solution.water.placed
        found = masses(self.scene, self.wave, now.t, state.top[1], bodies, placed)
        displaced, rows = found.displaced, np.array(self.bodies, dtype=int)
        more = {}
        entering = self.solution.entering
        if entering is not None:
            below = self.scene.rho * entering.volume
            displaced = displaced + below
            counted = state.reference[:, 0]
            counted = jnp.where((counted == DRY) & (below > 0.0), ENTERING, counted)
            more = {
                "remeshing_mass": state.accounted_mass + below.sum(),
                "state": jnp.zeros(model.layout.n_bodies).at[rows].set(counted),
            }
        return {
            "displaced_mass": jnp.zeros(model.layout.n_bodies).at[rows].add(displaced),
            "surface_mass": found.surface,
            "beach_mass_rate": found.beach,
            "swept_mass_rate": found.swept,
            **more,
        }

    def added_mass_reaction(self, model: Model, motion: Motion, v_dot: Array) -> Loads:
        """What its added mass does at known accelerations."""
        rows = np.array(self.bodies, dtype=int)
        wrench = -(self.solution.added_mass @ v_dot[rows].reshape(-1)).reshape(-1, 6)
        power = (wrench * motion.v[rows]).sum()
        force = self._spread(model, wrench)
        if isinstance(self.wave, Still):
            power = 0.0 * power  # it is in the energy of the water
        pressure = pressure_of_acceleration(self, v_dot[rows].reshape(-1))
        channels = {"force": force, "pressure": pressure}
        return Loads(force, 0.0 * self._first(power), self._first(power), channels)

    def acceleration(
        self, model: Model, formulation: Formulation, kin: Kinematics, wrench: Array
    ) -> Tree:
        return schur(self, model, formulation, kin, wrench)

    def solved_mass(self, model: Model) -> Float[Array, "b6 b6"]:
        """Of all bodies of the model, at the instant that was solved."""
        N, b = model.layout.n_bodies, len(self.bodies)
        place = np.zeros((b, N))
        place[np.arange(b), list(self.bodies)] = 1.0
        blocks = self.solution.added_mass.reshape(b, 6, b, 6)
        full = jnp.einsum("bidj,bn,dm->nimj", blocks, place, place)
        return full.reshape(6 * N, 6 * N)

    def _first(self, value: Array) -> Array:
        """Energy balance of all its terms with a value in the first."""
        return jnp.zeros(len(self.names)).at[0].set(value)

    def _energy_terms(self, terms: dict[str, Array]) -> Array:
        """Energy balance of all its terms with these values; terms it does not have are skipped."""
        place = {name.removeprefix(f"{self.names[0]} "): k for k, name in enumerate(self.names)}
        energy_terms = jnp.zeros(len(self.names))
        for word, value in terms.items():
            if word in place:
                energy_terms = energy_terms.at[place[word]].set(value)
        return energy_terms

    def _spread(self, model: Model, wrench: Float[Array, "body dof"]) -> Float[Array, "n dof"]:
        rows = np.array(self.bodies, dtype=int)
        return jnp.zeros((model.layout.n_bodies, 6)).at[rows].add(wrench)

    def constants(self) -> dict[str, Array]:
        """Triangles of the free surface and of the hulls."""
        if self.mesher is not None:
            return {}  # they change, and are channels
        boundary = self.scene.boundary
        top = np.asarray(boundary.triangles)[: boundary.surface_triangles]
        return {"surface_triangles": top, "hull_triangles": np.asarray(boundary.wet_triangles)}

    # --- what it cannot do

    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        """Not supported: there is no linear model of it."""
        raise SwelltreeError(
            f"force '{self.names[0]}': weak scatterers are computed in the time domain and have "
            "no linear "
            "model. Use simulate(...), or hydro data (run_bem) without the weak scatterer."
        )

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        """Why it is not linear for sure."""
        return "it has weak scatterers, which are computed in time"
