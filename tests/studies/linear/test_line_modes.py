"""Modes of one line with its ends held: taut string, Irvine's cables, what the bed holds."""

import numpy as np
import pytest
from scipy.optimize import brentq

import swelltree as sw
from swelltree.studies.linear.line_matrices import LineMatrices
from swelltree.studies.linear.line_modes import natural

MASS, DIAMETER, SPAN = 5.0, 0.05, 100.0


def hung(EA, length, segments=40, turn=0.4, **more):
    """A line between two points of one height, turned about the vertical, in air."""
    along = np.array([np.cos(turn), np.sin(turn), 0.0])
    end = tuple(SPAN * along + [0.0, 0.0, 10.0])
    rope = sw.LineType("rope", DIAMETER, MASS, EA=EA, Can=0.0, Cat=0.0, **more)
    line = sw.Line("line", (0.0, 0.0, 10.0), end, length, rope, segments=segments)
    model = sw.compile(sw.System("hung", lines=[line], water=sw.Water(rho=1e-9)))
    found = sw.line_modes(model, "line", modes=12)
    across = np.array([-along[1], along[0], 0.0])
    # part of each shape that is across the plane of the line
    share = np.abs(found["shape"].values @ across).max(1)
    omega = found.natural_frequency.values
    H = float(found.line_tension.values.min())
    return omega[share > 0.5], omega[share <= 0.5], H, found


def string(n, T, k, lies=0):
    """A straight line of n segments along a slanting direction, matrices by hand."""
    t = np.array([0.6, 0.48, 0.64])
    tt, step = np.outer(t, t), SPAN / n
    K = np.zeros((3 * (n + 1), 3 * (n + 1)))
    pair = np.kron([[1.0, -1.0], [-1.0, 1.0]], k * tt + T / step * (np.eye(3) - tt))
    for i in range(n):
        K[3 * i : 3 * i + 6, 3 * i : 3 * i + 6] += pair
    eye = np.tile(np.eye(3), (n + 1, 1, 1))
    free = eye.copy()
    free[: lies + 1] = 0.0
    none, flat = np.zeros((n + 1, 3)), np.zeros(n)
    place = np.arange(n + 1)[:, None] * step * t
    M = MASS * step * np.eye(len(K))
    parts = free, eye, none, none, none, flat + k, flat, np.tile(t, (n, 1)), flat + T, 0
    return LineMatrices(place, M, 0.0 * K, K, *parts, False)


@pytest.mark.parametrize("lies", [0, 5])
def test_string_of_lumps_has_its_closed_form(lies):
    """What the bed holds shortens the string."""
    n, T, k = 20, 3e4, 1e7
    squared, shapes = natural(string(n, T, k, lies))
    step, m = SPAN / n, n - lies
    sines = 4.0 * np.sin(np.arange(1, m) * np.pi / (2 * m)) ** 2 / (MASS * step)
    requested = np.sort(np.concatenate([T / step * sines, T / step * sines, k * sines]))
    assert squared == pytest.approx(requested, rel=1e-9)
    assert np.linalg.norm(shapes, axis=-1).max(1) == pytest.approx(1.0)
    assert not shapes[:, : lies + 1].any()
    assert not shapes[:, -1].any()


@pytest.mark.slow
def test_taut_string_has_the_frequencies_of_its_lumps():
    EA, n = 1e7, 20
    across, within, T, found = hung(EA, SPAN / 1.02, segments=n)
    k = np.arange(1, 4)
    m = MASS / 1.02  # per stretched length
    requested = 2 * n / SPAN * np.sqrt(T / m) * np.sin(k * np.pi / (2 * n))
    # the string sags by 1/300 of its span
    assert across[:3] == pytest.approx(requested, rel=1e-3)
    assert within[1] == pytest.approx(requested[1], rel=1e-3)
    shape = np.linalg.norm(found["shape"].values[0], axis=1)
    assert shape == pytest.approx(np.sin(np.pi * np.arange(n + 1) / n), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("EA", "length"), [(1e9, 100.167), (4e6, 99.55)])
def test_cable_has_irvines_modes(EA, length):
    """Sag of 1 : 40, all but inextensible and elastic (lambda squared 1600 and 6.5)."""
    across, within, H, _ = hung(EA, length)
    m = MASS * length / (SPAN * (1.0 + 8.0 / 3.0 / 40.0**2))
    sag = (m * 9.81 * SPAN / H) ** 2
    lam = sag * EA / (H * (1.0 + sag / 8.0))
    unit = np.sqrt(H / m) / SPAN

    def symmetric(x):
        return np.tan(0.5 * x) - 0.5 * x + 4.0 / lam * (0.5 * x) ** 3

    first = brentq(symmetric, np.pi * (1 + 1e-6), 3 * np.pi * (1 - 1e-6))
    # Irvine's theory leaves out the square of the sag, 8/40^2
    assert across[0] == pytest.approx(np.pi * unit, rel=0.01)
    assert np.sort(within)[:2] == pytest.approx(np.sort([2 * np.pi, first]) * unit, rel=0.01)


def test_unknown_lines_are_refused():
    line = sw.Line("line", (0, 0, 0), (90, 0, 0), 100.0, sw.chain(0.05), model="quasi_static")
    model = sw.compile(sw.System("hung", lines=[line], water=sw.Water(depth=50.0)))
    with pytest.raises(sw.SwelltreeError, match=r"'line' is not a dynamic line"):
        sw.line_modes(model, "line")
