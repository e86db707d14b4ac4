"""Drag in time and frequency: terminal speed, offset in a current, equivalent linearisation."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float
from swelltree.hydro.morison.drag import DragPieces, QuadraticDrags
from swelltree.hydro.morison.morison import MorisonMembers
from swelltree.jit import jax, jnp
from swelltree.studies.linear.drag import cycle, gaussian

RHO = 1000.0
SEAS = ((2.0, 6.0), (4.0, 8.0), (7.0, 10.0))


def piece(m, c=1.0):
    """Drag c |w| w in m directions."""
    eye = np.eye(m, 6)[None]
    return DragPieces(
        np.zeros(1, int),
        np.zeros((1, 3)),
        eye,
        np.eye(m, 3)[None],
        np.zeros((1, m)),
        eye.transpose(0, 2, 1),
        lambda w: c * np.linalg.norm(w, axis=-1, keepdims=True) * w,
    )


def test_harmonic_factor_is_eight_over_three_pi():
    B = cycle(np.array([[[0.7 + 0.2j]]]), np.zeros((1, 1)), piece(1))
    assert B[0, 0, 0, 0] == pytest.approx(8 / (3 * np.pi) * abs(0.7 + 0.2j), rel=1e-3)


def test_circular_motion_has_its_speed_as_factor():
    B = cycle(np.array([[[0.5, 0.5j]]]), np.zeros((1, 2)), piece(2))
    np.testing.assert_allclose(B[0, 0], 0.5 * np.eye(2), atol=1e-12)


def test_gaussian_factor_is_borgmans():
    B = gaussian(np.array([[[0.3**2]]]), np.zeros((1, 1)), piece(1))
    assert B[0, 0, 0] == pytest.approx(np.sqrt(8 / np.pi) * 0.3, rel=1e-5)
    # two directions alike: 3/2 of the mean speed, which is sigma sqrt(pi/2)
    B = gaussian(0.3**2 * np.eye(2)[None], np.zeros((1, 2)), piece(2))
    np.testing.assert_allclose(
        B[0], 1.5 * np.sqrt(np.pi / 2) * 0.3 * np.eye(2), rtol=2e-3, atol=1e-9
    )


def test_gaussian_factor_in_a_strong_current_is_twice_the_current():
    B = gaussian(np.array([[[0.1**2]]]), np.full((1, 1), 2.0), piece(1))
    assert B[0, 0, 0] == pytest.approx(2 * 2.0, rel=1e-6)


def buoy(relative_to="ground", damping=3e4):
    """A float on a vertical slider with heavy quadratic drag."""
    body = sw.Body("float", mass=MASS, inertia=(1e5, 1e5, 1e5))
    drag = sw.QuadraticDrag("drag", body, damping={"Heave": damping}, relative_to=relative_to)
    return sw.System(
        "buoy",
        [body],
        [sw.Slider("guide", sw.WORLD, body, axis="z")],
        [drag],
        water=sw.Water(rho=RHO),
    )


@pytest.fixture(scope="module")
def model():
    return sw.compile(buoy("water"), heaving_float())


def test_harmonic_drag_is_the_time_domain_of_a_regular_wave(model):
    """At resonance, where drag takes a third of the motion; low waves, as in linear theory."""
    omega, a = 1.45, 0.1
    group = model.effect(QuadraticDrags)
    strong = replace(group, damping=20.0 * group.damping)
    model = model.with_effect(strong)
    plain = sw.rao(model, omega=[omega]).rao.values[0, 0, 0, 2]
    found = sw.rao(
        model, omega=[omega], drag="harmonic", amplitude=a, radiation="state_space"
    ).rao.values[0, 0, 0, 2]
    period = 2 * np.pi / omega
    times = np.arange(0, 30 * 32 + 1) * period / 32
    wave = sw.RegularWave(amplitude=a, omega=omega)
    run = sw.simulate(model, wave, times=times, progress=False)
    z, t = run.position.values[-320:, 0, 2], times[-320:]
    seen = 2 * np.mean(z * np.exp(1j * omega * t)) / a
    assert abs(seen) < 0.75 * abs(plain)
    assert abs(found - seen) < 0.02 * abs(seen)
    assert np.abs(run.energy_residual).max() < 1e-4 * np.abs(run.work).max()


def repeating(Hs, Tp, count=150):
    return sw.IrregularSea(
        sw.Jonswap(Hs=Hs, Tp=Tp), seed=3, components=count, jitter=False, spacing="equal"
    )


def compare(model, sea, dof, **more):
    """Standard deviation by response and by simulation over one period of the sea."""
    found = sw.response(model, sea, drag="stochastic", **more)
    repeat = sw.realise(sea, model.water).repeat_period
    times = np.append(0.0, 150.0 + repeat * np.arange(1500) / 1500)
    run = sw.simulate(model, sea, times=times, progress=False)
    seen = run.position.values[1:, 0, dof].std()
    return found.standard_deviation.values[0, dof] / seen - 1.0, found


def test_stochastic_drag_is_the_time_domain_of_a_sea(model):
    error, found = compare(model, repeating(4.0, 8.0, 80), 2, radiation="state_space")
    assert abs(error) < 0.02
    assert found.attrs["drag_rounds"] < 40
    plain = sw.response(model, repeating(4.0, 8.0, 80))
    assert found.standard_deviation.values[0, 2] < 0.98 * plain.standard_deviation.values[0, 2]


@pytest.mark.slow
@pytest.mark.parametrize("relative_to", ["ground", "water"])
def test_stochastic_drag_in_three_sea_states(relative_to):
    model = sw.compile(buoy(relative_to), heaving_float())
    for Hs, Tp in SEAS:
        error, _ = compare(model, repeating(Hs, Tp), 2, radiation="state_space")
        assert abs(error) < 0.05


def moored_pile(current=None, Cd=1.0):
    """A vertical cylinder without hydro data on a soft spring in surge."""
    body = sw.Body("pile", mass=2e5, inertia=(1e7, 1e7, 1e6))
    member = sw.MorisonMember(
        "skin", body.at(0, 0, -30.0), body.at(0, 0, 8.0), diameter=2.5, Cd=Cd, strips=19
    )
    mooring = sw.LinearMooring("spring", body, stiffness={"Surge": 6e4}, damping={"Surge": 2e3})
    return sw.System(
        "moored_pile",
        [body],
        [sw.Slider("guide", sw.WORLD, body, axis="x")],
        [member],
        moorings=[mooring],
        water=sw.Water(rho=RHO),
        current=current,
    )


@pytest.fixture(scope="module")
def pile():
    return sw.compile(moored_pile(sw.PowerLawCurrent(1.2, depth=60.0)))


def test_offset_in_a_current_is_drag_over_stiffness(pile):
    rest = sw.equilibrium(pile)
    z = -30.0 * (np.arange(20000) + 0.5) / 20000
    speed = 1.2 * (1 + z / 60.0) ** (1 / 7)
    force = 0.5 * RHO * 1.0 * 2.5 * (speed**2).mean() * 30.0
    assert float(rest.position[0, 0]) == pytest.approx(force / 6e4, rel=1e-4)


def test_members_answer_in_the_frequency_domain_without_hydro_data(pile):
    """Inertia of Morison in closed form: (1 + Ca) rho A g, less what lies below 30 m."""
    model = pile.with_effect(pile.effect(MorisonMembers).without_drag())
    omega = np.array([0.3, 0.6, 1.0])
    found = sw.rao(model, omega=omega).rao.values[:, 0, 0, 0]
    k = omega**2 / 9.81
    area = np.pi / 4 * 2.5**2
    # u_dot is 90 degrees ahead of the crest: -i in exp(-iwt)
    F = -1j * RHO * 2.0 * area * 9.81 * (1 - np.exp(-30.0 * k))
    mass = 2e5 + RHO * area * 30.0
    expected = F / (6e4 - 1j * omega * 2e3 - omega**2 * mass)
    np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_in_a_strong_current_drag_is_linear_without_any_help(pile):
    """Waves far smaller than the current: all three ways give the same motion."""
    omega = np.array([0.4, 0.8])
    sea = repeating(0.01, 8.0, 20)
    plain = sw.rao(pile, omega=omega).rao.values
    for more in ({"drag": "harmonic", "amplitude": 1e-3}, {"drag": "stochastic", "sea": sea}):
        found = sw.rao(pile, omega=omega, **more).rao.values
        np.testing.assert_allclose(found, plain, atol=1e-3 * np.abs(plain).max())


def test_a_linearisation_that_does_not_settle_warns(pile, monkeypatch):
    monkeypatch.setattr("swelltree.studies.linear.drag.ROUNDS", 2)
    with pytest.warns(sw.SwelltreeWarning, match="still changes by"):
        sw.rao(pile, omega=[0.5], drag="harmonic", amplitude=3.0)


def test_drag_that_cannot_be_linearised_is_told(pile):
    model = pile
    with pytest.raises(sw.SwelltreeError, match="Did you mean 'harmonic'"):
        sw.rao(model, omega=[0.5], drag="harmonics")
    with pytest.raises(sw.SwelltreeError, match="needs the amplitude"):
        sw.rao(model, omega=[0.5], drag="harmonic")
    with pytest.raises(sw.SwelltreeError, match="needs a sea"):
        sw.rao(model, omega=[0.5], drag="stochastic")
    with pytest.raises(sw.SwelltreeError, match="Give omega"):
        sw.rao(model)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 0.8])
def test_members_with_drag_in_three_sea_states(speed):
    """Relative velocity, so waves push through drag as well; with and without a current."""
    current = sw.UniformCurrent(speed) if speed else None
    model = sw.compile(moored_pile(current))
    for Hs, Tp in SEAS:
        error, _ = compare(model, repeating(Hs, Tp, 80), 0)
        assert abs(error) < 0.05


@pytest.fixture(scope="module")
def sinking():
    """A body given by numbers falls through a current."""
    body = sw.Body(
        "stone",
        mass=2000.0,
        inertia=(500, 500, 500),
        displaced_volume=0.8,
        position=(0, 0, -50.0),
        added_mass={"Surge": 300.0, "Sway": 300.0, "Heave": 300.0},
    )
    drag = sw.BodyDrag("drag", body, area=(1.0, 1.0, 2.0), Cd=(1.0, 1.0, 0.8))
    system = sw.System(
        "sinking",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        [drag],
        water=sw.Water(rho=RHO),
        current=sw.UniformCurrent(1.5, beta=0.6),
    )
    return sw.simulate(sw.compile(system), duration=200.0, output_step=2.0, progress=False)


def test_terminal_speed_is_that_of_weight_and_drag(sinking):
    v = sinking.velocity.values[-1, 0]
    assert v[2] == pytest.approx(-np.sqrt(1200 * 9.81 / (0.5 * RHO * 0.8 * 2.0)), rel=1e-6)


def test_it_drifts_with_the_current_in_the_end(sinking):
    v = sinking.velocity.values[-1, 0]
    # the last of the slip goes with 1/t
    np.testing.assert_allclose(v[:2], 1.5 * np.array([np.cos(0.6), np.sin(0.6)]), atol=0.03)
    assert np.abs(sinking.energy_residual).max() < 1e-6 * np.abs(sinking.work).max()


@pytest.mark.slow
def test_gradient_of_a_run_with_drag_matches_finite_differences():
    """How far a moored pile has gone after 8 s, by its drag coefficient."""
    model = sw.compile(moored_pile(sw.UniformCurrent(1.0)))
    group = model.effect(MorisonMembers)
    wave = sw.RegularWave(amplitude=1.5, omega=0.7)

    def reached(factor):
        strong = replace(group, drag_normal=factor * jnp.asarray(group.drag_normal))
        changed = model.with_effect(strong)
        run = sw.simulate(changed, wave, times=np.arange(1, 17) * 0.5, rtol=1e-8, atol=1e-11)
        return run["position"][-1, 0, 0]

    value = jax.jit(reached)
    slope = float(jax.jit(jax.jacfwd(reached))(1.0))
    assert slope == pytest.approx(float(value(1.001) - value(0.999)) / 0.002, rel=1e-5)
