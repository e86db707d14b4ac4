"""Internal states of weak scatterers, and how they go over to a new mesh.

States are the potential and the elevation on the free surface. Where bodies cross it, the reference
of the mesh follows in the same array (see `motion.mesher`), with the quality the mesh had when it
was made and the energy that changes of the mesh brought into the water.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.checks import fluid_energies, hydrostatic_energy
from swelltree.hydro.weak_scatterer.entry import entry_loads
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.masses import displaced_mass
from swelltree.hydro.weak_scatterer.motion.crossing import (
    lowered,
    plan_quality,
    required_states,
    worn,
)
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import (
    Bodies,
    Water,
    evaluate,
    hull_at,
    prepare,
)
from swelltree.hydro.weak_scatterer.motion.scene import Scene, vertices_at
from swelltree.hydro.weak_scatterer.motion.smoothing import vertex_areas
from swelltree.hydro.weak_scatterer.motion.transfer import (
    inside,
    transferred,
    with_volume,
)
from swelltree.jit import Array, Tree, jax, jnp, namespace
from swelltree.model.effect import Instant
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.effect import WeakScatterers


class State(NamedTuple):
    """Internal states by name.

    Args:
        top: potential and elevation on the free surface [m^2/s, m].
        reference: of the mesh.
        quality: of the mesh in plan when it was made.
        with_energy_terms: energy that remeshing added to the water [J].
        accounted_mass: displaced mass that remeshing added without flow [kg].
    """

    top: Float[Array, "two surface"]
    reference: Float[Array, "body thirteen"]
    quality: Array
    with_energy_terms: Array
    accounted_mass: Array


def packed(
    top: Array, reference: Array, quality: Array, with_energy_terms: Array, accounted_mass: Array
) -> Array:
    xp = namespace(top)
    more = xp.concatenate(
        [xp.reshape(reference, -1), xp.stack([quality, with_energy_terms, accounted_mass])]
    )
    return xp.concatenate([top, xp.stack([more, 0.0 * more])], axis=1)


def unpacked(states: Array, surface: int, bodies: int) -> State:
    more = states[0, surface:]
    if not more.shape[0]:
        return State(states, jnp.zeros((0, 13)), jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
    reference = more[:-3].reshape(bodies, 13)
    return State(states[:, :surface], reference, more[-3], more[-2], more[-1])


def remeshed(effect: WeakScatterers, model: Model, now: Instant) -> Array:
    """States after a step, on a new mesh if the old one will not do.

    Args:
        effect: with a mesher, its scene that of no certain mesh.
        model: with this effect.
        now: the instant.
    """
    mesher, wave, t = effect.mesher, effect.wave, now.t
    assert mesher is not None
    bodies, states = effect.bodies_of(now.motion), jnp.asarray(now.states(effect))
    state = effect.state_of(states)
    old = effect.meshed(states).scene
    counted = state.reference[:, 0]
    requested = required_states(mesher, old.wavy, wave, t, bodies, counted)
    needed = jnp.any(requested != counted) | worn(old, wave, t, bodies, state.quality)

    def anew() -> Array:
        reference = lowered(mesher, old.wavy, wave, t, bodies, requested)
        new = replace_beach(effect, mesher.traced(effect.scene, reference))
        places = [vertices_at(x, wave, t, bodies.position, bodies.rotation) for x in (old, new)]
        top = carried(old, new, places, state.top)
        gained = [
            displaced_mass(x, wave, t, bodies, hull_at(x, wave, t, bodies)).sum()
            for x in (new, old)
        ]
        with_energy_terms = state.with_energy_terms
        if isinstance(wave, Still):
            # one after the other by one program
            leaves, tree = jax.tree.flatten(old)
            both = [jnp.stack(pair) for pair in zip(leaves, jax.tree.leaves(new), strict=True)]

            def energy(each: Tree) -> Array:
                return _energy(effect, t, bodies, jax.tree.unflatten(tree, each[0]), each[1])

            energies = jax.lax.map(energy, (both, jnp.stack([state.top, top])))
            entering = [entry_loads(effect, model, now, x).stored for x in (counted, requested)]
            with_energy_terms = with_energy_terms + energies[1] - energies[0]
            with_energy_terms = with_energy_terms + entering[1] - entering[0]
        gained = state.accounted_mass + gained[0] - gained[1]
        return packed(top, reference, plan_quality(new, places[1]), with_energy_terms, gained)

    return jax.lax.cond(needed, anew, lambda: states)


def carried(
    old: Scene, new: Scene, places: list[Array], top: Float[Array, "two surface"]
) -> Float[Array, "two surface"]:
    """Potential and elevation on a new mesh, with as much water as before.

    Args:
        old: mesh.
        new: mesh.
        places: vertices of both [m].
        top: potential and elevation on the old one.
    """
    n, half = old.boundary.surface, old.boundary.mirrors.symmetric
    used = old.boundary.used, new.boundary.used
    there = [jnp.ones(n) if x is None else x.vertices[:n] for x in used]
    at = [x[:n, :2] for x in places]
    phi, eta = transferred(at[0], there[0], top, at[1], half) * there[1]
    fresh = jnp.zeros(n)
    for number in range(len(old.shells)):
        fresh = jnp.maximum(fresh, _closed(old, new, number, places))
    volume = (vertex_areas(old, at[0]) * top[1]).sum()
    return jnp.stack([phi, with_volume(eta, vertex_areas(new, at[1]), fresh, volume)])


def _closed(old: Scene, new: Scene, number: int, places: list[Array]) -> Array:
    """1.0 at vertices of the new surface over a hull that the old one was open for."""
    shell, later = old.shells[number], new.shells[number]
    assert shell.cut is not None
    assert later.cut is not None
    n, lines = new.boundary.surface, len(shell.ring)
    ring = places[0][shell.first : shell.first + lines, :2]
    covered = inside(ring, places[1][:n, :2], new.boundary.mirrors.symmetric)
    return jnp.where((shell.cut > 0.0) & (later.cut <= 0.0), covered, 0.0)


def replace_beach(effect: WeakScatterers, scene: Scene) -> Scene:
    from dataclasses import replace

    return replace(scene, beach=effect.calm * scene.beach)


def _energy(effect: WeakScatterers, t: Array, bodies: Bodies, scene: Scene, top: Array) -> Array:
    """Of the perturbation, and of the weight of displaced water [J]."""
    wave, state = effect.wave, Water(top[0], top[1])
    water = evaluate(scene, wave, prepare(scene, wave, t, bodies), t, state, bodies)
    moving = fluid_energies(scene, state, water, bodies).fluid
    return moving + hydrostatic_energy(scene, bodies, water.placed.hull)
