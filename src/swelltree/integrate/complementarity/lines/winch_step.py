"""Winches at the end of a step: rope that came in, work, segments, and what there is to report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.integrate.complementarity.instant import Step
from swelltree.integrate.complementarity.lines.regrid import Grid, regridded, sums
from swelltree.integrate.complementarity.lines.report import LineReport
from swelltree.integrate.complementarity.lines.rows import drag
from swelltree.integrate.complementarity.lines.winch_statics import CARRY, change_of_rest, tip_now
from swelltree.integrate.complementarity.state import (
    DRUM,
    FAST,
    MERGE,
    SHORTEST,
    SPLIT,
    LineState,
    Log,
    WinchStepperState,
    noted,
    winch_numbers,
)
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.mooring.winches import at_stop


@pytree()
class WinchSample:
    """Winches at an instant: rows (line,) of all lines, else (winch,)."""

    first: Array
    rest: Array
    length: Array  # m
    speed: Array  # m/s
    tension: Array  # N
    power: Array  # W, given to the line
    work: Array  # J
    brought: Array  # J
    lost: Array  # J
    momentum: Array  # (winch, 3) N s
    slip: Array  # (winch, 3) N s


def finished_winches(
    step: Step, lines: LineState, reported: LineReport, excess: tuple[Array, Array] | None, log: Log
) -> tuple[LineState, WinchSample, Log]:
    """Lines on the segments they go on with, winches after the step and their sample before it.

    Args:
        step: as solved.
        lines: after it, on the segments of the step.
        reported: report of the step.
        excess: points beyond the ends of lines that bend now and after the step, (line, 2, 3)
            each, or None.
        log: so far.
    """
    model, setup, state = step.model, step.setup, step.state
    winches, w, winch_state = step.lines.winches, state.lines.winch, step.now.winch
    assert winches is not None
    winch_lines = np.array(winches.line, dtype=int)
    rest = w.rest + change_of_rest(step.lines, setup, winch_state)
    arrays = jax.tree.map(lambda x: x[winch_lines], step.lines.nodes)
    at_first = jnp.arange(arrays.n) == w.first[winch_lines][:, None]
    complete = jnp.where(at_first, winches.segment[:, None], arrays.rest_length)
    arrays = replace(arrays, rest_length=complete)
    pick = lambda x: jnp.where(at_first, x, 0.0).sum(-1)  # noqa: E731
    tension = pick(reported.tension[winch_lines])
    speed = (rest - w.rest_last)[winch_lines] / (2.0 * setup.h)
    power = reported.winding[winch_lines]
    brought, momentum = _brought(
        step, winch_lines, lines, (rest - w.rest)[winch_lines], winch_state.speed
    )
    grid = Grid(
        first=w.first[winch_lines],
        rest_last=w.rest[winch_lines],
        rest=rest[winch_lines],
        q_last=lines.q_last[winch_lines],
        q=lines.q[winch_lines],
        mu=lines.mu[winch_lines],
        nu=lines.nu[winch_lines],
        excess=jax.tree.map(lambda x: x[winch_lines], excess),
    )
    limits = (winches.segment, winches.split, winches.merge)
    new, kind = regridded(arrays, grid, *limits, _load(step, winch_lines, lines))
    g = _gravity_less_buoyancy(step, winch_lines)
    old_sums, new_sums = (sums(arrays, x, winch_state.speed, g, setup.h) for x in (grid, new))
    standing = at_stop(winches, state.t, winch_state, tension)
    most = CARRY * winches.segment / setup.h
    full = jnp.abs(winch_state.speed) >= most * (1.0 - 1e-12)
    standing = jnp.where(full, 2.0 * jnp.sign(winch_state.speed), standing)
    reached = (standing != 0.0) & (w.standing == 0.0) & (setup.ahead * setup.winding > 0.0)
    moved = lambda rows, x: rows.at[winch_lines].set(x)  # noqa: E731
    after = WinchStepperState(
        first=moved(w.first, new.first),
        rest=moved(rest, new.rest),
        rest_last=moved(w.rest, new.rest_last),
        winch_state=winch_state,
        tip=tip_now(step.lines, setup, state),
        tension=tension,
        standing=standing,
        work=w.work + setup.h * power,
        brought=w.brought + brought,
        lost=w.lost + old_sums.energy - new_sums.energy,
        momentum=w.momentum + momentum,
        slip=w.slip + old_sums.momentum - new_sums.momentum,
    )
    numbers = winch_numbers(model)
    for k, name in enumerate(winches.names):
        number = numbers[name]
        what = jnp.where(kind[k] > 0, SPLIT, MERGE)
        log = noted(log, kind[k] != 0, state.t + setup.h, what, number, winch_state.length[k])
        what = jnp.where(full[k], FAST, jnp.where(standing[k] > 0, DRUM, SHORTEST))
        value = jnp.where(full[k], most[k], winch_state.length[k])
        log = noted(log, reached[k], state.t + setup.h, what, number, value)
    lines = replace(
        lines,
        q=moved(lines.q, new.q),
        q_last=moved(lines.q_last, new.q_last),
        mu=moved(lines.mu, new.mu),
        nu=moved(lines.nu, new.nu),
        winch=after,
    )
    sample = WinchSample(
        first=w.first,
        rest=w.rest,
        length=w.winch_state.length,
        speed=speed,
        tension=tension,
        power=power,
        work=w.work + 0.5 * setup.h * power,
        brought=w.brought,
        lost=w.lost,
        momentum=w.momentum,
        slip=w.slip,
    )
    return lines, sample, log


def _gravity_less_buoyancy(step: Step, rows: Array) -> Array:
    """Submerged weight of incoming rope per mass (winch,) [m/s^2]."""
    model, lines = step.model, step.state.lines
    first = lines.winch.first[rows]
    arrays = step.lines.nodes
    segment = jnp.arange(arrays.n) == first[:, None]
    share = 0.25 * jnp.pi * arrays.diameter**2 / arrays.mass_per_length
    share = jnp.where(segment, share[rows], 0.0).sum(-1)
    node = jnp.arange(arrays.n + 1) == (first + 1)[:, None]
    wet = jnp.where(node, step.now.frozen.wet[rows], 0.0).sum(-1)
    return -model.gravity[2] * (1.0 - model.rho * wet * share)


def _brought(
    step: Step, rows: Array, lines: LineState, change: Array, speed: Array
) -> tuple[Array, Array]:
    """Energy and momentum of the rope that came in during the step, (winch,) and (winch, 3).

    Half of it joins the node after the first segment at that node's velocity, half sits at A. Its
    weight is less what it displaces there.
    """
    model, h = step.model, step.setup.h
    arrays = step.lines.nodes
    first = step.state.lines.winch.first[rows]
    q, last = lines.q[rows], lines.q_last[rows]
    segment = jnp.arange(arrays.n) == first[:, None]
    per_length, diameter = (
        jnp.where(segment, x[rows], 0.0).sum(-1) for x in (arrays.mass_per_length, arrays.diameter)
    )
    half = 0.5 * per_length * change
    displaced = 0.125 * jnp.pi * model.rho * diameter**2 * change
    wet = step.now.frozen.wet[rows]
    g = -model.gravity[2]
    at = lambda x, i: jnp.where(  # noqa: E731
        (jnp.arange(x.shape[1]) == i[:, None])[:, :, None], x, 0.0
    ).sum(1)
    energy, velocities = jnp.zeros_like(half), []
    for i in (first, first + 1):
        v = (at(q, i) - at(last, i)) / h
        z = 0.5 * (at(q, i) + at(last, i))[:, 2]
        buoyant = displaced * at(wet[:, :, None], i)[:, 0]
        energy = energy + 0.5 * half * (v * v).sum(-1) + (half - buoyant) * g * z
        velocities.append(v)
    along = at(q, first + 1) - at(q, first)
    t = along / jnp.sqrt((along**2).sum(-1, keepdims=True) + 1e-20)
    total = velocities[0] + velocities[1] + speed[:, None] * t
    return energy, half[:, None] * total


def _load(step: Step, rows: Array, lines: LineState) -> Array:
    """Force on the node after the first segment, without tension and inertia [N/m]."""
    frozen, setup, state = step.now.frozen, step.setup, step.state
    arrays = step.lines.nodes
    first = state.lines.winch.first[rows]
    v = (lines.q - state.lines.q_last)[rows] / (2.0 * setup.h)
    a = (lines.q - 2.0 * state.lines.q + state.lines.q_last)[rows] / setup.h**2
    part = jax.tree.map(lambda x: x[rows], frozen)
    flow, _ = jax.vmap(drag)(part, v)
    inertia = (part.mass * a[:, :, None, :]).sum(-1)
    total = part.force + flow - inertia
    used = jnp.arange(arrays.n) >= first[:, None]
    half = jnp.where(used, 0.5 * arrays.rest_length[rows], 0.0)
    zero = jnp.zeros((half.shape[0], 1))
    length = jnp.concatenate([zero, half], 1) + jnp.concatenate([half, zero], 1)
    here = jnp.arange(arrays.n + 1) == (first + 1)[:, None]
    force = jnp.where(here[:, :, None], total, 0.0).sum(1)
    return force / jnp.where(here, length, 0.0).sum(1)[:, None]
