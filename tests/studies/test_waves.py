"""A float in waves: memory, excitation, frequency domain, against closed forms."""

import dataclasses

import numpy as np
import pytest

import swelltree as sw
from made_hydro import A_INF, MASS, STIFFNESS, excitation, heaving_float, memory
from swelltree.hydro.linear.excitation import excitation_kernel, look_ahead
from swelltree.hydro.linear.hydro import wave_loads
from swelltree.waves.spectra import density

WATER = sw.Water(rho=1000.0)
DAMPING = 4.0e4


def system(position: float = 0.0, **pto) -> sw.System:
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body, position=position)
    ptos = [sw.LinearPto("pto", joint="rail", **pto)] if pto else []
    return sw.System("heaving", [body], [rail], water=WATER, ptos=ptos)


@pytest.fixture(scope="module")
def data():
    return heaving_float()


@pytest.fixture(scope="module")
def model(data):
    return sw.compile(system(damping=DAMPING), data, fit={"error": 1e-3})


def exact(omega, damping=DAMPING):
    """Heave per metre of wave, exp(-iwt): the conjugate of K enters."""
    K = np.conj(memory(omega))
    D = -(omega**2) * (MASS + A_INF) - 1j * omega * (K + damping) + STIFFNESS
    return excitation(omega) / D


def test_rao_is_the_closed_form(model):
    omega = np.array([0.5, 0.9, 1.3, 2.0])
    found = sw.rao(model, omega=omega).rao.sel(body="float", dof="Heave").values[:, 0]
    # cubic splines through 120 points of smooth data
    assert np.abs(found - exact(omega)).max() < 1e-5 * np.abs(exact(omega)).max()


def test_fitted_memory_gives_the_same_rao_within_its_error(model):
    omega = np.linspace(0.3, 3.0, 20)
    found = sw.rao(model, omega=omega, radiation="state_space").rao.values[:, 0, 0, 2]
    assert np.abs(found - exact(omega)).max() < 5e-3 * np.abs(exact(omega)).max()


def test_regular_wave_settles_at_the_rao_of_the_same_memory(model):
    omega, amplitude = 1.1, 0.3
    wave = sw.RegularWave(amplitude=amplitude, omega=omega, ramp=20.0)
    period = 2 * np.pi / omega
    times = np.arange(40 * 32 + 1) * period / 32
    run = sw.simulate(model, wave, times=times, rtol=1e-8, atol=1e-10)
    late = slice(-10 * 32, None)
    heave = run.position.values[late, 0, 2]
    X = 2 * np.mean(heave * np.exp(1j * omega * times[late])) / amplitude
    expected = sw.rao(model, omega=[omega], radiation="state_space").rao.values[0, 0, 0, 2]
    # the excitation grid is good to 2e-6; what is left is the transient of the ramp
    assert abs(X - expected) < 1e-4 * abs(expected)


def test_mean_absorbed_power_agrees_with_the_frequency_domain(model):
    omega, amplitude = 1.1, 0.3
    wave = sw.RegularWave(amplitude=amplitude, omega=omega, ramp=20.0)
    run = sw.simulate(model, wave, duration=200.0, output_step=0.1)
    work = -run.work.sel(element="pto").values
    t = run.time.values
    i = np.searchsorted(t, t[-1] - 20 * 2 * np.pi / omega)
    mean = (work[-1] - work[i]) / (t[-1] - t[i])
    found = sw.rao(model, omega=[omega], radiation="state_space").absorbed_power.values.item()
    assert mean == pytest.approx(found * amplitude**2, rel=1e-2)
    assert float(run.absorbed_power.min()) > -1e-6 * mean
    assert float(np.abs(run.energy_residual).max()) < 1e-6 * work[-1]


def test_float_at_rest_stays_at_rest(model):
    run = sw.simulate(model, duration=50.0, output_step=5.0)
    assert float(np.abs(run.position.sel(dof="Heave")).max()) < 1e-9


def test_convolution_follows_the_state_space(data):
    start = system(1.0)
    fitted = sw.simulate(sw.compile(start, data), duration=20.0, output_step=0.2)
    folded = sw.compile(start, data, radiation="convolution", step=0.05)
    run = sw.simulate(folded, duration=20.0, output_step=0.2, solver="rk4")
    # the fit is good to some per cent of the memory, which is a tenth of the force
    assert float(np.abs(run.position - fitted.position).max()) < 1e-2


def test_convolution_needs_its_fixed_step(data):
    folded = sw.compile(system(1.0), data, radiation="convolution", step=0.05)
    with pytest.raises(sw.SwelltreeError, match="needs solver='rk4'"):
        sw.simulate(folded, duration=1.0)
    with pytest.raises(sw.SwelltreeError, match="compiled for"):
        sw.simulate(folded, duration=1.0, solver="rk4", step=0.01, output_step=0.1)
    with pytest.raises(sw.SwelltreeError, match="multiples of the convolution's step"):
        sw.simulate(folded, duration=1.0, solver="rk4", output_step=0.13)


def test_constant_radiation_is_that_of_its_frequency(data):
    omega = 1.2
    model = sw.compile(system(), data, radiation="constant", omega=omega)
    K = memory(omega)
    assert model.hydro.damping[2, 2] == pytest.approx(K.real, rel=1e-5)
    assert model.added_mass[2, 2] == pytest.approx(A_INF + K.imag / omega, rel=1e-5)


def test_impulse_response_excites_like_the_components(data):
    table = sw.compile(system(), data, radiation="none").hydro.table
    sea = sw.realise(sw.IrregularSea(sw.Jonswap(2.0, 7.0), seed=3), WATER)
    by_sum, by_kernel = (
        wave_loads(table, WATER, sea, 100.0, m) for m in ("components", "convolution")
    )
    gap = np.sqrt(np.mean((by_sum.force - by_kernel.force)[:, 2] ** 2)) / by_sum.force[:, 2].std()
    assert gap < 1e-3
    assert look_ahead(*excitation_kernel(table, WATER, 0.0, 0.05)) > 0.0


@pytest.mark.parametrize(
    ("place", "heading"), [((400.0, 0.0), 0.0), ((-250.0, 310.0), 0.7), ((2000.0, 0.0), 3.0)]
)
def test_impulse_response_excites_like_the_components_far_from_the_origin(data, place, heading):
    """The kernel acts on the elevation at the body: 61 % off at 400 m with that at the origin."""
    table = sw.compile(system(), data, radiation="none").hydro.table
    there = {"place": np.tile(place, (6, 1)), "direction": np.array([heading])}
    table = dataclasses.replace(table, **there)
    sea = sw.IrregularSea(sw.Jonswap(2.0, 7.0), beta=heading, seed=3)
    waves = sw.realise(sea, WATER)
    by_sum, by_kernel = (
        wave_loads(table, WATER, waves, 100.0, m) for m in ("components", "convolution")
    )
    for one, other in ((by_sum.force, by_kernel.force), (by_sum.rate, by_kernel.rate)):
        gap = np.sqrt(np.mean((one - other)[:, 2] ** 2)) / one[:, 2].std()
        assert gap < 1e-3


def test_mode_at_its_own_frequency_solves_the_equation_of_motion(model):
    found = sw.modes(model)
    assert "each mode's own frequency" in found.attrs["added_mass"]
    omega = float(found.natural_frequency[0] * np.sqrt(1 - found.damping_ratio[0] ** 2))
    K = memory(omega)
    mass, damping = MASS + A_INF + K.imag / omega, K.real + DAMPING
    expected = np.roots([mass, damping, STIFFNESS])[0]
    # A and B are interpolated by splines
    assert float(found.eigenvalue_imag[0]) == pytest.approx(abs(expected.imag), rel=1e-5)
    assert float(found.eigenvalue_real[0]) == pytest.approx(expected.real, rel=1e-4)
    with pytest.raises(sw.SwelltreeError, match="Choose 'infinite' or 'frequency'"):
        sw.modes(model, added_mass="omega")


def test_response_to_a_sea_is_the_sum_over_its_components(model):
    sea = sw.IrregularSea(sw.Jonswap(1.0, 6.0), seed=1)
    waves = sw.realise(sea, WATER)
    inside = (waves.omega >= 0.05) & (waves.omega <= 6.0)
    a, w = waves.amplitude[inside], waves.omega[inside]
    expected = np.sqrt((0.5 * a**2 * np.abs(exact(w)) ** 2).sum())
    found = float(sw.response(model, sea).standard_deviation.sel(body="float", dof="Heave"))
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"water": sw.Water(rho=1025.0)}, "made with rho = 1000, but the system's water has 1025"),
        ({"water": sw.Water(rho=1000.0, depth=50.0)}, "made with water_depth = inf"),
    ],
)
def test_other_water_than_the_data_is_refused(data, change, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.compile(system().replace(**change), data)


def test_data_of_an_unknown_body_are_refused():
    with pytest.raises(sw.SwelltreeError, match="body 'flota', which is not in the system"):
        sw.compile(system(), heaving_float("flota"))


def test_wave_beyond_the_data_is_refused(model):
    with pytest.raises(sw.SwelltreeError, match=r"hydro data reach from omega = 0\.05 to 6"):
        sw.simulate(model, sw.RegularWave(amplitude=1.0, omega=9.0), duration=1.0)


def test_wave_from_another_heading_is_refused(model):
    with pytest.raises(sw.SwelltreeError, match="hydro data hold only 0 rad"):
        sw.simulate(model, sw.RegularWave(amplitude=1.0, omega=1.0, beta=0.5), duration=1.0)


def test_wave_without_hydro_data_is_refused():
    dry = sw.compile(system())
    with pytest.raises(sw.SwelltreeError, match="has no hydro data"):
        sw.simulate(dry, sw.RegularWave(amplitude=1.0, omega=1.0), duration=1.0)
    with pytest.raises(sw.SwelltreeError, match="has no hydro data"):
        sw.rao(dry)


def test_unknown_choices_are_refused(model, data):
    with pytest.raises(sw.SwelltreeError, match="Did you mean 'state_space'"):
        sw.compile(system(), data, radiation="statespace")
    with pytest.raises(sw.SwelltreeError, match="needs omega"):
        sw.compile(system(), data, radiation="constant")
    wave = sw.RegularWave(amplitude=1.0, omega=1.0)
    with pytest.raises(sw.SwelltreeError, match="Did you mean 'convolution'"):
        sw.simulate(model, wave, duration=1.0, excitation="convolusion")


def test_response_spectrum_is_that_of_the_sea_times_the_rao_squared(model):
    sea = sw.IrregularSea(
        sw.Jonswap(1.0, 6.0), components=120, spacing="equal", jitter=False, omega_max=2.5
    )
    found = sw.response(model, sea)
    omega = found.omega.values
    expected = np.abs(exact(omega)) ** 2 * density(sea.spectrum, omega)
    spectrum = found.spectrum.sel(body="float", dof="Heave").values
    assert spectrum == pytest.approx(expected, rel=1e-4)
    flux = 0.5 * 1000.0 * 9.81**2 / 2 * (sw.components(sea, WATER).amplitude ** 2 / omega).sum()
    width = float(found.capture_width.sum())
    assert width == pytest.approx(float(found.absorbed_power.sum()) / flux, rel=1e-3)


def test_modes_at_their_own_frequencies_are_all_there_once():

    barges = sw.gallery.barges().model(radiation="none")
    found = sw.modes(barges)
    shapes = (found.shape_real + 1j * found.shape_imag).values.reshape(found.sizes["mode"], -1)
    assert len(shapes) == 8
    unit = shapes / np.linalg.norm(shapes, axis=1)[:, None]
    identical = np.abs(unit.conj() @ unit.T) ** 2 - np.eye(8)
    # four heaving and bending modes lie within 4 % of one period: none is another one again
    assert identical.max() < 0.9
    assert (np.diff(found.natural_frequency) >= 0).all()


def test_modes_without_hydro_data_are_those_of_the_model():
    body = sw.Body("mass", mass=3.0, inertia=(1, 1, 1))
    rail = sw.Slider("rail", sw.WORLD, body)
    spring = sw.JointForce("spring", "rail", stiffness=120.0, damping=2.0)
    model = sw.compile(sw.System("hung", [body], [rail], [spring]))
    plain, infinite = sw.modes(model), sw.modes(model, added_mass="infinite")
    np.testing.assert_allclose(plain.eigenvalue_imag, infinite.eigenvalue_imag, rtol=1e-12)
    assert float(plain.natural_frequency[0]) == pytest.approx(np.sqrt(40.0), rel=1e-9)
    assert plain.attrs["added_mass"] == "of the model; no hydro data"


def test_modes_that_do_not_swing_are_kept_beside_those_at_their_frequency(data):
    """A drifting float beside one whose damper is far above critical."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.SubsetJoint("rail", sw.WORLD, body, dofs=("Surge", "Heave"))
    plain = sw.System("drifting", [body], [rail], water=WATER)
    swinging = sw.modes(sw.compile(plain, data, radiation="none"))
    assert swinging.sizes["mode"] == 3  # heave, and twice nothing in surge
    assert (swinging.natural_frequency.values[1:] == 0.0).all()
    K = memory(float(swinging.eigenvalue_imag[0]))
    assert float(swinging.eigenvalue_real[0]) == pytest.approx(
        -0.5 * K.real / (MASS + A_INF + K.imag / float(swinging.eigenvalue_imag[0])), rel=1e-3
    )
    stiff = sw.modes(sw.compile(system(damping=1e7), data, radiation="none"))
    assert stiff.sizes["mode"] == 2
    assert not np.isfinite(stiff.natural_period).any()
    assert (stiff.eigenvalue_real < 0).all()


@pytest.mark.slow
def test_the_derivative_of_a_mode_in_the_water_is_that_of_differences(model):
    import jax

    def eigenvalue(c, found=sw.modes):
        values = found(model.with_values({"pto.damping": c}))
        if "mode" in getattr(values, "dims", ()):
            return complex(values.eigenvalue_real[0], values.eigenvalue_imag[0])
        return values["eigenvalue"]

    traced = jax.jit(lambda c: eigenvalue(c))(DAMPING)
    own = traced[np.imag(traced) > 0][0]
    assert own == pytest.approx(eigenvalue(DAMPING), rel=1e-9)
    h = 10.0
    expected = (eigenvalue(DAMPING + h) - eigenvalue(DAMPING - h)) / (2 * h)
    for part in (np.real, np.imag):
        slope = jax.grad(lambda c, part=part: part_of(eigenvalue(c), part))(DAMPING)
        assert slope == pytest.approx(part(expected), rel=1e-5, abs=1e-12)


def part_of(values, part):
    import jax.numpy as jnp

    chosen = values[jnp.argmax(jnp.imag(values))]
    return jnp.real(chosen) if part is np.real else jnp.imag(chosen)


def test_energy_decides_between_a_metre_and_a_tenth_of_a_radian():
    """A hinged bar: one radian is ten metres of its middle, yet a quarter of the energy."""
    length, mass = 20.0, 12.0
    about = mass * length**2 / 12
    bar = sw.Body("bar", mass=mass, inertia=(about, about, 1.0), position=(0, 0, -length / 2))
    hinge = sw.Hinge("pin", sw.WORLD, bar.at(0, 0, length / 2), axis="y")
    found = sw.modes(sw.compile(sw.System("bar", [bar], [hinge])))
    share = found.energy_share.sel(mode=1, body="bar")
    assert float(share.sel(dof="Surge")) == pytest.approx(0.75, rel=1e-6)
    assert float(share.sel(dof="Pitch")) == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("spacing", ["equal_energy", "equal"])
def test_the_response_spectrum_does_not_scatter_with_the_components(model, spacing):
    """Jittered frequencies: every component has the density of the spectrum at its frequency."""
    spectrum = sw.Jonswap(1.0, 6.0)
    sea = sw.IrregularSea(spectrum, seed=4, spacing=spacing, omega_max=2.5)
    found = sw.response(model, sea)
    omega = found.omega.values
    expected = np.abs(exact(omega)) ** 2 * density(spectrum, omega)
    own = found.spectrum.sel(body="float", dof="Heave").values
    # energies are scaled by the share that the bins of the band miss, and splines
    assert own == pytest.approx(expected, rel=5e-3)


def test_two_trains_with_the_same_frequencies_have_the_density_of_each(model):
    """Bins of one width: the second train would divide by the nothing between the frequencies."""
    common = {"components": 60, "spacing": "equal", "jitter": False}
    band = {"omega_min": 0.5, "omega_max": 2.0}
    trains = [
        sw.IrregularSea(sw.Jonswap(1.0, Tp), seed=k, **common, **band)
        for k, Tp in enumerate((6.0, 8.0))
    ]
    both = sw.SeaOf([*trains, sw.RegularWave(amplitude=0.2, omega=1.0)])
    found = sw.response(model, both)
    own = found.spectrum.sel(body="float", dof="Heave").values
    alone = [sw.response(model, sea).spectrum.sel(body="float", dof="Heave") for sea in trains]
    assert own[:-1] == pytest.approx(np.concatenate(alone), rel=1e-9)
    assert np.isnan(own[-1])
