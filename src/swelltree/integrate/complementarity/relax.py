"""Equilibrium of bodies, lines and junctions as the end of a walk without memory of velocity.

With theta = 1 and the whole stiffness in the next instant a long step from rest is a Newton step of
statics: what is left of inertia only keeps it within bounds. Steps grow while all goes well. Forces
in joints act along the mean of two instants: a body that hangs on a pin moves to the other side in
a long step, and comes to rest in shorter ones. In a short step everything moves little, at rest or
not, by the square of its length: what counts is what would move in a long one.

Where only short steps can be solved, velocities are kept from step to step, so that what is far
from equilibrium accelerates towards it; a failed step stops everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from swelltree.integrate.complementarity.start import set_up
from swelltree.integrate.complementarity.state import (
    SchemeOptions,
    Sizes,
    StepConstants,
    StepperState,
)
from swelltree.jit import Array, Tree, pytree
from swelltree.model.capabilities import InternalState, internal_settled
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import about_axis, rotation_vector

if TYPE_CHECKING:
    from swelltree.integrate.complementarity.samples import Sample


# --- Motions on the way to equilibrium, and where they lead

SLOW, STEADY = 0.1, 0.98  # of the motion before: what moves less or more comes to rest soon, never
SAME_DIRECTION_TOL = 1e-2  # difference of two motions, of their size, that lead the same way
LEAP = 0.1  # m, rad that are gone at once, at most


class Trail:
    """The last motions: what they lead to is gone to at once.

    Args:
        open: steps may be longer than usual: none of those failed.
    """

    def __init__(self, open: bool = True) -> None:
        self.open = open
        self.last: np.ndarray | None = None
        self.size = 0.0

    def take(
        self, form: SchemeOptions, state: StepperState, after: StepperState
    ) -> tuple[StepperState, bool]:
        """Where the next step begins, and whether all comes to rest slowly.

        Args:
            form: coordinates.
            state: before a step.
            after: after it.
        """
        motion = _motion(state, after)
        before, self.size = self.size, float(np.linalg.norm(motion))
        slow = SLOW * before < self.size < STEADY * before
        winds = state.lines is not None and state.lines.winch is not None
        if form.joint_coordinates or winds:
            return after, slow
        last, self.last = self.last, motion
        if last is None or not slow:
            return after, slow
        share = float(motion @ last) / max(float(last @ last), 1e-300)
        apart = np.linalg.norm(motion - share * last)
        if not SLOW < share < STEADY or apart > SAME_DIRECTION_TOL * self.size:
            return after, slow
        self.last = None
        leap = LEAP / max(float(np.abs(motion).max()), 1e-300)
        return _ahead(after, motion, min(share / (1.0 - share), leap)), slow


def _motion(a: StepperState, b: StepperState) -> np.ndarray:
    """Motion of bodies, lines and junctions between two states."""
    turned = np.asarray(b.pose.R) @ np.swapaxes(np.asarray(a.pose.R), 1, 2)
    parts = [np.asarray(b.pose.p) - np.asarray(a.pose.p), np.asarray(rotation_vector(turned))]
    if a.lines is not None:
        parts += [np.asarray(b.lines.q) - np.asarray(a.lines.q)]
        parts += [np.asarray(b.lines.y) - np.asarray(a.lines.y)]
    return np.concatenate([part.reshape(-1) for part in parts])


def _ahead(state: StepperState, motion: np.ndarray, times: float) -> StepperState:
    """A state extrapolated along a motion by a multiple of its duration."""
    n, motion = state.pose.p.size, times * motion
    p = np.asarray(state.pose.p) + motion[:n].reshape(-1, 3)
    turn = motion[n : 2 * n].reshape(-1, 3)
    angle = np.linalg.norm(turn, axis=1)
    axis = turn / np.where(angle > 0.0, angle, 1.0)[:, None]
    R = about_axis(axis, angle) @ np.asarray(state.pose.R)
    lines = state.lines
    if lines is not None:
        m = 2 * n + lines.q.size
        q = np.asarray(lines.q) + motion[2 * n : m].reshape(lines.q.shape)
        lines = replace(lines, q=q, y=np.asarray(lines.y) + motion[m:].reshape(lines.y.shape))
    return replace(state, pose=Pose(p, R), lines=lines)


FIRST_STEP, LAST_STEP = 0.5, 64.0  # s
FURTHEST = 4096.0  # s: the longest step of what comes to rest slowly
MIN_EQUILIBRIUM_STEP = 10.0  # s: rest over such a step is rest
MAX_STEPS = 400
HARD, EASY = 10, 4  # iterations
COASTING = 0.3  # s: in shorter steps what moves on keeps its velocity
WAIT = 8  # of such steps before a length that failed is tried again
NOTHING = 0.01  # of the tolerance: what moves less is at rest in a step that is not long, too
UNTOLD = 1e-4  # m, rad: what moves less in a long step is not worth a word
FAR = 0.1  # m, rad: after such a motion of a body its stiffness is asked anew
TURN = 0.5  # rad: what turns more in a step may end in another equilibrium
SHORTEST = 1e-3  # s
POLISHING = 12  # steps at most after equilibrium is found
DIGITS = 16  # binary, of a stiffness by which steps are bounded
SWING = 0.25  # of the way of the step before: what goes back more oscillates


@pytree()
class Rest:
    """Equilibrium of a system."""

    state: StepperState
    sample: Tree
    moved: Array  # largest motion of the last step, as if it had been long [m, rad]
    steps: Array
    mover: Tree  # what moved so: "body", "line" or "junction" and its number


def relaxed(
    step: Callable[[Model, StepConstants, StepperState], tuple[StepperState, Sample]],
    model: Model,
    form: SchemeOptions,
    state: StepperState,
    derivatives: Callable[[StepperState], tuple[np.ndarray, np.ndarray]],
    tolerance: float = 1e-7,
    hold: bool = False,
) -> Rest:
    """Step to equilibrium.

    Args:
        step: compiled `advance`.
        model: in still water.
        form: coordinates.
        state: where to begin; its velocities are ignored.
        derivatives: stiffness and damping of the model's forces at a state.
        tolerance: motion that counts as none [m, rad].
        hold: bodies stay where they are.
    """
    state = settled(model, stopped(state))
    h, longest, moved, reach, sample = FIRST_STEP, LAST_STEP, np.inf, np.inf, None
    mover = None
    pull_back, at = rounded(*derivatives(state)), state
    way = _way(state, state)
    # what slides with a velocity passes the place where its brakes would hold it
    sticks = Sizes.of(model, form).sticks > 0
    farthest, trail = LAST_STEP, Trail()
    far_turned = None  # a solved step that turned something far, from this state
    motion, coasts, good = None, False, FIRST_STEP
    ceiling, wait, patience = np.inf, 0, WAIT
    for count in range(1, MAX_STEPS + 1):
        setup = set_up(model, form, h, pull_back, theta=1.0, beta=1.0, hold=hold, pose=state.pose)
        after, now = step(model, setup, state)
        if not bool(now.solved) and far_turned is not None:
            # a shorter step is harder still
            after, now, h = far_turned
            far_turned = None
        elif not bool(now.solved) and coasts and h > good:
            # what moves goes on in steps that it was solved for, for longer and longer
            state, h = coasting(state, good / h), good
            ceiling, wait, patience = good, patience, 2 * patience
            continue
        elif not bool(now.solved):
            # large tensions leave more of rounding than a long step may leave unsolved
            if moved < NOTHING * tolerance and reach < UNTOLD:
                return Rest(state, sample, reach, count, mover)
            longest = max(0.5 * h, MIN_EQUILIBRIUM_STEP)
            farthest, trail = LAST_STEP, Trail(open=h <= LAST_STEP and trail.open)
            h *= 0.25
            state, coasts = stopped(state), False
            if h < SHORTEST:
                return Rest(state, now, reach, count, mover)
            continue
        elif h > SHORTEST and _turn(model, state, after) > TURN:
            far_turned, state, coasts = (after, now, h), stopped(state), False
            longest, h = max(0.5 * h, MIN_EQUILIBRIUM_STEP), 0.5 * h
            continue
        far_turned = None
        (moved, mover), sample = _largest(state, after), now
        reach = moved * max(1.0, MIN_EQUILIBRIUM_STEP / h) ** 2
        before, way = way, _way(state, after)
        # bodies that stand still while lines move do not oscillate
        moves = min(np.abs(x).max(initial=0.0) for x in (before, way)) > tolerance
        swings = moves and way @ before < -SWING * (before @ before)
        ahead, slow = trail.take(form, state, after)
        last, motion, good = motion, _motion(state, after), h
        goes_on = last is not None and last @ motion > 0.0
        coasts = h < COASTING and goes_on and not swings and not sticks
        state = after if coasts else settled(model, stopped(ahead))
        if moved < tolerance and h >= MIN_EQUILIBRIUM_STEP:
            found = Rest(state, sample, moved, count, mover)
            return _polished(partial(step, model, setup), model, form, found)
        if np.abs(_way(at, state)).max(initial=0.0) > FAR:
            pull_back, at = rounded(*derivatives(state)), state
        wait = max(wait - 1, 0)
        ceiling = ceiling if wait else np.inf
        # a step that took Newton long may have ended far from where it should
        if swings:
            h *= 0.5
        elif int(sample.iterations) > HARD:
            longest, h = max(0.5 * h, MIN_EQUILIBRIUM_STEP), 0.5 * h
        else:
            # what was hard on the way need not be hard at its end
            easy = int(sample.iterations) <= EASY
            if easy and slow and trail.open and h >= farthest:
                farthest = min(2.0 * farthest, FURTHEST)
            longest = min(2.0 * longest, farthest) if easy else longest
            h = min(2.0 * h, longest, ceiling)
        if coasts:
            state = settled(model, coasting(state, h / good))
    return Rest(state, sample, reach, MAX_STEPS, mover)


def _polished(
    step: Callable[[StepperState], tuple[StepperState, Sample]],
    model: Model,
    form: SchemeOptions,
    found: Rest,
) -> Rest:
    """Equilibrium to rounding: more steps as long as each moves less than the one before."""
    trail = Trail()
    for _ in range(POLISHING):
        after, sample = step(found.state)
        moved, mover = _largest(found.state, after)
        if not bool(sample.solved) or not moved < found.moved:
            break
        after = settled(model, stopped(trail.take(form, found.state, after)[0]))
        found = Rest(after, sample, moved, found.steps + 1, mover)
    return found


def rounded(stiffness: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrices, as a way to equilibrium takes them, without the rounding of differences.

    With friction the equilibrium depends on the way there, and the way on every bit: forces in
    numpy and in native code lead to the same one.
    """
    entries = np.abs(stiffness)
    size = np.sqrt(np.maximum(entries.max(0, initial=0.0), entries.max(1, initial=0.0)))
    unit = np.exp2(np.floor(np.log2(np.maximum(np.outer(size, size), 1e-300))) - DIGITS)
    return np.round(stiffness / unit) * unit, damping


def settled(model: Model, state: StepperState) -> StepperState:
    """The state with equilibrium values of internal states, such as the mean yaw."""
    internal = internal_settled(model, InternalState(state.chi, state.elements), state.pose)
    return replace(state, elements=internal.elements)


def stopped(state: StepperState) -> StepperState:
    """The state at rest: zero velocities and memory."""
    lines = state.lines
    if lines is not None:
        lines = replace(lines, q_last=lines.q, y_last=lines.y)
    return replace(
        state,
        t=np.zeros(()),
        v_minus=0.0 * state.v_minus,
        chi=0.0 * state.chi,
        work=0.0 * state.work,
        lines=lines,
    )


def coasting(state: StepperState, longer: float) -> StepperState:
    """The state with its velocities, before a step that is so many times longer."""
    lines = state.lines
    if lines is not None:
        q_last = lines.q - longer * (np.asarray(lines.q) - np.asarray(lines.q_last))
        y_last = lines.y - longer * (np.asarray(lines.y) - np.asarray(lines.y_last))
        lines = replace(lines, q_last=q_last, y_last=y_last)
    return replace(state, t=np.zeros(()), chi=0.0 * state.chi, work=0.0 * state.work, lines=lines)


def _turn(model: Model, a: StepperState, b: StepperState) -> float:
    """Largest turn between two states of what may end elsewhere if it turns far [rad].

    Segments with bending stiffness, and bodies that can touch the seabed.
    """
    lines, most = lines_of(model), 0.0
    if lines is not None and lines.n_contacts:
        turned = np.asarray(b.pose.R) @ np.swapaxes(np.asarray(a.pose.R), 1, 2)
        bodies = sorted(set(lines.contact_body) - {model.layout.n_bodies})
        chord = np.linalg.norm(np.asarray(rotation_vector(turned))[bodies], axis=-1)
        most = float(chord.max(initial=0.0))
    arrays = None if lines is None else lines.arrays
    if arrays is None or not arrays.bending:
        return most
    t = []
    for state in (a, b):
        d = np.diff(np.asarray(state.lines.q), axis=1)
        t.append(d / np.maximum(np.linalg.norm(d, axis=-1, keepdims=True), 1e-12))
    chord = np.linalg.norm(t[1] - t[0], axis=-1)[np.asarray(arrays.pushes)]
    return max(most, 2.0 * float(np.arcsin(np.clip(0.5 * chord.max(initial=0.0), 0.0, 1.0))))


def _way(a: StepperState, b: StepperState) -> np.ndarray:
    """Translation and rotation of bodies between two states."""
    pairs = [(a.pose.p, b.pose.p), (a.pose.R, b.pose.R)]
    return np.concatenate([(np.asarray(y) - np.asarray(x)).reshape(-1) for x, y in pairs])


def _largest(a: StepperState, b: StepperState) -> tuple[float, tuple[str, int] | None]:
    """Maximum motion between two states, and the item that made it."""
    pairs = {"body": [(a.pose.p, b.pose.p), (a.pose.R, b.pose.R)]}
    if a.lines is not None:
        pairs["junction"] = [(a.lines.y, b.lines.y)]
        pairs["line"] = [(a.lines.q, b.lines.q)]
    most, mover = 0.0, None
    for kind, x, y in [(kind, x, y) for kind, both in pairs.items() for x, y in both if len(x)]:
        gap = np.abs(np.asarray(y) - np.asarray(x)).reshape(len(x), -1).max(axis=1)
        # ends of lines move as what they are on: that is named
        if gap.max() > most * (1.0 + 1e-6):
            most, mover = float(gap.max()), (kind, int(gap.argmax()))
    return most, mover
