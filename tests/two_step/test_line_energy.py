"""Lines never create energy: shock in vacuum, chain on the floor."""

import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import quick_jit, straight
from swelltree.model.bed import make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_attempts import LineOptions
from swelltree.two_step.line_points import make_points
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

G = 9.81
SHARP = LineOptions(tolerance=5e-14, tau=1e-22)
TABLE = [[0, 0], [0.01, 1e5], [0.03, 1e6], [0.1, 1e7]]


def energy(run, mass, h, point=-1):
    """Of lines and one free point in the middle of each step [J]."""
    x = np.concatenate([np.asarray(run.points)[:, point], np.asarray(run.state.x)[1:, point]])
    v = np.diff(x, axis=0) / h
    own = 0.5 * mass * np.sum(v**2, -1) + mass * G * 0.5 * (x[1:, 2] + x[:-1, 2])
    told = run.report
    return own + np.sum(np.asarray(told.kinetic + told.stored + told.potential), 1)


@pytest.mark.parametrize(
    "law",
    [
        {"EA": 1e9},
        pytest.param({}, id="inextensible", marks=pytest.mark.slow),
        pytest.param({"EA": 1e8, "stretch": TABLE}, id="table", marks=pytest.mark.slow),
        pytest.param({"EA": 1e9, "EI": 1e5}, id="bending", marks=pytest.mark.slow),
    ],
)
def test_kicked_mass_on_two_lines_in_vacuum_gains_no_energy(law):
    """A hard shock, segments going slack and taut: rises below 1e-11 of the kick's energy."""
    mass, kick = 2e4, np.array([3.0, 2.0, 4.0])
    lines = stack_lines(
        [{"segments": 8, "rest_length": 101 / 8, "mass_per_length": 50.0} | law] * 2
    )
    points = make_points([[0, 2], [1, 2]], [0, 0, 1], mass=mass, force=[0, 0, -mass * G])
    places = np.array([[-90.0, 0, 0], [90, 0, 0], [0, 0, -44]])
    q = np.stack([straight(places[k], places[2], 8) for k in range(2)])
    setting = LineSetting(points, gravity=G, rho=0.0)
    velocity = np.zeros((3, 3))
    velocity[2] = kick
    state = start_lines(q, places, point_velocity=velocity)
    held = jnp.asarray(places)

    @quick_jit
    def shock(h, s):
        return run_lines(lines, lambda t: held, h, 300, s, setting, options=SHARP)

    E0 = 0.5 * mass * np.sum(kick**2)
    for h in (0.05, 0.02):
        run = shock(h, state)
        assert np.max(run.error) < SHARP.tolerance
        E = energy(run, mass, h)
        assert np.max(np.diff(E)) < 1e-11 * E0
        if "EA" in law:
            assert np.ptp(E) < 1e-9 * E0  # undamped: nothing is lost either
            assert np.any(np.asarray(run.report.slack)) or "EI" in law
        else:
            assert E[-1] < E[0] - 0.05 * E0  # plastic


CHAIN_ON_FLOOR = {"segments": 8, "rest_length": 1.0, "mass_per_length": 10.0}


@pytest.mark.parametrize("friction", [0.4, pytest.param(0.0, marks=pytest.mark.slow)])
def test_chain_swung_on_to_the_floor_gains_no_energy_and_stays_above(friction):
    lines = stack_lines([CHAIN_ON_FLOOR])
    mass = 5.0
    points = make_points([[0, 1]], [0, 1], mass=mass, force=[0, 0, -mass * G], area=[0.0, 1.0])
    places = np.array([[0, 0, 4.0], [8, 0, 4.0]])
    setting = LineSetting(points, make_bed(0.0, friction=friction), gravity=G, rho=0.0)
    held = jnp.asarray(places)

    @quick_jit
    def swing(h, s):
        return run_lines(lines, lambda t: held, h, 200, s, setting)

    for h in (0.05, 0.01):
        run = swing(h, start_lines(straight(*places, 8)[None], places))
        assert np.max(run.error) < 1e-9
        E = energy(run, mass, h)
        assert np.max(np.diff(E)) < 1e-6
        assert E[-1] < E[0] - 1000.0
        assert np.max(run.report.penetration) < 1e-8
        assert np.min(run.points[:, 1, 2]) > -1e-8
        assert np.max(run.report.length_violation) < 1e-8
        assert np.max(run.report.complementarity) < 1e-7 * 90 * G * 8
        assert np.asarray(run.report.grounded)[-1].sum() >= 2
        assert (np.sum(run.report.friction_loss) > 100.0) == (friction > 0)
