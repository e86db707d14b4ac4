"""Padding, tables, grids, soft bed and the forces of the water."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from made_lines import HAND, led_lines, line_form, placed, stepped, straight
from swelltree.integrate.complementarity.lines.forces import NodeWater, freeze
from swelltree.jit import namespace
from swelltree.mooring.dynamic.arrays import stack_lines
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.mooring.seabed import bed_plane, make_bed

G, RHO = 9.81, 1025.0
ROPE = {"BA": 1e5, "Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.2}


def swung(amplitude, rate):
    def signal(t):
        return amplitude * namespace(t).sin(rate * t)

    return signal


def short_run(kind, others=(), **more):
    """A rope of 24 m in four segments whose upper end goes round, beside other lines."""
    line = sw.Line("own", (-18.0, 0, -12), HAND, 24.0, kind, segments=4, **more)
    model = led_lines(
        [line, *others],
        {"Surge": swung(1.0, 1.0), "Sway": swung(0.5, 2.0)},
        sw.Water(RHO, G, 12.0),
        seabed=sw.Seabed(stiffness=1e5, damping=1e4),
    )
    return stepped(model, 0.1, 20)


@pytest.mark.slow
@pytest.mark.parametrize("EI", [0.0, 1e5])
def test_idle_segments_change_nothing(EI):
    """The line beside one of seven segments has three idle ones."""
    kind = sw.LineType("rope", 0.1, 60.0, EA=1e7, EI=EI, **ROPE)
    clamp = {"clamp_A": (1.0, 0.0, 0.0)} if EI else {}
    plain = short_run(kind, **clamp)
    other = sw.Line("other", (18.0, 0, -12), HAND, 24.0, kind, segments=7)
    padded = short_run(kind, [other], **clamp)
    np.testing.assert_allclose(padded.lines.q[:, 0, 3:], plain.lines.q[:, 0], rtol=0, atol=1e-8)
    a, b = padded.report, plain.report
    np.testing.assert_allclose(a.tension[:, 0, 3:], b.tension[:, 0], rtol=1e-6, atol=1e-3)
    np.testing.assert_allclose(a.kinetic[:, 0], b.kinetic[:, 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(a.end_force[:, 0], b.end_force[:, 0], rtol=1e-6, atol=1e-2)
    assert not np.any(a.tension[:, 0, :3])


@pytest.mark.slow
def test_table_of_a_straight_law_is_the_law_of_EA():
    table = [[0, 0], [0.001, 1e4], [0.004, 4e4], [0.01, 1e5]]
    plain, other = (
        short_run(sw.LineType("rope", 0.1, 60.0, **law, **ROPE)).report.tension
        for law in ({"EA": 1e7}, {"stretch": table})
    )
    assert np.max(plain) > 1e4
    np.testing.assert_allclose(other, plain, rtol=1e-6, atol=1e-1)


def test_grid_of_a_plane_is_the_plane():
    x, y = np.linspace(-20, 30, 11), np.linspace(-10, 10, 5)
    z = -30 + 0.1 * x[:, None] - 0.05 * y
    grid = make_bed(0.0, grid=(x, y, z))
    plane = make_bed(30.0, (0.1, -0.05))
    r = np.random.default_rng(0).uniform([-20, -10, -40], [30, 10, 0], size=(50, 3))
    for a, b in zip(bed_plane(grid, r), bed_plane(plane, r), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    # outside the grid its edge goes on
    inside, outside = np.array([[-20.0, 0, -5]]), np.array([[-50.0, 0, -5]])
    heights = [
        float(offset[0] - normal[0, 0] * p[0, 0]) / float(normal[0, 2])
        for p in (inside, outside)
        for normal, offset in [bed_plane(grid, p)]
    ]
    assert heights[0] == pytest.approx(-32.0)
    assert heights[1] == pytest.approx(-32.0)


@pytest.mark.slow
def test_node_sinks_into_a_soft_bed_as_far_as_its_weight_says():
    depth = 20.0
    chain = sw.LineType("chain", 0.1, 60.0, EA=1e9)
    ends = (-10.0, 0, -depth), (0.0, 0, -depth)
    line = sw.Line("chain", *ends, 12.0, chain, segments=2, axial="inextensible")
    model = led_lines(
        [line],
        water=sw.Water(rho=1e-9, depth=depth),
        seabed=sw.Seabed(stiffness=1e5, damping=2e4),
    )
    q = np.array([[ends[0], (-5.0, 0, 0.2 - depth), ends[1]]])
    run = stepped(model, 0.02, 200, placed(model, line_form(model), q))
    z = run.lines.q[:, 0, 1, 2] + depth
    sunk = 60.0 * G / (1e5 * 0.1)
    assert z[-1] == pytest.approx(-sunk, rel=1e-6)
    # overdamped contact: no deeper than where it stays, and no energy made
    E = (run.report.kinetic + run.report.potential)[:, 0]
    below = np.minimum(z, 0.0) ** 2
    below = 0.25 * (below[2:] + 2.0 * below[1:-1] + below[:-2])
    E = E[1:-1] + 0.5 * 1e5 * 0.1 * 6.0 * below
    assert np.max(np.diff(E)) < 1e-9 * np.ptp(E)


NEUTRAL = {"mass_per_length": RHO * np.pi / 4 * 0.2**2, "diameter": 0.2}
NEUTRAL |= {"Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.3}


def test_neutral_line_goes_with_accelerating_water():
    """Froude–Krylov force and added mass: the force is mass times the water's acceleration."""
    lines = stack_lines([NEUTRAL | {"segments": 4, "rest_length": 5.0}])
    a = np.array([0.3, -0.2, 0.1])
    q = straight([0, 0, -20], [12.0, 16.0, -20], 4)[None]
    deep, one = -q[..., 2], np.ones(q.shape[:2])
    water = NodeWater(velocity=0.0 * q, acceleration=a + 0.0 * q, depth=deep, reach=one)
    frozen = freeze(lines, None, q, water, G, RHO)
    np.testing.assert_allclose(frozen.force, frozen.mass @ a, rtol=1e-9)


@pytest.mark.slow
def test_sinking_and_lifted_line_reach_the_balance_of_drag_weight_and_lift():
    """A line across the vertical sinks at sqrt(2 w / rho Cd d), pushed sideways by lift."""
    lift, heavy = 0.5, 60.0
    kind = NEUTRAL | {"mass_per_length": heavy, "lift": lift, "EA": 1e9}
    places = [(0.0, 0, -20), (20.0, 0, -20)]
    ends = [sw.Junction(f"end{k}", x) for k, x in enumerate(places)]
    line = sw.Line(
        "line", *ends, 20.0, sw.LineType("line", **kind), segments=4, axial="inextensible"
    )
    model = led_lines([line], junctions=ends, water=sw.Water(RHO, G))
    run = stepped(model, 0.1, 200, placed(model, line_form(model), straight(*places, 4)[None]))
    v = run.lines.v[-1, 0]
    weight = (heavy - RHO * np.pi / 4 * 0.2**2) * G
    # force by water = 1/2 rho d s (Cd w + CL t x w), w = -v: two parts at right angles
    speed = np.sqrt(weight / (0.5 * RHO * 0.2 * np.hypot(1.2, lift)))
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), speed, rtol=1e-3)
    np.testing.assert_allclose(np.abs(v[:, 1] / v[:, 2]), lift / 1.2, rtol=1e-3)


@pytest.mark.slow
def test_clumps_and_floats_weigh_on_their_nodes():
    """A hanging line with a clump at its lower end and a float above it."""
    mass, volume = np.zeros((1, 5)), np.zeros((1, 5))
    mass[0, 1], volume[0, 2] = 100.0, 0.05
    end = sw.Junction("end", (0, 0, -40.0))
    kind = sw.LineType("rope", 1e-4, 10.0, EA=1e8, BA=5e6)
    line = sw.Line("rope", end, (0, 0, -20.0), 20.0, kind, segments=4)
    model = led_lines([line], junctions=[end], water=sw.Water(RHO, G))
    arrays = replace(lines_of(model).arrays, point_mass=mass, point_volume=volume)
    model = model.with_effect(replace(lines_of(model), arrays=arrays))
    T = np.mean(stepped(model, 0.05, 400).report.tension[-40:, 0], axis=0)
    expected = G * np.cumsum([25.0, 50.0 + 100.0, 50.0 - RHO * 0.05, 50.0])
    np.testing.assert_allclose(T, expected, rtol=1e-3)
