"""Lines come to rest however many segments they have."""

import numpy as np
import pytest

import swelltree as sw


@pytest.mark.slow
@pytest.mark.parametrize("segments", [20, 50])
def test_three_chains_on_a_soft_bed_come_to_rest(segments):
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9, damping_ratio=0.8, Cdn=1.6)
    float_ = sw.Body("float", mass=1e6, inertia=(1e8, 1e8, 1e8))
    lines = []
    for k, angle in enumerate(np.deg2rad([180.0, 60.0, -60.0])):
        x, y = np.cos(angle), np.sin(angle)
        ends = (405 * x, 405 * y, -100.0), float_.at(5 * x, 5 * y, -2.0)
        lines.append(sw.Line(f"line{k}", *ends, 430.0, chain, segments=segments))
    system = sw.System(
        "moored",
        [float_],
        [sw.Weld("held", sw.WORLD, float_)],
        lines=lines,
        water=sw.Water(1025.0, 9.81, 100.0),
        seabed=sw.Seabed(stiffness=3e6, damping=3e5),
    )
    result = sw.simulate(sw.compile(system), duration=2.0, output_step=0.1, progress=False)
    tension = result.fairlead_tension.values
    # the elastic catenary by integration: 377.5 kN; lumping costs a percent
    assert np.ptp(tension, axis=0).max() < 1e-3 * tension.mean()
    assert np.ptp(tension, axis=1).max() < 1e-6 * tension.mean()


@pytest.mark.slow
def test_turned_float_comes_to_rest_in_few_steps():
    """Moments of lines are those of the next pose: yaw does not swing from step to step."""
    body = sw.Body("float", mass=6e5, inertia=(1e7, 1e7, 1e7), position=(15, 4, -2))
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9, BA=1e7)
    lines = [
        sw.Line(
            f"line{k}",
            (400 * np.cos(a), 400 * np.sin(a), -100),
            body.at(5 * np.cos(a), 5 * np.sin(a), -2),
            425.0,
            chain,
            segments=10,
        )
        for k, a in enumerate(2.0 * np.pi / 3.0 * np.arange(3))
    ]
    plane = {"Heave": 8e5, "Roll": 2e7, "Pitch": 2e7}
    system = sw.System(
        "far",
        bodies=[body.replace(displaced_volume=620.0)],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=100.0),
        lines=lines,
        moorings=[sw.LinearMooring("water plane", body, plane)],
    )
    rest = sw.equilibrium(sw.compile(system))
    assert rest.attrs["iterations"] < 60
    assert rest.attrs["largest_motion"] < 1e-7
