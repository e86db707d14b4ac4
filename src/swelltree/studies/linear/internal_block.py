r"""Internal states of effects in a linear model: oil, flywheels, lags of actuators and controllers.

.. math::
    \dot z = A z + B_0 y + B_1 \dot y, \qquad \text{force on } y: \; \ldots + F z, \qquad
    \text{force of elements: } \ldots + E z

with z the deviations from the values at rest. States that change at events only (modes of latches,
held values of sampled controllers) and those that follow the mean position of a body stay as they
are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Complex, Float

from swelltree.describe.errors import listed
from swelltree.jit import Array, Points, is_traced, jnp, namespace, pytree
from swelltree.model.capabilities import HasEquilibriumStates, HasEvents, HasStates, having
from swelltree.model.effect import Instant
from swelltree.model.internal_state import InternalState, internal_rate, present
from swelltree.model.model import Model
from swelltree.model.solved import total_loads
from swelltree.multibody.formulations import Formulation, State
from swelltree.multibody.formulations.equations import settled_at
from swelltree.pto.actuators.forces import element_forces

if TYPE_CHECKING:
    from swelltree.studies.linear.linear_model import OperatingPoint

NONE = 1e-12  # of the largest slope of a state's rate: less counts as none


@dataclass(frozen=True)
class InternalBlock:
    """Internal states (k of them) beside f free directions; numpy, or traced arrays."""

    A: Float[Array, "k k"]
    B: Float[Array, "k f2"]  # per y and y'
    F: Float[Array, "f k"]  # forces on the free directions
    E: Float[Array, "e k"]  # forces of the elements on strokes
    names: tuple[str, ...] = ()
    held: tuple[str, ...] = ()  # words for effects of which states are held

    def around(self, matrix: Array, M: Array) -> Array:
        """State matrix of (y, y', z) from that of (y, y') with the mass M."""
        if not self.names:
            return matrix
        xp = namespace(matrix, self.F, M)
        pushed = xp.concatenate([xp.zeros_like(self.F), xp.linalg.solve(M, self.F)])
        return xp.block([[matrix, pushed], [self.B, self.A]])

    def response(self, omega: Float[np.ndarray, " w"]) -> Complex[np.ndarray, "w k f"]:
        """States per displacement of the free directions, exp(-iwt)."""
        f, w = self.F.shape[0], omega[:, None, None]
        moved = self.B[:, :f] - 1j * w * self.B[:, f:]
        return np.linalg.solve(-1j * w * np.eye(len(self.A)) - self.A, moved)

    def notes(self) -> tuple[str, ...]:
        """Which internal states a linear model holds still."""
        if not self.held:
            return ()
        return (
            f"States of the elements of kind {listed(self.held)} that do not change with small "
            "motions are held at their values at rest.",
        )


@pytree()
class _Change:
    force: Array
    rate: Array
    elements: Array


@pytree()
class _At:
    model: Model
    state: State


def _moving_kinds(model: Model, internal: InternalState) -> list[str]:
    """Effects whose internal states are not settled by the places of bodies."""
    return [
        e.kind
        for e in having(model, HasStates)
        if e.kind in internal.elements and not isinstance(e, HasEquilibriumStates)
    ]


@functools.lru_cache(maxsize=32)
def _changes(formulation: Formulation) -> Points:
    """Program of `_Change` at w = (step, velocities, internal states)."""

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
        rates = internal_rate(model, Instant(t, kin.motion, internal)).elements
        rows = [jnp.ravel(rates[kind]) for kind in kinds]
        elements_now = element_forces(model, Instant(t, kin.motion, internal))
        force = formulation.project(model, kin, wrench)
        return _Change(force, jnp.concatenate(rows), elements_now)

    return Points(change)


def internal_block(at: OperatingPoint, elements: int) -> InternalBlock:
    """The internal states of a model at rest.

    Inside a trace those that are held are part of it, with zeros: what moves is known by numbers.

    Args:
        at: where it is linearised.
        elements: number of elements on strokes.
    """
    model, how, state, Z = at.model, at.formulation, at.state, at.directions
    internal = settled_at(model, how, state)
    # what switches at events is stated by the effect itself, `HasLinearForm`
    switching = {effect.kind for effect in having(model, HasEvents) if effect.switching()}
    words = {e.kind: e.word for e in having(model, HasStates) if e.kind not in switching}
    kinds = _moving_kinds(model, internal)
    still = [words[kind] for kind in internal.elements if kind in words and kind not in kinds]
    f, n = Z.shape[1], Z.shape[0]
    if not kinds:
        A, B, F, E = (np.zeros(size) for size in ((0, 0), (0, 2 * f), (f, 0), (elements, 0)))
        return InternalBlock(A, B, F, E, held=tuple(still))
    sizes = [int(np.size(internal.elements[kind])) for kind in kinds]
    zero = np.zeros(2 * n + sum(sizes))
    slope = _changes(how).jacobians(_At(model, state), zero)[1]
    force, rate, of_elements = slope.force, slope.rate, slope.elements
    own = [kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)]
    number = [k for size in sizes for k in range(size)]
    moves = abs(rate).max(axis=1) > NONE
    if is_traced((force, rate, of_elements, Z)):
        rows = np.arange(len(own))
        force, of_elements = (
            jnp.concatenate([x[:, : 2 * n], jnp.where(moves, x[:, 2 * n :], 0.0)], axis=1)
            for x in (force, of_elements)
        )
    else:
        force, rate, of_elements = (np.asarray(x) for x in (force, rate, of_elements))
        rows = np.flatnonzero(moves)
        held = {kind for kind, moved in zip(own, moves, strict=True) if not moved}
        still += [words[kind] for kind in kinds if kind in held and kind in words]
    return InternalBlock(
        rate[rows][:, 2 * n + rows],
        namespace(rate, Z).concatenate(
            [rate[rows][:, :n] @ Z, rate[rows][:, n : 2 * n] @ Z], axis=1
        ),
        Z.T @ force[:, 2 * n + rows],
        of_elements[:, 2 * n + rows],
        tuple(f"{own[k]}__{number[k] + 1}" for k in rows),
        tuple(dict.fromkeys(still)),
    )
