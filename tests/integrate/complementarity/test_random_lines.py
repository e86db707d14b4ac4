"""Many lines at once, taken at random, from a cold start: they all get through."""

import numpy as np
import pytest

import swelltree as sw
from made_lines import HAND
from swelltree.jit import namespace

DEPTH, MOST, COUNT = 100.0, 60, 60


def random_line(rng, k, slope):
    """A line from a random anchor on the ground to the hand."""
    n = int(rng.integers(5, MOST + 1))
    span, angle = rng.uniform(50.0, 400.0), rng.uniform(0.0, 2 * np.pi)
    x, y = span * np.cos(angle), span * np.sin(angle)
    A = (x, y, slope[0] * x + slope[1] * y - DEPTH)
    chord = np.linalg.norm(A)
    d = rng.uniform(0.02, 0.3)
    elastic = rng.random() < 0.5
    kind = sw.LineType(
        f"type{k}",
        d,
        rng.uniform(1.05, 6.0) * 1025 * np.pi / 4 * d**2,
        EA=10 ** rng.uniform(6, 11),
        damping_ratio=rng.choice([0.0, 0.1, 0.8]),
        Cdn=rng.uniform(0.5, 2.0),
        Cdt=0.1,
        Can=1.0,
        Cat=rng.uniform(0.0, 0.5),
    )
    return sw.Line(
        f"line{k}",
        A,
        HAND,
        chord * rng.uniform(1.05, 1.4),
        kind,
        segments=n,
        axial="elastic" if elastic else "inextensible",
    )


def swung(amplitude, rate):
    def signal(t):
        xp = namespace(t)
        return amplitude * xp.clip(t / 10.0, 0.0, 1.0) * xp.sin(rate * t)

    return signal


@pytest.mark.slow
@pytest.mark.parametrize(
    "bed",
    [
        {},
        {"stiffness": 1e5, "damping": 1e4, "friction": 0.5},
        {"slope": (0.02, 0.01), "friction": 0.3},
    ],
)
def test_random_lines_in_waves_and_current_get_through(bed):
    rng = np.random.default_rng(7)
    lines = [random_line(rng, k, bed.get("slope", (0.0, 0.0))) for k in range(COUNT)]
    motion = {"Surge": swung(1.0, 0.9), "Sway": swung(0.7, 1.3), "Heave": swung(0.5, 0.6)}
    led = sw.SubsetJoint("led", sw.WORLD, HAND, dofs=tuple(motion), motion=motion)
    system = sw.System(
        "many",
        [HAND],
        [led],
        lines=lines,
        water=sw.Water(depth=DEPTH),
        seabed=sw.Seabed(**bed),
        current=sw.PowerLawCurrent(speed=0.8, exponent=1.0),
    )
    wave = sw.RegularWave(amplitude=2.0, period=10.0)
    run = sw.simulate(
        sw.compile(system), wave, duration=20.0, output_step=0.1, step=0.1, start="cold"
    )
    assert run.attrs["result"] == "success"
    # sixty lines fall at once and share one search: some steps need its second attempt
    assert run.attrs["steps_rescued"] <= 20
    assert np.isfinite(run.line_tension.values).all()
    assert run.line_tension.min() >= -1e-6
    assert run.length_violation.max() < 1e-8
    assert run.penetration.max() < 1e-8
