"""Steps of one case of a batch by the two-step scheme, from one sample to the next.

A chunk is so many output times. Between two of them a loop takes the steps of the scheme; the
sample of the last is observed at once, so that nothing but channels is kept of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.compiler.step_means import with_step_means
from swelltree.effects.linear_hydro.wave_sums import WaveSums
from swelltree.engine.arrays import Array, Tree
from swelltree.engine.backend import jax, jnp
from swelltree.engine.machine.rows.loops import Axes
from swelltree.model.model import Model
from swelltree.results.channels import chosen
from swelltree.solvers.solution import Code
from swelltree.spatial.products import compact
from swelltree.studies.batch.budget import budget
from swelltree.studies.batch.xla import BUDGET, LOOPS
from swelltree.studies.time.two_step.channels import observe
from swelltree.two_step.lines.node_axes import node_axes
from swelltree.two_step.run import RunState, after_step
from swelltree.two_step.samples import Sample
from swelltree.two_step.state import Form, Setup
from swelltree.two_step.step import advance


class CaseStart(NamedTuple):
    """What a case is run with.

    Args:
        model: in its sea.
        setup: constants of its steps.
        first: its first sample, with the velocities given.
    """

    model: Model
    setup: Setup
    first: Sample


class Stepped(NamedTuple):
    """Where a case is."""

    run: RunState
    code: Array  # `Code`
    t_fail: Array  # s, where it could not be stepped on


def stepped_from(run: RunState) -> Stepped:
    """A case before its first step."""
    return Stepped(run, np.array(int(Code.SUCCESS), np.int64), np.array(np.nan))


def chunk_of_steps(form: Form, names: tuple[str, ...]) -> Callable[..., Tree]:
    """``run(case_start, none, stepped, marks) -> (stepped, (channels, budget))`` of one case.

    Args:
        form: of the steps.
        names: of the channels.

    Marks are numbers of steps before each sample of a chunk (sample,).
    """

    def run(case_start: CaseStart, none: tuple[()], at: Stepped, marks: Array) -> Tree:
        model, setup, first = case_start
        averaged = with_step_means(model, setup.h)

        def one(now: RunState, mark: Array) -> tuple[RunState, Sample]:
            here = _with_loads_now(averaged, now.state.t)
            after, sample = advance(here, form, setup, now.state)
            wanted = now.index == mark
            later, full = after_step(here, form, setup.h, now, after, sample, wanted)
            later = jax.tree.map(lambda a, b: jnp.where(sample.solved, a, b), later, now)
            return later._replace(ok=sample.solved), full

        shapes = jax.eval_shape(one, at.run, marks[0])[1]
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

        def to_sample(now: RunState, mark: Array) -> tuple[RunState, Tree]:
            def more(carry: tuple[RunState, Sample]) -> Array:
                return (carry[0].index <= mark) & carry[0].ok

            now, sample = jax.lax.while_loop(more, lambda x: one(x[0], mark), (now, nothing))
            sample = jax.tree.map(lambda a, b: jnp.where(mark == 0, a, b), first, sample)
            return now, _kept(model, form, sample, names)

        now, kept = jax.lax.scan(to_sample, at.run, marks)
        code = jnp.where(now.ok, int(Code.SUCCESS), int(Code.NO_PROGRESS)).astype(jnp.int64)
        failed = jnp.where(now.ok, jnp.nan, now.state.t)
        return Stepped(now, code, failed), kept

    return run


def _with_loads_now(model: Model, t: Array) -> Model:
    """The model with loads of waves that are summed once for a step, where they are not known."""
    hydro = model.hydro
    if hydro is None or not isinstance(hydro.waves, WaveSums):
        return model
    return model.with_effect(replace(hydro, waves=hydro.waves.loads(t, 2)))


def _kept(model: Model, form: Form, sample: Sample, names: tuple[str, ...]) -> Tree:
    """Channels that are wanted, and those by which a run looks at itself."""
    with compact():
        raw = observe(model, form, sample)
    if not model.cut_rows:
        return chosen(model, raw, names), budget(model, raw, "two_step")
    return chosen(model, raw, names), {name: raw[name] for name in (*BUDGET, *LOOPS)}


def axes_of_rows(case_start: CaseStart, none: tuple[()], at: Stepped, marks: Array) -> Axes:
    """First axes of arrays that are computed in loops, of one case."""
    state = at.run.state
    axes: dict[tuple[int, ...], int] = {}
    if state.log is not None:
        k = len(state.log.rows)
        axes |= {(k,): k, (1, k): k}
    if state.lines is not None:
        lines = state.lines
        points = lines.q.shape[0] * lines.q.shape[1] + lines.y.shape[0]
        axes |= node_axes(case_start.model, lines.mu.shape) | {(points,): points}
    return axes
