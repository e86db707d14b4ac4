"""Bodies through the surface of the water against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Immersion,
    Polynomial,
    Slider,
    Sphere,
    System,
    Water,
)
from swelltree.describe.values import NamedValues
from swelltree.jit import Array
from swelltree.studies.linear.modes import modes
from swelltree.studies.linear.rao import rao
from swelltree.studies.time.simulate import simulate
from validation.table import Check, case

RHO, G = 1025.0, 9.81
RADIUS = 1.0  # m, of spheres
SPEED = 4.0  # m/s, of entry


def ball_volume(depth: Array, radius: float = RADIUS) -> Array:
    """Volume of a sphere below a depth of its lowest point [m^3]."""
    h = np.clip(depth, 0.0, 2.0 * radius)
    return np.pi * h**2 * (3.0 * radius - h) / 3.0


def disc_mass(area_radius: np.ndarray) -> np.ndarray:
    """Added mass of a disc on the surface: half of that of a disc in unbounded water [kg]."""
    return 4.0 / 3.0 * RHO * area_radius**3


def entering(depth: np.ndarray, added: np.ndarray, **joint: Any) -> System:
    """A weightless world: a body of one ton that slides down into the water."""
    body = Body("body", mass=1000.0)
    wet = Immersion("wet", body, depth=depth, volume=0.0 * depth, added_mass=added, drag_area=())
    slider = Slider("way", WORLD, body, **joint)
    return System("entry", [body], [slider], [wet], water=Water(RHO, 0.0))


@case("splash", "slamming_at_constant_speed", source="von Karman (1929), Wagner (1932)")
def slamming_at_constant_speed() -> list[Check]:
    """Force and impulse of a wedge and a sphere that are pushed in at a constant speed."""
    checks = []
    # rows as dense as the square root of the depth asks for
    depth = np.concatenate([np.linspace(0.0, 1.0, 201) ** 2 * 0.2, [0.25]])
    deep = np.minimum(depth, 0.2)
    cot = 1.0 / np.tan(np.radians(30.0))
    bodies = {
        # per metre of length, half a flat plate as wide as the cut; Wagner's water piles up
        "wedge, von Karman": (0.5 * np.pi * RHO * (deep * cot) ** 2, 2.0),
        "wedge, Wagner": (0.5 * np.pi * RHO * (0.5 * np.pi * deep * cot) ** 2, 2.0),
        "sphere, von Karman": (disc_mass(np.sqrt(2.0 * RADIUS * deep)), 1.5),
        "sphere, Wagner": (disc_mass(np.sqrt(3.0 * RADIUS * deep)), 1.5),
    }
    for name, (added, power) in bodies.items():
        path = Polynomial((0.0, -SPEED))
        model = compile_system(entering(depth, added, motion=path))
        run = simulate(model, duration=0.048, output_step=0.002)
        h = SPEED * run.time.values
        # all are powers of the depth: A' = power A / h
        exact = power * np.interp(h, depth, added)[1:] / h[1:] * SPEED**2
        force = run["slamming_force"].sel(axis="z").values[1:, 0]
        # of the spray, and of the drive, whose power is its force times the speed
        work = run["work"].values[-1, -2:]
        full = float(np.interp(h[-1], depth, added))
        drive_force = -run["reaction"].sel(dof="Heave").values[1:, 0]
        checks += [
            Check(
                f"{name}: slamming force, relative",
                float(np.abs(force / exact - 1.0).max()),
                1e-3,
                reason="cubics through 201 rows",
            ),
            Check(
                f"{name}: force of the drive, relative",
                float(np.abs(drive_force / force - 1.0).max()),
                1e-9,
                reason="rounding",
            ),
            Check(
                f"{name}: impulse, of A V",
                float(abs(work[-1] / SPEED / (full * SPEED) - 1.0)),
                1e-4,
                reason="tolerance of the solver",
            ),
            Check(
                f"{name}: spray, of A V^2 / 2",
                float(abs(-work[0] / (0.5 * full * SPEED**2) - 1.0)),
                1e-4,
                reason="the same",
            ),
        ]
    return checks


@case("splash", "momentum_of_entry", source="momentum (m + A) v = m v0, von Karman (1929)")
def momentum_of_entry() -> list[Check]:
    """A sphere that falls in without weight keeps momentum; half of the water's part is spray."""
    depth = np.concatenate([np.linspace(0.0, 1.0, 81) ** 2, [1.5]])
    added = disc_mass(np.sqrt(np.clip(2.0 * depth - depth**2, 0.0, None)))
    added[-1] = added[-2]
    start = {"position": 3.3, "velocity": -SPEED}
    model = compile_system(entering(depth, added, **start))
    m, A = 1000.0, float(added[-1])
    after = m * SPEED / (m + A)
    lost = 0.5 * m * SPEED**2 - 0.5 * (m + A) * after**2
    checks = []
    ways = {"smooth": {}, "step 0.02 s": {"step": 0.02}, "step 0.5 s": {"step": 0.5}}
    for name, way in ways.items():
        more: NamedValues = {"solver": "two_step"} | way if way else {"rtol": 1e-9}
        run = simulate(model, duration=3.0, output_step=0.5, **more)
        v = -float(run["velocity"].sel(dof="Heave").values[-1, 0])
        spray = -float(run["work"].sel(element="wet spray").values[-1])
        residual = float(np.abs(run["energy_residual"].values[-1]))
        limits = (1e-5, 1e-4, 1e-5) if not way else (1e-9, 2e-3, 1e-9)
        rows = (
            ("velocity after entry, relative", v / after - 1.0, "momentum is accounted for"),
            ("energy of the spray, relative", spray / lost - 1.0, "half of each step's"),
            ("energy balance, relative to the initial energy", residual / (0.5 * m * SPEED**2), ""),
        )
        for (what, ours, reason), limit in zip(rows, limits, strict=True):
            if "spray" in what and name == "step 0.5 s":
                continue
            checks.append(Check(f"{name}: {what}", abs(ours), limit, reason=reason))
    return checks


def floating_ball(**more: Any) -> System:
    """A sphere from its hull that floats half under water, on a vertical slider."""
    body = Body("ball", mass=RHO * 2.0 / 3.0 * np.pi * RADIUS**3, hull=Sphere(RADIUS))
    wet = Immersion("wet", body, Ca=0.5, **more)
    slider = Slider("heave", WORLD, body)
    return System("floating ball", [body], [slider], [wet], water=Water(RHO, G))


@case("splash", "half_submerged", source="Archimedes; small motions of a floating sphere")
def half_submerged() -> list[Check]:
    """Volume from the hull, natural period and response of a sphere half under water."""
    model = compile_system(floating_ball())
    mass, area = RHO * 2.0 / 3.0 * np.pi * RADIUS**3, np.pi * RADIUS**2
    period = 2.0 * np.pi * np.sqrt(1.5 * mass / (RHO * G * area))
    ours = float(modes(model)["natural_period"].values[0])
    run = simulate(model, duration=5.0, output_step=0.5)
    still = float(np.abs(run["position"].sel(dof="Heave").values).max())
    omega = np.array([0.3, 0.8, 1.2])
    k = omega**2 / G
    # pressure on what is wet: its buoyancy follows the surface, its mass the water at the centre
    decay = np.exp(-k * 3.0 / 8.0 * RADIUS)
    inertia = omega**2 * 1.5 * mass
    exact = (RHO * G * area - inertia * decay) / (RHO * G * area - inertia)
    response = rao(model, omega=omega, wave_direction=0.0)
    heave = np.abs(response["rao"].sel(dof="Heave").values).reshape(-1)
    return [
        Check("motion from rest", still, 1e-5, "m", "cubics through 41 rows"),
        Check("natural period", ours, 1e-3 * period, "s", "the same", reference=period),
        Check(
            "heave in waves, of itself",
            float(np.abs(heave / np.abs(exact) - 1.0).max()),
            1e-3,
            reason="the same",
        ),
    ]


@case("splash", "falling_into_the_water", source="the equation of the fall, by SciPy")
def falling_into_the_water() -> list[Check]:
    """A sphere that falls in, sinks, comes up and bobs, with weight, drag, slamming and exit."""
    from scipy.integrate import solve_ivp

    mass, area, full = 3500.0, 1.4, 4.0 / 3.0 * np.pi * RADIUS**3
    most = 0.5 * RHO * full

    def added(h: Array) -> Array:
        part = np.clip(h / RADIUS, 0.0, 2.0)
        return most * part**2 * (3.0 - part) / 4.0

    def slope(h: Array) -> Array:
        part = h / RADIUS
        return most * (6.0 * part - 3.0 * part**2) / 4.0 / RADIUS if 0.0 < part < 2.0 else 0.0

    def fall(_: float, y: np.ndarray) -> list[float]:
        h, w = y  # depth of the lowest point and its rate
        drag = 0.5 * RHO * area * min(max(h / RADIUS, 0.0), 1.0) * abs(w) * w
        push = RHO * G * float(ball_volume(h)) + drag + slope(h) * max(w, 0.0) * w
        return [w, (mass * G - push) / (mass + float(added(h)))]

    rows = np.linspace(0.0, 2.0 * RADIUS, 81)
    body = Body("ball", mass=mass, position=(0, 0, 1.0 + RADIUS))
    wet = Immersion(
        "wet",
        body.at(0, 0, -RADIUS),
        depth=rows,
        volume=ball_volume(rows),
        added_mass=added(rows),
        drag_area=area * np.minimum(rows / RADIUS, 1.0),
    )
    way = Slider("way", WORLD, body)
    model = compile_system(System("fall", [body], [way], [wet], water=Water(RHO, G)))
    times = np.linspace(0.0, 6.0, 61)
    exact = solve_ivp(fall, (0, 6), [-1.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-10).y[0]
    checks = []
    ways: dict[str, tuple[NamedValues, float, str]] = {
        "smooth": ({"rtol": 1e-8}, 1e-3, "cubics through 81 rows"),
        "step 0.01 s": ({"solver": "two_step", "step": 0.01}, 3e-3, "second order"),
    }
    for name, (more, limit, reason) in ways.items():
        run = simulate(model, duration=6.0, output_step=0.1, **more)
        depth = run["immersion_depth"].values[:, 0]
        error = float(np.abs(depth - exact).max())
        checks.append(Check(f"{name}: depth over 6 s", error, limit, "m", reason))
    return checks
