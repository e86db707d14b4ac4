"""Forced fairleads against another code: tensions of MoorDyn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import straight
from swelltree.model.bed import make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_points import held_ends
from swelltree.two_step.line_rest import settle
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

# MoorDyn 2.7.2, RK2, model and coupling step 2 ms, damping ratio 0.8: means over 60-100 s and the
# tension (mean over 0.45 s) at five times of the last but one period, lines 1 and 2 [N]
MEANS = {0: 399.19e3, 1: 395.75e3}
TIMES = (81.0, 83.0, 85.0, 87.0, 89.0)
MOORDYN = {
    0: [285815.0, 382345.0, 485269.0, 466936.0, 348947.0],
    1: [412577.0, 333946.0, 354578.0, 422993.0, 468708.0],
}
AMPLITUDE = {0: 115.2e3, 1: 81.7e3}


@pytest.mark.slow
def test_moved_fairleads_pull_as_in_moordyn():
    """Three 430 m chains, surge 3 m and heave 1.5 m in 10 s, n = 20, h = 0.05 s."""
    n, EA = 20, 1e9
    length = 430.0 / n
    line = {"segments": n, "rest_length": length, "mass_per_length": 150.0, "diameter": 0.15}
    line |= {"EA": EA, "kappa": 0.8 * length * np.sqrt(150.0 / EA)}
    line |= {"Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.3}
    lines = stack_lines([line] * 3)
    angle = 2 * np.pi * np.arange(3) / 3
    anchors = np.stack([400 * np.cos(angle), 400 * np.sin(angle), np.full(3, -100.0)], -1)
    places = np.stack([anchors, 0 * anchors], 1).reshape(-1, 3)
    q = np.stack([straight(a, [0, 0, 0], n) for a in anchors])
    setting = LineSetting(held_ends(3), make_bed(100.0, stiffness=3e6, damping=3e5))

    def positions(t):
        ramp = jnp.clip(t / 20.0, 0.0, 1.0)
        phase = 2 * jnp.pi * t / 10.0
        move = ramp * jnp.stack([3.0 * jnp.sin(phase), 0.0 * t, 1.5 * jnp.sin(phase + 1.0)])
        return jnp.asarray(places) + (jnp.arange(6) % 2)[:, None] * move

    state, _, error = jax.jit(lambda s: settle(lines, s, setting))(start_lines(q))
    assert error < 1e-8
    run = jax.jit(lambda s: run_lines(lines, positions, 0.05, 2000, s, setting))(state)
    assert np.max(run.error) < 1e-9
    assert np.mean(run.iterations) < 3.5
    tension = np.asarray(run.report.tension)[:, :, -1]
    t = np.asarray(run.time)
    late = t >= 60.0
    for k, mean in MEANS.items():
        assert np.mean(tension[late, k]) == pytest.approx(mean, rel=1e-3)
        smooth = np.convolve(tension[:, k], np.ones(9) / 9, "same")
        np.testing.assert_allclose(
            np.interp(TIMES, t, smooth), MOORDYN[k], rtol=0, atol=0.02 * AMPLITUDE[k]
        )
