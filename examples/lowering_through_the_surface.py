"""A floating barge lowers a ball through the surface in a regular wave (weak scatterer).

The ball hangs from the rope of a winch at the crane tip. It is dry at first, then crosses the
surface, and ends submerged: the water is remeshed at every change
(`WeakScatterer(crossing=...)`). The figure shows its height, the hook load, and the water force
on it.
"""

from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw

LENGTH, WIDTH, HEIGHT, DRAFT = 4.0, 3.0, 1.2, 0.6  # of the barge, m
TIP = (3.1, 0.0, 4.4)  # of the crane, m
RADIUS, LOAD = 0.4, 400.0  # of the ball, m, kg
FIRST = 0.75  # initial height of its centre, m
AMPLITUDE, OMEGA = 0.04, 3.2  # of the wave, m, rad/s
OUT, SPEED, BEGIN = 1.9, 0.4, 0.5  # rope paid out, m, m/s, from that time on, s
RHO, EA, ROPE = 1025.0, 2e5, 10.0  # kg/m^3; of the rope stiffness, N, and mass, kg/m


def crane_barge(spacing: float = 0.5, panel_size: float = 0.25, **options: Any) -> sw.System:
    """Barge, rope with its winch, ball, and the tank of water around them."""
    barge = sw.Body("barge", hull=sw.Box(LENGTH, WIDTH, HEIGHT, DRAFT), reference_point=(0, 0, 0))
    place = (TIP[0], 0.0, FIRST)
    ball = sw.Body(
        "ball",
        mass=LOAD,
        inertia=(0.4 * LOAD * RADIUS**2,) * 3,
        position=place,
        hull=sw.Sphere(RADIUS, offset=(0.0, 0.0, FIRST)),
    )
    wire = sw.LineType("wire", diameter=0.02, mass_per_length=ROPE, EA=EA, damping_ratio=0.3)
    ring = ball.at(0, 0, RADIUS)
    length = (TIP[2] - FIRST - RADIUS) / (1.0 + 9.81 * LOAD / EA)
    rope = sw.Line(
        "rope", barge.at(*TIP), ring, length, wire, model="multibody", segments=1, dry=True
    )
    lower = sw.Stage("pay_out", "winch", start=BEGIN, length=OUT, speed=SPEED, ramp=0.5)
    tank = sw.WeakScatterer(
        "tank",
        radius=9.0,
        spacing=spacing,
        far_spacing=1.5,
        panel_size=panel_size,
        bodies=["barge", "ball"],
        crossing=["ball"],
        symmetric=True,
        **({"levels": 2, "step": 0.06} | options),
    )
    plane = ("Surge", "Heave", "Pitch")
    return sw.System(
        "lowering",
        [barge, ball],
        [
            sw.SubsetJoint("afloat", sw.WORLD, barge, dofs=plane),
            sw.SubsetJoint("hanging", sw.WORLD.at(*place), ball, dofs=plane),
        ],
        [tank],
        moorings=[sw.LinearMooring("moored", barge, stiffness={"Surge": 4e3})],
        lines=[rope],
        winches=[sw.Winch("winch", rope, max_speed=1.0, alpha_split=1.9)],
        operations=[sw.Operation("lowering", [lower])],
        water=sw.Water(rho=RHO),
    )


def lowered(system: sw.System | None = None, duration: float = 6.6) -> Any:
    """The run."""
    model = sw.compile(crane_barge() if system is None else system)
    wave = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA, ramp=1.0)
    return sw.simulate(model, wave, duration=duration, output_step=0.12, start="equilibrium")


def draw(run: Any, path: Path) -> None:
    """Height, hook load and the force of the water, over time."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 7))
    state = run.weak_scatterer_state.sel(body="ball").values
    height = run.position.sel(body="ball", dof="Heave").values
    water = run.weak_scatterer_force.sel(body="ball", dof="Heave").values
    rows = (height, run.winch_tension.values[:, 0] / 9.81, water / 9.81)
    words = ("height [m]", "hook load [kg]", "water on the ball [kg]")
    for axis, row, word in zip(axes, rows, words, strict=True):
        axis.plot(run.time, row)
        axis.set_ylabel(word)
        for value, colour in ((1.0, "tab:orange"), (2.0, "tab:blue")):
            axis.fill_between(
                run.time, 0, 1, where=state == value, alpha=0.15, color=colour, lw=0,
                transform=axis.get_xaxis_transform(),
            )  # fmt: skip
    axes[-1].set_xlabel("time [s]; shaded: cut by the surface, under it")
    plt.tight_layout()
    plt.savefig(path)


def main() -> None:
    """The ball is dry, cut by the surface and under it; the hook carries less and less."""
    run = lowered()
    assert run.attrs["result"] == "success", run.attrs["message"]
    state = run.weak_scatterer_state.sel(body="ball").values
    assert sorted(set(state)) == [0.0, 1.0, 2.0, 3.0]  # 3: entering
    assert (state[0], state[-1]) == (0.0, 2.0)
    # the rope is one bar, half of whose mass hangs at the crane
    rope = 0.5 * ROPE * run.winch_length.values[:, 0]
    hook = run.winch_tension.values[:, 0] / 9.81 - rope
    lifted = RHO * 4.0 / 3.0 * np.pi * RADIUS**3
    dry, wet = hook[:3].mean(), hook[-16:].mean()
    print(f"hook load {dry:.0f} kg dry, {wet:.0f} kg under water, {LOAD - lifted:.0f} kg by weight")
    assert abs(dry - LOAD) < 0.05 * LOAD
    assert abs(wet - (LOAD - lifted)) < 0.25 * (LOAD - lifted)  # the wave continues
    moved = float(np.abs(run.work.values).max())
    assert float(np.abs(run.energy_residual).max()) < 1e-3 * moved


if __name__ == "__main__":
    draw(lowered(), Path("lowering_through_the_surface.png"))
