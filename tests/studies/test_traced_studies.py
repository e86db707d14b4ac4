"""Studies inside of grad: one sentence where they cannot be differentiated."""

import jax
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float
from swelltree.describe.errors import SwelltreeError

WAVE = sw.RegularWave(amplitude=0.3, omega=1.1)
STUDIES = {
    "steady_state": lambda model: sw.steady_state(model, WAVE, 3).absorbed_power.mean(),
    "rao": lambda model: abs(sw.rao(model, omega=[1.0]).rao).sum(),
    "response": lambda model: sw.response(model, WAVE).absorbed_power.sum(),
    "state_space": lambda model: sw.state_space(model).A.sum(),
    "optimal_control": lambda model: sw.optimal_control(model, WAVE).attrs["mean_power"],
}


@pytest.fixture(scope="module")
def model():
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    pto = sw.LinearPto("pto", joint="rail", damping=4e4)
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("heaving", [body], [rail], water=sw.Water(rho=1000.0), ptos=[pto])
    return sw.compile(system, heaving_float(), radiation="none")


@pytest.mark.parametrize("name", STUDIES)
def test_what_cannot_be_differentiated_says_so(model, name):
    def outcome(damping):
        return STUDIES[name](model.with_values({"pto.damping": damping}))

    with pytest.raises(SwelltreeError, match=f"{name} cannot be differentiated"):
        jax.grad(outcome)(4e4)
