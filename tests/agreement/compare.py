"""What the agreement tests measure: instants, trajectories, conditioning, balance of each body."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import swelltree as sw
from agreement.generate import RandomSystem
from swelltree.compiler.assembly import Closure
from swelltree.integrate.runge_kutta.smooth import Options, integrate
from swelltree.integrate.runge_kutta.smooth import start as start_carry
from swelltree.jit import jax, jnp
from swelltree.model.checks import null_space
from swelltree.model.model import Model, Start
from swelltree.model.signals import drives_at
from swelltree.multibody.build_layout import Drives, evaluate_rows
from swelltree.multibody.formulations import FORMULATIONS, Formulation, formulation
from swelltree.multibody.formulations.equations import Phase, observe, settle, start_phase
from swelltree.multibody.kinematics import forward, joint_frames, tree_blocks, velocity_matrix
from swelltree.studies.time.smooth import problem

NAMES = tuple(FORMULATIONS)
CONDITION = 1e6  # the range for which agreement is promised


def known(options: dict[str, Any]) -> dict[str, Any]:
    """Those compiler options that this version of XLA has."""
    stored = {}
    for name, value in options.items():
        try:
            jax.jit(lambda x: x, compiler_options={name: value})(0.0)
        except jax.errors.JaxRuntimeError as error:
            if "No such compile option" not in str(error):
                raise
        else:
            stored[name] = value
    return stored


# every random topology is compiled anew and used once: compile quickly rather than well
QUICK = known({"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False})


def some(*quick: str) -> list[Any]:
    """All formulations as test parameters: these by default, the others in the slow tests."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=() if name in quick else slow) for name in NAMES]


class Unfit(Exception):
    """A drawn system outside the range for which agreement is promised."""


def compiled_system(drawn: RandomSystem) -> Model:
    """The model of a drawn system, unless it contradicts itself or is near a singularity."""
    try:
        model = sw.compile(drawn.system, added_mass=drawn.added_mass)
    except sw.SwelltreeError as error:
        # a prescribed motion inside a loop that has no freedom for it
        if "are incompatible" in str(error):
            raise Unfit(str(error)) from error
        raise
    model = set_going(model, drawn.speed)
    if constraint_condition(model) > CONDITION:
        raise Unfit("close to a singular position")
    return model


def set_going(model: Model, speed: float) -> Model:
    """The model with random velocities of the joints in loops, such as fit together."""
    if not model.layout.cut_rows:
        return model
    free = null_space(
        Closure(model, first_drives(model), model.start.angles).jacobian(model.start.q)
    )
    wish = speed * np.random.default_rng(len(free)).normal(size=len(free))
    s = np.asarray(model.start.s) + free @ (free.T @ wish)
    return model.replace(start=Start(model.start.q, s, model.start.angles))


def first_drives(model: Model) -> Drives:
    """Prescribed motions at the start."""
    now = drives_at(model.drives, np.zeros(()))
    return Drives(*(np.asarray(x) for x in (now.value, now.rate, now.acceleration)))


def constraint_condition(model: Model) -> float:
    """Larger condition number of the joint equations: in tree and in body velocities."""
    drives = first_drives(model)
    pose = forward(model, model.start.q)
    frames = joint_frames(model, pose)
    P = velocity_matrix(*tree_blocks(model, pose, frames))
    v = np.zeros((model.layout.n_bodies, 6))
    worst = 1.0
    for rows, Z in ((model.cut_rows, P), (model.all_rows, np.eye(len(P)))):
        if rows:
            seen = evaluate_rows(model, rows, pose, frames, v, model.start.angles, drives)
            # rows that follow from others leave singular values of nothing behind the rest
            size = np.linalg.svd(seen.jacobian @ Z, compute_uv=False)
            worst = max(worst, float(size[0] / size[len(rows) - model.surplus - 1]))
    return worst


@functools.lru_cache(maxsize=16)
def _watch(how: Formulation) -> Any:
    def first(model: Model) -> dict[str, Any]:
        return observe(model, how, jnp.zeros(()), start_phase(model, how))

    return jax.jit(first, compiler_options=QUICK)


def first_instant(model: Model, name: str) -> dict[str, np.ndarray]:
    """Everything observed at the start."""
    return jax.tree.map(np.asarray, _watch(formulation(name))(model))


def net_reactions(model: Model, seen: dict[str, np.ndarray]) -> np.ndarray:
    """Wrench of all joints on each body about its reference point, from the reactions."""
    layout = model.layout
    net = np.zeros((layout.n_bodies, 6))
    for j in range(layout.n_joints):
        force, moment = seen["reaction"][j, :3], seen["reaction"][j, 3:]
        for body, sign in ((layout.follower[j], 1.0), (layout.base[j], -1.0)):
            if body >= 0:
                arm = seen["joint_point"][j] - seen["position"][body]
                net[body] += sign * np.concatenate([force, moment + np.cross(arm, force)])
    return net


def needed_wrench(model: Model, seen: dict[str, np.ndarray]) -> np.ndarray:
    """Newton and Euler, body by body: inertia force less the applied wrench."""
    bodies = model.bodies
    out = -seen["wrench"]
    for i in range(model.layout.n_bodies):
        R, m = seen["rotation"][i], bodies.mass[i]
        a, alpha = seen["acceleration"][i, :3], seen["acceleration"][i, 3:]
        w = seen["velocity"][i, 3:]
        c, inertia = R @ bodies.com[i], R @ bodies.inertia[i] @ R.T
        force = m * (a + np.cross(alpha, c) + np.cross(w, np.cross(w, c)))
        spin = inertia @ alpha + np.cross(w, inertia @ w)
        out[i] += np.concatenate([force, spin + np.cross(c, force)])
    if model.added_mass is not None:
        out += (model.added_mass @ seen["acceleration"].reshape(-1)).reshape(-1, 6)
    return out


def places(model: Model, how: Formulation, t: Any, y: Phase) -> Any:
    """Positions of all bodies."""
    return how.kinematics(model, t, y.state).motion.pose.p


@functools.lru_cache(maxsize=32)
def _watched(how: Formulation, watch: Any) -> Any:
    def one(model: Model, t: Any, y: Phase) -> Any:
        return watch(model, how, t, y)

    return jax.jit(jax.vmap(one, in_axes=(None, 0, 0)), compiler_options=QUICK)


@functools.lru_cache(maxsize=16)
def _advance(how: Formulation, matters: bool) -> Any:
    def advance(model: Model, options: Options, carry: Any, times: Any) -> tuple[Any, Any]:
        return integrate(problem(how, matters), model, carry, times, options)

    return jax.jit(advance, compiler_options=QUICK)


@functools.lru_cache(maxsize=16)
def _begin(how: Formulation) -> Any:
    def begin(model: Model, kick: Any) -> Phase:
        y = start_phase(model, how)
        s = y.state.s + kick * jnp.cos(jnp.arange(y.state.s.shape[0]))
        state = type(y.state)(y.state.q, s, y.state.chart)
        return settle(model, how, jnp.zeros(()), Phase(state, y.work))

    return jax.jit(begin, compiler_options=QUICK)


def trajectory(
    model: Model,
    name: str | Formulation,
    times: np.ndarray,
    *,
    kick: float = 0.0,
    rtol: float = 1e-12,
    atol: float = 1e-13,
    watch: Any = places,
) -> Any:
    """Positions of all bodies at the given times (t, N, 3); NaN from where a run stopped.

    Args:
        kick: disturbance of the initial velocities.
        watch: what to look at instead: watch(model, formulation, t, phase).
    """
    how = formulation(name)
    advance = _advance(how, how.settling_matters(model))
    y0 = _begin(how)(model, kick)
    _, phases = advance(model, Options(rtol=rtol, atol=atol), start_carry(0.0, y0), times)
    return jax.tree.map(np.asarray, _watched(how, watch)(model, jnp.asarray(times), phases))
