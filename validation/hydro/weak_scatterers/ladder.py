"""Weak scatterers rung by rung: integral equation, added masses, quiet water, couplings, floaters.

What takes minutes is not run here: BEM data of floaters are frozen numbers, and hulls on the
surface are compared at one frequency (`harmonic`), to which runs of the linear mode come within
0.1 % after a long time. Tests alone have the integrals over triangles against quadrature
(test_triangles), the submerged sphere on its moving mesh in a small wave (test_motion) and in a
steep one (test_ladder), decays, drops, and runs in time of floaters (test_ladder).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import j0, j1

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    HorizontalCylinder,
    RegularWave,
    StreamFunctionWave,
    SubsetJoint,
    System,
    Water,
    WeakScatterer,
)
from swelltree.hydro.weak_scatterer.effect import WeakScatterers
from swelltree.hydro.weak_scatterer.harmonic import harmonic
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.incident.of_sea import SteepWave, steep_wave
from swelltree.hydro.weak_scatterer.mesh.hulls import ellipsoid, sphere
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, evaluate, prepare
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Water as Surface
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.scene import build_scene
from swelltree.hydro.weak_scatterer.problem.assembly import assemble
from swelltree.hydro.weak_scatterer.problem.boundary import build_boundary
from swelltree.hydro.weak_scatterer.problem.solve import factored
from swelltree.jit import jax, jnp
from swelltree.waves.sea import realise
from swelltree.waves.stream_function import StreamWave
from validation.hydro.weak_scatterers.stepper import Mechanics, monolithic, schur
from validation.table import Check, case

DEEP = Tank(60.0, 60.0, near=12.0, far=20.0, levels=3)  # m; far from the bodies
ZERO = 7.015586669815619  # second zero of J1
OMEGA = 3.14  # rad/s, of section 6.2
# cylinder of section 6.2, half immersed in deep water, at this frequency: panels of 0.05 m and two
# finer meshes extrapolated, direct method; added mass [kg], damping [N s/m], excitation [N/m]
BEM = {
    0: ("surge", 60.442, 9.1795, 24.110 - 1080.680j),
    2: ("heave", 75.176, 114.240, 2672.814 - 362.816j),
}
prepared, evaluated = jax.jit(prepare), jax.jit(evaluate)


def _tank_errors(near: float, far: float, levels: int, divisions: int) -> np.ndarray:
    """Of q on a wavy surface and of the potential on a sphere in a standing wave, over largest."""
    R, depth = 9.0, 4.0
    k = ZERO / R
    tank = Tank(R, depth, near, far, fine=2.0, symmetric=True, levels=levels)
    boundary, x = build_boundary(tank, [sphere(divisions).moved((0.5, 0.0, -2.0)).half()])
    rise = 0.3 * np.cos(0.4 * x[:, 0] + 0.3) * (1.0 + x[:, 2] / depth)
    x[: boundary.fixed, 2] += rise[: boundary.fixed]

    def phi(x: np.ndarray) -> np.ndarray:
        up = np.cosh(k * (x[..., 2] + depth)) / np.cosh(k * depth)
        return j0(k * np.hypot(x[..., 0], x[..., 1])) * up

    def grad(x: np.ndarray) -> np.ndarray:
        r = np.maximum(np.hypot(x[..., 0], x[..., 1]), 1e-12)
        up, slope = (f(k * (x[..., 2] + depth)) / np.cosh(k * depth) for f in (np.cosh, np.sinh))
        out = -k * j1(k * r) * up / r
        return np.stack([out * x[..., 0], out * x[..., 1], k * j0(k * r) * slope], -1)

    corner = x[boundary.triangles[boundary.on_bodies]]
    n = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    found, top = jax.jit(assemble)(boundary, x), boundary.surface
    q = np.einsum("tx,tcx->tc", n, grad(corner))
    u = np.asarray(factored(found.unknowns).solve(found.right_side(phi(x[:top]), q)))
    slope = -0.12 * np.sin(0.4 * x[:top, 0] + 0.3)
    normal = np.stack([-slope, 0.0 * slope, np.ones(top)], -1) / np.hypot(1, slope)[:, None]
    want, body = (normal * grad(x[:top])).sum(1), boundary.vertices_of(0)
    inside = np.hypot(*x[:top, :2].T) < 7.0  # the rim is an edge
    on_top = np.sqrt(np.mean((u[:top] - want)[inside] ** 2)) / np.abs(want).max()
    on_body = np.sqrt(np.mean((u[body] - phi(x[body])) ** 2)) / np.ptp(phi(x[body]))
    return np.array([on_top, on_body])


@case("weak_scatterer", "standing_wave_in_a_round_tank", source="closed form")
def standing_wave_in_a_round_tank() -> list[Check]:
    """Order of flux and potential on a wavy surface and a sphere: asked for is 1.8 at least."""
    coarse, fine = _tank_errors(0.9, 1.8, 4, 3), _tank_errors(0.45, 0.9, 8, 6)
    order = np.log2(coarse / fine)
    reason = "linear elements: two; below 1.8 it fails"
    return [
        Check("order on the free surface", float(order[0]), 0.7, "", reason, 2.5),
        Check("order on the sphere", float(order[1]), 0.7, "", reason, 2.5),
    ]


@case("weak_scatterer", "added_mass_of_an_ellipsoid", source="Lamb (1932), art. 114 and 115")
def added_mass_of_an_ellipsoid() -> list[Check]:
    """Surge, heave and pitch far from surface and walls."""
    a, b, c = axes = (2.0, 1.2, 0.8)

    def alpha(s: float) -> float:
        def f(u: float) -> float:
            return 1.0 / ((s**2 + u) * math.sqrt((a**2 + u) * (b**2 + u) * (c**2 + u)))

        return a * b * c * quad(f, 0, np.inf)[0]

    volume = 4.0 / 3.0 * math.pi * a * b * c
    A, C = alpha(a), alpha(c)
    turning = (c**2 - a**2) ** 2 * (A - C) / (2 * (c**2 - a**2) + (c**2 + a**2) * (C - A))
    known = (volume * A / (2 - A), volume * C / (2 - C), volume / 5.0 * turning)
    water = Water(g=0.0)
    scene = build_scene(DEEP, [Floater("egg", ellipsoid(7, axes), (0, 0, -30.0))], water)
    still = jnp.zeros(scene.boundary.surface)
    bodies = Bodies(scene.mean_position, scene.mean_rotation, jnp.zeros((1, 6)))
    ready = prepared(scene, Still(), 0.0, bodies)
    found = evaluated(scene, Still(), ready, 0.0, Surface(still, still), bodies).added_mass
    names = ((0, "surge"), (2, "heave"), (4, "pitch"))
    return [
        Check(f"{name} over that of Lamb", float(found[i, i] / (water.rho * want)), 0.01, "",
              "198 vertices", 1.0)
        for (i, name), want in zip(names, known, strict=True)
    ]  # fmt: skip


def _steep(sea: StreamFunctionWave, water: Water) -> SteepWave:
    """A stream function wave as an incident wave."""
    waves = realise(sea, water)
    assert isinstance(waves, StreamWave)
    return steep_wave(waves, water)


@case("weak_scatterer", "quiet_water", source="invariant")
def quiet_water() -> list[Check]:
    """Nothing moves without a body in an exact wave, nor around a body at rest in still water."""
    water = Water(depth=6.0)
    empty = build_scene(Tank(16.0, 6.0, near=3.0, far=5.0, levels=2), [], water)
    wave = _steep(StreamFunctionWave(height=0.8, omega=2.0, beta=0.4), water)
    ball = sphere(3)
    tank = Tank(16.0, 6.0, near=1.6, far=4.0, levels=2)
    still = build_scene(tank, [Floater("ball", ball, (0.4, 0.3, -2.5))], water)
    rows = []
    for scene, sea, t in ((empty, wave, 0.7), (still, Still(), 0.0)):
        zero = jnp.zeros(scene.boundary.surface)
        count = len(scene.boundary.bodies)
        bodies = Bodies(scene.mean_position, scene.mean_rotation, jnp.zeros((count, 6)))
        ready = prepared(scene, sea, t, bodies)
        rows.append(evaluated(scene, sea, ready, t, Surface(zero, zero), bodies))
    weight = water.rho * water.g * ball.volume
    moved = [max(float(jnp.abs(r).max()) for r in row.surface) for row in rows]
    lifted = float(rows[1].wrench[2]) / weight
    return [
        Check("rates without a body in a steep wave", moved[0], 0.0, "", "exactly"),
        Check("rates around a body at rest", moved[1], 1e-10, "", "rounding"),
        Check("lift over the weight of displaced water", lifted, 1e-12, "", "rounding", 1.0),
    ]


@case("weak_scatterer", "schur_and_monolithic", source="Wuillaume et al. (2017), section 5")
def schur_and_monolithic() -> list[Check]:
    """Accelerations of two bodies that share three DOFs, in a steep wave, both couplings."""
    rng, water = np.random.default_rng(2), Water(depth=20.0)
    tank = Tank(16.0, 8.0, near=2.0, far=5.0, levels=2)
    hulls = [
        Floater("egg", ellipsoid(2, (1.0, 0.7, 0.6)), (1.5, 0.4, -3.0)),
        Floater("ball", sphere(2, 0.8), (-1.5, -0.3, -3.5)),
    ]
    scene = build_scene(tank, hulls, water)
    wave = _steep(StreamFunctionWave(height=0.6, omega=1.5, beta=0.5), water)
    J, v = jnp.asarray(rng.normal(size=(12, 3))), jnp.asarray(rng.normal(size=3))
    bodies = Bodies(scene.mean_position, scene.mean_rotation, (J @ v).reshape(2, 6))
    top = scene.boundary.surface
    state = Surface(*jnp.asarray(rng.normal(size=(2, top)) * [[0.3], [0.1]]))
    ready = prepared(scene, wave, 1.3, bodies)
    found = evaluated(scene, wave, ready, 1.3, state, bodies)
    H = J.T @ jnp.diag(jnp.tile(jnp.array([900.0] * 3 + [400.0] * 3), 2)) @ J
    load = (jnp.asarray(rng.normal(size=n)) for n in (12, 3))
    system = Mechanics(bodies, J, next(load), H, 1e3 * next(load))
    one, two = (np.asarray(jax.jit(f)(found, ready, system)) for f in (schur, monolithic))
    off = float(np.abs(one - two).max() / np.abs(two).max())
    return [Check("accelerations, difference over the largest", off, 1e-12, "", "rounding")]


@case("weak_scatterer", "cylinder_on_the_surface", source="BEM; Wuillaume et al. (2017), 6.2")
def cylinder_on_the_surface() -> list[Check]:
    """The linear mode at one frequency against frozen data in the frequency domain."""
    body = Body("float", mass=64.4, inertia=(6, 2, 6), hull=HorizontalCylinder(0.2, 1.0, axis="y"))
    joint = SubsetJoint("afloat", WORLD, body, dofs=("Surge", "Heave"))
    tank = WeakScatterer(
        "tank", 9.5, 0.2, ("float",), fine=0.3, far_spacing=1.0, panel_size=0.1, levels=3,
        symmetric=True, mode="linear",
    )  # fmt: skip
    model = compile_system(System("cylinder", [body], [joint], [tank]))
    effect = model.effect(WeakScatterers)
    assert effect is not None
    waves = realise(RegularWave(amplitude=0.01, omega=OMEGA), model.water)
    A, B, F = harmonic(effect.in_sea(model, waves).scene, OMEGA, math.inf)
    checks, reason = [], "580 vertices, panels of 0.1 m"
    for i, (name, added, damping, force) in BEM.items():
        off = abs(complex(F[i]) - force) / abs(force)
        checks += [
            Check(f"{name}: added mass", float(A[i, i]), 0.03 * added, "kg", reason, added),
            Check(f"{name}: damping", float(B[i, i]), 0.03 * damping, "N s/m", reason, damping),
            Check(f"{name}: excitation, with its phase", off, 0.03, "", reason),
        ]
    return checks
