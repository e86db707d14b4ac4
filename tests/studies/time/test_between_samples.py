"""Largest, smallest and mean values between samples, kept step by step by every stepper."""

import jax
import numpy as np
import pytest

import swelltree as sw
from swelltree.integrate.problem import as_channels, known_now, nothing_known, with_step

OMEGA, MASS = 40.0, 2.0  # six swings a second, sampled twice a second
NAMES = ["spring_tension", "velocity"]


def swinging() -> sw.System:
    bob = sw.Body("bob", mass=MASS, inertia=(1, 1, 1), position=(0, 0, -1))
    rail = sw.Slider("rail", sw.WORLD, bob, axis="z", velocity=0.7)
    spring = sw.SpringDamper(
        "spring", sw.WORLD.at(0, 0, 1), bob, stiffness=MASS * OMEGA**2, damping=3.0
    )
    return sw.System("swing", [bob], [rail], [spring])


@pytest.fixture(scope="module")
def model():
    return sw.compile(swinging())


@pytest.mark.parametrize(
    "options", [{"solver": "rk4"}, {"solver": "two_step"}], ids=["rk4", "two_step"]
)
def test_extremes_of_a_coarse_run_are_those_of_all_steps(model, options):
    step = 0.01
    when = {"duration": 3.0, "step": step} | options
    fine = sw.simulate(model, output_step=step, **when)
    coarse = sw.simulate(model, output_step=0.5, extremes=NAMES, chunk=4, **when)
    assert float(abs(coarse.spring_tension).max()) < 0.9 * float(abs(fine.spring_tension).max())
    for name in NAMES:
        all_steps, every = fine[name].values, 50
        for k in range(1, coarse.sizes["time"]):
            part = all_steps[(k - 1) * every : k * every + 1]
            # the same steps, but for rounding of their times
            close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(all_steps).max()}
            assert np.allclose(coarse[f"{name}_max"].values[k], part.max(0), **close)
            assert np.allclose(coarse[f"{name}_min"].values[k], part.min(0), **close)
            mean = (part[1:] + part[:-1]).mean(0) / 2.0
            assert np.allclose(coarse[f"{name}_mean"].values[k], mean, **close)
    # the first sample has nothing before it
    for name in NAMES:
        for end in ("_max", "_min", "_mean"):
            assert np.array_equal(coarse[f"{name}{end}"][0], coarse[name][0])
    assert coarse.spring_tension_max.attrs["units"] == "N"
    assert coarse.spring_tension_max.dims == ("time", "spring")


def test_adaptive_steps_keep_the_largest_tension(model):
    """Samples fall where they may; the steps see each swing to a few parts in a hundred."""
    fine = sw.simulate(model, duration=2.0, output_step=0.002)
    coarse = sw.simulate(model, duration=2.0, output_step=0.4, extremes=NAMES, max_step=0.005)
    largest = float(fine.spring_tension.max())
    assert float(coarse.spring_tension_max.max()) == pytest.approx(largest, rel=0.02)
    same = sw.simulate(model, duration=2.0, output_step=0.4, max_step=0.005)
    assert np.array_equal(same.position, coarse.position)  # looking changes nothing


def test_runs_inside_jit_keep_extremes_too(model):
    options = {"duration": 1.0, "output_step": 0.25, "solver": "rk4", "step": 0.01}

    @jax.jit
    def largest(damping):
        changed = model.with_values({"spring.damping": damping})
        run = sw.simulate_traced(changed, extremes=["spring_tension"], **options)
        return run["spring_tension_max"]

    plain = sw.simulate(model, extremes=["spring_tension"], **options)
    assert np.allclose(largest(3.0), plain.spring_tension_max, rtol=1e-9)


def test_an_unknown_channel_is_refused(model):
    with pytest.raises(sw.SwelltreeError, match=r"no channel 'tension'.*spring_tension"):
        sw.simulate(model, duration=1.0, extremes=["tension"])
    with pytest.raises(sw.SwelltreeError, match=r"Give a list: \['velocity'\]"):
        sw.simulate(model, duration=1.0, extremes="velocity")


def test_mean_of_uneven_steps_is_the_trapezoidal_rule():
    rng = np.random.default_rng(4)
    t = np.cumsum(rng.uniform(0.1, 2.0, 9))
    x = rng.normal(size=(9, 3))
    known = nothing_known({"x": x[0]})
    known = with_step(known, {"x": x[0]}, 7.0)  # before the first value nothing is known
    for k in range(1, 9):
        known = with_step(known, {"x": x[k]}, t[k] - t[k - 1])
    found = as_channels(known)
    assert np.allclose(found["x_mean"], np.trapezoid(x, t, axis=0) / (t[-1] - t[0]))
    assert np.allclose(found["x_max"], x.max(0))
    assert np.allclose(found["x_min"], x.min(0))
    assert np.allclose(as_channels(known_now({"x": x[3]}))["x_mean"], x[3])
