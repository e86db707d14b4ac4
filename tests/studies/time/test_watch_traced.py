"""Runs inside jit end with the code that the plain run names."""

import numpy as np
import pytest

import swelltree as sw
from made_lines import quick_jit
from multibody.formulations.examples import bar, four_bar
from studies.time.test_watch import contradicting_drives
from swelltree.integrate.problem import Code


def pendulum():
    wheel = bar("wheel", 0.5)
    hinge = sw.Hinge("h", sw.WORLD, wheel.at(-0.5), velocity=1.0)
    return sw.System("s", [wheel], [hinge])


FEW = {"solver": "rk4", "max_steps_per_output": 2}  # compiles in seconds
CASES = {
    "loops": (four_bar, FEW | {"times": np.linspace(0.0, 0.5, 6)}, Code.SUCCESS),
    "coarse steps": (pendulum, FEW | {"times": np.arange(0.0, 20.0)}, Code.ENERGY_LOST),
    "drives": (contradicting_drives, FEW | {"times": np.linspace(0.0, 1.0, 6)}, Code.LOOP_OPEN),
}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow if x == "drives" else ()) for x in CASES]
)
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_a_traced_run_ends_with_the_code_of_the_plain_run(name):
    describe, how, code = CASES[name]
    model = sw.compile(describe())
    plain = sw.simulate(model, progress=False, **how)
    inside = quick_jit(lambda model: sw.simulate(model, **how))(model)
    assert plain.attrs["result"] == code.name.lower()
    assert int(inside["code"]) == code
    gap = np.abs(plain.energy_residual.values).max()
    found = np.abs(np.asarray(inside["energy_residual"])).max()
    assert found == pytest.approx(gap, rel=0.05, abs=1e-6)
    loose = np.asarray(inside["closure"]).max()
    assert loose == pytest.approx(float(plain.closure.max()), rel=1e-3, abs=1e-9)
    if name == "loops":
        assert 1e-3 < np.asarray(inside["loop_margin"]).min() <= 1.0
