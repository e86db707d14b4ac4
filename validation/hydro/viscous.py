"""Members, drag and bodies given by numbers against closed forms, and drag in both domains."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    BodyDrag,
    Free,
    IrregularSea,
    Jonswap,
    LinearMooring,
    MorisonMember,
    PowerLawCurrent,
    RegularWave,
    Slider,
    System,
    Water,
    Weld,
)
from swelltree.describe.errors import SwelltreeWarning
from swelltree.model.capabilities import AT_REST
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.multibody.kinematics import Motion, Pose, joint_frames
from swelltree.studies.linear.rao import rao
from swelltree.studies.linear.response import response
from swelltree.studies.statics.equilibrium import equilibrium
from swelltree.studies.time.simulate import simulate
from swelltree.waves.components import components
from swelltree.waves.dispersion import dispersion
from swelltree.waves.sea import RealisedSea, realise
from validation.table import Check, case

if TYPE_CHECKING:
    from swelltree.describe.environment.water import Current


RHO, G = 1000.0, 9.81
SEAS = ((2.0, 6.0), (4.0, 8.0), (7.0, 10.0))  # Hs [m], Tp [s]


def held_wrench(
    model: Model,
    waves: RealisedSea | None,
    t: float,
    v: np.ndarray | None = None,
    stretching: str = "wheeler",
) -> np.ndarray:
    """Wrench of all effects on one body held at the origin, moving with v."""
    pose = Pose(np.zeros((1, 3)), np.eye(3)[None])
    v = np.zeros((1, 6)) if v is None else v.reshape(1, 6)
    motion = Motion(pose, v, joint_frames(model, pose), np.zeros(0), np.zeros(0))
    model = model.replace(sea=replace(model.sea, waves=waves, stretching=stretching))
    now = Instant(np.asarray(t), motion, AT_REST)
    return np.sum([g.loads(model, now).wrench[0] for g in model.effects], axis=0)


def pile(depth: float, bottom: float, **more: Any) -> Model:
    """A vertical cylinder of 2 m diameter, held fast."""
    body = Body("pile", mass=1e5, inertia=(1e6, 1e6, 1e5))
    ends = body.at(0, 0, bottom), body.at(0, 0, 10.0)
    strips = int(2 * (10.0 - bottom))
    member = MorisonMember("leg", *ends, diameter=2.0, Cd=0.9, Ca=1.1, strips=strips, **more)
    system = System(
        "pile", [body], [Weld("held", WORLD, body)], [member], water=Water(RHO, G, depth)
    )
    return compile_system(system)


@case("viscous", "morison_pile", source="Morison's formula integrated over depth")
def morison_pile() -> list[Check]:
    """Largest inertia and drag force of a low regular wave, in deep and in shallow water."""
    a, omega = 1e-3, 0.9
    checks = []
    for depth, name in ((np.inf, "deep"), (20.0, "20 m")):
        model = pile(depth, -min(depth, 150.0))
        waves = realise(RegularWave(amplitude=a, omega=omega), model.water)
        k = float(np.asarray(dispersion(omega, depth, G)))
        kd = min(k * depth, 200.0)
        inertia = RHO * 2.1 * np.pi * G * a * np.tanh(kd)
        squares = (np.sinh(2 * kd) / (4 * k) + 0.5 * kd / k) / np.sinh(kd) ** 2
        drag = 0.5 * RHO * 0.9 * 2.0 * (a * omega) ** 2 * squares
        wrench = held_wrench(model, waves, 1.5 * np.pi / omega)[0]
        viscous = held_wrench(pile(depth, -min(depth, 150.0), inertia=False), waves, 0.0)[0]
        why = "strips of 0.5 m"
        checks += [
            Check(f"{name}: inertia force", wrench / inertia, 1e-3, "", why, 1.0),
            Check(f"{name}: drag force", viscous / drag, 2e-3, "", why, 1.0),
        ]
    return checks


@case("viscous", "kirchhoff", source="Kirchhoff's integrals of a body adrift")
def kirchhoff_integrals(formulation: str = "path_matrix") -> list[Check]:
    """A tumbling submerged body keeps energy, impulse and angular impulse for 20 s."""
    A = np.diag([50.0, 300.0, 700.0, 0.0, 90.0, 60.0])
    M = A + np.diag([800.0, 800.0, 800.0, 100.0, 150.0, 200.0])
    body = Body("egg", mass=800.0, inertia=(100.0, 150.0, 200.0), added_mass=A)
    model = compile_system(
        System("adrift", [body], [Free("free", WORLD, body)], water=Water(g=0.0))
    )
    speeds = np.array([1.0, 0.3, 0.2, 0.4, 0.5, -0.6])
    model = model.replace(start=replace(model.start, s=speeds))
    run = simulate(
        model, duration=20.0, rtol=1e-10, atol=1e-12, formulation=formulation, progress=False
    )
    R, v, p = run.rotation.values[:, 0], run.velocity.values[:, 0], run.position.values[:, 0, :3]
    momentum = (
        np.concatenate([np.einsum("tji,tj->ti", R, v[:, k : k + 3]) for k in (0, 3)], axis=1) @ M
    )
    linear = np.einsum("tij,tj->ti", R, momentum[:, :3])
    angular = np.einsum("tij,tj->ti", R, momentum[:, 3:]) + np.cross(p, linear)
    energy = run.kinetic_energy.values
    why = "rtol 1e-10"
    return [
        Check("energy", float(np.ptp(energy) / energy[0, 0]), 1e-8, "K", why),
        Check("impulse", _change(linear), 1e-7, "p", why),
        Check("angular impulse", _change(angular), 1e-7, "L", why),
    ]


def _change(x: np.ndarray) -> float:
    return float(np.ptp(x, axis=0).max() / np.linalg.norm(x[0]))


def moored_pile(current: Current | None = None, **more: Any) -> System:
    """A vertical cylinder without hydro data on a soft spring in surge."""
    body = Body("pile", mass=2e5, inertia=(1e7, 1e7, 1e6))
    ends = body.at(0, 0, -30.0), body.at(0, 0, 8.0)
    member = MorisonMember("skin", *ends, diameter=2.5, strips=19, **more)
    spring = LinearMooring("spring", body, stiffness={"Surge": 6e4}, damping={"Surge": 2e3})
    return System(
        "moored_pile",
        [body],
        [Slider("guide", WORLD, body, axis="x")],
        [member],
        moorings=[spring],
        water=Water(rho=RHO),
        current=current,
    )


@case("viscous", "current_and_fall", source="balance of drag with spring and weight")
def balance() -> list[Check]:
    """Offset of a moored member in a current; terminal speed of a body given by numbers."""
    rest = equilibrium(compile_system(moored_pile(PowerLawCurrent(1.2, depth=60.0))))
    z = -30.0 * (np.arange(20000) + 0.5) / 20000
    speed = 1.2 * (1 + z / 60.0) ** (1 / 7)
    offset = 0.5 * RHO * 2.5 * (speed**2).mean() * 30.0 / 6e4
    stone = Body(
        "stone",
        mass=2000.0,
        inertia=(500, 500, 500),
        displaced_volume=0.8,
        position=(0, 0, -50.0),
        added_mass={"Heave": 300.0},
    )
    drag = BodyDrag("drag", stone, area=(1.0, 1.0, 2.0), Cd=(1.0, 1.0, 0.8))
    system = System("fall", [stone], [Free("free", WORLD, stone)], [drag], water=Water(rho=RHO))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # that it sinks is the point
        run = simulate(compile_system(system), duration=60.0, rtol=1e-8, progress=False)
    ours = -float(run.velocity[-1, 0, 2])
    terminal = float(np.sqrt(1200 * G / (0.5 * RHO * 0.8 * 2.0)))
    return [
        Check("offset", float(rest.position[0, 0]), 1e-4 * offset, "m", "strips of 2 m", offset),
        Check("terminal speed", ours, 1e-6 * terminal, "m/s", "reached after 60 s", terminal),
    ]


@case("viscous", "drag_linearisation", source="simulation of the same sea")
def drag_linearisation() -> list[Check]:
    """Surge of a moored member with drag: equivalent linear drag against the time domain."""
    model = compile_system(moored_pile())
    checks = []
    for Hs, Tp in SEAS:
        sea = IrregularSea(
            Jonswap(Hs=Hs, Tp=Tp), seed=3, components=80, jitter=False, spacing="equal"
        )
        repeat = float(components(sea, model.water).repeat_period)
        times = np.append(0.0, 150.0 + repeat * np.arange(1500) / 1500)
        in_time = simulate(model, sea, times=times, progress=False).position.values[1:, 0, 0].std()
        ours = response(model, sea, drag="stochastic").standard_deviation.values[0, 0]
        name = f"Hs {Hs:g} m, Tp {Tp:g} s"
        checks.append(Check(name, float(ours / in_time), 0.05, "", "drag is not linear", 1.0))
    omega, a = 0.5, 1.0
    wave = RegularWave(amplitude=a, omega=omega)
    times = np.arange(0, 60 * 32 + 1) * 2 * np.pi / omega / 32
    x = simulate(model, wave, times=times, progress=False).position.values[-320:, 0, 0]
    in_time = abs(2 * np.mean(x * np.exp(1j * omega * times[-320:]))) / a
    ours = abs(rao(model, omega=[omega], drag="harmonic", amplitude=a).rao.values[0, 0, 0, 0])
    checks.append(Check("regular wave", float(ours / in_time), 0.05, "", "the same", 1.0))
    return checks
