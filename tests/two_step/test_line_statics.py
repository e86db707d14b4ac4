"""Lines at rest against closed forms: catenaries, beams, slopes and friction."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import fsolve

from made_lines import quick_jit, straight
from swelltree.model.bed import make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_points import held_ends, make_points
from swelltree.two_step.line_rest import settle
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

G = 9.81


def end_forces(lines, state, weight):
    """Pull of line 0 at A (on the line's first node) and at B, own half weights included [N]."""
    d = np.diff(np.asarray(state.q)[1, 0], axis=0)
    pull = np.asarray(state.mu)[0][:, None] * d / lines.rest_length[0][:, None]
    half = np.array([0, 0, 0.5 * weight * lines.rest_length[0, 0]])
    return pull[0] - half, pull[-1] + half


def settled(lines, setting, q, **more):
    state, moved, error = quick_jit(lambda s: settle(lines, s, setting, **more))(start_lines(q))
    assert moved < 1e-7
    assert error < 1e-8
    return state


@pytest.mark.parametrize(
    ("n", "tolerance"),
    [(20, 3e-3), pytest.param(40, 1e-3, marks=pytest.mark.slow)],
)
def test_inextensible_chain_on_the_bed_tends_to_the_catenary(n, tolerance):
    """Depth 100 m, span 400 m, 430 m of chain: H = 281 328.9 N, top tension 410 709.8 N."""
    weight = (150.0 - 1025 * np.pi / 4 * 0.15**2) * G
    line = {"segments": n, "rest_length": 430 / n, "mass_per_length": 150.0, "diameter": 0.15}
    lines = stack_lines([line])
    setting = LineSetting(held_ends(1), make_bed(100.0))
    state = settled(lines, setting, straight([0, 0, -100], [400, 0, 0], n)[None])
    at_A, at_B = end_forces(lines, state, weight)
    assert at_A[0] == pytest.approx(281328.9, rel=tolerance)
    assert at_B[0] == pytest.approx(at_A[0], rel=1e-7)  # no friction
    assert np.linalg.norm(at_B) == pytest.approx(410709.8, rel=tolerance)
    assert np.min(np.asarray(state.q)[1, :, :, 2]) > -100 - 1e-8


def elastic_catenary(L, EA, w, X, Z):
    """Horizontal and vertical pull at the top of a hanging elastic line (Irvine 1981)."""

    def gap(u):
        H, V = u
        a, b = V / H, (V - w * L) / H
        x = H * L / EA + H / w * (np.arcsinh(a) - np.arcsinh(b))
        z = w * L / EA * (V / w - L / 2) + H / w * (np.hypot(1, a) - np.hypot(1, b))
        return x - X, z - Z

    return fsolve(gap, (w * L / 2, w * L), xtol=1e-13)


@pytest.mark.slow
def test_hanging_elastic_line_tends_to_the_elastic_catenary_with_order_two():
    """10 % of stretch: the law is that of engineering strain."""
    L, EA, m, X, Z = 100.0, 2e5, 20.0, 80.0, 50.0
    H, V = elastic_catenary(L, EA, m * G, X, Z)
    errors = []
    for n in (10, 20):
        line = {"segments": n, "rest_length": L / n, "mass_per_length": m, "EA": EA}
        lines = stack_lines([line])
        setting = LineSetting(held_ends(1), gravity=G, rho=0.0)
        state = settled(lines, setting, straight([0, 0, 0], [X, 0, Z], n)[None])
        _, at_B = end_forces(lines, state, m * G)
        errors.append(np.hypot(at_B[0] - H, at_B[2] - V) / np.hypot(H, V))
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


BEAM = {"mass_per_length": 100.0, "EA": 1.5e9, "EI": 1e7}


CLAMPED = [
    (1.0, 0.0),
    pytest.param((0.0, 0.0), marks=pytest.mark.slow),
    pytest.param((1.0, 1.0), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("clamped", CLAMPED)
def test_beam_sags_as_euler_and_bernoulli_say(clamped):
    """Cantilever, simply supported and clamped beam of 10 m under its own weight."""
    L, n = 10.0, 20
    lines = stack_lines([BEAM | {"segments": n, "rest_length": L / n, "clamped": clamped}])
    q = straight([0, 0, 0], [L, 0, 0], n)[None]
    p, EI = 100.0 * G, 1e7
    x = np.linspace(0, L, n + 1)
    beyond = np.array([[[-1.0, 0, 0], [L + 1, 0, 0]]])
    free = clamped == (1.0, 0.0)
    # the half segment at a free tip is heavy too: a point mass has none of its own
    points = make_points([[0, 1]], [0, free])
    state = settled(
        lines, LineSetting(points, gravity=G, rho=0.0), q, beyond=beyond, h=0.5, steps=120
    )
    z = np.asarray(state.q)[1, 0, :, 2]
    if free:
        exact = -p * x**2 * (6 * L**2 - 4 * x * L + x**2) / (24 * EI)
    elif clamped == (0.0, 0.0):
        exact = -p * x * (L**3 - 2 * x**2 * L + x**3) / (24 * EI)
    else:
        exact = -p * x**2 * (L - x) ** 2 / (24 * EI)
    # the clamp itself is resolved by half a segment
    assert np.max(np.abs(z - exact)) < (0.01 + 0.01 * sum(clamped)) * np.max(np.abs(exact))


@pytest.mark.slow
def test_line_slides_on_a_slope_only_when_friction_is_too_small():
    """On a slope of 0.2 friction 0.4 holds; with 0.1 the line slides at g (sin - 0.1 cos)."""
    n = 4
    rise = 0.2
    lines = stack_lines([{"segments": n, "rest_length": 2.5, "mass_per_length": 50.0}])
    q = straight([0, 0, 0], [10, 0, 2.0], n)[None]
    q[0, :, 0] *= 10 / np.hypot(10, 2.0)
    q[0, :, 2] = rise * q[0, :, 0]
    points = make_points([[0, 1]], [1, 1], mass=1.0, force=[0, 0, -G], area=1.0)
    angle = np.arctan(rise)

    @quick_jit
    def slide(friction, s):
        bed = make_bed(0.0, (rise, 0.0), friction=0.4, friction_speed=1e-4)
        bed = replace(bed, friction=friction)
        setting = LineSetting(points, bed, gravity=G, rho=0.0)
        return run_lines(lines, lambda t: jnp.zeros((2, 3)), 0.05, 40, s, setting)

    for friction in (0.4, 0.1):
        run = slide(friction, start_lines(q, q[0, [0, -1]]))
        assert np.max(run.error) < 1e-9
        along = (np.asarray(run.state.q)[1] - q)[0, :, 0] / np.cos(angle)
        a = G * (np.sin(angle) - friction * np.cos(angle))
        if a < 0:
            assert np.abs(along).max() < 1e-3  # creeps at most with the friction speed
        else:
            x = np.asarray(run.position)[:, 0, :, 0] / np.cos(angle)
            np.testing.assert_allclose(np.diff(x, 2, axis=0)[2:] / 0.05**2, -a, rtol=1e-4)
