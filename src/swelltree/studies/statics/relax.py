"""Systems brought near their equilibrium by damped motion, from where Newton's method finds it.

A slack cable or line has no stiffness, and a bent chain has many equilibria of which one is
stable. The motion of the system with all velocities damped ends near that one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.integrate.problem import Options, Problem, start
from swelltree.integrate.runge_kutta.smooth import integrate
from swelltree.jit import Array, Points, Program, Tree, jax, jnp, mapped
from swelltree.model.capabilities import InternalState, present
from swelltree.model.model import Model
from swelltree.model.solved import coupled_effect, total_loads
from swelltree.mooring.cable.cables import cables_of
from swelltree.multibody.formulations.base import Acceleration, Formulation, Kinematics, State
from swelltree.multibody.formulations.equations import Phase, settle, solve_motion, start_phase
from swelltree.multibody.kinematics import Pose
from swelltree.spatial.rotations import rotation_vector

STEPS = 20
NEAR = 1e-9  # m, rad


@functools.lru_cache(maxsize=32)
def placed(how: Formulation) -> Callable[[Model, State], tuple[Pose, Array]]:
    """Program for the poses of a state at time zero, and the velocity transformation there."""

    def place(model: Model, state: State) -> tuple[Pose, Array]:
        kin = how.kinematics(model, jnp.zeros(()), state)
        return kin.motion.pose, kin.P

    return Points(place)


def as_described(
    model: Model,
    how: Formulation,
    state: State,
    mean: Pose,
    step_to: Callable[[Model, State, Array], State],
) -> State:
    """The state with all bodies at the poses that their data are of, as near as the joints allow.

    A run may start far from there, as that of a body dropped from the air does, where nothing
    shows which way its equilibrium lies. Gauss-Newton on the poses, by the velocity transformation.

    Args:
        model: compiled.
        how: the formulation.
        state: where to begin.
        mean: where the bodies are described.
        step_to: the state reached by a step, its joints closed.
    """
    place = placed(how)
    state = State(state.q, 0.0 * state.s, state.chart)
    for _ in range(STEPS):
        pose, P = place(model, state)
        turn = np.asarray(rotation_vector(np.asarray(mean.R) @ np.swapaxes(pose.R, 1, 2)))
        gap = np.concatenate([np.asarray(mean.p) - pose.p, turn], axis=1).reshape(-1)
        step = np.linalg.lstsq(P, gap, rcond=None)[0]
        if np.abs(step).max(initial=0.0) < NEAR:
            break
        state = step_to(model, state, step)
    return state


TIMES = 30.0  # of the damping time that the motion goes on
LENGTH = 10.0  # m of a pendulum whose motion without cables is damped critically


def check_no_drums(model: Model, study: str) -> None:
    """Reject winches of multibody cables, whose idle elements cannot move freely."""
    cables = cables_of(model)
    if cables is not None and cables.winches is not None:
        name = cables.winches.names[0]
        raise SwelltreeError(
            f"winch '{name}': {study} takes no winch on a multibody cable. "
            "Compile the system without it, with the length of line that is out."
        )


def slack_at_start(model: Model, how: Formulation, state: State) -> bool:
    """Whether an element of a cable is slack."""
    group = cables_of(model)
    if group is None:
        return False
    motion = how.kinematics(model, np.zeros(()), state).motion
    a, b = group.ends(motion)
    length = np.linalg.norm(np.asarray(a.position) - np.asarray(b.position), axis=1)
    rest = np.asarray(group.start_rest)
    return bool((length <= rest * (1.0 + 1e-12))[rest > 0.0].any())


@functools.lru_cache(maxsize=16)
def _program(how: Formulation, matters: bool) -> Program:
    """Compiled damped motion."""

    def rate(args: tuple[Model, Tree, InternalState], t: Array, state: State) -> State:
        model, damping, internal = args
        kin, a = _without_flow(model, how, state, internal)
        q_dot = how.position_rate(model, kin, state)
        chart = jax.tree.map(jnp.zeros_like, state.chart)
        return State(q_dot, a.s_dot - damping * state.s, chart)

    def settled(args: tuple[Model, Tree, InternalState], t: Array, state: State) -> State:
        model, _, internal = args
        return settle(model, how, jnp.zeros(()), Phase(state, jnp.zeros(0), internal)).state

    task = Problem(rate, settled, settle_changes_rate=matters)

    def run(
        model: Model, damping: Array, internal: InternalState, state: State, end: Array
    ) -> State:
        options = Options(rtol=1e-3, atol=1e-5, max_steps=1_000_000)
        args = (model, damping, internal)
        carry, _ = integrate(task, args, start(0.0, state), end[None], options)
        return carry.y

    return Program(run)


def _without_flow(
    model: Model, how: Formulation, state: State, internal: InternalState
) -> tuple[Kinematics, Acceleration]:
    """Motion and accelerations; a flow that is solved in runs has its weight alone in statics."""
    t = jnp.zeros(())
    if coupled_effect(model) is None:
        kin, _, acceleration = solve_motion(model, how, t, state, internal)
        return kin, acceleration
    model = present(model, internal)
    kin = how.kinematics(model, t, state)
    wrench = total_loads(model, t, kin.motion, internal).wrench
    return kin, how.acceleration(with_immersed_mass(model, t, kin.motion), kin, wrench)


def relaxed(model: Model, how: Formulation, state: State) -> State:
    """State near the stable equilibrium, with zero velocity."""
    group, longest = cables_of(model), LENGTH
    g = max(float(np.linalg.norm(model.gravity)), 1e-3)
    if group is not None:
        rest = np.asarray(group.start_rest)
        longest = max(rest[np.array(group.line) == k].sum() for k in range(len(group.lines)))
    damping = np.asarray(2.0 * np.sqrt(g / longest))
    internal = start_phase(model, how).internal
    still = State(state.q, 0.0 * state.s, state.chart)
    end = np.asarray(TIMES / damping)
    reached = _program(how, how.settling_matters(model))(model, damping, internal, still, end)
    q = np.asarray(reached.q)
    if not np.isfinite(q).all():
        return still
    return State(q, 0.0 * np.asarray(reached.s), mapped(np.asarray, reached.chart))
