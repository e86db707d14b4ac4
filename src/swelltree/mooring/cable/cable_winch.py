r"""Winches of multibody cables: rest length of the first element, masses, work and bookings.

The elements that are still on the drum are the first ones, at A: of no length and no mass, their
DOFs locked. With k of them idle, element k + 1 has the rest length :math:`L_{u1}` that is left
of the length out, :math:`\dot L_{u1} = v` (Wuillaume et al. 2017, eq. 11), and its damping is by
:math:`\dot L - v` (eq. 12). Half of its mass sits at A, half at its lower node; what comes in
joins them at their velocity. The winch then gives the system

.. math:: P = -\Big( T + \frac{T_e^2}{2 EA} \Big) v

with :math:`T_e` the elastic part of the tension: the second term is the strain in the rope that
passes the drum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swelltree.jit import Array, namespace, pytree
from swelltree.mooring.winches import Winches, WinchState, rates

# columns of the states of a winch
LENGTH, SPEED, HEAVE, STROKE, COMPENSATED, IDLE, WORK, BROUGHT, LOST = range(9)
MOMENTUM, SLIP = slice(9, 12), slice(12, 15)
COLUMNS = 15


class Reel(NamedTuple):
    """Where a winch's cable lives; static.

    Args:
        elements: numbers of its elements from A to B, idle ones first.
        nodes: bodies of its nodes from A to B; N for the world.
        dofs: the three tree velocities of every element.
        idle: elements that are idle at first.
        spare: number of elements that may be idle at most.
        tip: body that carries the mass of the half at A when no element is idle; N for none.
    """

    elements: tuple[int, ...]
    nodes: tuple[int, ...]
    dofs: tuple[tuple[int, ...], ...]
    idle: int
    spare: int
    tip: int


@pytree("reels")
class Drums:
    """Winches of multibody cables, with the positions of their cables."""

    winches: Winches
    per_length: Array  # (winch,) kg/m
    start_rest: Array  # (e,) rest lengths of all elements at first, m
    reels: tuple[Reel, ...]


def drum_start(drums: Drums) -> Array:
    length = drums.winches.length
    xp = namespace(length)
    columns = [np.zeros(len(drums.reels))] * COLUMNS
    columns[LENGTH] = length
    columns[IDLE] = np.array([float(reel.idle) for reel in drums.reels])
    return xp.stack(columns, -1)


def state_of(x: Array) -> WinchState:
    """States of the winch law."""
    return WinchState(*(x[:, k] for k in (LENGTH, SPEED, HEAVE, STROKE, COMPENSATED)))


def first_rest(drums: Drums, rest: Array, x: Array, w: int) -> Array:
    """Rest length of the first element in use of one winch [m]."""
    xp = namespace(rest, x)
    elements = np.array(drums.reels[w].elements, dtype=int)
    excess = xp.where(np.arange(len(elements)) > x[w, IDLE] + 0.5, rest[elements], 0.0).sum()
    return x[w, LENGTH] - excess


def rest_now(drums: Drums, rest: Array, x: Array) -> Array:
    """Present rest lengths of all elements (e,) [m]."""
    xp = namespace(rest, x)
    for w, reel in enumerate(drums.reels):
        elements = np.array(reel.elements, dtype=int)
        i = np.arange(len(elements))
        k = x[w, IDLE]
        first = first_rest(drums, rest, x, w)
        now = xp.where(i < k - 0.5, 0.0, xp.where(i < k + 0.5, first, rest[elements]))
        rest = xp.concatenate([rest[: elements[0]], now, rest[elements[-1] + 1 :]])
    return rest


def at_first(drums: Drums, count: int, x: Array, w: int) -> Array:
    """One at the first active element of a winch, else zero (e,)."""
    xp = namespace(x)
    elements = np.array(drums.reels[w].elements, dtype=int)
    number = np.full(count, -10)
    number[elements] = np.arange(len(elements))
    return xp.where(abs(number - x[w, IDLE]) < 0.5, 1.0, 0.0)


def speeds(
    drums: Drums, t: Array, x: Array, tip: Array, tension: Array
) -> tuple[Array, WinchState]:
    """Rope speed of every winch (winch,) [m/s], and the rates of its states."""
    return rates(drums.winches, t, state_of(x), tip, tension)


def locked_dofs(drums: Drums, n: int, x: Array) -> Array:
    """One for every DOF of an idle element, else zero (n,)."""
    xp = namespace(x)
    total = xp.zeros(n)
    for w, reel in enumerate(drums.reels):
        rank = np.full(n, np.inf)
        for i, dofs in enumerate(reel.dofs):
            rank[list(dofs)] = i
        total = total + xp.where(rank < x[w, IDLE] - 0.5, 1.0, 0.0)
    return total


def masses_now(drums: Drums, mass: Array, rest: Array, x: Array) -> Array:
    """Masses of all bodies (N,) with the paid-out rope [kg]."""
    xp = namespace(mass, x, rest)
    change = rest_now(drums, rest, x) - drums.start_rest
    for w, reel in enumerate(drums.reels):
        half = 0.5 * drums.per_length[w] * change[np.array(reel.elements, dtype=int)]
        upper = np.array((reel.tip, *reel.nodes[1:-1]), dtype=int)
        lower = np.array(reel.nodes[1:], dtype=int)
        bodies = np.arange(mass.shape[0])[:, None]
        for ends in (upper, lower):
            hits = (bodies == ends[None, :]).astype(float)
            mass = mass + (hits * half[None, :]).sum(1)
    return xp.asarray(mass)


def event_values(drums: Drums, rest: Array, x: Array) -> Array:
    """Split and merge functions of every winch, which cross zero downwards (2 winch,) [m]."""
    xp = namespace(rest, x)
    values = []
    for w, reel in enumerate(drums.reels):
        k, first = x[w, IDLE], first_rest(drums, rest, x, w)
        can_split, can_merge = k > 0.5, k < reel.spare - 0.5
        values.append(xp.where(can_split, drums.winches.split[w] - first, 1.0))
        values.append(xp.where(can_merge, first - drums.winches.merge[w], 1.0))
    return xp.stack(values)
