"""Many steps in one compiled loop, writing every so-manyth sample."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from swelltree.model.model import Model
from swelltree.spatial.arrays import Array
from swelltree.spatial.engine import jax, jnp
from swelltree.two_step.step import Sample, advance
from swelltree.two_step.walk import Form, Setup, Walk


class Going(NamedTuple):
    """Where a run is."""

    walk: Walk
    index: Array  # steps taken
    ok: Array  # False: the step after them could not be solved
    iterations: Array  # of all steps
    most: Array  # iterations of the hardest step since the last sample
    error: Array  # largest residual since the last sample


@functools.lru_cache(maxsize=32)
def compiled_run(form: Form) -> Any:
    """Steps up to an index, compiled: (model, setup, going, samples, first, last, every)."""

    def run(
        model: Model,
        setup: Setup,
        going: Going,
        samples: Sample,
        first: Array,
        last: Array,
        every: Array,
    ) -> tuple[Going, Sample]:
        def more(state: tuple[Going, Sample]) -> Array:
            return (state[0].index < last) & state[0].ok

        def body(state: tuple[Going, Sample]) -> tuple[Going, Sample]:
            now, kept = state
            after, sample = advance(model, form, setup, now.walk)
            ok = sample.solved
            after = jax.tree.map(lambda a, b: jnp.where(ok, a, b), after, now.walk)
            slot, wanted = (now.index - first) // every, (now.index - first) % every == 0
            fresh = wanted & (now.index > first)
            most = jnp.maximum(jnp.where(fresh, 0, now.most), sample.iterations)
            error = jnp.maximum(jnp.where(fresh, 0.0, now.error), sample.error)
            seen = sample.__class__(**{**sample.__dict__, "iterations": most, "error": error})
            kept = jax.tree.map(lambda rows, x: _put(rows, x, slot, wanted), kept, seen)
            count = now.iterations + sample.iterations
            return Going(after, now.index + ok, ok, count, most, error), kept

        return jax.lax.while_loop(more, body, (going, samples))

    return jax.jit(run)


def _put(rows: Array, x: Array, slot: Array, wanted: Array) -> Array:
    """Row written where wanted."""
    old = jax.lax.dynamic_index_in_dim(rows, slot, keepdims=False)
    return jax.lax.dynamic_update_index_in_dim(rows, jnp.where(wanted, x, old), slot, 0)


def empty_samples(form: Form, model: Model, setup: Setup, walk: Walk, count: int) -> Sample:
    """Room for samples."""
    like = jax.eval_shape(lambda m, s, w: advance(m, form, s, w)[1], model, setup, walk)
    return jax.tree.map(lambda x: np.zeros((count, *x.shape), x.dtype), like)


def single_step(form: Form, count: int) -> Any:
    """One step, (model, setup, walk) -> (walk, sample), by the program of whole runs.

    Args:
        form: coordinates.
        count: samples that program has room for.
    """
    run = compiled_run(form)
    room: list[Sample] = []

    def step(model: Model, setup: Setup, walk: Walk) -> tuple[Walk, Sample]:
        if not room:
            room.append(empty_samples(form, model, setup, walk, count))
        begin = going(walk)
        after, samples = run(model, setup, begin, room[0], *(np.array(i) for i in (0, 1, 1)))
        return after.walk, jax.tree.map(lambda x: x[0], samples)

    return step


def going(walk: Walk) -> Going:
    """A run that has not begun."""
    zero = np.zeros((), np.int64)
    start = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, jax.Array) else x, walk)
    return Going(start, zero, np.array(True), zero, zero, np.zeros(()))
