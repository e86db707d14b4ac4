"""Seas that are no sum of linear waves, in studies that add linear waves up."""

import numpy as np
import pytest
import xarray as xr

import swelltree as sw
from made_hydro import heaving_float


def gridded():
    axes = {"time": [0.0, 60.0], "x": [-90.0, 90.0], "z": [-90.0, 0.0]}
    flat = {"elevation": (("time", "x"), np.zeros((2, 2)))}
    flat["pressure"] = (("time", "x", "z"), np.zeros((2, 2, 2)))
    return sw.GriddedSea(xr.Dataset(flat, axes))


def steep():
    return sw.StreamFunctionWave(0.6, period=6.0)


def model(damping=0.0):
    body = sw.Body("float", mass=1e5, inertia=(1e3, 1.2e3, 1.4e3))
    rail = sw.Slider("rail", sw.WORLD, body, axis="z")
    pto = sw.LinearPto("pto", joint="rail", damping=damping)
    moor = sw.LinearMooring("mooring", body, stiffness={"Heave": 3e4})
    system = sw.System(
        "float", [body], [rail], ptos=[pto], moorings=[moor], water=sw.Water(rho=1000.0)
    )
    return sw.compile(system, heaving_float())


STUDIES = {
    "response": lambda sea: sw.response(model(), sea),
    "linear_and_nonlinear": lambda sea: sw.linear_and_nonlinear(model(), sea, duration=9.0),
    "tracking_law": lambda sea: sw.tracking_law(model(), sea, "pto"),
    "mpc": lambda sea: sw.with_mpc(model(), sea, "pto"),
    "excitation_observer": lambda sea: sw.excitation_observer(
        model(), ["pto.stroke"], noise=1e-3, step=0.1, sea=sea
    ),
    "optimal_control": lambda sea: sw.optimal_control(model(), sea, pto="pto"),
}


@pytest.mark.parametrize("make", [gridded, steep])
@pytest.mark.parametrize("name", STUDIES)
def test_a_sea_that_is_not_linear_gets_a_sentence(name, make):
    with pytest.raises(sw.SwelltreeError, match=r"not linear|does not repeat"):
        STUDIES[name](make())


def test_a_sea_on_a_grid_has_no_periodic_answer():
    with pytest.raises(sw.SwelltreeError, match="steady_state: a sea on a grid has a limited"):
        sw.steady_state(model(), gridded())


def test_a_realised_sea_is_taken_as_it_is():
    """Of every kind: the run is that of its description."""
    floating = model(damping=2e4)
    sea = sw.IrregularSea(sw.Jonswap(Hs=0.5, Tp=6.0), seed=4, ramp=3.0)
    waves = sw.components(sea, floating.water)
    options = {"duration": 6.0, "output_step": 0.5, "progress": False}
    a, b = (sw.simulate(floating, x, **options).position.values for x in (sea, waves))
    np.testing.assert_array_equal(a, b)
