"""What the two-step scheme remembers from step to step, its constants and its unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.jit import Array, Tree, jax, jnp, pytree
from swelltree.model.capabilities import all_winches, internal_at_rest, present
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import lines_of, required_lines
from swelltree.mooring.winches import WinchState
from swelltree.multibody.build_layout import evaluate_rows
from swelltree.multibody.kinematics import Motion, Pose, tree_blocks, velocity_matrix
from swelltree.multibody.layout import Row
from swelltree.multibody.rows import Drives
from swelltree.pto.actuators.forces import stroke_forces

LOG = 512  # events that are kept
MANY = 100  # unknowns of poses, multipliers and junctions, beyond which programs grow long
LIGHT = 0.95  # fraction of the inertia that is removed on the way to equilibrium


@pytree()
class LineState:
    """State of lines and junctions between steps."""

    q: Array  # (line, node, 3) positions now
    q_last: Array  # (line, node, 3) positions one step ago
    mu: Array  # (line, segment) multipliers of the last step
    nu: Array  # (line, node) forces of the bed
    y: Array  # (junction, 3)
    y_last: Array  # (junction, 3)
    winch: Tree = None  # WinchStepperState, or None
    rub: Array | None = None  # (line, node, 3) N, friction of a rough bed in the last step
    slow: Tree = None  # lines.stretch.SlowState half a step ago, where a line has slow springs


@pytree()
class WinchStepperState:
    """State of winches between steps: rows (line,) of all lines, else (winch,)."""

    first: Array  # (line,) idle segments
    rest: Array  # (line,) m, unstretched length of the first segment in use now
    rest_last: Array  # (line,) m, one step ago
    winch_state: WinchState
    tip: Array  # m/s, upward velocity of measured points one half step earlier
    tension: Array  # N, at the winch in the last step
    standing: Array  # 1 at the end of the drum, -1 at the shortest length, 2 as fast as can be
    work: Array  # J, done on the line so far
    brought: Array  # J, kinetic and potential energy of rope that came in
    lost: Array  # J, energy that splitting and merging took
    momentum: Array  # (winch, 3) N s, of rope that came in
    slip: Array  # (winch, 3) N s, momentum that splitting and merging took


@pytree()
class Log:
    """Events as rows of time, kind, item number, value."""

    rows: Array  # (LOG, 4)
    count: Array  # all events, also those without room


@pytree()
class Trend:
    """What the linear guess of the last step missed: added to the next, it is one order better."""

    x: Array  # of bodies, junctions, joints, contacts
    q: Array | None  # (line, node, 3), or None without lines
    mu: Array | None
    nu: Array | None


@pytree()
class StepperState:
    """Complete state between steps, as stored in a checkpoint."""

    t: Array  # s
    pose: Pose
    v_minus: Array  # (N, 6) velocity of the half step before
    q: Array  # tree coordinates, where the scheme uses them; else empty
    angles: Array  # remembered single-axis angles
    chi: Array  # radiation memory half a step ago
    elements: dict[str, Array]  # {kind: states} of effects now
    element_rates: dict[str, Array]  # their rates one step ago
    work: Array  # (terms,) J, lines last
    lam: Array  # (m,) multipliers of the last step
    contact: Array  # (k,) contact forces of the last step
    tie: Array  # (tie, 3) forces of the ties of the last step
    let_go: Array  # (tie,) one where nothing holds the end of the line
    tie_point: Array  # (tie, 3) where ties hold, in body axes or in the world
    lines: Tree  # LineState, or None
    trend: Trend
    log: Tree = None  # Log, where something can happen
    contact_rub: Array | None = None  # (k, 3) friction at contacts in the last step, on rough beds


@pytree()
class StepConstants:
    """Constants of a run with a given step."""

    h: Array  # s
    ahead: Array  # s by which time goes on: h, or none on the way to rest
    winding: Array  # 1, or 0 where winches are held
    theta: Array  # 1/2, or 1 for steps that must not fail
    beta: Array  # weight of the stiffness at the last and the next instant
    tau: Array  # m^2, product on the central path of complementarity
    coupled: Array  # (6N, 6N) added mass plus beta h^2 stiffness, or None
    damping: Array  # (6N, 6N) derivative of the forces by velocity, sign reversed
    memory: Tree  # (X, h/2 X B) of the radiation memory, or None
    scale: Array  # (unknowns,) h^2 over the inertia of each row
    columns: Array  # (unknowns,) size of each unknown
    contact_scale: Array  # (k,) m/N
    tie_scale: Array  # N per metre
    stick_mass: Array  # (s,) inertia that what sticks moves


@dataclass(frozen=True)
class SchemeOptions:
    """Choice of coordinates and equations; hashable.

    Args:
        joint_coordinates: tree coordinates with the discrete path matrix, or the poses of all
            bodies with multipliers.
        rows: the joint equations kept as rows.
        max_iterations: of Newton's method in one step.
        tolerance: largest residual [m, rad].
        interior_point: solve steps of lines by the interior point.
        differentiable: derivatives go through the steps, at two more iterations each.
        stored: function of model, form and sample that gives the channels whose extremes between
            samples are kept, or None.
        optimised: compile with all optimisations, or four times as fast for a few hundred steps.
        events: what happens between steps: `values` of all events and what is `switched` by those
            below zero (`studies.time.two_step.switching`), or None.
    """

    joint_coordinates: bool
    rows: tuple[Row, ...]
    max_iterations: int = 40
    tolerance: float = 1e-10
    differentiable: bool = False
    interior_point: bool = False
    stored: Tree = None
    optimised: bool = True
    events: Tree = None


def form_of(model: Model, formulation: str) -> SchemeOptions:
    """The form that stands for a formulation.

    Bodies that no joint ties to one another need no path matrix, but where DOFs of the tree
    can be locked.
    """
    layout = model.layout
    tied = any(row.joint < layout.n_bodies for row in layout.rows)
    joint = locks(model) or (formulation != "lagrange" and tied)
    return SchemeOptions(joint, model.cut_rows if joint else model.all_rows)


def usual_formulation(model: Model) -> str:
    """The formulation where none is asked for.

    Poses with multipliers, or tree coordinates where that would be many unknowns: a frame of
    welded rods has few DOFs.
    """
    few = sum(Sizes.of(model, form_of(model, "lagrange"))) <= MANY
    return "lagrange" if few and not locks(model) else "path_matrix"


def locks(model: Model) -> bool:
    """Whether tree DOFs can be locked, as those of cable elements on a drum."""
    return present(model, internal_at_rest(model)).locked is not None


class Sizes(NamedTuple):
    """Numbers of unknowns: bodies, junctions, joint equations, contacts, ties, brakes.

    Junctions and ties have three each.
    """

    bodies: int
    junctions: int
    rows: int
    contacts: int
    ties: int
    sticks: int

    @staticmethod
    def of(model: Model, form: SchemeOptions) -> Sizes:
        layout, lines = model.layout, lines_of(model)
        return Sizes(
            layout.n_tree if form.joint_coordinates else 6 * layout.n_bodies,
            0 if lines is None else 3 * len(lines.junctions),
            len(form.rows),
            0 if lines is None else lines.n_contacts,
            0 if lines is None else 3 * len(lines.tie_body),
            int(stroke_forces(model).can_stick().sum()),
        )

    def split(self, x: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Unknowns of bodies, junctions (J, 3), multipliers, forces of contacts, ties, sticks."""
        a = self.bodies
        b = a + self.junctions
        c = b + self.rows
        d = c + self.contacts
        e = d + self.ties
        return x[:a], x[a:b].reshape(-1, 3), x[b:c], x[c:d], x[d:e].reshape(-1, 3), x[e:]

    @property
    def balances(self) -> int:
        return self.bodies + self.junctions


# --- Joint equations that follow from others, in the two-step scheme


def surplus_projector(
    model: Model, form: SchemeOptions, motion: Motion, angles: Array, drives: Drives
) -> Float[Array, "m m"] | None:
    """Projector on combinations of dependent rows, or None."""
    if not model.surplus:
        return None
    pose, frames = motion.pose, motion.frames
    still = jnp.zeros((model.layout.n_bodies, 6))
    J = evaluate_rows(model, form.rows, pose, frames, still, angles, drives).jacobian
    if form.joint_coordinates:
        J = J @ velocity_matrix(*tree_blocks(model, pose, frames))
    U = jnp.linalg.svd(jax.lax.stop_gradient(J), full_matrices=True)[0]
    idle = U[:, len(form.rows) - model.surplus :]
    return idle @ idle.T


def without_surplus(
    projector: Array | None, setup: StepConstants, size: Sizes, closing: Array, lam: Array
) -> Array:
    """Joint equations of a step without dependent rows, as many as multipliers."""
    if projector is None:
        return closing
    unit = setup.columns[size.balances + np.arange(size.rows)]
    return closing + projector @ (lam / unit - closing)


# --- A log of what happens during a run, kept inside the compiled loop

SPLIT, MERGE, DRUM, SHORTEST, FAST, CAUGHT, MISSED, RELEASED = (float(k) for k in range(1, 9))


def empty_log(model: Model) -> Log | None:
    """Empty event log, None where no event is possible."""
    lines = lines_of(model)
    if not winch_numbers(model) and (lines is None or not lines.tie_body):
        return None
    return Log(np.zeros((LOG, 4)), np.zeros((), np.int32))


def winch_numbers(model: Model) -> dict[str, int]:
    """All winches of a model with their numbers in the event log."""
    names = (name for part in all_winches(model) for name in part.names)
    return {name: k for k, name in enumerate(names)}


def noted(log: Log, happened: Array, t: Array, kind: Array, item: int, value: Array) -> Log:
    """The log with one more event, if it occurred and there is space."""
    row = jnp.stack([jnp.asarray(x, float) for x in (t, kind, item, value)])
    slot = jnp.minimum(log.count, LOG - 1)
    old = jax.lax.dynamic_index_in_dim(log.rows, slot, keepdims=False)
    row = jnp.where(happened & (log.count < LOG), row, old)
    rows = jax.lax.dynamic_update_index_in_dim(log.rows, row, slot, 0)
    return Log(rows, log.count + happened.astype(log.count.dtype))


def sentences(model: Model, log: Log | None, until: float) -> list[str]:
    """Stages of operations and events as messages, sorted by time, up to the end of a run [s]."""
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
    happened = [row for part in all_winches(model) for row in part.stages]
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
    lines = required_lines(model)
    return lines.lines[lines.tie_line[tie]]
