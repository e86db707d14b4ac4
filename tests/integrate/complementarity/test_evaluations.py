"""How many evaluations of Newton's method steps of moored bodies need."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.integrate.complementarity.solve.complementarity import (
    fischer_burmeister,
    smooth_minimum,
)
from swelltree.jit import namespace

TAU = 1e-16  # m^2, as in steps
HULL = sw.Body("hull", mass=1e6, inertia=(1e8, 1e8, 1e8))


@pytest.mark.parametrize("a", [1e-12, 1e-9, 1e-8, 3e-4, 2.0])
def test_smooth_minimum_has_the_solutions_of_fischer_and_burmeister(a):
    for function in (smooth_minimum, fischer_burmeister):
        value, by_a, by_s = function(np.float64(a), np.float64(TAU / a), TAU)
        # rounding of a product relative to the larger factor
        assert abs(value) <= 1e-15 * max(a, TAU / a)
        assert by_a >= 0.0
        assert by_s >= 0.0


@pytest.mark.parametrize(("a", "s"), [(0.3, -0.2), (-0.1, 0.4), (1e-8, 2e-8), (0.5, 0.5)])
def test_slopes_of_the_smooth_minimum_are_those_of_differences(a, s):
    a, s = np.float64(a), np.float64(s)
    _, by_a, by_s = map(float, smooth_minimum(a, s, TAU))
    step = 1e-5 * max(abs(a), abs(s))
    up, down = (float(smooth_minimum(a + x, s, TAU)[0]) for x in (step, -step))
    assert (up - down) / (2 * step) == pytest.approx(by_a, abs=1e-6)
    up, down = (float(smooth_minimum(a, s + x, TAU)[0]) for x in (step, -step))
    assert (up - down) / (2 * step) == pytest.approx(by_s, abs=1e-6)


def test_a_load_that_comes_on_within_a_step_gets_the_slope_of_its_law():
    # no force so far, and the law would give one: the row is the law itself
    value, by_a, by_s = smooth_minimum(np.float64(0.0), np.float64(-0.01), TAU)
    assert (float(value), float(by_a), float(by_s)) == pytest.approx((-0.01, 0.0, 1.0), abs=1e-12)


def surging(t):
    """Surge of 3 m in 10 s, which grows smoothly [m]."""
    xp = namespace(t)
    s = xp.minimum(t / 20.0, 1.0)
    return 3.0 * s**3 * (10 - 15 * s + 6 * s**2) * xp.sin(0.2 * np.pi * t)


def test_nodes_that_touch_down_and_lift_off_a_soft_bed_take_few_evaluations():
    chain = sw.LineType("chain", 0.0766, 113.35, EA=7.536e8, damping_ratio=0.8, Cdn=2.0, Can=0.8)
    line = sw.Line("bow", (-837.6, 0, -200.0), HULL.at(-40.9, 0, -14.0), 835.35, chain, segments=20)
    rail = sw.SubsetJoint("rail", sw.WORLD, HULL, dofs=("Surge",), motion={"Surge": surging})
    system = sw.System(
        "moored",
        [HULL],
        [rail],
        lines=[line],
        water=sw.Water(1025.0, 9.81, 200.0),
        seabed=sw.Seabed(stiffness=3e6, damping=3e5),
    )
    model = sw.compile(system)
    run = sw.simulate(
        model, duration=60, output_step=0.1, step=0.05, start="described", progress=False
    )
    grounded = run.line_grounded if "line_grounded" in run else None
    assert grounded is None or np.ptp(grounded.values.sum(axis=(1, 2))) > 0
    # two: one to correct the extrapolation, one to confirm it; touchdown takes a few more
    assert run.attrs["iterations_per_step"] < 2.4
    assert run.iterations.values.max() <= 7
