"""Runs in a sea whose height, period, heading and seed JAX is tracing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float
from swelltree.hydro.linear.hydro import wave_loads
from swelltree.hydro.linear.in_sea import apply_sea


def floating():
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    system = sw.System(
        "heaving",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis="z")],
        ptos=[sw.LinearPto("pto", joint="rail", damping=4e4)],
        water=sw.Water(rho=1000.0),
    )
    return sw.compile(system, heaving_float(), radiation="none")


def sea(x, seed=5):
    spectrum = sw.Jonswap(Hs=x[0], Tp=x[1])
    return sw.IrregularSea(spectrum, seed=seed, components=12, beta=x[2], ramp=2.0)


def last(model, x, seed=5):
    run = sw.simulate(
        model, sea(x, seed), duration=2.4, output_step=0.8, solver="rk4", step=0.2, progress=False
    )
    return run["position"]


def test_a_traced_sea_pushes_as_the_known_one_does():
    """Also at headings between the data and with frequencies beside them."""
    table = floating().hydro.table
    x = np.array([1.3, 6.1, 0.0])
    model = floating()

    def loads(x):
        own = wave_loads(table, model.water, sw.realise(sea(x), model.water), 20.0, step=0.05)
        return own.force, own.rate

    known = loads([*map(float, x)])
    for ours, theirs in zip(jax.jit(loads)(x), known, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.slow
def test_gradients_by_height_and_period_are_those_of_differences():
    model = floating()
    x = np.array([1.1, 5.3, 0.0])
    weight = np.random.default_rng(3).normal(size=(2, 6))

    def outcome(x):
        return jnp.sum(weight * last(model, x)[-2:, 0])

    value, slopes = jax.jit(jax.value_and_grad(outcome))(x)

    def known(x):
        return float((weight * last(model, [*map(float, x)]).values[-2:, 0]).sum())

    # the grids of the excitation differ, each right to 2e-6
    assert value == pytest.approx(known(x), rel=1e-5)
    for i in range(2):  # the data have one heading
        h = 1e-3 * np.eye(3)[i]
        assert slopes[i] == pytest.approx((known(x + h) - known(x - h)) / 2e-3, rel=2e-3, abs=1e-6)


def test_many_seeds_at_once_are_the_single_runs():
    model, x = floating(), [1.2, 5.7, 0.0]
    together = jax.jit(jax.vmap(lambda seed: last(model, x, seed)))(jnp.array([3, 8]))
    for run, seed in zip(together, (3, 8), strict=True):
        # the grids of the excitation differ, each right to 2e-6
        np.testing.assert_allclose(run, last(model, x, seed), atol=1e-5)


def test_a_traced_sea_outside_the_data_gives_no_numbers():
    model = floating()
    waves = jax.jit(lambda T: apply_sea(model, sw.realise(sea([1.0, T, 0.0]), model.water), 5.0))(
        0.4
    )
    assert np.isnan(waves.hydro.waves.force).all()


def test_what_does_not_know_traced_seas_says_so():
    model = floating()
    with pytest.raises(sw.SwelltreeError, match="'convolution' does not support traced seas"):
        jax.jit(lambda T: apply_sea(model, sw.realise(sea([1.0, T, 0.0]), model.water), 5.0,
                                   "convolution"))(5.0)  # fmt: skip
    for study in (sw.steady_state, sw.response):
        with pytest.raises(sw.SwelltreeError, match="cannot be differentiated"):
            jax.jit(lambda T, study=study: study(model, sw.RegularWave(amplitude=1.0, period=T)))(
                5.0
            )
