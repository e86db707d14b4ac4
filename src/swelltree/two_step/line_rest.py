"""Lines at rest, by steps that forget all velocity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from swelltree.model.line_arrays import LineArrays
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp
from swelltree.two_step.line_attempts import LineOptions, solve_step
from swelltree.two_step.line_forces import NodeWater
from swelltree.two_step.line_points import held_ends
from swelltree.two_step.line_step import LineSetting, LineState, one_on, prepare


def settle(
    lines: LineArrays,
    state: LineState,
    setting: LineSetting | None = None,
    *,
    water: Callable[[Array, Array], NodeWater] | None = None,
    beyond: Any = None,
    h: Any = 3.0,
    steps: int = 60,
    options: LineOptions | None = None,
) -> tuple[LineState, Array, Array]:
    """Rest of lines whose ends are held or free: steps that forget all velocity, theta = 1.

    Every step minimises the energy plus |q - q_n|_M^2 / (2 h^2), a convex problem, so it converges
    from any start. Returns the state at rest, how far the last step still moved [m] and the
    largest scaled residual [m].

    Args:
        lines: all lines.
        state: positions to begin with, from `start_lines`.
        setting: points, seabed, gravity and water, as in `run_lines`.
        water: as in `run_lines`.
        beyond: points one metre beyond clamped ends (line, 2, 3).
        h: step [s]: the larger, the fewer are needed.
        steps: their number.
        options: how steps are solved.
    """
    setting = LineSetting(held_ends(lines.n_lines)) if setting is None else setting
    options = LineOptions(tolerance=1e-8) if options is None else options
    options = replace(options, theta=1.0)
    state = replace(jax.tree.map(jnp.asarray, state), start=jnp.asarray(0.0))
    held = state.x[1]
    far = None if beyond is None else lambda t: jnp.asarray(beyond)

    def one(state: LineState, _: Array):
        state = replace(
            state,
            q=jnp.stack([state.q[1], state.q[1]]),
            x=jnp.stack([state.x[1], state.x[1]]),
        )
        _, step, guess = prepare(
            lines, setting, state, h, lambda t: held, water, far, None, options
        )
        u, error, _ = solve_step(step, guess, options)
        return one_on(state, u, state.t), (jnp.max(jnp.abs(u.q - guess.q)), jnp.max(error))

    state, (moved, error) = jax.lax.scan(one, state, jnp.arange(steps))
    at_rest = replace(
        state,
        start=jnp.asarray(1.0),
        velocity=jnp.zeros_like(state.velocity),
        point_velocity=jnp.zeros_like(state.point_velocity),
    )
    return at_rest, moved[-1], error[-1]
