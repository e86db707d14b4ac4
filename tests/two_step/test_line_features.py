"""Padding, winch, tables, grids, soft bed and the forces of the water."""

import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import quick_jit, straight
from swelltree.model.bed import bed_plane, make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_forces import NodeWater
from swelltree.two_step.line_points import held_ends, make_points
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

G, RHO = 9.81, 1025.0
LINE = {"segments": 4, "rest_length": 6.0, "mass_per_length": 60.0, "diameter": 0.1, "EA": 1e7}
LINE |= {"kappa": 0.01, "Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.2}
ENDS = np.array([[0.0, 0, -12], [18.0, 0, 0]])


def moved(t):
    step = jnp.stack([jnp.sin(t), 0.5 * jnp.sin(2 * t), 0.0 * t])
    return jnp.asarray(ENDS) + jnp.array([0.0, 1.0])[:, None] * step


def short_run(lines, q, setting, **more):
    return quick_jit(
        lambda s: run_lines(lines, more.pop("positions", moved), 0.1, 20, s, setting, **more)
    )(start_lines(q))


@pytest.mark.parametrize("EI", [0.0, pytest.param(1e5, marks=pytest.mark.slow)])
def test_idle_segments_change_nothing(EI):
    bed = make_bed(12.0, stiffness=1e5, damping=1e4)
    setting = LineSetting(held_ends(1), bed)
    q = straight(*ENDS, 4)
    q[2, 2] -= 1.0
    beyond = lambda t: jnp.array([[[-1.0, 0, -12], [19.0, 0, 0]]])  # noqa: E731
    more = {"beyond": beyond} if EI else {}
    line = LINE | {"EI": EI, "clamped": (1.0, 0.0)}
    plain = short_run(stack_lines([line]), q[None], setting, **more)
    padded = np.concatenate([q[:1], q[:1], q[:1], q])
    long = short_run(stack_lines([line], n=7), padded[None], setting, **more)
    np.testing.assert_allclose(long.position[:, :, 3:], plain.position, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        long.report.tension[:, :, 3:], plain.report.tension, rtol=1e-6, atol=1e-3
    )
    np.testing.assert_allclose(long.report.kinetic, plain.report.kinetic, rtol=1e-6, atol=1e-6)
    assert not np.any(long.report.tension[:, :, :3])


@pytest.mark.slow
def test_table_of_a_straight_law_is_the_law_of_EA():
    setting = LineSetting(held_ends(1))
    q = straight(*ENDS, 4)[None]
    plain = short_run(stack_lines([LINE]), q, setting)
    table = {"stretch": [[0, 0], [0.001, 1e4], [0.004, 4e4], [0.01, 1e5]]}
    other = short_run(stack_lines([LINE | table]), q, setting)
    assert np.max(plain.report.tension) > 2e4
    np.testing.assert_allclose(other.report.tension, plain.report.tension, rtol=1e-7, atol=1e-2)


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
def test_weight_on_a_winch_rises_as_the_line_is_hauled_in():
    """1 t on 100.5 m of line whose unstretched length falls by 1 m/s after 2 s."""
    n, mass = 5, 1e3
    line = {"segments": n, "rest_length": 100.5 / n, "mass_per_length": 8.0, "EA": 1e9}
    lines = stack_lines([line | {"kappa": 0.02}])
    points = make_points([[0, 1]], [0, 1], mass=mass, force=[[0, 0, 0], [0, 0, -mass * G]])
    setting = LineSetting(points, gravity=G, rho=0.0)
    places = np.array([[0, 0, 0], [0, 0, -100.5]])

    def rest(t):
        gone = jnp.where(t > 2.0, t - 2.0, 0.0)
        return jnp.full((1, n), 100.5 / n) - gone / n

    run = quick_jit(
        lambda s: run_lines(
            lines, lambda t: jnp.zeros((2, 3)), 0.05, 160, s, setting, rest_length=rest
        )
    )(start_lines(straight(*places, n)[None], places))
    assert np.max(run.error) < 1e-9
    z = np.asarray(run.points)[:, 1, 2]
    t = np.asarray(run.time)
    assert np.max(np.abs(z + 100.5 - np.maximum(t - 2.0, 0.0))) < 0.05


@pytest.mark.slow
def test_node_sinks_into_a_soft_bed_as_far_as_its_weight_says():
    setting = LineSetting(held_ends(1), make_bed(0.0, stiffness=1e5, damping=2e4), rho=0.0)
    line = {"segments": 2, "rest_length": 6.0, "mass_per_length": 60.0, "diameter": 0.1}
    q = np.array([[[0.0, 0, 0], [5, 0, 0.2], [10.0, 0, 0]]])
    held = jnp.asarray(q[0, [0, -1]])
    run = quick_jit(
        lambda s: run_lines(stack_lines([line]), lambda t: held, 0.02, 200, s, setting)
    )(start_lines(q))
    z = np.asarray(run.position)[:, 0, 1, 2]
    sunk = 60.0 * G / (1e5 * 0.1)
    assert z[-1] == pytest.approx(-sunk, rel=1e-6)
    # overdamped contact: no deeper than where it stays, and no energy made
    told = run.report
    E = np.asarray(told.kinetic + told.potential)[:, 0]
    below = 0.5 * (np.minimum(z[1:], 0) ** 2 + np.minimum(z[:-1], 0) ** 2)
    E = E[:-1] + 0.5 * 1e5 * 0.1 * 6.0 * below
    assert np.max(np.diff(E)) < 1e-9 * E[0]


def water_of(velocity=(0.0, 0, 0), acceleration=(0.0, 0, 0)):
    def water(t, q):
        return NodeWater(
            velocity=jnp.asarray(velocity) + jnp.asarray(acceleration) * t + 0.0 * q,
            acceleration=jnp.asarray(acceleration) + 0.0 * q,
            wet=jnp.ones(q.shape[:2]),
        )

    return water


FREE = make_points([[0, 1]], [1, 1])
NEUTRAL = {"segments": 4, "rest_length": 5.0, "mass_per_length": RHO * np.pi / 4 * 0.2**2}
NEUTRAL |= {"diameter": 0.2, "Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.3}


@pytest.mark.slow
def test_neutral_line_goes_with_accelerating_water():
    """Froude–Krylov force and added mass: no force is left to stretch or turn the line."""
    a = np.array([0.3, -0.2, 0.1])
    q = straight([0, 0, -20], [20.0, 0, -20], 4)[None]
    run = quick_jit(
        lambda s: run_lines(
            stack_lines([NEUTRAL]),
            lambda t: jnp.zeros((2, 3)),
            0.1,
            30,
            s,
            LineSetting(FREE),
            water=water_of((0, 0, 0), a),
        )
    )(start_lines(q))
    t = np.asarray(run.time)
    gone = np.asarray(run.position)[:, 0] - q
    np.testing.assert_allclose(gone, 0.5 * a * (t**2)[:, None, None] + 0 * gone, atol=1e-5)


def test_sinking_and_lifted_line_reach_the_balance_of_drag_weight_and_lift():
    """A line across the vertical sinks at sqrt(2 w / rho Cd d), pushed sideways by lift."""
    lift, heavy = 0.5, 60.0
    line = NEUTRAL | {"mass_per_length": heavy, "lift": lift}
    q = straight([0, 0, -20], [20.0, 0, -20], 4)[None]
    run = quick_jit(
        lambda s: run_lines(
            stack_lines([line]), lambda t: jnp.zeros((2, 3)), 0.1, 200, s, LineSetting(FREE)
        )
    )(start_lines(q))
    v = np.diff(np.asarray(run.position)[-2:, 0], axis=0)[0] / 0.1
    weight = (heavy - RHO * np.pi / 4 * 0.2**2) * G
    # force by water = 1/2 rho d s (Cd w + CL t x w), w = -v: two parts at right angles
    speed = np.sqrt(weight / (0.5 * RHO * 0.2 * np.hypot(1.2, lift)))
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), speed, rtol=1e-3)
    np.testing.assert_allclose(np.abs(v[:, 1] / v[:, 2]), lift / 1.2, rtol=1e-3)


@pytest.mark.slow
def test_clumps_and_floats_weigh_on_their_nodes():
    """A hanging line with a clump at its lower end and a float above it."""
    mass = np.zeros(5)
    mass[1], volume = 100.0, np.zeros(5)
    volume[2] = 0.05
    line = {"segments": 4, "rest_length": 5.0, "mass_per_length": 10.0, "EA": 1e8, "kappa": 0.05}
    lines = stack_lines([line | {"point_mass": mass, "point_volume": volume}])
    points = make_points([[0, 1]], [1, 0])
    q = straight([0, 0, -20], [0, 0, 0.0], 4)[None]
    setting = LineSetting(points)
    run = quick_jit(lambda s: run_lines(lines, lambda t: jnp.zeros((2, 3)), 0.05, 400, s, setting))(
        start_lines(q)
    )
    T = np.mean(np.asarray(run.report.tension)[-40:, 0], axis=0)
    expected = G * np.cumsum([25.0, 50.0 + 100.0, 50.0 - RHO * 0.05, 50.0])
    np.testing.assert_allclose(T, expected, rtol=1e-3)
