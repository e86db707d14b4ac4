"""Many steps in one compiled loop, writing every so-manyth sample."""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.model.internal_state import InternalState
from swelltree.model.kinematics import Pose
from swelltree.model.model import Model
from swelltree.two_step.lines.report import LineReport
from swelltree.two_step.lines.winch_step import WinchSample
from swelltree.two_step.samples import LineSample, Sample
from swelltree.two_step.state import Form, Setup, Sizes, StepperState
from swelltree.two_step.step import advance

PER_LINE = tuple(
    field.name
    for field in fields(LineReport)
    if field.name not in ("tension", "end_force", "slack", "grounded")
)
PER_WINCH = ("length", "speed", "tension", "power", "work", "brought", "lost")


class RunState(NamedTuple):
    """Where a run is."""

    state: StepperState
    index: Array  # steps taken
    ok: Array  # False: the step after them could not be solved
    iterations: Array  # of all steps
    most: Array  # iterations of the hardest step since the last sample
    error: Array  # largest residual since the last sample
    impulse: Any  # (line, segment) of the tension since the last sample, or None
    span: Array  # s, since the last sample


@functools.lru_cache(maxsize=32)
def compiled_run(form: Form) -> Any:
    """Steps up to an index, compiled: (model, setup, going, samples, first, last, every)."""

    def run(
        model: Model,
        setup: Setup,
        run_state: RunState,
        table: Array,
        first: Array,
        last: Array,
        every: Array,
    ) -> tuple[RunState, Array]:
        def more(carry: tuple[RunState, Array]) -> Array:
            return (carry[0].index < last) & carry[0].ok

        def body(carry: tuple[RunState, Array]) -> tuple[RunState, Array]:
            now, kept = carry
            after, sample = advance(model, form, setup, now.state)
            ok = sample.solved
            after = jax.tree.map(lambda a, b: jnp.where(ok, a, b), after, now.state)
            slot, wanted = (now.index - first) // every, (now.index - first) % every == 0
            # what is gathered since the last sample goes with the next
            most = jnp.maximum(now.most, sample.iterations)
            error = jnp.maximum(now.error, sample.error)
            lines, impulse, span = sample.lines, now.impulse, now.span
            if lines is not None:
                impulse, span = impulse + lines.impulse, span + lines.span
                lines = replace(lines, impulse=impulse, span=span)
            seen = replace(sample, iterations=most, error=error, lines=lines)
            kept = _put(kept, _row(seen), slot, wanted)
            gathered = most, error, impulse, span
            reset = jax.tree.map(lambda x: jnp.where(wanted, 0, x).astype(x.dtype), gathered)
            count = now.iterations + sample.iterations
            return RunState(after, now.index + ok, ok, count, *reset), kept

        return jax.lax.while_loop(more, body, (run_state, table))

    program = jax.jit(run)

    def stepped(
        model: Model, setup: Setup, run_state: RunState, samples: Sample, *limits: np.ndarray
    ) -> tuple[RunState, Sample]:
        after, table = program(model, setup, run_state, as_table(samples), *limits)
        return after, from_table(np.asarray(table), samples)

    return stepped


def _row(sample: Sample) -> Array:
    """All numbers of a sample, one after the other."""
    leaves = [jnp.asarray(x).reshape(-1).astype(float) for x in jax.tree.leaves(sample)]
    return jnp.concatenate(leaves)


def as_table(samples: Sample) -> np.ndarray:
    """Samples as rows of one table: a program writes one row where it would write many arrays."""
    leaves = [np.asarray(x) for x in jax.tree.leaves(samples)]
    return np.concatenate([x.reshape(len(x), -1).astype(float) for x in leaves], axis=1)


def from_table(table: np.ndarray, like: Sample) -> Sample:
    """Samples from the rows of a table."""
    leaves, tree = jax.tree.flatten(like)
    ends = np.cumsum([np.asarray(x)[0].size for x in leaves])
    parts = np.split(table, ends[:-1], axis=1)
    pairs = zip(parts, leaves, strict=True)
    return tree.unflatten([x.reshape(y.shape).astype(y.dtype) for x, y in pairs])


def _put(rows: Array, x: Array, slot: Array, wanted: Array) -> Array:
    """Row written where wanted."""
    old = jax.lax.dynamic_index_in_dim(rows, slot, keepdims=False)
    return jax.lax.dynamic_update_index_in_dim(rows, jnp.where(wanted, x, old), slot, 0)


def empty_samples(model: Model, form: Form, state: StepperState, count: int) -> Sample:
    """Room for samples; bodies unturned, so that an empty sample is a possible one."""
    size, N = Sizes.of(model, form), state.v_minus.shape[0]

    def room(*shape: int, kind: Any = float) -> np.ndarray:
        return np.zeros((count, *shape), kind)

    lines = None
    if model.lines is not None and model.lines.arrays is not None:
        n_lines, n = model.lines.arrays.rest_length.shape
        lines = LineSample(
            q=room(n_lines, n + 1, 3),
            v=room(n_lines, n + 1, 3),
            nu=room(n_lines, n + 1),
            report=LineReport(
                tension=room(n_lines, n),
                end_force=room(n_lines, model.lines.n_points, 3),
                slack=room(n_lines, n, kind=bool),
                grounded=room(n_lines, n + 1, kind=bool),
                **{name: room(n_lines) for name in PER_LINE},
            ),
            y=room(size.junctions // 3, 3),
            impulse=room(n_lines, n),
            span=room(),
            winch=_winch_room(state, room),
        )
    return Sample(
        t=room(),
        pose=Pose(room(N, 3), np.tile(np.eye(3), (count, N, 1, 1))),
        v=room(N, 6),
        v_dot=room(N, 6),
        angles=room(*state.angles.shape),
        internal=InternalState(
            room(*state.chi.shape),
            {kind: room(*np.shape(x)) for kind, x in state.elements.items()},
        ),
        lam=room(size.rows),
        contact=room(size.contacts),
        contact_force=room(size.contacts, 3),
        tie=room(size.ties // 3, 3),
        tie_point=room(size.ties // 3, 3),
        work=room(*state.work.shape),
        lines=lines,
        iterations=room(kind=int),
        error=room(),
        solved=room(kind=bool),
    )


def _winch_room(state: StepperState, room: Any) -> WinchSample | None:
    """Room for samples of winches."""
    w = state.lines.winch
    if w is None:
        return None
    rows = {name: room(*w.tip.shape) for name in PER_WINCH}
    return WinchSample(
        first=room(*w.first.shape, kind=np.int32),
        rest=room(*w.rest.shape),
        momentum=room(*w.momentum.shape),
        slip=room(*w.momentum.shape),
        **rows,
    )


def single_step(form: Form, count: int) -> Any:
    """One step, (model, setup, walk) -> (walk, sample), by the program of whole runs.

    Args:
        form: coordinates.
        count: samples that program has room for.
    """
    run = compiled_run(form)
    room: list[Sample] = []

    def step(model: Model, setup: Setup, state: StepperState) -> tuple[StepperState, Sample]:
        if not room:
            room.append(empty_samples(model, form, state, count))
        begin = run_state(state)
        after, samples = run(model, setup, begin, room[0], *(np.array(i) for i in (0, 1, 1)))
        return jax.tree.map(np.asarray, after.state), jax.tree.map(
            lambda x: np.asarray(x)[0], samples
        )

    return step


def run_state(state: StepperState) -> RunState:
    """A run that has not begun."""
    zero = np.zeros((), np.int64)
    impulse = None
    if state.lines is not None and state.lines.mu.size:
        impulse = np.zeros(state.lines.mu.shape)
    return RunState(state, zero, np.array(True), zero, zero, np.zeros(()), impulse, np.zeros(()))
