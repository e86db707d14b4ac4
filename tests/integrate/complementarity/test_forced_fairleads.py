"""Forced fairleads against another code: tensions of MoorDyn."""

import numpy as np
import pytest

import swelltree as sw
from made_lines import HAND
from swelltree.jit import namespace

# MoorDyn 2.7.2, RK2, model and coupling step 2 ms, damping ratio 0.8: means over 60-100 s and the
# tension (mean over 0.45 s) at five times of the last but one period, lines 1 and 2 [N]
MEANS = {0: 399.19e3, 1: 395.75e3}
TIMES = (81.0, 83.0, 85.0, 87.0, 89.0)
MOORDYN = {
    0: [285815.0, 382345.0, 485269.0, 466936.0, 348947.0],
    1: [412577.0, 333946.0, 354578.0, 422993.0, 468708.0],
}
AMPLITUDE = {0: 115.2e3, 1: 81.7e3}


def swung(amplitude, phase):
    def signal(t):
        xp = namespace(t)
        return amplitude * xp.clip(t / 20.0, 0.0, 1.0) * xp.sin(2 * np.pi * t / 10.0 + phase)

    return signal


@pytest.mark.slow
def test_moved_fairleads_pull_as_in_moordyn():
    """Three 430 m chains, surge 3 m and heave 1.5 m in 10 s, n = 20, h = 0.05 s."""
    kind = {"Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.3, "damping_ratio": 0.8}
    chain = sw.LineType("chain", 0.15, 150.0, EA=1e9, **kind)
    lines = [
        sw.Line(f"l{k}", (400 * np.cos(a), 400 * np.sin(a), -100), HAND, 430.0, chain, segments=20)
        for k, a in enumerate(2 * np.pi * np.arange(3) / 3)
    ]
    motion = {"Surge": swung(3.0, 0.0), "Heave": swung(1.5, 1.0)}
    rail = sw.SubsetJoint("rail", sw.WORLD, HAND, dofs=("Surge", "Heave"), motion=motion)
    system = sw.System(
        "led",
        [HAND],
        [rail],
        lines=lines,
        water=sw.Water(1025.0, 9.81, 100.0),
        seabed=sw.Seabed(stiffness=3e6, damping=3e5),
    )
    run = sw.simulate(
        sw.compile(system), duration=100.0, output_step=0.05, step=0.05, start="described"
    )
    assert run.attrs["steps_rescued"] == 0
    assert run.attrs["iterations_per_step"] < 3.5
    tension = run.line_tension.values[:, :, -1]
    t = run.time.values
    for k, mean in MEANS.items():
        assert np.mean(tension[t >= 60.0, k]) == pytest.approx(mean, rel=1e-3)
        smooth = np.convolve(tension[:, k], np.ones(9) / 9, "same")
        np.testing.assert_allclose(
            np.interp(TIMES, t, smooth), MOORDYN[k], rtol=0, atol=0.02 * AMPLITUDE[k]
        )
