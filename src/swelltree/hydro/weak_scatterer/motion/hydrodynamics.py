"""One evaluation of the water: rates of the free surface, added mass and wrench of the bodies.

This is what an effect hands to the multibody solver: the wrench of bodies without acceleration and
a dense added mass for their accelerations, both at the reference points in world axes. The bodies
may be anywhere in a tree or a loop. One factorisation serves the potential, its time derivative and
all columns of the added mass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.incident.interface import (
    Flow,
    Incident,
    Still,
    flow,
    residuals,
    surface,
)
from swelltree.hydro.weak_scatterer.mesh.gradients import gradient
from swelltree.hydro.weak_scatterer.motion.bodies import (
    EVEN,
    BodyFlow,
    Wetted,
    body_flow,
    flux_rate,
    known_pressure,
    panel_share,
    pressure_wrench,
    triangle_owner,
    wetted,
)
from swelltree.hydro.weak_scatterer.motion.edges import edge_wrench
from swelltree.hydro.weak_scatterer.motion.scene import Scene, plan_at, vertices_at
from swelltree.hydro.weak_scatterer.motion.smoothing import smoothing_rates
from swelltree.hydro.weak_scatterer.motion.strip import bent_wrench, strip_wrench
from swelltree.hydro.weak_scatterer.problem.assembly import (
    FixedBlocks,
    Matrices,
    assemble,
    fixed_blocks,
)
from swelltree.hydro.weak_scatterer.problem.solve import Factors, factored
from swelltree.jit import Array, jax, jnp, pytree

# --- Conditions on the free surface, linear in the perturbation about the incident wave


class SurfaceRates(NamedTuple):
    """Rates on the free surface.

    Args:
        potential: at the nodes [m^2/s^2].
        elevation: at the nodes [m/s].
        fixed_potential: derivative of the potential by time at fixed points, for the second
            boundary value problem [m^2/s^2].
        smoothing: what was taken from both around moving waterlines [m^2/s^2, m/s].
    """

    potential: Float[Array, " surface"]
    elevation: Float[Array, " surface"]
    fixed_potential: Float[Array, " surface"]
    smoothing: Float[Array, "two surface"]


def surface_rates(
    scene: Scene,
    wave: Incident,
    t: Array,
    placed: Placed,
    water: Water,
    q: Float[Array, " surface"],
) -> SurfaceRates:
    """Rates of potential and elevation of the perturbation.

    Args:
        scene: the water.
        wave: incident.
        t: [s].
        placed: all vertices.
        water: potential and elevation.
        q: derivative of the potential along the normal [m/s].
    """
    phi, eta, vertex_velocity = water.phi, water.eta, placed.vertex_velocity
    vertices = placed.vertices[: scene.boundary.surface]
    places = vertices[:, :2]
    slopes = scene.gradient if vertex_velocity is None else gradient(places, scene.neighbours)
    assert slopes is not None
    along = jnp.stack(slopes(phi), -1), jnp.stack(slopes(eta), -1)
    fixed = _rates(scene, wave, t, vertices, placed.sea, *along, phi, eta, q)
    if vertex_velocity is not None:
        taken = smoothing_rates(scene, places, jnp.stack([phi, eta]))
        # the derivative of nodal values in plan follows the surface up and down
        fixed = SurfaceRates(
            fixed.potential + (vertex_velocity * along[0]).sum(1) - taken[0],
            fixed.elevation + (vertex_velocity * along[1]).sum(1) - taken[1],
            fixed.fixed_potential - taken[0],
            taken,
        )
    if scene.boundary.used is None:
        return fixed
    used = scene.boundary.used.vertices[: scene.boundary.surface]
    return SurfaceRates(*(used * rate for rate in fixed))


def _rates(
    scene: Scene,
    wave: Incident,
    t: Array,
    vertices: Array,
    sea: Flow | None,
    plan: Array,
    rise: Array,
    phi: Array,
    eta: Array,
    q: Array,
) -> SurfaceRates:
    g, beach = scene.g, scene.beach
    if sea is None:
        rate = -g * eta - beach * phi
        return SurfaceRates(rate, q - beach * eta, rate, jnp.zeros((2, len(phi))))
    top = surface(wave, t, vertices[:, :2])
    left_dynamic, left_kinematic = residuals(wave, t, vertices, g)
    velocity = potential_gradient(plan, top.slope, q)
    U = sea.velocity
    steeper = sea.hessian[:, 2]  # gradient of the vertical velocity
    fixed = (
        -g * eta
        - (U * velocity).sum(1)
        - eta * (sea.velocity_rate[:, 2] + (U * steeper).sum(1))
        - beach * phi
        - left_dynamic
    )
    elevation = (
        velocity[:, 2]
        - (U[:, :2] * rise).sum(1)
        - (velocity[:, :2] * top.slope).sum(1)
        - eta * ((steeper[:, :2] * top.slope).sum(1) - steeper[:, 2])
        - beach * eta
        - left_kinematic
    )
    rate = fixed + top.rate * velocity[:, 2]
    return SurfaceRates(rate, elevation, fixed, jnp.zeros((2, len(phi))))


def potential_gradient(
    plan: Float[Array, "surface xy"],
    slope: Float[Array, "surface xy"],
    q: Float[Array, " surface"],
) -> Float[Array, "surface xyz"]:
    """Velocity of the perturbation on the free surface, from its values there and its flux.

    Args:
        plan: derivatives by x and y of the potential along the surface [m/s].
        slope: of the incident surface.
        q: derivative of the potential along the normal [m/s].
    """
    steep = 1.0 + (slope**2).sum(1)
    up = (q * jnp.sqrt(steep) + (slope * plan).sum(1)) / steep
    return jnp.concatenate([plan - up[:, None] * slope, up[:, None]], 1)


@pytree()
class Water:
    """Perturbation at the vertices of the free surface.

    Args:
        phi: potential [m^2/s].
        eta: elevation [m].
    """

    phi: Float[Array, " surface"]
    eta: Float[Array, " surface"]


@pytree()
class Bodies:
    """Motion of the reference points, world axes.

    Args:
        position: [m].
        rotation: from body to world axes.
        velocity: linear then angular [m/s, rad/s].
    """

    position: Float[Array, "body xyz"]
    rotation: Float[Array, "body xyz also"]
    velocity: Float[Array, "body dof"]


@pytree()
class Prepared:
    """Matrices of a geometry and their factors."""

    matrices: Matrices
    factors: Factors


class Placed(NamedTuple):
    """The boundary of the water at an instant.

    Args:
        vertices: all [m].
        vertex_velocity: of those of the free surface in plan [m/s]; None: they stay.
        wet: triangles of bodies.
        known: flow that is known on them.
        sea: incident wave at the vertices of the free surface; None: this stays at its mean.
        hull: vertices of hulls where the bodies are, also in mode "linear", without lids [m].
    """

    vertices: Float[Array, "vertex xyz"]
    vertex_velocity: Float[Array, "surface xy"] | None
    wet: Wetted
    known: BodyFlow
    sea: Flow | None
    hull: Float[Array, "wet xyz"]


def placed_at(scene: Scene, wave: Incident, t: Array, bodies: Bodies) -> Placed:
    """The boundary with bodies where they are; arguments as `evaluate`."""
    boundary = scene.boundary
    vertices = vertices_at(scene, wave, t, bodies.position, bodies.rotation)
    origin = bodies.position if scene.moving else scene.mean_position
    wet = wetted(scene, vertices[boundary.wet], origin, panel_share(scene, wave, t, bodies))
    exact = scene.moving and scene.cover is None
    return Placed(
        vertices=vertices,
        vertex_velocity=plan_velocity(scene, wave, t, bodies),
        wet=wet,
        known=body_flow(scene, wave, t, wet, bodies.velocity),
        sea=flow(wave, t, vertices[: boundary.surface]) if scene.wavy else None,
        hull=vertices[boundary.wet] if exact else hull_at(scene, wave, t, bodies),
    )


def hull_at(scene: Scene, wave: Incident, t: Array, bodies: Bodies) -> Float[Array, "wet xyz"]:
    """Vertices of hulls where the bodies are, also in mode "linear", without lids [m]."""
    actual = replace(scene, moving=True)
    at = vertices_at(actual, wave, t, bodies.position, bodies.rotation, cover=0.0)
    return at[scene.boundary.wet]


class SecondProblem(NamedTuple):
    """Parts of the problem for the time derivative, as the monolithic coupling wants them.

    Args:
        right: right side of bodies without acceleration, flux left out.
        flux: of bodies without acceleration at corners of triangles [m/s^2].
        per_acceleration: flux for unit accelerations of all bodies (corners, 6 bodies).
        wrench_of: wrench of the solution, which is the flux on the free surface and the rate of the
            potential elsewhere (6 bodies, vertices).
        wrench_of_flux: wrench of the flux at corners of triangles (6 bodies, corners).
        known: wrench of what is known (6 bodies,).
    """

    right: Array
    flux: Array
    per_acceleration: Array
    wrench_of: Array
    wrench_of_flux: Array
    known: Array


class Hydrodynamics(NamedTuple):
    """What one evaluation gives.

    Args:
        surface: rates of the perturbation on the free surface.
        wrench: on bodies without acceleration, all bodies in a row [N, N m].
        added_mass: of all bodies, wrench = -added_mass @ acceleration.
        second: the second problem in parts.
        potential: of the perturbation on bodies [m^2/s].
        potential_rate: its rate there without acceleration, and for unit accelerations [m^2/s^2].
        surface_flux: q on the free surface [m/s].
        strip: wrench of the pressure above the incident surface, part of `wrench`.
        placed: where the boundary is.
    """

    surface: SurfaceRates
    wrench: Float[Array, " dofs"]
    added_mass: Float[Array, "dofs dofs"]
    second: SecondProblem
    potential: Float[Array, " wet"]
    potential_rate: Float[Array, "wet one_and_dofs"]
    surface_flux: Float[Array, " surface"]
    strip: Float[Array, "body dof"]
    placed: Placed


def prepare(
    scene: Scene, wave: Incident, t: Array, bodies: Bodies, fixed: FixedBlocks | None = None
) -> Prepared:
    """Matrices and factors for a geometry.

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        bodies: where they are.
        fixed: blocks of free surface and wall, where these stay.
    """
    vertices = vertices_at(scene, wave, t, bodies.position, bodies.rotation)
    matrices = assemble(scene.boundary, vertices, fixed=fixed)
    return Prepared(matrices, factored(matrices.unknowns))


def blocks_of_run(scene: Scene, wave: Incident) -> FixedBlocks | None:
    """Blocks of the matrices that stay for a run; None: free surface or waterlines move.

    Args:
        scene: the water and its bodies.
        wave: incident; where there is none the free surface stays.
    """
    if not scene.moving or scene.shells or (scene.wavy and not isinstance(wave, Still)):
        return None
    mean = scene.mean_position, scene.mean_rotation
    still = replace(scene, wavy=False)
    return fixed_blocks(scene.boundary, vertices_at(still, Still(), jnp.zeros(()), *mean))


def evaluate(
    scene: Scene, wave: Incident, prepared: Prepared, t: Array, water: Water, bodies: Bodies
) -> Hydrodynamics:
    """Solve both problems and integrate the pressure.

    Args:
        scene: the water and its bodies.
        wave: incident.
        prepared: matrices of this or a nearby geometry.
        t: [s].
        water: state of the free surface.
        bodies: their motion.
    """
    boundary, (matrices, factors) = scene.boundary, (prepared.matrices, prepared.factors)
    placed = placed_at(scene, wave, t, bodies)
    wet, known = placed.wet, placed.known
    # first problem: flux on the free surface and potential on the bodies
    u = factors.solve(matrices.right_side(water.phi, known.q))
    q, phi = u[: boundary.surface], on_bodies(scene, water.phi, u)
    rates = surface_rates(scene, wave, t, placed, water, q)
    # second problem: the same for the time derivative, and for unit accelerations
    at_top, wrench_of, wrench_of_flux = _wrench_operators(scene, wave, t, placed.vertices, wet)
    strip = strip_wrench(scene, wave, t, water.eta, bodies, placed)
    second = SecondProblem(
        right=-matrices.dipole[:, : boundary.surface] @ rates.fixed_potential,
        flux=flux_rate(scene, wet, known, phi, bodies.velocity).reshape(-1),
        per_acceleration=unit_fluxes(scene, wet),
        wrench_of=wrench_of,
        wrench_of_flux=wrench_of_flux,
        known=pressure_wrench(scene, wet, known_pressure(scene, wet, known, phi)).reshape(-1)
        + edge_wrench(scene, wet, known, phi).reshape(-1)
        + buoyancy(scene, wave, t, bodies, placed.hull).reshape(-1)
        + strip.reshape(-1)
        + at_top @ rates.fixed_potential,
    )
    flux = jnp.concatenate([second.flux[:, None], second.per_acceleration], 1)
    right = (matrices.per_flux @ flux).at[:, 0].add(second.right)
    result = factors.solve(right)
    known_rate = jnp.zeros((boundary.surface, right.shape[1])).at[:, 0].set(rates.fixed_potential)
    rate = on_bodies(scene, known_rate, result)
    wrenches = wrench_of @ result + wrench_of_flux @ flux
    wrench, added_mass = wrenches[:, 0] + second.known, -wrenches[:, 1:]
    return Hydrodynamics(rates, wrench, added_mass, second, phi, rate, q, strip, placed)


def _wrench_operators(
    scene: Scene, wave: Incident, t: Array, vertices: Array, wet: Wetted
) -> tuple[Array, Array, Array]:
    """Wrenches of the rate of the potential on the free surface, of the solution, of the flux."""
    boundary, top = scene.boundary, scene.boundary.surface
    of_rate, of_top = wrench_operator(scene, wet), jnp.zeros((6 * len(boundary.bodies), top))
    corners = 3 * len(boundary.wet_triangles)
    of_flux = jnp.zeros((len(of_top), corners))
    bent = bent_wrench(scene, wave, t, vertices, wet)
    if bent is not None:
        nothing = jnp.zeros(len(boundary.wet)), jnp.zeros(top), jnp.zeros(corners)
        more, of_top, of_flux = jax.jacrev(bent, argnums=(0, 1, 2))(*nothing)
        of_rate = of_rate + more
    spread = jnp.zeros((len(of_rate), boundary.vertices)).at[:, boundary.wet].add(of_rate)
    return spread[:, :top], jnp.concatenate([of_top, spread[:, top:]], 1), of_flux


def surface_only(
    scene: Scene, wave: Incident, prepared: Prepared, t: Array, water: Water, bodies: Bodies
) -> SurfaceRates:
    """Rates of the free surface beside bodies of known motion; arguments as `evaluate`."""
    placed = placed_at(scene, wave, t, bodies)
    u = prepared.factors.solve(prepared.matrices.right_side(water.phi, placed.known.q))
    return surface_rates(scene, wave, t, placed, water, u[: scene.boundary.surface])


def unit_fluxes(scene: Scene, wet: Wetted) -> Float[Array, "corners dofs"]:
    """Flux at corners for unit accelerations of every body."""
    count, owner = len(scene.boundary.bodies), triangle_owner(scene)
    motion = wet.motion
    if scene.boundary.mirrors.symmetric:
        motion = motion * (0.5 + 0.5 * EVEN)  # the other motions do not keep the plane
    columns = jax.nn.one_hot(owner, count, dtype=motion.dtype)
    return jnp.einsum("tcd,tb->tcbd", motion, columns).reshape(3 * len(owner), 6 * count)


def wrench_operator(scene: Scene, wet: Wetted) -> Float[Array, "dofs wet"]:
    """Wrenches of all bodies from a rate of the potential at their vertices [m^2/s^2]."""
    tri = scene.boundary.wet_triangles

    def of(rate: Array) -> Array:
        return pressure_wrench(scene, wet, -scene.rho * rate[tri]).reshape(-1)

    return jax.jacfwd(of)(jnp.zeros(len(scene.boundary.wet)))


def on_bodies(scene: Scene, surface: Array, unknowns: Array) -> Array:
    """Values at the vertices of bodies, of which those of a waterline are known.

    Args:
        scene: numbering.
        surface: values on the free surface.
        unknowns: solution, whose first part is the flux on the free surface.
    """
    return jnp.concatenate([surface, unknowns[len(surface) :]])[scene.boundary.wet]


def plan_velocity(
    scene: Scene, wave: Incident, t: Array, bodies: Bodies
) -> Float[Array, "surface xy"] | None:
    """Velocity in plan of the vertices of the free surface around a hull; None: they stay."""
    if not (scene.shells and scene.moving):
        return None

    def plan(time: Array, p: Array, R: Array) -> Array:
        return plan_at(scene, wave, time, p, R)

    v = bodies.velocity
    turning = jnp.cross(v[:, None, 3:], jnp.swapaxes(bodies.rotation, 1, 2))
    rates = (jnp.asarray(1.0), v[:, :3], jnp.swapaxes(turning, 1, 2))
    return jax.jvp(plan, (jnp.asarray(t, float), bodies.position, bodies.rotation), rates)[1]


def buoyancy(
    scene: Scene, wave: Incident, t: Array, bodies: Bodies, hull: Float[Array, "wet xyz"]
) -> Float[Array, "body dof"]:
    """Wrench of the weight of the water on bodies where they are, also in mode "linear".

    Args:
        scene: the water and its bodies.
        wave: incident.
        t: [s].
        bodies: where they are.
        hull: their vertices, from `hull_at`.
    """
    share = panel_share(scene, wave, t, bodies, cover=0.0)
    wet = wetted(scene, hull, bodies.position, share)
    return pressure_wrench(scene, wet, -scene.rho * scene.g * wet.corner[..., 2])
