"""Periodic steady states: against the frequency domain, time stepping and between forms."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float, vessel
from swelltree.describe.errors import SwelltreeError
from swelltree.jit import namespace
from swelltree.studies.periodic.problem import harmonics_for

WATER = sw.Water(rho=1000.0)
OMEGA, AMPLITUDE = 1.1, 0.3
WAVE = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA)


def float_system(*forces):
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    pto = sw.LinearPto("pto", joint="rail", damping=4e4)
    rail = sw.Slider("rail", sw.WORLD, body)
    return sw.System("heaving", [body], [rail], water=WATER, ptos=[pto], forces=forces)


@pytest.fixture(scope="module")
def linear():
    return sw.compile(float_system(), heaving_float(), fit={"error": 1e-3})


@pytest.mark.parametrize("radiation", ["data", "state_space"])
def test_linear_float_moves_as_the_frequency_domain_says(linear, radiation):
    found = sw.steady_state(linear, WAVE, 3, radiation=radiation)
    X = found.position_harmonics.sel(body="float", dof="Heave").values / AMPLITUDE
    expected = sw.rao(linear, omega=[OMEGA], radiation=radiation).rao.values[0, 0, 0, 2]
    assert abs(X[1] - expected) < 1e-10 * abs(expected)
    assert np.abs(X[[0, 2, 3]]).max() < 1e-12
    power = sw.rao(linear, omega=[OMEGA]).absorbed_power.values.squeeze() * AMPLITUDE**2
    if radiation == "data":
        assert found.absorbed_power.values.mean() == pytest.approx(power, rel=1e-9)
    assert found.attrs["newton_iterations"] == 1


def test_all_bodies_and_multipliers_give_the_same(linear):
    """DAE form against ODE form."""
    ode = sw.steady_state(linear, WAVE, 2)
    dae = sw.steady_state(linear, WAVE, 2, formulation="lagrange")
    a, b = ode.position_harmonics.values, dae.position_harmonics.values
    assert np.abs(a - b).max() < 1e-10
    assert dae.attrs["form"] == "DAE"
    largest = np.abs(ode.reaction.values).max()
    assert np.abs(ode.reaction.values - dae.reaction.values).max() < 1e-8 * max(largest, 1.0)


def test_friction_and_stiffening_against_time_stepping():
    """Strongly nonlinear: smooth friction and stops; the same memory on both sides."""
    rough = sw.JointForce(
        "rough", "rail", friction=3e4, friction_velocity=0.1, damping=1e4, stiffness=2e5
    )
    model = sw.compile(float_system(rough), heaving_float(), fit={"error": 1e-2})
    period = 2 * np.pi / OMEGA
    times = np.arange(60 * 64 + 1) * period / 64
    wave = sw.RegularWave(amplitude=AMPLITUDE, omega=OMEGA, ramp=4 * period)
    run = sw.simulate(model, wave, times=times, rtol=1e-10, atol=1e-12)
    late = run.position.values[-65:-1, 0, 2]
    errors = []
    for harmonics in (3, 21):
        found = sw.steady_state(model, WAVE, harmonics, radiation="state_space", nodes=128)
        errors.append(np.abs(found.position.values[::2, 0, 2] - late).max() / np.abs(late).max())
    # spectral convergence down to the 2e-6 of the excitation's time grid
    assert errors[1] < 0.1 * errors[0]
    assert errors[1] < 2e-5
    assert found.attrs["newton_iterations"] <= 8


def test_a_free_vessel_is_pinned_where_nothing_holds_it():
    body = sw.Body("vessel", mass=MASS, inertia=(1e6, 8e6, 8e6))
    system = sw.System("vessel", [body], [sw.Free("free", sw.WORLD, body)], water=WATER)
    model = sw.compile(system, vessel(), radiation="none")
    wave = sw.RegularWave(amplitude=0.01, omega=1.0, beta=np.pi / 6)
    found = sw.steady_state(model, wave, 2)
    for dof in ("Surge", "Sway", "Yaw"):
        assert f"free {dof} held" in found.attrs["pinned"]
    X = found.position_harmonics.values[1, 0] / 0.01
    expected = sw.rao(model, omega=[1.0], wave_direction=[np.pi / 6]).rao.values[0, 0, 0]
    # at a hundredth of a metre the motion is linear to that order
    assert np.abs(X - expected).max() < 2e-2 * np.abs(expected).max()


@pytest.mark.slow
def test_a_closed_loop_agrees_between_forms():
    """A four-bar linkage shaken by a periodic torque: tree with cut joint, partition, DAE."""
    from validation.multibody.systems import four_bar

    bars = four_bar()
    shake = sw.JointForce(
        "shake",
        bars.joints[0].name,
        stiffness=400.0,
        damping=30.0,
        force=sw.Harmonic(amplitude=20.0, omega=3.0),
    )
    model = sw.compile(bars.replace(forces=(*bars.forces, shake)))
    period = 2 * np.pi / 3.0
    found = {
        name: sw.steady_state(model, None, 5, period=period, formulation=name)
        for name in ("path_matrix", "partition", "lagrange")
    }
    a = found["path_matrix"].position_harmonics.values
    assert np.abs(a[1]).max() > 1e-3
    for name in ("partition", "lagrange"):
        b = found[name].position_harmonics.values
        assert np.abs(a - b).max() < 1e-6 * np.abs(a).max()
    assert float(found["lagrange"].closure.max()) < 1e-9


def test_an_irregular_sea_of_one_period(linear):
    sea = sw.IrregularSea(sw.Jonswap(1.0, 6.0), components=20, spacing="equal", jitter=False)
    found = sw.steady_state(linear, sea, 60)
    response = sw.response(linear, sea)
    X = found.position_harmonics.sel(body="float", dof="Heave").values
    variance = 0.5 * float((np.abs(X[1:]) ** 2).sum())
    assert variance == pytest.approx(float(response.standard_deviation.values[0, 2]) ** 2, rel=1e-9)


def test_the_harmonics_are_those_that_the_sea_needs(linear):
    """The power of an irregular sea by itself, and nothing dropped in silence."""
    sea = sw.IrregularSea(sw.Jonswap(1.0, 6.0), components=30, spacing="equal", jitter=False)
    found = sw.steady_state(linear, sea)
    expected = float(sw.response(linear, sea).absorbed_power.sum())
    assert found.absorbed_power.values.sum(axis=1).mean() == pytest.approx(expected, rel=1e-9)
    highest = round(max(sw.realise(sea, WATER).omega) / found.attrs["omega"])
    assert found.attrs["harmonics"] == 2 * highest
    with pytest.raises(SwelltreeError, match=f"component at harmonic {highest} of its period"):
        sw.steady_state(linear, sea, 9)


def test_the_error_of_a_short_series_is_told():
    """Against the same motion with many harmonics."""
    rough = sw.JointForce("rough", "rail", friction=8e4, friction_velocity=0.05)
    model = sw.compile(float_system(rough), heaving_float(), radiation="none")
    t = np.linspace(0.0, 2 * np.pi / OMEGA, 200)

    def heave(found):
        X = found.position_harmonics.sel(body="float", dof="Heave").values
        return np.real(np.exp(-1j * OMEGA * np.outer(t, np.arange(len(X)))) @ X)

    best = heave(sw.steady_state(model, WAVE, 35))
    for harmonics, nodes in ((1, None), (3, None), (3, 7), (9, None)):
        found = sw.steady_state(model, WAVE, harmonics, nodes=nodes)
        error = np.abs(heave(found) - best).max()
        # an estimate by averaged slopes; three times either way
        assert error / 3 < found.attrs["estimated_error"] < 3 * error
        assert found.attrs["newton_error"] < 1e-9
        reported = "give more harmonics" in found.attrs["report"]
        assert reported == (found.attrs["truncation_error"] > 0.01 * np.abs(best).max())


def test_what_cannot_be_solved_is_said(linear):
    for wrong in (2.5, "nine", True):
        with pytest.raises(SwelltreeError, match=r"steady_state: harmonics .* not a whole number"):
            harmonics_for("steady_state", None, 1.0, wrong, 9, 2)
    with pytest.raises(SwelltreeError, match="harmonics 0 is too few"):
        sw.steady_state(linear, WAVE, 0)
    with pytest.raises(SwelltreeError, match="sine of the highest harmonic is zero"):
        sw.steady_state(linear, WAVE, 4, nodes=8)
    with pytest.raises(SwelltreeError, match="does not repeat"):
        sw.steady_state(linear, sw.IrregularSea(sw.Jonswap(1.0, 6.0), components=20), 20)
    with pytest.raises(SwelltreeError, match="give a wave"):
        sw.steady_state(linear)
    with pytest.raises(SwelltreeError, match="radiation 'dta' is not known"):
        sw.steady_state(linear, WAVE, radiation="dta")


def test_multipliers_of_a_linear_float_are_those_of_its_state_matrix(linear):
    found = sw.steady_state(linear, WAVE, 2, radiation="state_space", stability=True)
    memory, m = linear.hydro.memory, MASS + float(linear.added_mass[2, 2])
    k = memory.A.shape[0]
    A = np.zeros((2 + k, 2 + k))
    A[0, 1], A[1, 0], A[1, 1] = 1.0, -float(linear.hydro.stiffness[2, 2]) / m, -4e4 / m
    A[1, 2:], A[2:, 1], A[2:, 2:] = -memory.C[2] / m, memory.B[:, 2], memory.A
    expected = np.exp(np.linalg.eigvals(A) * 2 * np.pi / OMEGA)
    assert np.sort(np.abs(found.floquet_multiplier.values)) == pytest.approx(
        np.sort(np.abs(expected)), abs=1e-7
    )
    assert found.attrs["stable"] == 1


def _mathieu(t, point):
    """Spring whose stiffness swings at twice the natural frequency."""
    xp = namespace(point.position)
    return -(1.0 + 0.4 * xp.cos(2.0 * t)) * point.position, 0.0 * point.position


def test_parametric_resonance_is_told():
    """Mathieu's equation in its first tongue: growth exp(0.4 pi / 4) per period of pi."""
    body = sw.Body("mass", 1.0, (1.0, 1.0, 1.0))
    swing = sw.AppliedForce("swing", "mass", function=_mathieu)
    rail = sw.Slider("rail", sw.WORLD, body, axis="x")
    system = sw.System("mathieu", [body], [rail], forces=[swing])
    found = sw.steady_state(sw.compile(system), None, 2, period=np.pi, stability=True)
    assert found.attrs["stable"] == 0
    assert found.attrs["largest_multiplier"] == pytest.approx(np.exp(0.4 * np.pi / 4), rel=0.01)
    # the map of a conservative system keeps volume
    assert np.prod(found.floquet_multiplier.values) == pytest.approx(1.0, abs=1e-7)


def test_quasi_static_lines_take_part():
    """In a small wave they are the springs of the frequency domain; in a high one they stiffen."""
    body = sw.Body("float", mass=0.9 * MASS, inertia=(1e6,) * 3)
    ends = {"l": -60.0, "r": 60.0}
    lines = [
        sw.Line(
            name,
            (x, 0.0, -40.0),
            sw.Point("float", (0, 0, 0)),
            75.0,
            sw.chain(0.1),
            model="quasi_static",
        )
        for name, x in ends.items()
    ]
    system = sw.System(
        "moored",
        [body],
        [sw.Slider("rail", sw.WORLD, body)],
        water=sw.Water(rho=1000.0),
        lines=lines,
        ptos=[sw.LinearPto("pto", joint="rail", damping=4e4)],
    )
    moored = sw.compile(system, heaving_float(), radiation="none")
    low, high = (
        sw.steady_state(moored, sw.RegularWave(amplitude=a, omega=1.1), 3)
        .position_harmonics.sel(body="float", dof="Heave")
        .values
        for a in (1e-4, 2.0)
    )
    linear = (
        sw.rao(moored, omega=[1.1], wave_direction=[0.0])["rao"].sel(dof="Heave").values.ravel()
    )
    assert low[1] / 1e-4 == pytest.approx(linear[0], rel=1e-6)
    assert abs(high[2]) > 1e-3 * abs(high[1])


def two_steps(t, y):
    """Two forces that set in at two speeds, each as a truth times a number."""
    xp = namespace(y)
    size = xp.abs(y)
    steps = 1.0 * (size > 0.2) + 1.0 * (size > 0.4)
    return -2e4 * y - 2e4 * steps * xp.tanh(10.0 * y)


def differing_steps(t, y):
    xp = namespace(y)
    return -2e4 * y - 2e4 * (1.0 * (y > 0.1) - 1.0 * (y < -0.1)) * xp.tanh(10.0 * y) ** 2


def by_table(t, y):
    import jax.numpy as jnp

    return -jnp.interp(y, np.array([-1.0, -0.3, 0.3, 1.0]), np.array([-6e4, -1e4, 1e4, 6e4]))


def long_table(t, y):
    import jax.numpy as jnp

    table = jnp.asarray(np.linspace(-1.0, 1.0, 5001))
    return -4e4 * (jnp.tanh(y[:, None] - table) + jnp.tanh(y[:, None] + table)).mean(1)


@pytest.mark.parametrize(
    "law",
    [two_steps, differing_steps, by_table, pytest.param(long_table, marks=pytest.mark.slow)],
)
def test_a_law_in_the_periodic_equations_is_the_law_itself(law):
    """The force of the study is what the law says of its rates, and its work that of the waves."""
    control = sw.Controller("law", ["rail.Heave.rate"], ["machine"], law=law)
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    force = sw.JointForce("machine", "rail")
    system = sw.System("heaving", [body], [rail], [force], water=WATER, controllers=[control])
    model = sw.compile(system, heaving_float(), radiation="none")
    found = sw.steady_state(model, WAVE, 9)
    rate = found.velocity.sel(body="float", dof="Heave").values
    u = np.array([np.asarray(law(0.0, np.array([v]))).sum() for v in rate])
    excitation = found.excitation_force.sel(body="float", dof="Heave").values
    radiation = found.radiation_force.sel(body="float", dof="Heave").values
    work = ((excitation + radiation + u) * rate).mean()
    assert abs(work) < 2e-3 * np.abs(u * rate).mean()  # jumps between nodes are not seen
    assert found.attrs["engine"] == "LLVM"
    assert found.attrs["report"].count("XLA") == 0
