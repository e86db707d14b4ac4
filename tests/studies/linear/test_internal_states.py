"""Modes and state spaces with the internal states of effects and controllers."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.engine.backend import jnp

MASS, STIFFNESS, DAMPING, GAIN, LAG = 2.0, 5.0, 0.6, 3.0, 2.0


@sw.effect
class Actuator(sw.Effect):
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
    given = {"gain": GAIN, "lag": LAG}
    return cart([sw.OwnEffect("actuator", effect=Actuator, parameters=given)])


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
