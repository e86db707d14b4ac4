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
