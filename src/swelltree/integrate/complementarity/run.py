"""Many steps in one compiled loop, which writes the samples that are wanted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from swelltree.integrate.complementarity.lines.node_axes import node_axes
from swelltree.integrate.complementarity.lines.report import LineReport
from swelltree.integrate.complementarity.lines.winch_step import WinchSample
from swelltree.integrate.complementarity.samples import LineSample, Sample
from swelltree.integrate.complementarity.state import (
    LineState,
    SchemeOptions,
    Sizes,
    StepConstants,
    StepperState,
)
from swelltree.integrate.complementarity.step import advance
from swelltree.integrate.problem import as_channels, known_now, nothing_known, with_step
from swelltree.jit import Array, Program, Tree, flatten, jax, jnp, leaves_of, mapped, shapes_of
from swelltree.model.capabilities import InternalState
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.multibody.kinematics import Pose

PER_LINE = tuple(
    field.name
    for field in fields(LineReport)
    if field.name not in ("tension", "end_force", "slack", "grounded", "curvature", "moment")
)
FAR = np.iinfo(np.int64).max  # a step that no run comes to
SHORT = 64  # numbers of a sample that are written individually
MAX_EXPRESSIONS = 120_000  # expressions of a program: XLA compiles slowly what steps in a loop
MIN_ROOM, MAX_ROOM, ROOM_VALUES = 8, 200, 400_000  # samples, and numbers in all of them
PER_WINCH = ("length", "speed", "tension", "power", "work", "brought", "lost")


class RunState(NamedTuple):
    """State of a run, and extremes since its last sample."""

    state: StepperState
    index: Array  # steps taken
    ok: Array  # False: the step after them could not be solved
    iterations: Array  # of all steps
    most: Array  # iterations of the hardest step since the last sample
    error: Array  # largest residual since the last sample
    impulse: Array  # (line, segment) of the tension since the last sample, or None
    span: Array  # s, since the last sample
    extremes: Tree = None  # Extremes of the channels that the form keeps, or None


def after_step(
    model: Model,
    form: SchemeOptions,
    h: Array,
    now: RunState,
    after: StepperState,
    sample: Sample,
    requested: Array,
) -> tuple[RunState, Sample]:
    """The run after a solved step, and the sample with all that was gathered since the last.

    Args:
        model: compiled, in its sea.
        form: of the steps.
        h: step [s].
        now: before the step.
        after: where it led.
        sample: of the instant it left.
        requested: is this instant an output time?
    """
    most = jnp.maximum(now.most, sample.iterations)
    error = jnp.maximum(now.error, sample.error)
    lines, impulse, span, extremes = sample.lines, now.impulse, now.span, now.extremes
    if lines is not None:
        impulse, span = impulse + lines.impulse, span + lines.span
        lines = replace(lines, impulse=impulse, span=span)
    full = replace(sample, iterations=most, error=error, lines=lines)
    if extremes is not None:
        channels = form.stored(model, form, sample)
        extremes = with_step(extremes, channels, h)
        full = replace(full, extremes=as_channels(extremes))
        extremes = jax.tree.map(
            lambda a, b: jnp.where(requested, a, b), known_now(channels), extremes
        )
    gathered = most, error, impulse, span
    most, error, impulse, span = jax.tree.map(
        lambda x: jnp.where(requested, 0, x).astype(x.dtype), gathered
    )
    later = RunState(
        state=after,
        index=now.index + 1,
        ok=jnp.ones((), bool),
        iterations=now.iterations + sample.iterations,
        most=most,
        error=error,
        impulse=impulse,
        span=span,
        extremes=extremes,
    )
    return later, full


@functools.lru_cache(maxsize=32)
def compiled_run(form: SchemeOptions) -> CompiledRun:
    """Compiled function that steps to an index."""
    return CompiledRun(form)


class CompiledRun:
    """Steps up to an index, compiled.

    Args:
        form: coordinates and equations.
    """

    def __init__(self, form: SchemeOptions) -> None:
        options = None if form.optimised else {"xla_backend_optimization_level": 0}
        # native code is the same however XLA would compile
        steps = _steps(replace(form, optimised=True))
        self.program = Program(steps, rows=_rows, options=options, most=MAX_EXPRESSIONS)
        self._last_room: tuple[Sample | None, np.ndarray] = None, np.zeros(0)

    def __call__(
        self,
        model: Model,
        setup: StepConstants,
        run_state: RunState,
        samples: Sample,
        marks: np.ndarray,
        last: int,
    ) -> tuple[RunState, Sample]:
        """The run after its steps, with the samples of the instants that were wanted.

        Args:
            model: in its sea.
            setup: constants of the run.
            run_state: where it is.
            samples: room for them.
            marks: numbers of the instants that are wanted, counted from the start of the run, in
                order.
            last: number of the instant that ends the run.
        """
        args = self._arguments(model, setup, run_state, samples, marks, last)
        after, table = self.program(*args)
        return after, from_table(np.asarray(table), samples)

    def engine(
        self,
        model: Model,
        setup: StepConstants,
        run_state: RunState,
        samples: Sample,
        marks: np.ndarray,
    ) -> str:
        """Engine of such arguments, and why: see `Program.engine`."""
        return self.program.engine(
            *self._arguments(model, setup, run_state, samples, marks, int(run_state.index))
        )

    def _arguments(
        self,
        model: Model,
        setup: StepConstants,
        run_state: RunState,
        samples: Sample,
        marks: np.ndarray,
        last: int,
    ) -> tuple[Tree, ...]:
        slot = np.searchsorted(marks, int(run_state.index))
        room, table = self._last_room  # other threads may change it
        if room is not samples:
            table = as_table(samples)
            self._last_room = samples, table
        return model, setup, run_state, table, marks, np.array(slot), np.array(last)


@functools.lru_cache(maxsize=32)
def _steps(form: SchemeOptions) -> Callable[..., tuple[RunState, Array]]:
    """Function that steps to an index: (model, setup, run state, samples, marks, slot, last)."""

    def run(
        model: Model,
        setup: StepConstants,
        run_state: RunState,
        table: Array,
        marks: Array,
        slot: Array,
        last: Array,
    ) -> tuple[RunState, Array]:
        def more(carry: tuple[RunState, Array, Array]) -> Array:
            return (carry[0].index < last) & carry[0].ok

        def body(carry: tuple[RunState, Array, Array]) -> tuple[RunState, Array, Array]:
            now, stored, slot = carry
            after, sample = advance(model, form, setup, now.state)
            ok = sample.solved
            here = jnp.minimum(slot, len(marks) - 1)
            requested = (marks[here] == now.index) & (slot < len(marks))
            later, full = after_step(model, form, setup.h, now, after, sample, requested)
            later = jax.tree.map(lambda a, b: jnp.where(ok, a, b), later, now)
            stored = _put(stored, _row(full), here, requested)
            return later._replace(ok=ok), stored, slot + (ok & requested)

        return jax.lax.while_loop(more, body, (run_state, table, slot))[:2]

    return run


def _rows(
    model: Model, setup: StepConstants, run_state: RunState, table: Array, *rest: Array
) -> dict[tuple[int, ...], int]:
    """First axes of arrays computed in loops: over nodes, segments and samples."""
    state = run_state.state
    flat = [table.shape[1]] if table.shape[1] > SHORT else []
    if state.log is not None:
        flat.append(len(state.log.rows))
    axes = {first: k for k in flat for first in ((k,), (1, k))}
    if state.lines is not None:
        axes |= _of_lines(model, state.lines)
    # samples stay where they are, one row after another
    axes.pop((table.shape[0],), None)
    return axes


def _of_lines(model: Model, lines: LineState) -> dict[tuple[int, ...], int]:
    """Row axes of lines, and of the points at which they evaluate the water."""
    points = lines.q.shape[0] * lines.q.shape[1] + lines.y.shape[0]
    return node_axes(model, lines.mu.shape) | {(points,): points}


def _row(sample: Sample) -> Array:
    """All numbers of a sample in one row."""
    leaves = [jnp.asarray(x).reshape(-1).astype(float) for x in jax.tree.leaves(sample)]
    return jnp.concatenate(leaves)


def as_table(samples: Sample) -> np.ndarray:
    """Samples as rows of one table: a program writes one row instead of many arrays."""
    leaves = [np.asarray(x) for x in leaves_of(samples)]
    return np.concatenate([x.reshape(len(x), -1).astype(float) for x in leaves], axis=1)


def from_table(table: np.ndarray, like: Sample) -> Sample:
    leaves, tree = flatten(like)
    ends = np.cumsum([np.asarray(x)[0].size for x in leaves])
    parts = np.split(table, ends[:-1], axis=1)
    pairs = zip(parts, leaves, strict=True)
    return tree.unflatten([x.reshape(y.shape).astype(y.dtype, copy=False) for x, y in pairs])


def _put(rows: Array, x: Array, slot: Array, requested: Array) -> Array:
    """Array with a row written where requested."""
    old = jax.lax.dynamic_index_in_dim(rows, slot, keepdims=False)
    return jax.lax.dynamic_update_index_in_dim(rows, jnp.where(requested, x, old), slot, 0)


def empty_samples(model: Model, form: SchemeOptions, state: StepperState, count: int) -> Sample:
    """Preallocated samples; identity rotations keep empty samples valid."""
    size, N = Sizes.of(model, form), state.v_minus.shape[0]

    def room(*shape: int, kind: type = float) -> np.ndarray:
        return np.zeros((count, *shape), kind)

    lines, described = None, lines_of(model)
    if described is not None and described.arrays is not None:
        n_lines, n = described.arrays.rest_length.shape
        bent = n + 1 if described.arrays.bending else 0
        lines = LineSample(
            q=room(n_lines, n + 1, 3),
            v=room(n_lines, n + 1, 3),
            nu=room(n_lines, n + 1),
            report=LineReport(
                tension=room(n_lines, n),
                end_force=room(n_lines, described.n_points, 3),
                slack=room(n_lines, n, kind=bool),
                grounded=room(n_lines, n + 1, kind=bool),
                curvature=room(n_lines, bent),
                moment=room(n_lines, bent),
                **{name: room(n_lines) for name in PER_LINE},
            ),
            y=room(size.junctions // 3, 3),
            impulse=room(n_lines, n),
            span=room(),
            winch=_winch_room(state, room),
            most=room(n_lines, n) if described.arrays.original.shape[-2] else None,
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
        extremes={name: room(*x.shape) for name, x in _summaries(model, form, state).items()},
    )


@functools.lru_cache(maxsize=32)
def output_channels(form: SchemeOptions) -> Callable[[Model, Sample], dict[str, Array]]:
    """Function of a model and a sample: channels whose extremes are recorded."""
    assert form.stored is not None
    return lambda model, sample: form.stored(model, form, sample)


def _stored(model: Model, form: SchemeOptions, state: StepperState) -> dict[str, Array]:
    """Shapes of the channels whose extremes are kept."""
    if form.stored is None:
        return {}
    plain = replace(form, stored=None)
    sample = mapped(lambda x: x[0], empty_samples(model, plain, state, 1))
    return shapes_of(output_channels(form), model, sample)


def _summaries(model: Model, form: SchemeOptions, state: StepperState) -> dict[str, Array]:
    stored = _stored(model, form, state)
    return as_channels(nothing_known(stored)) if stored else {}


def _winch_room(state: StepperState, room: Callable[..., np.ndarray]) -> WinchSample | None:
    """Preallocated samples of winches."""
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


def room_for(model: Model) -> int:
    """Samples that the programs of runs and of equilibrium have room for.

    By the size of a sample only: one program serves equilibrium and runs of any length, and they
    begin alike to the last bit, which with friction decides where everything comes to rest.
    """
    lines = lines_of(model)
    nodes = 0 if lines is None or lines.arrays is None else lines.arrays.rest_length.size
    return int(
        np.clip(ROOM_VALUES // (20 * nodes + 50 * model.layout.n_bodies + 1), MIN_ROOM, MAX_ROOM)
    )


def single_step(
    form: SchemeOptions, count: int | None = None
) -> Callable[[Model, StepConstants, StepperState], tuple[StepperState, Sample]]:
    """One step, (model, setup, state) -> (state, sample), by the program of whole runs.

    Args:
        form: coordinates.
        count: samples that program has room for; as `room_for` says if not given.
    """
    run = compiled_run(form)
    room: list[tuple[Sample, np.ndarray]] = []

    def step(
        model: Model, setup: StepConstants, state: StepperState
    ) -> tuple[StepperState, Sample]:
        if not room:
            marks = np.full(room_for(model) if count is None else count, FAR)
            marks[0] = 0
            room.append((empty_samples(model, form, state, len(marks)), marks))
        after, samples = run(model, setup, run_state(model, form, state), *room[0], 1)
        return mapped(np.asarray, after.state), mapped(lambda x: np.asarray(x)[0], samples)

    return step


def run_state(model: Model, form: SchemeOptions, state: StepperState) -> RunState:
    """Initial state of a run."""
    zero = np.zeros((), np.int64)
    impulse = None
    if state.lines is not None and state.lines.mu.size:
        impulse = np.zeros(state.lines.mu.shape)
    shapes = _stored(model, form, state)
    extremes = nothing_known(shapes) if shapes else None
    none = np.zeros(())
    return RunState(state, zero, np.array(True), zero, zero, none, impulse, none, extremes)
