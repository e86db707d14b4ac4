"""Where a run by the two-step scheme begins: bodies and lines at rest, as described, or cold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.compiler.functions_of_time import with_step_means
from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.describe.options import STARTS
from swelltree.integrate.complementarity.attached import end_positions
from swelltree.integrate.complementarity.between_steps import without_turning
from swelltree.integrate.complementarity.lines.winch_statics import present
from swelltree.integrate.complementarity.poses import before
from swelltree.integrate.complementarity.relax import UNTOLD, Rest, relaxed
from swelltree.integrate.complementarity.run import single_step
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.solve.rescue import too_short
from swelltree.integrate.complementarity.start import (
    Wrenches,
    at_rest,
    force_derivatives,
    motion_at,
    start_motion,
    wrenches_one_by_one,
)
from swelltree.integrate.complementarity.state import (
    LineState,
    SchemeOptions,
    StepConstants,
    StepperState,
)
from swelltree.integrate.complementarity.step_rows import with_ends
from swelltree.jit import Tree, mapped
from swelltree.model.capabilities import (
    HasCalmForm,
    HasUnknowns,
    having,
    internal_at_rest,
    internal_settled,
)
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of, required_lines
from swelltree.multibody.inertia import dense_inertia, world_inertia
from swelltree.multibody.kinematics import Pose, joint_frames, tree_blocks, velocity_matrix
from swelltree.studies.options import refuse_start
from swelltree.studies.time.complementarity.channels import observer
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea
from swelltree.waves.stream_function import StreamWave

if TYPE_CHECKING:
    from swelltree.integrate.complementarity.samples import Sample


def in_words(before: np.ndarray, names: tuple[str, ...]) -> str:
    """Text of the initial imbalance; empty where nothing can move."""
    if not before.size:
        return ""
    k = int(np.abs(before).argmax())
    unit = "N m" if names[k].rsplit("__", 1)[-1] in ("Roll", "Pitch", "Yaw") else "N"
    return f"Before: {names[k].replace('__', ' ')}: {before[k]:.4g} {unit} out of balance."


def channels_of(model: Model, form: SchemeOptions, sample: Sample) -> dict[str, np.ndarray]:
    """Channels of one sample, time first."""
    one = mapped(lambda x: np.asarray(x)[None], sample)
    return {name: np.asarray(x) for name, x in observer(form)(model, one).items()}


def unbalanced(model: Model, sample: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Generalised forces in the directions of the tree joints."""
    pose = Pose(sample["position"][0], sample["rotation"][0])
    P = np.asarray(velocity_matrix(*tree_blocks(model, pose, joint_frames(model, pose))))
    tau = P.T @ sample["wrench"][0].reshape(-1)
    return tau, model.layout.dof_labels[: model.layout.n_tree]


PER_PERIOD = 150  # steps in the peak period of a sea
PER_OWN_PERIOD = 40  # steps in the shortest period of a body
LONGEST, SHORTEST = 0.1, 1e-3  # s


def default_step(model: Model, waves: RealisedSea | None) -> float:
    """Step that resolves the waves and the motion of the bodies [s]."""
    step = LONGEST
    if isinstance(waves, StreamWave):
        step = min(step, 2.0 * np.pi / float(waves.omega) / PER_PERIOD)
    if isinstance(waves, Components) and len(waves.omega):
        omega = np.asarray(waves.omega, float)
        energy = np.asarray(waves.amplitude, float).reshape(-1) ** 2
        mean = float((omega * energy).sum() / max(energy.sum(), 1e-300))
        step = min(step, 2.0 * np.pi / max(mean, 1e-9) / PER_PERIOD)
    motion, internal = start_motion(model), internal_at_rest(model)
    stiffness, _ = force_derivatives(model, motion, internal)
    M = np.asarray(dense_inertia(model, world_inertia(model, motion.pose)))
    size = np.maximum(np.diag(M), 1e-9 * np.diag(M).max(initial=1.0))
    fastest = np.sqrt(np.maximum(np.diag(stiffness) / size, 0.0)).max(initial=0.0)
    if fastest > 0:
        step = min(step, 2.0 * np.pi / fastest / PER_OWN_PERIOD)
    return max(step, SHORTEST)


def derivatives_at(
    model: Model, wrenches: Wrenches = wrenches_one_by_one
) -> Callable[[StepperState], tuple[np.ndarray, np.ndarray]]:
    """Function of a state: stiffness and damping that are constant during a run."""
    start, steady = internal_at_rest(model), without_turning(model)

    def derivatives(state: StepperState) -> tuple[np.ndarray, np.ndarray]:
        pose = mapped(np.asarray, state.pose)
        internal = internal_settled(model, start, pose)
        still = np.zeros_like(np.asarray(state.v_minus))
        motion = motion_at(model, pose, still, np.asarray(state.angles))
        return force_derivatives(steady, motion, internal, wrenches)

    return derivatives


def without_waves(model: Model) -> Model:
    """The same model in a sea of height zero, with lines that are not released.

    All shapes stay, so the same compiled program serves.
    """
    model = model.replace(
        effects=tuple(
            effect.in_still_water() if isinstance(effect, HasCalmForm) else effect
            for effect in model.effects
        )
    )
    waves = model.sea.waves
    # steep waves and fields on a grid cannot be made flat: they are left out
    linear = isinstance(waves, Components)
    waves = replace(waves, amplitude=0.0 * waves.amplitude) if linear else None
    return model.replace(sea=replace(model.sea, waves=waves))


def to_rest(
    model: Model,
    form: SchemeOptions,
    width: int | None = None,
    *,
    hold: bool = False,
    wrenches: Wrenches = wrenches_one_by_one,
) -> Rest:
    """Equilibrium of bodies, lines and junctions in still water with current and wind."""
    form = replace(form, interior_point=False)
    step = single_step(form, width)
    still = without_waves(model)
    # as steps of a run see it: its program serves here too
    as_stepped = with_step_means(still, 0.0)

    def one(_: Model, setup: StepConstants, state: StepperState) -> tuple[StepperState, Sample]:
        return step(as_stepped, setup, state)

    def stepped(state: StepperState, hold: bool) -> Rest:
        return relaxed(one, still, form, state, derivatives_at(still, wrenches), hold=hold)

    rest = stepped(at_rest(still, form), hold)
    if not hold and not _came(rest):
        # lines and junctions first, which may be described far from their rest
        rest = stepped(stepped(at_rest(still, form), True).state, False)
    if not bool(rest.sample.solved) or not np.isfinite(rest.moved):
        raise SwelltreeError(
            "equilibrium: bodies and lines did not reach equilibrium. "
            f"{_cause(still, form, rest, hold)}"
            "Check weights, buoyancy and the lengths of lines."
        )
    if not _came(rest):
        warn_user(
            f"equilibrium: after {rest.steps} steps {_mover(still, rest)} still moves by "
            f"{rest.moved:.2g} m or rad from one to the next; the last state is used. Restrain "
            "it, or describe it nearer to its equilibrium."
        )
    return rest


def _came(rest: Rest) -> bool:
    """Whether everything is at rest, within a tolerance."""
    return bool(rest.sample.solved) and bool(rest.moved < UNTOLD)


def _mover(model: Model, rest: Rest) -> str:
    """Name of the item that moves most."""
    kind, number = rest.mover
    names = {"body": model.layout.bodies}
    lines = lines_of(model)
    if lines is not None:
        names |= {"line": lines.pieces, "junction": lines.junctions}
    return f"{kind} '{names[kind][number]}'"


def _cause(model: Model, form: SchemeOptions, rest: Rest, hold: bool) -> str:
    """Reason for no equilibrium: a fully extended line, or the largest imbalance."""
    short = too_short(model, rest.state)
    if short is not None:
        return f"{short[0].upper()}{short[1:]} "
    if hold:
        return ""
    # lines at rest, bodies as described: what then pulls them is out of balance
    channels = channels_of(model, form, to_rest(model, form, hold=True).sample)
    return f"{in_words(*unbalanced(model, channels))} ".lstrip()


def first_state(
    model: Model,
    form: SchemeOptions,
    step: float,
    width: int,
    start: Tree,
    wrenches: Wrenches = wrenches_one_by_one,
) -> StepperState:
    """Where a run begins, with the velocity now for that of the half step before.

    Args:
        model: in its sea.
        form: coordinates.
        step: of the run [s].
        width: samples that its program has room for.
        start: one of `STARTS`, or the state itself.
        wrenches: function that gives forces at many poses.
    """
    if isinstance(start, StepperState):
        return start
    if not isinstance(start, str):
        raise refuse_start(start, listed(STARTS))
    if start not in STARTS:
        raise SwelltreeError(
            f"start {start!r} is not known.{suggest(start, STARTS)} "
            "With dynamic lines a run starts from 'equilibrium', 'described' or 'cold', or from "
            "the result of another run."
        )
    if start == "cold" or (start == "described" and not having(model, HasUnknowns)):
        cold = at_rest(model, form)
        if not having(model, HasUnknowns):
            return cold
        return replace(cold, lines=_carried(model, cold, straight_lines(model, cold), step))
    hold = start == "described"
    rest = to_rest(model, form, width, hold=hold, wrenches=wrenches).state
    if not hold:
        return rest
    moving = at_rest(model, form)
    h, lines = step, rest.lines
    # what held the bodies is gone
    rest = replace(rest, lam=0.0 * rest.lam, contact=0.0 * rest.contact)
    if rest.contact_rub is not None:
        rest = replace(rest, contact_rub=0.0 * rest.contact_rub)
    if lines is not None:
        lines = _carried(model, moving, lines, h)
    return replace(rest, v_minus=moving.v_minus, lines=lines)


def straight_lines(model: Model, state: StepperState) -> Tree:
    """Lines drawn straight between their ends, at rest."""
    arrays, lines = required_lines(model).arrays, state.lines
    if arrays is None:
        return lines
    used = np.arange(arrays.n) >= np.asarray(arrays.first)[:, None]
    length = np.asarray(arrays.rest_length) * used
    part = np.concatenate([np.zeros((len(length), 1)), np.cumsum(length, axis=1)], axis=1)
    part = (part / part[:, -1:])[:, :, None]
    q = (1.0 - part) * lines.q[:, :1] + part * lines.q[:, -1:]
    return replace(lines, q=q, q_last=q, mu=0.0 * lines.mu)


def _carried(model: Model, moving: StepperState, lines: LineState, h: float) -> LineState:
    """Lines at rest apart from ends on moving bodies."""
    described = required_lines(model)
    if described.arrays is None:
        return lines
    last = before(moving.pose, np.asarray(moving.v_minus), np.array(h))
    ends = end_positions(described, last, np.asarray(lines.y))
    # segments that are still on a drum go with its end
    q_last = with_ends(required_lines(present(model, moving)).nodes, lines.q_last, ends)
    return replace(lines, q_last=np.asarray(q_last))
