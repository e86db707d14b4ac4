"""Many lines at once, taken at random, from a cold start: no step fails."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from swelltree.model.bed import make_bed
from swelltree.model.line_arrays import stack_lines
from swelltree.two_step.line_attempts import LineOptions
from swelltree.two_step.line_forces import NodeWater, wet_share
from swelltree.two_step.line_points import held_ends
from swelltree.two_step.line_step import LineSetting, run_lines, start_lines

DEPTH, MOST = 100.0, 60


def random_line(rng):
    """Numbers of a line, its straight start (padded) and how far its fairlead moves."""
    n = int(rng.integers(5, MOST + 1))
    span = rng.uniform(50.0, 400.0)
    chord = np.hypot(span, DEPTH)
    d = rng.uniform(0.02, 0.3)
    elastic = rng.random() < 0.5
    length = chord * rng.uniform(1.02, 1.4)
    line = {
        "segments": n,
        "rest_length": length / n,
        "mass_per_length": rng.uniform(1.05, 6.0) * 1025 * np.pi / 4 * d**2,
        "diameter": d,
        "EA": 10 ** rng.uniform(6, 11) if elastic else np.inf,
        "kappa": rng.choice([0.0, 0.01, 0.05]),
        "Cdn": rng.uniform(0.5, 2.0),
        "Cdt": 0.1,
        "Can": 1.0,
        "Cat": rng.uniform(0.0, 0.5),
    }
    s = np.linspace(0, 1, n + 1)[:, None]
    q = np.array([0, 0, -DEPTH]) * (1 - s) + np.array([span, 0, 0]) * s
    q = np.concatenate([np.repeat(q[:1], MOST - n, 0), q])
    return line, q, rng.uniform(0.0, min(3.0, 0.4 * (length - chord)), 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bed",
    [
        {},
        {"stiffness": 1e5, "damping": 1e4, "friction": 0.5},
        {"slope": (0.02, 0.01), "friction": 0.3},
    ],
)
def test_random_lines_in_waves_and_current_never_fail(bed):
    rng = np.random.default_rng(7)
    made = [random_line(rng) for _ in range(60)]
    lines = stack_lines([m[0] for m in made], n=MOST)
    q, reach = np.stack([m[1] for m in made]), np.stack([m[2] for m in made])
    omega, phase = rng.uniform(0.3, 1.5, (60, 1)), rng.uniform(0, 6.28, (60, 3))

    def positions(t):
        move = reach * jnp.clip(t / 10.0, 0.0, 1.0) * jnp.sin(omega * t + phase)
        return (q[:, [0, -1]] + jnp.stack([0.0 * move, move], 1)).reshape(-1, 3)

    def water(t, q):
        """A wave of 2 m and 10 s and a sheared current."""
        z, w, k = q[..., 2], 0.63, 0.04
        fade, p = jnp.exp(k * jnp.minimum(z, 0.0)), k * q[..., 0] - w * t
        zero = 0.0 * z
        current = jnp.stack([0.8 * (1 + z / DEPTH), 0.3 + zero, zero], -1)
        wave = jnp.stack([jnp.cos(p), zero, jnp.sin(p)], -1)
        rate = jnp.stack([jnp.sin(p), zero, -jnp.cos(p)], -1)
        size = 2.0 * fade[..., None]
        return NodeWater(
            velocity=current + w * size * wave,
            acceleration=w * w * size * rate,
            wet=wet_share(q, 2.0 * jnp.cos(p)),
        )

    setting = LineSetting(held_ends(60), make_bed(DEPTH, **bed))
    options = LineOptions(fallback=True)
    run = jax.jit(
        lambda s: run_lines(lines, positions, 0.1, 200, s, setting, water=water, options=options)
    )(start_lines(q))
    assert np.max(run.error) <= options.tolerance
    assert np.all(np.isfinite(run.report.tension))
    assert np.min(run.report.tension) >= -1e-6
    assert np.max(run.report.length_violation) < 1e-8
    assert np.max(run.report.penetration) < 1e-8
