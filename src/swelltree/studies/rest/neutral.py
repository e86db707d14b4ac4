r"""Directions that nothing holds: an equilibrium keeps there what is described.

Far from the balance a turn about the vertical changes the components of the moment that is out of
balance, so that Newton's method turns a body that nothing turns. At the equilibrium itself these
directions are the null space N of the Jacobian. With c the joint coordinates and C their
derivative, the state goes along N until as many coordinates as there are neutral directions have
the values of the start again,

.. math:: x \leftarrow x + N (C N)^{-1} (c_0 - c), \qquad x \leftarrow x - J^{+} r

where :math:`J^{+}` is without the singular values of N.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jnp
from swelltree.engine.machine.points import point_program
from swelltree.formulations import Formulation, State
from swelltree.model.kinematics import Pose, attitudes
from swelltree.model.model import Model
from swelltree.spatial.rotations import matrix_to_euler

NEUTRAL = 1e-9  # singular values below this fraction of the largest are zero
ROUNDS = 60
BALANCED = 1e-10  # scaled residual
STEP = 1e-6  # m, rad: of the difference that gives C N
FARTHEST = 0.3  # m, rad: of one step along N
NEAR = 1e-9  # m, rad

Balance = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # x to scaled residual, Jacobian


@functools.lru_cache(maxsize=32)
def _coordinates(how: Formulation) -> Callable[[Model, State, Array], tuple[Array, Pose]]:
    """Program for the joint coordinates of results and the poses a step away from a state."""

    def coordinates(model: Model, state: State, x: Array) -> tuple[Array, Pose]:
        moved = how.retract(model, State(state.q, 0.0 * state.s, state.chart), x)
        motion = how.kinematics(model, jnp.zeros(()), moved).motion
        found = attitudes(model, motion.frames, motion.coordinate, motion.rate)[0]
        return found, motion.pose

    return point_program(coordinates)


def coordinates_at(model: Model, how: Formulation, state: State, x: np.ndarray) -> np.ndarray:
    """Joint coordinates of results (d,) a step away from a state.

    Those of bodies that hang on the world by a ball or free joint are the position of the body: its
    place, and its heading.
    """
    layout = model.layout
    coordinate, pose = _coordinates(how)(model, state, x)
    found, place = np.array(coordinate), np.asarray(pose.p)
    euler = matrix_to_euler(np.asarray(pose.R))
    turns = [dof.joint for dof in layout.dofs if dof.free_turn]
    for k, dof in enumerate(layout.dofs):
        afloat = layout.base[dof.joint] in (-1, layout.n_bodies) and turns.count(dof.joint) == 3
        if afloat and layout.follower[dof.joint] in range(layout.n_bodies):
            found[k] = (euler if dof.turns else place)[layout.follower[dof.joint], dof.axis]
    return found


def _neutral(jacobian: np.ndarray, n: int) -> tuple[np.ndarray, int]:
    """Directions without stiffness (n, k), and the number of singular values that count as zero."""
    _, size, Vt = np.linalg.svd(jacobian)
    small = int((size <= NEUTRAL * size.max(initial=0.0)).sum()) + max(0, len(Vt) - len(size))
    # multipliers of redundant joints are free too: they move nothing
    _, moved, directions = np.linalg.svd(Vt[len(Vt) - small :, :n])
    return directions[: int((moved > 1e-6).sum())].T, small


def _step_back(jacobian: np.ndarray, residual: np.ndarray, small: int) -> np.ndarray:
    """Newton's step without the neutral directions, whatever their singular values are here."""
    U, size, Vt = np.linalg.svd(jacobian)
    kept = min(len(size), len(Vt) - small)
    return -Vt[:kept].T @ ((U[:, :kept].T @ residual) / size[:kept])


def with_neutral_kept(
    model: Model, how: Formulation, state: State, x: np.ndarray, balance: Balance
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The equilibrium with what nothing holds as it was at the start, and the names of that.

    Args:
        model: whose equilibrium was found.
        how: the formulation.
        state: start from which steps count.
        x: unknowns at the equilibrium found: step and multipliers.
        balance: residual and Jacobian, both scaled.
    """
    n = state.s.shape[0]
    residual, jacobian = balance(x)
    N, small = _neutral(jacobian, n) if x.size else (np.zeros((n, 0)), 0)
    if not N.shape[1] or not model.layout.dof_labels:
        return x, ()
    turns = np.array([dof.turns for dof in model.layout.dofs])

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        gap = coordinates_at(model, how, state, b) - coordinates_at(model, how, state, a)
        return np.where(turns, (gap + np.pi) % (2.0 * np.pi) - np.pi, gap)

    def per_neutral(x: np.ndarray, N: np.ndarray) -> np.ndarray:
        pairs = [(x[:n] - STEP * d, x[:n] + STEP * d) for d in N.T]
        return np.array([between(*pair) for pair in pairs]).T / (2.0 * STEP)

    rows = _independent(per_neutral(x, N))
    names = tuple(model.layout.dof_labels[k] for k in rows)
    allowed = max(float(np.abs(residual).max(initial=0.0)), BALANCED)
    found = x.copy()
    for _ in range(ROUNDS):
        away = between(found[:n], np.zeros(n))[rows]
        settled = float(np.abs(residual).max(initial=0.0)) <= allowed
        if settled and np.abs(away).max(initial=0.0) < NEAR:
            return found, names
        if settled:
            N = _neutral(jacobian, n)[0]
            if N.shape[1] != len(rows):
                break  # only here does nothing hold it
            step = N @ np.linalg.lstsq(per_neutral(found, N)[rows], away, rcond=None)[0]
            found[:n] += step * min(1.0, FARTHEST / max(float(np.abs(step).max()), 1e-300))
        else:
            found = found + _step_back(jacobian, residual, small)
        residual, jacobian = balance(found)
        if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
            break
    return x, ()


def _independent(columns: np.ndarray) -> np.ndarray:
    """So many rows of (d, k) as there are columns, those that are most independent."""
    from scipy.linalg import qr

    pivots = np.asarray(qr(columns.T, mode="r", pivoting=True)[-1])
    return np.sort(pivots[: columns.shape[1]])
