"""Order of convergence of a line in moving water, added mass and drag included."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import quick_jit, straight
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_forces import NodeWater
from swelltree.two_step.line_points import held_ends
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

N = 6
LINE = {"segments": N, "rest_length": 6.0, "mass_per_length": 60.0, "diameter": 0.15, "EA": 2e5}
LINE |= {"kappa": 0.05, "Cdn": 1.2, "Cdt": 0.1, "Can": 1.0, "Cat": 0.3, "lift": 0.2}
ENDS = np.array([[0.0, 0, -30], [28.0, 0, -5]])


def positions(t):
    move = (t > 0) * t**3 / (1.0 + t**3) * jnp.stack([jnp.sin(t), jnp.cos(t), 0.5 * jnp.sin(2 * t)])
    return jnp.asarray(ENDS) + jnp.array([0.0, 1.0])[:, None] * move


def water(t, q):
    p = 0.1 * q[..., 0] - 1.0 * t
    u = jnp.stack([jnp.cos(p), 0.3 + 0.0 * p, jnp.sin(p)], -1)
    a = jnp.stack([jnp.sin(p), 0.0 * p, -jnp.cos(p)], -1)
    return NodeWater(velocity=u, acceleration=a, wet=jnp.ones(p.shape))


@pytest.mark.slow
def test_elastic_line_in_waves_converges_with_order_two():
    lines = stack_lines([LINE])
    q = straight(*ENDS, N)
    q[:, 2] -= 4.0 * np.sin(np.pi * np.linspace(0, 1, N + 1))
    setting = LineSetting(held_ends(1))

    @quick_jit
    def piece(h, s):
        return run_lines(lines, positions, h, 40, s, setting, water=water)

    places, pulls = [], []
    for halvings in range(4):
        state = start_lines(q[None])
        for _ in range(2**halvings + 1):
            run = piece(0.025 / 2**halvings, state)
            state = run.state
        assert float(run.time[0]) == pytest.approx(1.0)
        places.append(np.asarray(run.position)[0])
        pulls.append(np.asarray(run.report.tension)[0])
    for series in (places, pulls):
        gaps = [np.abs(b - a).max() for a, b in pairwise(series)]
        assert np.log2(gaps[1] / gaps[2]) == pytest.approx(2.0, abs=0.1)
