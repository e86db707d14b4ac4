"""Tensions of lines in `rao` and `response`, against runs in time and against statics."""

import functools

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.data.frames import turn
from swelltree.studies.linear.line_matrices import LineGroup, LineMatrices

PSI, BETA, PERIOD = 0.5, 0.7, 7.0
DAMPING = {"Surge": 6e4, "Sway": 6e4, "Roll": 1e6, "Pitch": 2e7, "Yaw": 1e7}


@functools.cache
def moored(model="dynamic", winches=()):
    """A yawed vessel on three unlike lines, one of them described from the vessel."""
    body = sw.Body(
        "vessel", mass=MASS, inertia=(1e6, 2e7, 2e7), rotation_deg=(0, 0, np.degrees(PSI))
    )
    chain, rope = sw.chain(0.05), sw.polyester(0.1)

    def anchor(radius, angle):
        return (radius * np.cos(angle), radius * np.sin(angle), -60.0)

    lines = [
        sw.Line("bow", anchor(230.0, 0.3), body.at(6, 2, -2), 236.5, chain, model, 15),
        sw.Line("port", body.at(-6, 2, -1), anchor(180.0, 2.4), 185.0, chain, model, 12),
        sw.Line("starboard", anchor(150.0, 4.2), body.at(0, -3, -3), 157.0, rope, model, 15),
    ]
    system = sw.System(
        "moored",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        lines=lines,
        water=sw.Water(rho=1000.0),
        seabed=sw.Seabed(depth=60.0),
        moorings=[sw.LinearMooring("damping", body, damping=DAMPING)],
        winches=winches,
    )
    with pytest.warns(SwelltreeWarning, match="turned by 28.6 degrees"):
        return sw.compile(system, turn(vessel(), PSI))


def amplitudes(values, time, amplitude):
    """Complex amplitude per metre over whole periods, exp(-iwt)."""
    turns = np.exp(2j * np.pi / PERIOD * time).reshape(-1, *(1,) * (values.ndim - 1))
    return 2.0 * (values * turns).mean(0) / amplitude


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:equilibrium. after 400 steps")
@pytest.mark.parametrize("model", ["dynamic", "quasi_static"])
def test_tensions_in_small_regular_waves_are_those_of_a_run(model):
    a = 0.1
    compiled = moored(model)
    found = sw.rao(
        compiled,
        omega=[2 * np.pi / PERIOD],
        wave_direction=[BETA],
        drag="harmonic",
        amplitude=a,
        radiation="state_space",
    )
    sea = sw.RegularWave(amplitude=a, period=PERIOD, beta=BETA, ramp=4 * PERIOD)
    run = sw.simulate(compiled, sea, duration=40 * PERIOD, output_step=PERIOD / 40)
    last = run.isel(time=slice(-401, -1))
    top = np.abs(found.fairlead_tension_rao.values).max()
    along = "line_tension" if model == "dynamic" else "line_node_tension"
    for name in ("fairlead_tension", "anchor_tension", along):
        requested = amplitudes(last[name].values, last.time.values, a)
        got = found[f"{name}_rao"].values[0, 0]
        # what is left of the transient, and second order in the amplitude
        used = np.isfinite(got)
        np.testing.assert_allclose(got[used], requested[used], atol=0.005 * top)
        mean = last[name].mean("time").values[used]
        np.testing.assert_allclose(found[name].values[used], mean, rtol=2e-3)
    if model == "dynamic":
        # inertia and drag of the lines matter: the catenaries pull twice as much
        static = sw.rao(compiled, omega=[2 * np.pi / PERIOD], wave_direction=[BETA])
        ratio = np.abs(static.fairlead_tension_rao / found.fairlead_tension_rao).values[0, 0, 0]
        assert ratio > 2.0
        assert "Nodes of dynamic lines move" in found.attrs["report"]
        assert "static catenaries" in static.attrs["report"]


@pytest.mark.slow
def test_tension_deviations_in_a_sea_are_those_of_a_run():
    sea = sw.IrregularSea(sw.Jonswap(Hs=0.5, Tp=8.0), beta=BETA, components=60, seed=4, ramp=40.0)
    compiled = moored()
    found = sw.response(compiled, sea, drag="stochastic", radiation="state_space")
    run = sw.simulate(compiled, sea, duration=4500.0, output_step=0.25)
    stats = sw.statistics(run, start=100.0).sel(statistic="std")
    # 4400 s of a sea give the deviation of a motion within 2 %, 1400 s within 4 %
    motion = found.standard_deviation.values / stats.displacement.values
    for name in ("fairlead_tension", "anchor_tension", "line_tension"):
        ratio = found[f"{name}_deviation"].values / stats[name].values
        assert np.nanmax(np.abs(ratio - 1.0)) < 0.05
    assert np.abs(motion - 1.0).max() < 0.03
    spectrum, width = found.fairlead_tension_spectrum.values, np.gradient(found.omega.values)
    assert np.isfinite(spectrum).all()
    variance = (spectrum * width[:, None]).sum(0)
    assert np.sqrt(variance) == pytest.approx(found.fairlead_tension_deviation.values, rel=0.1)


@pytest.mark.slow
def test_tension_of_a_quasi_static_line_follows_its_stiffness():
    model = moored("quasi_static")
    found = sw.rao(model, omega=[0.9], wave_direction=[BETA])
    X = found.rao.values[0, 0, 0]
    step = 1e-3
    rest = sw.equilibrium(model)
    heading = float(found.heading.values[0])
    c, s = np.cos(heading), np.sin(heading)
    # heading axes to world axes
    world = np.kron(np.eye(2), [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ X
    slopes = []
    for dof in ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"):
        curve = sw.offset_curve(model, "vessel", dof, [-step, step])
        slopes.append(np.diff(curve.fairlead_tension.values, axis=0)[0] / (2 * step))
    requested = np.array(slopes).T @ world
    got = found.fairlead_tension_rao.values[0, 0]
    assert got == pytest.approx(requested, rel=2e-3, abs=2e-3 * np.abs(requested).max())
    assert found.fairlead_tension.values == pytest.approx(rest.fairlead_tension.values, rel=1e-6)


def string(m, nonlinearity=False, free=None):
    """A line of m nodes with random symmetric matrices of neighbours."""
    rng = np.random.default_rng(m)
    size = 3 * (m + 2 * nonlinearity)
    order = np.arange(size).reshape(-1, 3)
    if nonlinearity:  # points beyond the ends come last
        order = np.roll(order, -1, axis=0)
        order = np.concatenate([order[:-2], order[[-1]], order[[-2]]])
    place = np.repeat(np.argsort(order[:, 0]) if nonlinearity else np.arange(m), 3)
    near = np.abs(place[:, None] - place) <= (2 if nonlinearity else 1)
    parts = []
    for diagonal in (5.0, 1.0, 40.0):
        A = rng.normal(size=(size, size)) * near
        parts.append(A + A.T + diagonal * np.eye(size))
    none = np.zeros((m, 3))
    eye = np.tile(np.eye(3), (m, 1, 1))
    rest = eye, none, none, none, np.zeros(m - 1), np.zeros(m - 1), none[1:], np.zeros(m - 1), 0
    return LineMatrices(none, *parts, eye if free is None else free, *rest, nonlinearity)


@pytest.mark.parametrize("m", [2, 3, 4, 9])
def test_ends_of_a_line_see_what_the_whole_matrix_says(m):
    rng = np.random.default_rng(1)
    lines = [string(m), string(m)]
    omega = np.array([0.4, 1.3])
    damping = rng.uniform(size=(1, 2, m, 1, 1)) * np.eye(3)
    force = rng.normal(size=(2, 2, m, 3)) + 1j
    found = LineGroup(lines).condensed(omega, damping, force)
    ends = rng.normal(size=(2, 2, 6)) + 0.5j
    for c, w in enumerate(omega):
        line = lines[0]
        D = line.stiffness - w**2 * line.mass - 1j * w * line.damping
        for i in range(m):
            D[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] += -1j * w * damping[0, 0, i]
        inner, outer = line.inner, line.outer
        f = force[c, 0].reshape(-1)
        r = np.linalg.solve(
            D[np.ix_(inner, inner)], f[inner] - D[np.ix_(inner, outer)] @ ends[c, 0]
        )
        np.testing.assert_allclose(found.inner(ends)[c, 0], r, atol=1e-10)
        pull = f[outer] - D[np.ix_(outer, inner)] @ r - D[np.ix_(outer, outer)] @ ends[c, 0]
        got = found.force[c, 0] - found.impedance[c, 0] @ ends[c, 0]
        np.testing.assert_allclose(got, pull, atol=1e-9)


@pytest.mark.parametrize("model", [pytest.param("dynamic", marks=pytest.mark.slow), "quasi_static"])
def test_linear_studies_do_not_depend_on_the_end_of_a_winch(model):
    """Winches at the vessel, at end A of one line and B of another: they stand still."""
    held = (sw.Winch("one", "bow", end="B"), sw.Winch("other", "port", end="A"))
    sea = sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=7.0), beta=BETA, components=5)
    pairs = []
    for winches in ((), held):
        compiled = moored(model, winches)
        how = {"radiation": "state_space"}
        moving = {"drag": "harmonic", "amplitude": 0.1} if model == "dynamic" else {}
        found = [sw.rao(compiled, omega=[0.6, 1.1], wave_direction=[BETA], **how, **moving)]
        if model == "dynamic":
            found += [sw.response(compiled, sea, drag="stochastic", **how)]
            found += [sw.line_modes(compiled, line, modes=4) for line in ("bow", "port")]
        pairs.append(found)
    compared = 0
    for a, b in zip(*pairs, strict=True):
        for name in a.data_vars:
            if a[name].size and a[name].dtype.kind in "fc" and np.isfinite(a[name].values).all():
                size = float(np.abs(a[name].values).max())
                x, y = a[name].values, b[name].values
                if name in ("shape", "tension"):  # of modes, whose sign is free
                    x, y = np.abs(x), np.abs(y)
                np.testing.assert_allclose(y, x, rtol=0, atol=1e-5 * size + 1e-12, err_msg=name)
                compared += 1
    assert compared > 5
