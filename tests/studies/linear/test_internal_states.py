"""Modes and state spaces with the internal states of effects and controllers."""

import jax
import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS as FLOAT_MASS
from made_hydro import heaving_float
from own_laws import Catch
from swelltree.jit import jnp
from validation.signals import harmonic

MASS, STIFFNESS, DAMPING, GAIN, LAG = 2.0, 5.0, 0.6, 3.0, 2.0


@sw.effect
class Actuator(sw.HasStates):
    """A force that follows the stroke of the cart with a lag: it feeds a swing."""

    name: str
    gain: float
    lag: float

    def loads(self, model, now):
        u = -self.gain * now.states(self)[0]
        return sw.Loads(sw.wrench_at(model, now, "cart", jnp.stack([u, 0.0 * u, 0.0 * u])))

    def internal_start(self):
        return np.zeros(1)

    def internal_rate(self, model, now):
        return (now.motion.coordinate[:1] - now.states(self)) / self.lag


def lagging(t, y, x):
    return -GAIN * x, (y - x) / LAG


def cart(forces=(), **more):
    body = sw.Body("cart", mass=MASS, inertia=(1, 1, 1))
    spring = sw.JointForce("spring", "rail", stiffness=STIFFNESS, damping=DAMPING)
    return sw.System(
        "cart",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis="x", position=0.1)],
        [spring, *forces],
        **more,
    )


def by_effect():
    specified = {"gain": GAIN, "lag": LAG}
    return cart([sw.OwnEffect("actuator", effect=Actuator, parameters=specified)])


def by_controller():
    law = sw.Controller("lag", ["rail.Surge"], ["spring"], law=lagging, states=["seen"])
    return cart(controllers=[law])


def poles():
    A = [[0, 1, 0], [-STIFFNESS / MASS, -DAMPING / MASS, -GAIN / MASS], [1 / LAG, 0, -1 / LAG]]
    values = np.linalg.eigvals(np.array(A))
    return np.sort_complex(values)


@pytest.mark.parametrize("system", [by_effect, by_controller])
def test_an_actuator_with_a_lag_is_part_of_the_modes(system):
    """Its state was held: the damping was that of the cart alone, and the run grew."""
    model = sw.compile(system())
    found = sw.modes(model)
    swing = complex(found.eigenvalue_real[0], found.eigenvalue_imag[0])
    assert found.sizes["mode"] == 2  # a swing and what decays
    expected = poles()
    assert swing == pytest.approx(expected[-1], rel=1e-9)
    assert float(found.eigenvalue_real[1]) == pytest.approx(float(expected[0].real), rel=1e-9)
    plant = sw.state_space(model, ["spring"], ["rail.Surge"])
    assert plant.nstates == 3
    np.testing.assert_allclose(np.sort_complex(plant.poles()), expected, rtol=1e-8)


def test_the_run_grows_as_the_modes_say():
    model = sw.compile(by_controller())
    pole = poles()[-1]
    run = sw.simulate(model, duration=40.0, output_step=0.01, rtol=1e-9)
    x = run.joint_coordinate.values[:, 0]
    peaks = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1
    late = peaks[-6:]
    growth = np.polyfit(run.time.values[late], np.log(x[late]), 1)[0]
    assert growth == pytest.approx(pole.real, abs=2e-3)


def test_states_that_are_held_are_reported():
    latch = sw.LatchingPto("latch", joint="rail", damping=1.0, release_after=1.0)
    found = sw.modes(sw.compile(cart(ptos=[latch])))
    assert "pto 'latch': its latch counts as open" in found.report
    law = sw.Controller(
        "pi", ["rail.Surge"], ["spring"], law=lagging, states=["seen"], sample_time=0.1
    )
    found = sw.modes(sw.compile(cart(controllers=[law])))
    assert "Controller 'pi' is sampled" in found.report
    assert found.sizes["mode"] == 1


def test_states_that_change_at_events_are_reported():
    """A relay and a lock of the user's own were held without a word."""

    def relay(t, y, x):
        return -3.0 * x, [jnp.where(y[0] > 0.1, 1.0, jnp.where(y[0] < -0.1, -1.0, x[0]))]

    law = sw.Controller(
        "relay",
        ["rail.Surge"],
        ["spring"],
        law=relay,
        states=["on"],
        surfaces=lambda t, y, x: jnp.stack([y[0] - 0.1, y[0] + 0.1]),
    )
    catch = sw.OwnLaw("catch", joint="rail", law=Catch, parameters={"c": 0.2})
    found = sw.modes(sw.compile(cart(controllers=[law], ptos=[catch])))
    assert "Controller 'relay' jumps at surfaces: its states are held" in found.report
    assert "pto 'catch': its events are left out, and a lock counts as open" in found.report
    assert float(found.eigenvalue_real[0]) == pytest.approx(-0.5 * (DAMPING + 0.2) / MASS)


def slow_actuator(t, y, x):
    """A force that follows the heave with a lag of 2 s, with damping at once."""
    return -2e5 * x - 3e4 * y[1:2], (y[:1] - x) / LAG


def swinging_filter(t, y, x):
    """The heave through an oscillator of 0.7 rad/s that drives nothing."""
    return 0.0 * x[:1], jnp.stack([x[1], -0.49 * x[0] - 0.1 * x[1] + y[0]])


def heaving(law=slow_actuator, states=("seen",), **pto):
    body = sw.Body("float", mass=FLOAT_MASS, inertia=(1e6,) * 3)
    measures = ["rail.Heave", "rail.Heave.rate"]
    return sw.compile(
        sw.System(
            "heaving",
            [body],
            [sw.Slider("rail", sw.WORLD, body)],
            water=sw.Water(rho=1000.0),
            ptos=[sw.LinearPto("pto", joint="rail", **{"damping": 8e4} | pto)],
            controllers=[sw.Controller("lag", measures, ["pto"], law=law, states=states)],
        ),
        heaving_float(),
    )


def test_rao_of_an_actuator_with_a_lag_is_that_of_a_run_in_small_waves():
    """Its state was held: 0.55 + 0.80i m/m and 45.6 kW/m^2 in place of 0.74 + 0.70i and 25.9."""
    model, omega, a = heaving(), 1.1, 1e-3
    period = 2 * np.pi / omega
    wave = sw.RegularWave(amplitude=a, omega=omega, ramp=2 * period)
    times = np.arange(32 * 20 + 1) * period / 32
    run = sw.simulate(model, wave, times=times, rtol=1e-8, atol=1e-12)
    late = slice(-32 * 4, None)
    heave = harmonic(run.time.values[late], run.joint_coordinate.values[late, 0], omega) / a
    power = run.absorbed_power.values[late, 0].mean() / a**2
    found = sw.rao(model, omega=[omega])
    # the slowest motion decays by exp(-0.29 t), so 1e-10 is left of the start
    assert complex(found.rao.sel(dof="Heave").values.item()) == pytest.approx(heave, rel=1e-5)
    assert float(found.absorbed_power.item()) == pytest.approx(power, rel=1e-5)
    in_sea = sw.response(model, wave)
    assert float(in_sea.absorbed_power.item()) == pytest.approx(power * a**2, rel=1e-5)
    # the force of the state space is that of the run, with what the controller gives
    force = harmonic(run.time.values[late], run.pto_force.values[late, 0], omega) / a
    plant = sw.state_space(model, ["float.Heave"], ["pto.force", "rail.Heave"])
    pushed, moved = np.conj(plant(1j * omega)[:, 0])
    assert pushed / moved == pytest.approx(force / heave, rel=1e-5)


@pytest.mark.slow
def test_traced_modes_have_the_internal_states():
    """In water, where each mode has its own added mass, and dry."""
    model = heaving()
    found = sw.modes(model)
    pole = complex(found.eigenvalue_real[0], found.eigenvalue_imag[0])

    def decay(damping):
        varied = model.with_values({"pto.damping": damping})
        lam = sw.modes_traced(varied)["eigenvalue"]
        return jnp.real(lam[jnp.nanargmax(jnp.imag(lam))])

    assert float(decay(8e4)) == pytest.approx(pole.real, rel=1e-9)
    slope = (
        sw.modes(model.with_values({"pto.damping": 8.1e4})).eigenvalue_real[0]
        - sw.modes(model.with_values({"pto.damping": 7.9e4})).eigenvalue_real[0]
    ) / 2e3
    assert float(jax.grad(decay)(8e4)) == pytest.approx(float(slope), rel=1e-4)
    dry = sw.compile(by_controller())
    lam = sw.modes_traced(dry)["eigenvalue"]
    np.testing.assert_allclose(np.sort_complex(np.asarray(lam)), poles(), rtol=1e-9)


def test_a_mode_of_a_controller_alone_is_followed_in_water():
    """The filter swings with sqrt(0.49 - 0.05^2) rad/s whatever the float does."""
    found = sw.modes(heaving(swinging_filter, ("at", "rate")))
    assert found.sizes["mode"] == 2
    swing = found.eigenvalue_imag.values
    decay = found.eigenvalue_real.values
    k = int(np.abs(decay + 0.05).argmin())
    assert decay[k] == pytest.approx(-0.05, rel=1e-8)
    assert swing[k] == pytest.approx(np.sqrt(0.49 - 0.0025), rel=1e-8)
