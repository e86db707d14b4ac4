"""A log of what happens during a run, kept inside the compiled loop."""

from __future__ import annotations

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.model.model import Model
from swelltree.two_step.state import LOG, Log

SPLIT, MERGE, DRUM, SHORTEST, FAST, CAUGHT, MISSED, RELEASED = (float(k) for k in range(1, 9))


def empty_log(model: Model) -> Log | None:
    """Room for events, None where nothing can happen."""
    lines = model.lines
    if not winch_numbers(model) and (lines is None or not lines.tie_body):
        return None
    return Log(np.zeros((LOG, 4)), np.zeros((), np.int32))


def winch_numbers(model: Model) -> dict[str, int]:
    """All winches of a model, each with the number that its events are noted by."""
    winches = (effect.winches for effect in model.effects)
    names = (name for part in winches if part is not None for name in part.names)
    return {name: k for k, name in enumerate(names)}


def noted(log: Log, happened: Array, t: Array, kind: Array, item: int, value: Array) -> Log:
    """The log with one more event, if it happened and there is room."""
    row = jnp.stack([jnp.asarray(x, float) for x in (t, kind, item, value)])
    slot = jnp.minimum(log.count, LOG - 1)
    old = jax.lax.dynamic_index_in_dim(log.rows, slot, keepdims=False)
    row = jnp.where(happened & (log.count < LOG), row, old)
    rows = jax.lax.dynamic_update_index_in_dim(log.rows, row, slot, 0)
    return Log(rows, log.count + happened.astype(log.count.dtype))


def sentences(model: Model, log: Log | None, until: float) -> list[str]:
    """Stages of operations and events as messages, in time, up to the end of a run [s]."""
    if log is None:
        return []
    count = int(log.count)
    winches = list(winch_numbers(model))
    texts = {
        SPLIT: "winch '{name}' has one segment more, {value:.6g} m out",
        MERGE: "winch '{name}' has one segment less, {value:.6g} m out",
        DRUM: "winch '{name}' stands at the end of its drum, {value:.6g} m out",
        SHORTEST: "winch '{name}' stands at its shortest length, {value:.6g} m out",
        FAST: "winch '{name}' runs at {value:.3g} m/s, the most that the step can carry",
        CAUGHT: "end B of line '{name}' is caught from {value:.3g} m",
        MISSED: "end B of line '{name}' is {value:.3g} m away and not caught",
        RELEASED: "line '{name}' is released at {value:.6g} N",
    }
    parts = (effect.winches for effect in model.effects)
    happened = [row for part in parts if part is not None for row in part.stages]
    for t, kind, item, value in np.asarray(log.rows)[: min(count, LOG)]:
        of_winch = kind <= FAST
        k = int(item)
        name = winches[k] if of_winch else _tied_line(model, k)
        happened.append((t, texts[kind].format(name=name, value=value)))
    happened = sorted((row for row in happened if row[0] <= until + 1e-9), key=lambda row: row[0])
    more = [f"and {count - LOG} more"] if count > LOG else []
    return [f"{t:.6g} s: {text}" for t, text in happened] + more


def _tied_line(model: Model, tie: int) -> str:
    """Name of the line whose end a tie holds."""
    lines = model.dynamic_lines
    return lines.lines[lines.tie_line[tie]]
