"""A winch that starts or stops with a jump: a load on its rope swings as its energy allows."""

import numpy as np
import pytest

import swelltree as sw

RAIL = np.array([0.35, -0.2, 0.9])
RAIL = RAIL / np.linalg.norm(RAIL)
MASS, LENGTH, EA = 800.0, 30.0, 4.5e6


def hauled(h, steps, speed, start=0.0, tip=0.0):
    """A load on an inclined rail below a winch that moves along it as the load does at first.

    Returns:
        times, and how far the load is ahead of rope that is stretched as at first [m].
    """
    pull = 9.81 * MASS * RAIL[2]
    stretch = pull * LENGTH / EA
    top = np.array([3.0, 7.0, 60.0])
    place = top - (LENGTH + stretch) * RAIL
    load = sw.Body("load", mass=MASS, inertia=(MASS,) * 3, position=tuple(place))
    block = sw.Body("block", mass=1e3, inertia=(1e3,) * 3, position=tuple(top))
    end = 2.0 * h * (steps + 1)
    motion = sw.Table([-1.0, end], [-tip, tip * end])
    joints = [
        sw.Slider("rail", sw.WORLD.at(*place), load, axis=tuple(RAIL), velocity=tip),
        sw.Slider("tip", sw.WORLD.at(*top), block, axis=tuple(RAIL), motion=motion),
    ]
    thread = sw.LineType("thread", 0.01, 1e-6, EA=EA, BA=0.0)
    line = sw.Line("line", block.at(0, 0, 0), load, LENGTH, thread, segments=1)
    stages = [sw.Stage("haul_in", "winch", start=start, duration=end, speed=speed)]
    system = sw.System(
        "rail",
        [load, block],
        joints,
        water=sw.Water(rho=1e-9),
        lines=[line],
        winches=[sw.Winch("winch", line, min_length=0.6 * LENGTH)],
        operations=[sw.Operation("haul", stages)],
    )
    run = sw.simulate(
        sw.compile(system),
        duration=steps * h,
        output_step=h,
        step=h,
        start="described",
        progress=False,
    )
    t = run.time.values
    way = (run.position.sel(body="load").values[:, :3] - place) @ RAIL
    rope = speed * (1.0 + stretch / LENGTH) * np.maximum(t - start, 0.0)
    return t, way - tip * t - rope


OMEGA = np.sqrt(EA / LENGTH / MASS)
STEPS = 12


@pytest.mark.parametrize("seed", [3, *(pytest.param(x, marks=pytest.mark.slow) for x in range(3))])
def test_load_that_is_jerked_swings_no_more_than_by_its_energy(seed):
    """The mean of three instants turns v / omega into v / (omega sqrt(1 + (omega h / 2)^2)).

    Whatever the step: with ever so long ones the load follows its rope without a swing.
    """
    rng = np.random.default_rng(seed)
    h = 10 ** rng.uniform(-1.0, 0.8) / OMEGA
    speed, tip = 10 ** rng.uniform(-3.5, -2.5), rng.uniform(-0.5, 0.5)
    start = h * rng.integers(0, 2)
    turn = np.arccos(1.0 / (1.0 + 0.5 * (OMEGA * h) ** 2))  # of the swing in a step
    t, ahead = hauled(h, STEPS, speed, start, tip)
    n = np.round((t - start) / h)
    strain = 9.81 * MASS * RAIL[2] / EA
    size = (1.0 + strain) * speed / OMEGA / np.sqrt(1.0 + 0.25 * (OMEGA * h) ** 2)
    expected = np.where(n > 0, -size * np.sin(n * turn), 0.0)
    # the rope is shorter, and so stiffer, by the share that is hauled in, its
    # frequency higher by half of that; the strain of 2e-3 acts on what moves
    off = 0.5 * OMEGA * STEPS * h * speed * STEPS * h / LENGTH
    assert np.abs(ahead - expected).max() < size * (1e-4 + off)
