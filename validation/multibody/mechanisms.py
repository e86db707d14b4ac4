"""Gears, brakes, bushings and contacts against closed forms, other joints and conservation."""

from __future__ import annotations

import numpy as np

from swelltree.describe import (
    WORLD,
    Body,
    BodyContact,
    Bushing,
    CoulombPto,
    Coupling,
    Free,
    Hinge,
    JointForce,
    Point,
    Slider,
    System,
    Water,
    Weld,
)
from validation.pto.pto_systems import oscillator
from validation.run import run
from validation.table import Check, case

TURNED = (0.8, 0.3, -0.4, 0.33)
PLACE = (1.0, 2.0, -3.0)
TORQUE, RATIO, RADIUS, RACK = 2.0, 2.5, 0.3, 2.0  # N m, -, m, kg
INERTIA = (0.2, 0.5)  # kg m^2 of the wheels about their axes


def gear_train() -> System:
    """Two wheels and a rack in a heeled frame; axes pass through the centres of mass."""
    frame = Body("frame", 50.0, (20.0, 22.0, 25.0), position=PLACE, rotation=TURNED)
    one = Body("one", 3.0, (0.4, INERTIA[0], 0.4), position=PLACE, rotation=TURNED)
    two = Body("two", 5.0, (0.7, INERTIA[1], 0.7), position=PLACE, rotation=TURNED)
    rack = Body("rack", RACK, (0.1, 0.1, 0.1), position=PLACE, rotation=TURNED)
    joints = [
        Weld("ground", WORLD.at(*PLACE), frame),
        Hinge("input", frame, one, axis="y", velocity=12.0),
        Hinge("output", frame, two, axis="y"),
        Slider("rail", frame, rack, axis="x"),
    ]
    return System(
        "gear train",
        [frame, one, two, rack],
        joints,
        forces=[JointForce("motor", "input", force=TORQUE)],
        couplings=[
            Coupling("gear", {"input": 1.0, "output": RATIO}),
            Coupling("pinion", {"output": RADIUS, "rail": -1.0}),
        ],
        water=Water(g=0.0),
    )


@case("joints", "gear", source="closed form: reflected inertia I1 + (I2 + m r^2) / n^2")
def gear(formulations: tuple[str, ...] = ("path_matrix", "lagrange")) -> list[Check]:
    """A motor accelerates two wheels and a rack through a gear and a pinion."""
    excess = INERTIA[1] + RACK * RADIUS**2
    alpha = TORQUE / (INERTIA[0] + excess / RATIO**2)
    model, checks = gear_train(), []
    for how in formulations:
        result = run(model, 3.0, 0.1, formulation=how, rtol=1e-10, atol=1e-12)
        t = result["time"].values
        angle = result["joint_coordinate"].sel(coordinate="input__Pitch").values
        off = float(np.abs(angle - 12.0 * t - 0.5 * alpha * t**2).max())
        force = result["coupling_force"].sel(coupling_term="gear: output__Pitch").values
        wrong = float(np.abs(force + excess * alpha / RATIO).max())
        steps = "rtol 1e-10, some seven turns"
        checks.append(Check(f"{how}: angle of the input", off, 1e-8, "rad", steps))
        # fast turning discs: multipliers are differences of larger terms
        checks.append(Check(f"{how}: torque of the gear", wrong, 1e-6, "N m", steps))
    return checks


@case("pto", "brake", source="closed form: Coulomb friction takes 4 F / k from each period")
def brake() -> list[Check]:
    """An oscillator of 2 kg on 8 N/m with a brake of 0.7 N stops in its sixth half period."""
    friction, stiffness = 0.7, 8.0
    system = oscillator(CoulombPto("brake", joint="rail", friction=friction, stick=True))
    result = run(system, 12.0, 0.1, rtol=1e-10, atol=1e-12)
    t, x = result["time"].values, result["joint_coordinate"].values[:, 0]
    shift, half = friction / stiffness, np.pi / 2
    n = np.minimum((t / half).astype(int), 6)
    swing = (1.0 - 2.0 * shift * n - shift) * np.cos(2.0 * (t - n * half)) + shift
    exact = np.where(n < 6, (-1.0) ** n * swing, 1.0 - 12.0 * shift)
    stopped = x[t > 11.0]
    heat = -float(result["work"].sel(element="brake").values[-1])
    lost = 0.5 * stiffness * (1.0 - (1.0 - 12.0 * shift) ** 2)
    return [
        Check("stroke", float(np.abs(x - exact).max()), 1e-8, "m", "events within 1e-10 s"),
        Check("creep after the stop", float(np.ptp(stopped)), 1e-12, "m", "rounding"),
        Check("heat", heat, 1e-8, "J", "rtol 1e-10", reference=lost),
    ]


@case("joints", "bushing", source="eigenvalues of K and M in turned axes; conservation")
def bushing() -> list[Check]:
    """A full 6 x 6 stiffness: small motions of a mount, and two bodies that tumble on it."""
    from swelltree.compiler.compile import compile as compile_system
    from swelltree.studies.linear.modes import modes

    root = np.random.default_rng(3).normal(size=(6, 6))
    K = tuple(map(tuple, 40.0 * root @ root.T + 60.0 * np.eye(6)))  # stays below half a turn
    body = Body("body", 3.0, (0.6, 0.4, 0.3), position=PLACE)
    mount = Bushing("mount", WORLD.at(*PLACE, rotation=TURNED), body, K)
    dry = Water(g=0.0)
    held = System("mount", [body], [Free("free", WORLD, body)], forces=[mount], water=dry)
    found = np.sort(modes(compile_system(held))["natural_frequency"].values)
    R = np.kron(np.eye(2), Point("world", (0.0, 0.0, 0.0), TURNED).rotation_matrix)
    M = np.diag([3.0, 3.0, 3.0, 0.6, 0.4, 0.3])
    exact = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, R @ np.array(K) @ R.T)).real))

    one = Body("one", 4.0, (0.5, 0.7, 0.9), position=PLACE, rotation=TURNED)
    two = Body("two", 3.0, (0.6, 0.4, 0.3), position=(1.5, 2.4, -2.2))
    joints = [
        Free("f1", WORLD, one, velocity={"Roll": 1.0, "Surge": 0.3}),
        Free("f2", WORLD, two, velocity={"Roll": -3.0, "Pitch": 4.0, "Yaw": 2.0}),
    ]
    link = Bushing("link", one.at(0.2, -0.1, 0.3), two.at(-0.1, 0.2, -0.3), K)
    pair = System("pair", [one, two], joints, forces=[link], water=dry)
    result = run(pair, 4.0, 0.05, rtol=1e-10, atol=1e-12)
    largest = float(np.abs(result["energy_residual"].values).max())
    moved = float(result["kinetic_energy"].sum("body").max())
    off = float(np.abs(found / exact - 1.0).max())
    return [
        Check("six natural frequencies", off, 1e-8, "", "derivatives by JAX, eigenvalues"),
        Check("energy of two tumbling bodies", largest / moved, 1e-8, "of kinetic", "rtol 1e-10"),
    ]


@case("joints", "contact between bodies", source="Hunt and Crossley (1975), closed form")
def body_contact() -> list[Check]:
    """A ball that meets a plane, and two free bodies that meet off centre."""
    c, v = 0.1, 5.0
    ball = Body("ball", 2.0, (0.05,) * 3, position=(0.3, -0.2, 0.5))
    floor = BodyContact("floor", ball, WORLD, radius=0.3, dissipation=c)
    free = Free("free", WORLD, ball, velocity={"Heave": -v})
    dry = Water(g=0.0)
    thrown = run(System("ball", [ball], [free], forces=[floor], water=dry), 0.1, 0.01, rtol=1e-9)
    e = float(thrown["velocity"].sel(body="ball", dof="Heave").values[-1]) / v
    closed = c * v - np.log1p(c * v) + c * e * v + np.log1p(-c * e * v)

    one = Body("one", 3.0, (0.3, 0.4, 0.5), rotation=TURNED)
    two = Body("two", 5.0, (0.8, 0.6, 0.7), position=(1.2, 0.25, -0.1))
    joints = [
        Free("f1", WORLD, one, velocity={"Surge": 2.0, "Yaw": 1.0}),
        Free("f2", WORLD, two, velocity={"Surge": -1.0, "Roll": 0.5}),
    ]
    hit = BodyContact(
        "hit", one, two, "box", (0.8, 0.6, 0.7), radius=0.4, stiffness=2e4, friction=0.4
    )
    pair = System("pair", [one, two], joints, forces=[hit], water=dry)
    met = run(pair, 0.6, 0.02, rtol=1e-9, atol=1e-11)
    momentum = (np.array([3.0, 5.0])[:, None] * met["velocity"].values[:, :, :3]).sum(1)
    drift = float(np.abs(momentum - momentum[0]).max())
    heat = -float(met["work"].sel(element="hit").values[-1])
    largest = float(np.abs(met["energy_residual"].values).max())
    return [
        Check("law of restitution", abs(closed), 1e-7, "", "rtol 1e-9"),
        Check("momentum of two bodies", drift, 1e-8, "N s", "rounding of equal forces, rtol 1e-9"),
        Check("energy of two bodies", largest / heat, 1e-5, "of the heat", "rtol 1e-9"),
    ]
