r"""Functions of time that act on a model: their breakpoints, and their means over steps.

Every part of a compiled model that knows times at which it jumps or has a kink has a method
``corners()`` that gives them as an array [s]: tables, set speeds of winches. `corner_times` asks
them all, wherever they stand in the model, so that a new kind of signal or operation needs nothing
else than this method. Smooth solvers end their steps there (`integrate.problem.Options.corners`).
A part that jumps counts its jump as done at the breakpoint itself.

What a user's function of time does is not known: `noticed_times` samples it over the run.

A scheme of fixed steps sees the mean over a step around each instant:

.. math:: \bar f(t_n) = \frac1h \int_{t_n - h/2}^{t_n + h/2} f\, dt

Fixed steps cannot end at breakpoints. With the mean the whole impulse of even a short load acts;
for smooth loads it differs from the value by :math:`h^2 \ddot f / 24`, less than the scheme does.
Tables are integrated exactly, users' functions sampled within the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from swelltree.forces.applied import Applied, applied_forces
from swelltree.jit import Array, Tree, is_tracer, jax, jnp, leaves_of, mapped, namespace, pytree
from swelltree.model.capabilities import internal_at_rest
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.signals import Pieces, UserFunction, ZeroOrderHold, nonlinearity
from swelltree.mooring.winches import SetSpeed
from swelltree.multibody.kinematics import (
    Motion,
    PointMotion,
    dof_coordinates,
    dof_rates,
    forward,
    joint_frames,
    point_motion,
    tree_blocks,
    velocity_matrix,
)
from swelltree.pto.controllers.controllers import PlainLaw, controllers_of, requested_from


def start_motion(model: Model) -> Motion:
    pose = forward(model, np.asarray(model.start.q))
    frames = joint_frames(model, pose)
    v = velocity_matrix(*tree_blocks(model, pose, frames)) @ np.asarray(model.start.s)
    v = v.reshape(-1, 6)
    coordinate = dof_coordinates(model, frames, np.asarray(model.start.angles))
    return Motion(pose, v, frames, coordinate, dof_rates(model, pose, frames, v))


SAMPLES = 20_000  # of a function over a run, at most
PER_GAP = 40  # samples of a function between two samples of a run
STEEP = 0.1  # of the range of a function: a rise between two samples that may be a jump
HALVINGS = 60
FINE, SHORTEST = 2**19, 2e-4  # of a look for pulses over a run: samples at most, and their step [s]
PULSES = 200  # that are followed at most


def corner_times(model: Model) -> Array:
    """Known breakpoints of all parts of a model, sorted [s]."""

    def knows(part: object) -> bool:
        return hasattr(part, "corners")

    parts = [part for part in leaves_of(model, is_leaf=knows) if knows(part)]
    result = [part.corners() for part in parts]
    if any(map(is_tracer, result)):
        return jnp.sort(jnp.concatenate(result))
    return np.unique(np.concatenate([np.zeros(0), *(np.ravel(x) for x in result)]))


def detected_breakpoints(model: Model, times: np.ndarray) -> np.ndarray:
    """Times at which functions in a model bend or jump, as far as samples show [s].

    Functions of the motion too are asked at the motion of the start. Jumps are enclosed until
    they lie between neighbouring numbers, so that a step can end there.

    Args:
        model: compiled; not traced.
        times: samples of the run [s].
    """
    functions = functions_of_time(model)
    if not functions or len(times) < 2:
        return np.zeros(0)
    begin, end = float(times[0]), float(times[-1])
    count = min(PER_GAP * len(times), SAMPLES)
    at = np.linspace(begin, end, count + 1)
    result = [np.zeros(0)]
    for function in functions:
        values = sampled(function, at)
        for k in np.flatnonzero(np.isfinite(values).all(0) & (np.ptp(values, axis=0) > 0.0)):
            result.append(at[nonlinearity(at, values[:, k])])
            result.append(jumps(lambda t, k=k, f=function: sampled(f, t)[:, k], at, values[:, k]))
        result.append(pulses(function, at, values))
    return np.unique(np.concatenate(result))


def pulses(function: Callable[[Array], Array], at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Ends of what a function does between samples, as far as much finer samples show [s].

    Args:
        function: of time.
        at: samples of it [s].
        values: there, one column for each component.
    """
    begin, end = float(at[0]), float(at[-1])
    fine = np.linspace(begin, end, min(FINE, int((end - begin) / SHORTEST)) + 1)
    if len(fine) <= 2 * len(at):
        return np.zeros(0)
    seen, result = sampled(function, fine), [np.zeros(0)]
    for k in np.flatnonzero(np.isfinite(seen).all(0) & (np.ptp(seen, axis=0) > 0.0)):
        off = np.abs(seen[:, k] - np.interp(fine, at, values[:, k]))
        missed = off > STEEP * np.ptp(seen[:, k])
        edges = np.flatnonzero(np.diff(missed.astype(int)))[: 2 * PULSES]
        near = np.unique(np.clip(edges[:, None] + np.arange(-1, 3), 0, len(fine) - 1))
        if near.size:
            result.append(fine[near])
            one = lambda t, k=k: sampled(function, t)[:, k]  # noqa: E731
            result.append(jumps(one, fine[near], seen[near, k]))
    return np.concatenate(result)


def functions_of_time(model: Model) -> list[Callable[[Array], Array]]:
    """Users' functions of a model as functions of time alone."""
    parts = leaves_of(model, is_leaf=lambda part: isinstance(part, UserFunction))
    result: list[Callable[[Array], Array]] = [
        part for part in parts if isinstance(part, UserFunction)
    ]
    applied = [element for element in applied_forces(model) if element.function is not None]
    # a sampled law is asked at its samples only, and steps end there
    laws = [
        c
        for c in controllers_of(model)
        if c.sample_time is None and not isinstance(c.law, PlainLaw)
    ]
    if not applied and not laws:
        return result
    motion = start_motion(model)
    now = Instant(np.zeros(()), motion, internal_at_rest(model))
    for element in applied:
        assert element.function is not None
        at_point = point_motion(motion, np.array([element.body]), element.point[None])
        point = PointMotion(*(jnp.asarray(x[0]) for x in vars(at_point).values()))
        result.append(
            lambda t, f=element.function, specified=point: jnp.stack(
                jnp.broadcast_arrays(*f(t, specified))
            )
        )
    for controller in laws:
        y = jnp.asarray(requested_from(model, now, controller, jnp.asarray(controller.start)))
        result.append(lambda t, law=controller.law, y=y: law(t, y))
    return result


def sampled(function: Callable[[Array], Array], at: np.ndarray) -> np.ndarray:
    """Values at times, one column for each component."""
    values = jax.vmap(lambda t: jnp.ravel(jnp.asarray(function(t), float)))(jnp.asarray(at))
    return np.asarray(values)


def jumps(
    function: Callable[[Array], np.ndarray], at: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """First sample after each jump."""
    steep = np.flatnonzero(np.abs(np.diff(values)) > STEEP * np.ptp(values))
    low, high = at[steep].copy(), at[steep + 1].copy()
    v_low, v_high = values[steep].copy(), values[steep + 1].copy()
    for _ in range(HALVINGS):
        if not steep.size:
            break
        middle = 0.5 * (low + high)
        v = function(middle)
        left = np.abs(v - v_low) >= np.abs(v - v_high)  # the larger rise is before the middle
        high, v_high = np.where(left, middle, high), np.where(left, v, v_high)
        low, v_low = np.where(left, low, middle), np.where(left, v_low, v)
    there = (high - low <= 4.0 * np.spacing(high)) & (
        np.abs(v_high - v_low) > STEEP * STEEP * np.ptp(values)
    )
    return high[there]


IN_A_STEP = 8  # of a function in a step
PLACES = (np.arange(IN_A_STEP) + 0.5) / IN_A_STEP - 0.5


@pytree()
class MeanPieces:
    """Mean of a table over a step."""

    pieces: Pieces
    h: Array

    def __call__(self, t: Array) -> Array:
        integral, half = self.pieces.integral, 0.5 * self.h
        xp = namespace(t, self.h)
        none = self.h == 0.0
        mean = (integral(t + half) - integral(t - half)) / xp.where(none, 1.0, self.h)
        return xp.where(none, self.pieces(t), mean)


@pytree()
class MeanFunction:
    """Mean over a step of a user's function of time, by sampling."""

    function: UserFunction
    h: Array

    def __call__(self, t: Array) -> Array:
        return sum(self.function(t + part * self.h) for part in PLACES) / IN_A_STEP


@dataclass(frozen=True)
class MeanForce:
    """Mean over a step of a user's force as a function of time and motion, by sampling."""

    function: Callable[[Array, PointMotion], tuple[Array, Array]]
    h: Array | float

    def __call__(self, t: Array, point: PointMotion) -> tuple[Array, Array]:
        samples = [self.function(t + float(part) * self.h, point) for part in PLACES]
        force, torque = (sum(map(jnp.asarray, rows)) for rows in zip(*samples, strict=True))
        return force / IN_A_STEP, torque / IN_A_STEP


def with_step_means(model: Model, h: Array | float) -> Model:
    """The model whose loads in time are their means over steps of h [s].

    With h = 0 they are their values, in a model of the same structure: one program serves both.
    """

    width = h if is_tracer(h) else np.array(h)

    def known(part: object) -> bool:
        return isinstance(part, Pieces | UserFunction | ZeroOrderHold | Applied | SetSpeed)

    def mean(part: Tree) -> Tree:
        if isinstance(part, Pieces):
            return MeanPieces(part, width)
        if isinstance(part, UserFunction):
            return MeanFunction(part, width)
        if isinstance(part, ZeroOrderHold):
            return replace(part, signal=mean(part.signal), width=width)
        if isinstance(part, SetSpeed):
            return replace(part, width=width)
        if isinstance(part, Applied):
            function = part.function
            function = None if function is None else MeanForce(function, h)
            return replace(part, signals=tuple(map(mean, part.signals)), function=function)
        return part

    return model.replace(effects=mapped(mean, model.effects, is_leaf=known))
