"""Searches by gradients of runs: known optima, constraints, interruption, bad input."""

import json
from typing import Any

import numpy as np
import pytest

import swelltree as sw
from made_oscillator import POWER, oscillator

PERIOD = 2 * np.pi / 4.0
STEADY: dict[str, Any] = {
    "duration": 24 * PERIOD,
    "output_step": PERIOD / 40,
    "settled": 20 * PERIOD,
    "solver": "rk4",
    "step": PERIOD / 40,
}
BOUNDS = {"ptos.pto.damping": (0.5, 8.0)}


@pytest.fixture(scope="module")
def model():
    return sw.compile(oscillator(damping=4.0))


def test_best_damping_of_an_oscillator_is_that_of_the_formula(model):
    # c = |k - m w^2| / w
    found = sw.optimise(model, None, POWER, BOUNDS, maximise=True, tol=1e-10, **STEADY)
    assert found.attrs["result"] == "success"
    assert float(found.optimum[0]) == pytest.approx(abs(40.0 - 3.0 * 16.0) / 4.0, rel=1e-3)
    assert float(found.history[0]) < float(found.objective)
    assert found.at_bound.values.tolist() == [""]


@pytest.mark.parametrize("method", ["SLSQP", pytest.param("trust-constr", marks=pytest.mark.slow)])
def test_a_limit_of_the_motion_is_held_and_active(model, method):
    stroke = sw.rms_of("pto_stroke", pto="pto")
    free = sw.optimise(model, None, POWER, BOUNDS, [(stroke, None, 9.0)], maximise=True, **STEADY)
    limit = 0.8 * float(free.constraint_value[0, 0])
    found = sw.optimise(
        model,
        None,
        POWER,
        BOUNDS,
        [(stroke, None, limit)],
        maximise=True,
        method=method,
        tol=1e-8,
        max_iterations=100,
        **STEADY,
    )
    assert not free.active.any()
    assert found.active.all()
    assert float(found.constraint_value[0, 0]) <= limit * (1 + 1e-5)
    assert float(found.optimum[0]) > float(free.optimum[0])


@pytest.mark.slow
def test_seas_count_by_their_weights():
    device = sw.gallery.sphere(damping=1e5)
    seas = [sw.RegularWave(height=1.0, period=T, ramp=2.0) for T in (6.0, 8.0)]
    options: dict[str, Any] = {"duration": 12.0, "output_step": 0.5, "max_iterations": 1}
    both = [
        sw.optimise(
            device.model(), seas, POWER, {"ptos.pto.damping": (1e4, 1e6)}, weights=w, **options
        )
        for w in ((1.0, 0.0), (0.0, 1.0), (3.0, 1.0))
    ]
    first, second, mixed = (float(found.history[0]) for found in both)
    assert mixed == pytest.approx(0.75 * first + 0.25 * second, rel=1e-12)


def test_an_interrupted_search_goes_on_and_ends_as_if_it_had_not_been(model, tmp_path):
    file = tmp_path / "search.json"
    options = STEADY | {"maximise": True, "checkpoint": file}
    complete = sw.optimise(model, None, POWER, BOUNDS, **options)
    entries = json.loads(file.read_text())
    entries["evaluations"] = entries["evaluations"][:2]
    file.write_text(json.dumps(entries))
    resumed = sw.optimise(model, None, POWER, BOUNDS, resume=True, **options)
    assert resumed.attrs["evaluations_from_file"] == 2
    assert np.array_equal(complete.history_parameters, resumed.history_parameters)
    with pytest.raises(sw.SwelltreeError, match=r"exists\. Give resume=True"):
        sw.optimise(model, None, POWER, BOUNDS, **options)
    with pytest.raises(sw.SwelltreeError, match="belongs to another search"):
        sw.optimise(model, None, POWER, {"ptos.pto.damping": (0.1, 9.0)}, resume=True, **options)
    file.write_text("[1]")
    with pytest.raises(sw.SwelltreeError, match="is not a file of evaluations"):
        sw.optimise(model, None, POWER, BOUNDS, resume=True, **options)


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({}, {}, "no parameters are given"),
        ({"ptos.pto.damping": (5.0, 1.0)}, {}, "are not a range"),
        ({"ptos.pto.damping": (0.0, np.inf)}, {}, "are not a range"),
        ({"ptos.pto.damping": (5.0, 8.0)}, {}, "is 4, outside of its bounds"),
        ({"bodies.mass.com": (0.0, 1.0)}, {}, "has 3 numbers.*com.0"),
        (BOUNDS, {"method": "slsqp"}, "method 'slsqp' is not known.*SLSQP"),
        (BOUNDS, {"weights": (1.0, 2.0)}, "do not fit 1 seas"),
    ],
)
def test_bad_input_of_a_search_is_rejected(model, parameters, options, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.optimise(model, None, POWER, parameters, **(STEADY | options))


def test_bounds_alone_go_with_l_bfgs_b(model):
    with pytest.raises(sw.SwelltreeError, match="knows bounds alone"):
        sw.optimise(model, None, POWER, BOUNDS, [(POWER, None, 1.0)], method="L-BFGS-B", **STEADY)
