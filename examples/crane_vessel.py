"""A crane vessel lowers a manifold through the splash zone to the seabed, in an irregular sea.

The ship floats freely, with its own hydrodynamic data and soft station keeping. It slews the crane
out and pays out 40 m of rope by a winch with active heave compensation. The load passes through the
surface (buoyancy, added mass, slamming and drag as functions of depth) and lands on the seabed. The
results are hook load, clearances, snap loads and landing speed, and the operability in several sea
states.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw

DEPTH = 36.0  # m
LENGTH, WIDTH, HEIGHT, DRAFT = 96.0, 22.0, 10.0, 5.5  # of the ship, m
HEADING = np.radians(160.0)  # direction the waves travel towards: from ahead, off the bow
BOOM, TIP = 24.0, 26.0  # reach of the crane, and height of its tip above the water, m
SLEW = 0.35  # rad, that the crane turns
ROPE = 17.0  # m, unstretched, out at first
LOAD, SOLID = 45e3, 14.0  # mass of the load in air, kg, and the volume of what it is made of, m^3
TALL = 3.0  # height of the load, m
WEIGHT = 9.81 * LOAD


def manifold(position: tuple[float, float, float]) -> tuple[sw.Body, sw.Immersion]:
    """The load, 6 x 5 x 3 m and mostly open, and what the water does to it."""
    load = sw.Body("load", mass=LOAD, inertia=(1.3e5, 1.7e5, 2.3e5), position=position)
    depth = (0.0, 0.15, 0.5, 1.0, 2.0, TALL, TALL + 1.0)
    wet = sw.Immersion(
        "splash",
        load.at(0, 0, -0.5 * TALL),
        depth=depth,
        volume=tuple(SOLID * min(d / TALL, 1.0) for d in depth),
        # mud mats at the bottom carry most of the added mass as soon as they are wet
        added_mass=((0, 0, 0), (3e3, 3e3, 20e3), (6e3, 6e3, 45e3), (8e3, 8e3, 55e3))
        + ((12e3, 12e3, 60e3), (15e3, 15e3, 65e3), (15e3, 15e3, 70e3)),
        drag_area=((0, 0, 0), (2, 2, 20), (4, 5, 35), (7, 8, 40), (12, 14, 45), (16, 18, 50))
        + ((16, 18, 50),),
    )
    return load, wet


def vessel(compensation: bool = True, hold: float = 30.0) -> sw.System:
    """Ship, crane, rope with its winch, and load.

    Args:
        compensation: with active heave compensation.
        hold: time before the winch starts, while the crane slews [s].
    """
    ship = sw.Body(
        "ship",
        hull=sw.Box(LENGTH, WIDTH, HEIGHT, DRAFT, panel_size=4.0),
        com=(0, -0.32, 0),  # ballast against the crane
        reference_point=(0, 0, 0),
    )
    foot = (-8.0, 7.0, HEIGHT - DRAFT)
    crane = sw.Body(
        "crane", mass=180e3, com=(0, 6.0, 9.0), inertia=(1.5e7, 8e6, 1e7), position=foot
    )
    # the boom points to the side once it has slewed
    tip = (BOOM * np.sin(SLEW), BOOM * np.cos(SLEW), TIP - foot[2])
    over = (foot[0] + tip[0], foot[1] + tip[1])
    load, wet = manifold((*over, TIP - ROPE - 4.0))
    turn = np.linspace(0.0, np.pi, 13)
    slew = sw.Table(
        (*(5.0 + (hold - 5.0) * turn / np.pi), hold + 2.0, hold + 4.0),
        (*(0.5 * SLEW * (1.0 - np.cos(turn))), SLEW, SLEW),
    )
    holding = {"Surge": 3e5, "Sway": 4e5, "Yaw": 4e8}
    damping = {"Surge": 3e5, "Sway": 5e5, "Yaw": 5e8, "Roll": 6e7}
    sling = load.at(0, 0, 0.5 * TALL + 2.5)
    rope = sw.Line("rope", crane.at(*tip), sling, ROPE, sw.wire_rope(0.07), segments=4)
    lowering = sw.Stage("pay_out", "winch", start=hold, length=40.0, speed=0.5, ramp=3.0)
    control = sw.HeaveCompensation(gain=0.95, time_constant=0.2) if compensation else None
    return sw.System(
        "crane vessel",
        [ship, crane, load],
        [
            sw.Free("float", sw.WORLD, ship),
            sw.Hinge("slew", ship.at(*foot), crane, axis="z", motion=slew),
            sw.Free("hang", sw.WORLD, load),
        ],
        [wet],
        moorings=[sw.LinearMooring("positioning", ship, stiffness=holding, damping=damping)],
        lines=[rope],
        winches=[
            sw.Winch("winch", rope, control=control, max_speed=2.5, time_constant=0.1, drum=75.0)
        ],
        operations=[sw.Operation("lowering", [lowering])],
        contacts=[sw.SeabedContact("mats", load, at=mats(), area=6.0)],
        seabed=sw.Seabed(stiffness=2e5, damping=4e4),
        water=sw.Water(depth=DEPTH),
    )


def mats() -> list[tuple[float, float, float]]:
    """Corners of the load that touch the ground."""
    return [(x, y, -0.5 * TALL) for x in (-3.0, 3.0) for y in (-2.5, 2.5)]


def compiled(system: sw.System) -> sw.Model:
    """With hydrodynamic data of the ship, which are computed once and kept."""
    data = sw.run_bem(system, np.linspace(0.2, 2.4, 23), wave_direction=np.radians((150.0, 170.0)))
    return sw.compile(system, data, fit={"error": 0.08})


def sea(Hs: float, Tp: float) -> sw.IrregularSea:
    """Long-crested waves from ahead."""
    spectrum = sw.Jonswap(Hs=Hs, Tp=Tp)
    return sw.IrregularSea(
        spectrum, seed=3, components=80, omega_min=0.25, omega_max=2.3, beta=HEADING, ramp=15.0
    )


def lowered(model: sw.Model, Hs: float, Tp: float, duration: float = 150.0) -> Any:
    """The operation in one sea state."""
    with warnings.catch_warnings():
        # a box makes waves by rolling that are shorter than its panels; its damping is mostly other
        warnings.filterwarnings("ignore", "the radiation damping of ship Roll")
        return sw.simulate(model, sea(Hs, Tp), duration=duration, output_step=0.1, step=0.05)


def found(run: Any) -> dict[str, float]:
    """What the operation is judged by."""
    tension = run["winch_tension"].values[:, 0]
    load = run["position"].sel(body="load").values
    ship = run.sel(body="ship")
    height = load[:, 2] - 0.5 * TALL + DEPTH
    # the load seen from the ship
    R = ship["rotation"].values
    away = np.einsum("tji,tj->ti", R, load[:, :3] - ship["position"].values[:, :3])
    near = load[:, 2] < HEIGHT - DRAFT + TALL
    side = np.where(near, away[:, 1] - 0.5 * WIDTH - 3.0, np.inf)
    landed = np.flatnonzero(height < 0.02)
    speed = 0.0
    if landed.size:
        before = slice(max(landed[0] - 3, 0), landed[0] + 1)
        speed = -float(run["velocity"].sel(body="load", dof="Heave").values[before].min())
    lowering = slice(None, landed[0] if landed.size else None)
    snaps, peak = snap_loads(tension[lowering])
    return {
        "hook_load_factor": float(tension[lowering].max()) / WEIGHT,
        "least_hook_load": float(tension[lowering][50:].min()) / WEIGHT,
        "snaps": float(snaps),
        "snap_peak": peak / WEIGHT,
        "landing_speed": speed,
        "landed_at": float(run["time"].values[landed[0]]) if landed.size else np.nan,
        "clearance_to_ship": float(side.min()),
        "clearance_to_seabed": float(height.min()),
        "slamming": float(abs(run["slamming_force"].sel(axis="z")).max()) / WEIGHT,
    }


def snap_loads(tension: np.ndarray) -> tuple[int, float]:
    """How often the rope went slack and tight again, and the largest load after that [N]."""
    slack = tension < 0.01 * WEIGHT
    ends = np.flatnonzero(slack[:-1] & ~slack[1:])
    peaks = [tension[k : k + 30].max() for k in ends]
    return len(peaks), float(max(peaks, default=0.0))


def operable(model: sw.Model, Hs: Any = (1.5, 2.5, 3.5), Tp: Any = (6.0, 8.0, 10.0)) -> Any:
    """Which sea states the operation stands."""
    return sw.operability(
        lambda Hs, Tp: lowered(model, Hs, Tp), {"Hs": Hs, "Tp": Tp}, found, LIMITS
    )


LIMITS = {"hook_load_factor": 1.3, "snaps": 0.5, "landing_speed": 0.7}


def main() -> None:
    model = compiled(vessel())
    run = lowered(model, 1.5, 7.0)
    numbers = found(run)
    for name, value in numbers.items():
        print(f"{name.replace('_', ' '):20} {value:8.3f}")
    # it hangs in the air, goes through the surface and stands on the ground
    assert numbers["landed_at"] > 60.0
    assert numbers["clearance_to_seabed"] > -0.3
    assert numbers["clearance_to_ship"] > 3.0
    assert 1.0 < numbers["hook_load_factor"] < 1.5
    # compensation takes out the motion of the crane tip: it lands at the speed of the winch
    assert abs(numbers["landing_speed"] - 0.5) < 0.2

    table = operable(model)
    print(table["utilisation"].to_pandas().round(2))
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    sw.plot.write_figure(sw.plot.operability(table), folder / "crane_vessel_operability.png")
    assert bool(table["operable"].sel(Hs=1.5, Tp=6.0))
    assert not bool(table["operable"].sel(Hs=3.5).all())


if __name__ == "__main__":
    main()
