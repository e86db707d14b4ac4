"""Optimal control: the limits of absorbed power of the WaveBot buoy in heave."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.describe import (
    WORLD,
    Body,
    Controller,
    IrregularSea,
    JointForce,
    Jonswap,
    LinearPto,
    RegularWave,
    Slider,
    System,
)
from swelltree.hydro.readers.read import read_hydro
from swelltree.jit import Array
from swelltree.model.model import Model
from swelltree.studies.batch.batch import simulate_batch
from swelltree.studies.control.optimal_control import optimal_control
from swelltree.studies.control.predictive import with_mpc
from swelltree.studies.time.simulate import simulate
from validation.hydro.hydro_sphere import water_of
from validation.table import Check, case

MASS = 858.414  # kg, the displaced one
AMPLITUDE = 0.1  # m
FREQUENCIES = (1.5, 2.1, 3.3, 4.5, 6.0)  # rad/s


def wavebot(folder: Path, radiation: str = "none") -> Model:
    """The buoy on a vertical slider with a PTO to ground."""
    data = read_hydro(folder / "waveBotBuoy.out", names=["buoy"], rho=1000.0, check=False)
    x, y, z = (float(x) for x in np.ravel(data["rotation_center"])[:3])
    place = (x, y, z)
    body = Body("buoy", mass=MASS, inertia=(80.0,) * 3, position=place)
    slider = Slider("heave", WORLD.at(*place), body, axis="z")
    pto = LinearPto("pto", joint="heave")
    system = System("wavebot", [body], [slider], ptos=[pto], water=water_of(data))
    return compile_system(system, hydro=data, radiation=radiation)


SAMPLE, KP, KI = 0.25, 6.0, 1.5  # s, N s/m, N/m: of the sampled controller
CART, DRAG = 2.0, 0.4  # kg, N s/m


def held_pi(t: Array, y: Array, x: Array) -> tuple[Array, Array]:
    """A PI controller of the speed, with the integral as its state."""
    return -KP * y - KI * x, x + SAMPLE * y


@case("control", "sampled_control", source="matrix exponentials from sample to sample")
def sampled_control() -> list[Check]:
    """A cart under a PI controller of its speed that is sampled four times a second."""
    from scipy.linalg import expm

    body = Body("cart", mass=CART, inertia=(1.0,) * 3)
    system = System(
        "cart",
        [body],
        [Slider("rail", WORLD, body, axis="x", velocity=1.0)],
        [JointForce("motor", "rail", damping=DRAG)],
        controllers=[
            Controller(
                "pi",
                ("rail.Surge.rate",),
                ("motor",),
                law=held_pi,
                states=("integral",),
                sample_time=SAMPLE,
            )
        ],
    )
    run = simulate(compile_system(system), duration=10.0, output_step=SAMPLE, progress=False)
    over = expm(SAMPLE * np.array([[0, 1, 0], [0, -DRAG / CART, 1 / CART], [0, 0, 0.0]]))
    z, integral, exact = np.array([0.0, 1.0]), 0.0, []
    for _ in run.time:
        exact.append(z[0])
        u, integral = -KP * z[1] - KI * integral, integral + SAMPLE * z[1]
        z = (over @ np.array([*z, u]))[:2]
    off = float(np.abs(run.joint_coordinate.values[:, 0] - exact).max())
    return [Check("position over 40 samples", off, 1e-8, "m", "tolerance of the solver")]


@case("control", "mpc_batch", source="single runs of the same steps", needs="opt_conjugate_limit")
def mpc_batch(folder: Path) -> list[Check]:
    """Predictive control in a batch: every case has its own controller and preview."""
    seas = [
        IrregularSea(Jonswap(Hs=0.1, Tp=2.5), seed=seed, components=20, omega_max=6.0, ramp=4.0)
        for seed in (1, 2, 3)
    ]
    model, _ = with_mpc(
        wavebot(folder, "state_space"), seas[0], "pto", force_max=500.0, sample=0.25, horizon=3.0
    )
    batch = simulate_batch(
        model,
        seas,
        duration=15.0,
        output_step=0.25,
        step=0.05,
        channels=["absorbed_power"],
        reduce=["series"],
    )
    alone = [
        simulate(
            model, sea, duration=15.0, output_step=0.25, solver="rk4", step=0.05, progress=False
        ).absorbed_power.values
        for sea in seas
    ]
    off = np.abs(batch.absorbed_power_series.values - alone).max() / np.abs(alone).max()
    return [Check("power of three seeds, batch and single runs", float(off), 1e-9, "", "rounding")]


@case("control", "conjugate_limit", source="WAMIT and closed forms", needs="opt_conjugate_limit")
def conjugate_limit(folder: Path) -> list[Check]:
    """Unconstrained optimum and best damper in regular waves."""
    table = np.genfromtxt(folder / "conjugate_limit.csv", delimiter=",", names=True)
    model = wavebot(folder)
    best, passive, damper, bound = [], [], [], []
    for w in FREQUENCIES:
        ours = optimal_control(
            model, RegularWave(amplitude=AMPLITUDE, omega=w), harmonics=1, replay=False
        )
        numbers = ours.attrs

        def listed(name: str, w: float = w) -> float:
            return float(np.interp(w, table["omega_rad_s"], table[name]))

        best.append(numbers["mean_power"] / AMPLITUDE**2 / listed("P_conj_W_per_m2") - 1.0)
        passive.append(numbers["passive_power"] / AMPLITUDE**2 / listed("P_passive_W_per_m2") - 1.0)
        damper.append(float(ours.passive_damping[0]) / listed("c_passive_Ns_m") - 1.0)
        bound.append(numbers["mean_power"] / numbers["bound"] - 1.0)

    def worst(errors: list[float]) -> float:
        return float(np.abs(errors).max())

    why = "interpolation between frequencies and printed digits"
    return [
        Check("power of the optimum, 1.5 to 6 rad/s", worst(best), 0.01, "", why),
        Check("power of the best damper", worst(passive), 0.01, "", why),
        Check("damping of the best damper", worst(damper), 0.05, "", "flat optimum, coarse search"),
        Check("optimum against |F|^2 / (8 Re Z)", worst(bound), 1e-8, "", "the same closed form"),
    ]
