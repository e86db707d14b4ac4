r"""Internal states of effects in a linear model: oil, flywheels, lags of actuators and controllers.

.. math:: \dot z = A z + B_0 y + B_1 \dot y, \qquad \text{force on } y: \; \ldots + F z

with z the deviations from the values at rest. States that change at events only (modes of latches,
held values of sampled controllers) and those that follow the mean position of a body stay as they
are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jnp
from swelltree.engine.machine.points import Points
from swelltree.formulations import Formulation, State
from swelltree.formulations.equations import settled_at
from swelltree.model.effect import Now
from swelltree.model.internal_state import InternalState, internal_rate
from swelltree.model.model import Model
from swelltree.model.present import present
from swelltree.model.total import total_loads

if TYPE_CHECKING:
    from swelltree.studies.linear.linear_model import OperatingPoint

NONE = 1e-12  # of the largest slope of a state's rate: less counts as none


@dataclass(frozen=True)
class InternalBlock:
    """Internal states (k of them) beside f free directions."""

    names: tuple[str, ...]
    A: Float[np.ndarray, "k k"]
    B: Float[np.ndarray, "k f2"]  # per y and y'
    F: Float[np.ndarray, "f k"]  # forces on the free directions
    held: tuple[str, ...]  # words for effects of which states are held

    def around(self, matrix: np.ndarray, M: np.ndarray) -> np.ndarray:
        """State matrix of (y, y', z) from that of (y, y') with the mass M."""
        f = len(M)
        pushed = np.concatenate([np.zeros_like(self.F), np.linalg.solve(M, self.F)])
        assert matrix.shape == (2 * f, 2 * f)
        return np.block([[matrix, pushed], [self.B, self.A]])


@pytree()
class _Change:
    force: Array
    rate: Array


@pytree()
class _At:
    model: Model
    state: State


def _moving_kinds(model: Model, internal: InternalState) -> list[str]:
    """Effects whose internal states are not settled by the places of bodies."""
    return [e.kind for e in model.effects if e.kind in internal.elements and not e.settles]


@functools.lru_cache(maxsize=32)
def _changes(formulation: Formulation) -> Points:
    """Program of forces and rates at w = (step, velocities, internal states)."""

    def change(at: _At, w: Array) -> _Change:
        t, n = jnp.zeros(()), at.state.s.shape[0]
        internal = settled_at(at.model, formulation, at.state)
        kinds = _moving_kinds(at.model, internal)
        elements, first = dict(internal.elements), 2 * n
        for kind in kinds:
            known = jnp.asarray(elements[kind])
            elements[kind] = known + w[first : first + known.size].reshape(known.shape)
            first += known.size
        internal = InternalState(internal.radiation, elements)
        model = present(at.model, internal)
        moved = formulation.retract(model, at.state, w[:n])
        kin = formulation.kinematics(model, t, State(moved.q, w[n : 2 * n], moved.chart))
        wrench = total_loads(model, t, kin.motion, internal).wrench
        rates = internal_rate(model, Now(t, kin.motion, internal)).elements
        rows = [jnp.ravel(rates[kind]) for kind in kinds]
        return _Change(formulation.project(model, kin, wrench), jnp.concatenate(rows))

    return Points(change)


def internal_block(at: OperatingPoint) -> InternalBlock | None:
    """The internal states of a model at rest; None where it has none."""
    model, how, state, Z = at.model, at.formulation, at.state, np.asarray(at.directions)
    internal = settled_at(model, how, state)
    if not internal.elements:
        return None
    # what switches at events is told by the effect itself, `Effect.linear`
    words = {effect.kind: effect.word for effect in model.effects if not effect.switching()}
    kinds = _moving_kinds(model, internal)
    still = [words[kind] for kind in internal.elements if kind in words and kind not in kinds]
    f, n = Z.shape[1], Z.shape[0]
    if not kinds:
        nothing = np.zeros((0, 0)), np.zeros((0, 2 * f)), np.zeros((f, 0))
        return InternalBlock((), *nothing, tuple(still))
    sizes = [int(np.size(internal.elements[kind])) for kind in kinds]
    zero = np.zeros(2 * n + sum(sizes))
    slope = _changes(how).jacobians(_At(model, state), zero)[1]
    force, rate = np.asarray(slope.force), np.asarray(slope.rate)
    own = [kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)]
    number = [k for size in sizes for k in range(size)]
    moves = np.abs(rate).max(axis=1) > NONE
    free = np.block([[Z, 0 * Z], [0 * Z, Z]])
    rows = np.flatnonzero(moves)
    held = {kind for kind, moved in zip(own, moves, strict=True) if not moved}
    still += [words[kind] for kind in kinds if kind in held and kind in words]
    return InternalBlock(
        tuple(f"{own[k]}__{number[k] + 1}" for k in rows),
        rate[np.ix_(rows, 2 * n + rows)],
        rate[rows][:, : 2 * n] @ free,
        Z.T @ force[:, 2 * n + rows],
        tuple(dict.fromkeys(still)),
    )
