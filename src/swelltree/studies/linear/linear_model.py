r"""The linearised model with named signals: what a control-oriented model is made of.

About the state of rest, with y the free directions,

.. math::
    M \ddot y + D \dot y + K y + P^\top C_r \chi = T^\top u, \qquad
    \dot\chi = A_r \chi + B_r P \dot y

M holds the added mass at infinite frequency. Every signal is a row t of the free directions: an
input u is a force that does the power u t y' and an output is t y, its rate, its acceleration or
the force of an element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.effects.applied import AppliedForces
from swelltree.effects.linear_hydro.data import Convolution
from swelltree.effects.lines.dynamic.lines import STATIC_LINES
from swelltree.effects.lines.dynamic.static_lines import with_static_lines
from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.formulations import Formulation
from swelltree.model.layout import DOFS
from swelltree.model.model import Model
from swelltree.studies.linear.rao import linear_system
from swelltree.studies.linear.turned_data import turned_to_rest
from swelltree.system.errors import SwelltreeError, listed, suggest


@dataclass(frozen=True)
class Element:
    """A spring, joint force or PTO: where it acts, and its linear law F = -k x - c x' + u."""

    row: np.ndarray
    stiffness: float
    damping: float
    linear: bool = True


@dataclass(frozen=True)
class LinearModel:
    """First-order form x' = A x + (forces on the free directions), x = (y, y', chi)."""

    A: np.ndarray
    push: np.ndarray  # (states, f): states moved by forces on the free directions
    states: tuple[str, ...]
    bodies: np.ndarray  # (6N, f)
    coordinates: np.ndarray  # (dofs, f)
    elements: dict[str, Element]
    applied: dict[str, Callable[[], np.ndarray]]  # (6, f) of each applied force
    model: Model
    notes: tuple[str, ...]

    @property
    def free(self) -> int:
        """Number of free directions."""
        return self.push.shape[1]


def linear_model(model: Model, how: Formulation) -> LinearModel:
    """Linearise about the state of rest; radiation states included."""
    model = with_static_lines(model)
    hydro = model.hydro
    if hydro is not None and isinstance(hydro.memory, Convolution):
        raise SwelltreeError(
            "state_space: the model remembers radiation by convolution, which has no states. "
            "Compile with radiation='state_space'."
        )
    linear = linear_system(model, how)
    model = turned_to_rest(model, how, linear["state"])
    hydro = model.hydro
    names, back = _independent(how.velocity_names(model), linear["free_directions"])
    to = {
        key: np.asarray(linear[key]) @ back
        for key in ("to_bodies", "to_coordinates", "to_strokes")
        if key in linear
    }
    M, D, K = (back.T @ linear[key] @ back for key in ("mass", "damping", "stiffness"))
    P = to["to_bodies"]
    if model.added_mass is not None:
        M = M + P.T @ np.asarray(model.added_mass) @ P
    if hydro is not None:
        D = D + P.T @ np.asarray(hydro.damping) @ P
    memory = None if hydro is None else hydro.memory
    f, k = M.shape[0], 0 if memory is None else memory.A.shape[0]
    A = np.zeros((2 * f + k, 2 * f + k))
    A[:f, f : 2 * f] = np.eye(f)
    A[f : 2 * f, :f], A[f : 2 * f, f : 2 * f] = -np.linalg.solve(M, K), -np.linalg.solve(M, D)
    if memory is not None:
        A[f : 2 * f, 2 * f :] = -np.linalg.solve(M, P.T @ np.asarray(memory.C))
        A[2 * f :, f : 2 * f] = np.asarray(memory.B) @ P
        A[2 * f :, 2 * f :] = np.asarray(memory.A)
    push = np.zeros((2 * f + k, f))
    push[f : 2 * f] = np.linalg.inv(M)
    states = (
        *names,
        *(f"{name}__rate" for name in names),
        *(f"radiation__{i + 1}" for i in range(k)),
    )
    return LinearModel(
        A,
        push,
        states,
        P,
        to["to_coordinates"],
        _elements(model, to, linear),
        _applied(model, how, linear["state"], P),
        model,
        left_out(model),
    )


def _independent(names: tuple[str, ...], Z: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Velocities that can serve as free directions, and the change to them.

    Without constraint rows these are all; else those that the rows leave most free.
    """
    from scipy.linalg import qr

    f = Z.shape[1]
    if Z.shape[0] == f:
        return names, np.eye(f)
    pivots: Any = qr(Z.T, mode="r", pivoting=True)[-1]
    chosen = np.sort(pivots[:f])
    return tuple(names[i] for i in chosen), np.linalg.inv(Z[chosen])


def _elements(model: Model, to: dict[str, np.ndarray], linear: dict[str, Any]) -> dict:
    """Every element with a stroke, by name."""
    own = stroke_forces(model)
    found: dict[str, Element] = {}
    for i, name in enumerate(own.names):
        law, _ = own.law_of(i)
        stops = np.isfinite([own.stops.lower[i], own.stops.upper[i]]).any()
        linear_law = not (law.states or own.tension_only[i] or stops)
        k, c = float(own.stiffness[i]), float(linear["stroke_damping"][i])
        found[name] = Element(to["to_strokes"][i], k, c, bool(linear_law))
    return found


def model_states(group: Any) -> bool:
    """Does a group of forces keep states of its own?"""
    return group.internal_start() is not None


def _applied(model: Model, how: Formulation, state: Any, P: np.ndarray) -> dict:
    """Rows of force and torque of every applied force, found when asked for."""

    applied = model.effect(AppliedForces)
    elements = () if applied is None else applied.elements

    def rows(i: int) -> np.ndarray:
        element = elements[i]
        pose = how.kinematics(model, np.zeros(()), state).motion.pose
        R = np.asarray(pose.R)[element.body] if element.body < model.layout.n_bodies else np.eye(3)
        if element.body >= model.layout.n_bodies:
            return np.zeros((6, P.shape[1]))
        v = P[6 * element.body : 6 * element.body + 6]
        x, y, z = R @ np.asarray(element.point)
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        at_point, turn = v[:3] - cross @ v[3:], v[3:]
        if element.in_body_axes:
            at_point, turn = R.T @ at_point, R.T @ turn
        return np.concatenate([at_point, turn])

    names = () if applied is None else applied.names
    return {name: (lambda i=i: rows(i)) for i, name in enumerate(names)}


def left_out(model: Model) -> tuple[str, ...]:
    """What the linear model leaves out."""
    groups = model.effects
    kept = [group.word for group in groups if model_states(group)]
    dragged = [group.word for group in groups if group.without_drag() is not group]
    notes = [STATIC_LINES] if STATIC_LINES in model.report else []
    if kept:
        notes.append(
            f"states of the elements of kind {listed(kept)} are held at their values at rest, "
            "as in rao."
        )
    if dragged:
        notes.append(
            f"drag ({listed(dragged)}) is linearised about rest, where it has a slope only in a "
            "current."
        )
    return tuple(notes)


def independent_coordinates(linear: LinearModel) -> list[str]:
    """Joint coordinates that can serve as free directions, in order."""
    from scipy.linalg import qr

    labels = [label.replace("__", ".") for label in linear.model.layout.dof_labels]
    if len(labels) == linear.free:
        return labels
    pivots: Any = qr(linear.coordinates.T, mode="r", pivoting=True)[-1]
    return [labels[i] for i in np.sort(pivots[: linear.free])]


def spelled(name: str) -> str:
    """A signal's name in the system: python-control allows no dots."""
    return name.replace(".", "__")


def _listed_names(names: Any) -> list[str]:
    """Names as the user writes them, with dots; those of an exported system are taken too."""
    return [name.replace("__", ".") for name in ([names] if isinstance(names, str) else names)]


def input_rows(linear: LinearModel, names: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and rows (m, f) of the inputs.

    Args:
        linear: the linearised model.
        names: "excitation", elements with an actuator, "body.Dof", "joint.Dof", "push.Dof"; None
            for all PTOs and the excitation.
    """
    layout = linear.model.layout
    if names is None:
        own = stroke_forces(linear.model)
        names = [*(own.names[i] for i in own.ptos), "excitation"]
    chosen: dict[str, np.ndarray] = {}
    for name in _listed_names(names):
        if name == "excitation":
            for i, row in enumerate(linear.bodies):
                if np.abs(row).max(initial=0.0) > 1e-9 and _is_wet(linear.model, i // 6):
                    chosen[f"{layout.bodies[i // 6]}.{DOFS[i % 6]}"] = row
        elif name in linear.elements:
            chosen[name] = linear.elements[name].row
        else:
            chosen[name] = _row(linear, name, "input", list(linear.elements))
    if not chosen:
        raise SwelltreeError(
            "state_space: there is no input. Name a PTO, 'excitation' or e.g. 'body.Heave'."
        )
    return tuple(spelled(name) for name in chosen), np.array(list(chosen.values()))


def _is_wet(model: Model, body: int) -> bool:
    """Does the sea act on a body?"""
    table = None if model.hydro is None else model.hydro.table
    if table is None:
        return model.hydro is not None
    own = slice(6 * body, 6 * body + 6)
    return bool(np.abs(np.asarray(table.excitation)[..., own]).max(initial=0.0) > 0)


def _row(linear: LinearModel, name: str, kind: str, others: list[str]) -> np.ndarray:
    """Row of "item.Dof": a body, an applied force or a joint."""
    layout = linear.model.layout
    item, _, dof = name.partition(".")
    if item in layout.bodies and dof in DOFS:
        return linear.bodies[6 * layout.bodies.index(item) + DOFS.index(dof)]
    if kind == "input" and item in linear.applied and dof in DOFS:
        return linear.applied[item]()[DOFS.index(dof)]
    if f"{item}__{dof}" in layout.dof_labels:
        return linear.coordinates[layout.dof_labels.index(f"{item}__{dof}")]
    known = [f"{body}.{d}" for body in layout.bodies for d in DOFS]
    known += [label.replace("__", ".") for label in layout.dof_labels]
    if kind == "input":
        known += [f"{push}.{d}" for push in linear.applied for d in DOFS]
    near = suggest(name, [*known, *others])
    forms = "'body.Heave' or 'joint.Pitch'"
    forms = f"{forms}, an element such as {listed(others)}" if others else forms
    raise SwelltreeError(f"state_space: {kind} '{name}' is not known.{near} Give {forms}.")


def output_rows(
    linear: LinearModel, names: Any, inputs: tuple[str, ...], forces: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names of the outputs, their rows C of the states and D of the inputs.

    Args:
        linear: the linearised model.
        names: "joint.Dof", "body.Dof", "element.stroke", each also with ".rate" or
            ".acceleration", and "element.force"; None for all joint coordinates and rates.
        inputs: names of the inputs.
        forces: rows of the inputs (m, f).
    """
    if names is None:
        own = [label.replace("__", ".") for label in linear.model.layout.dof_labels]
        names = [*own, *(f"{name}.rate" for name in own)]
    f, n = linear.free, len(linear.states)
    B = linear.push @ forces.T
    labels, C, D = [], [], []
    for name in _listed_names(names):
        plain, derivative = name, 0
        for ending, count in ((".rate", 1), (".acceleration", 2)):
            if name.endswith(ending):
                plain, derivative = name[: -len(ending)], count
        item, _, quantity = plain.partition(".")
        c, d = np.zeros(n), np.zeros(len(inputs))
        element = linear.elements.get(item)
        if element is not None and quantity == "force" and derivative == 0:
            if not element.linear:
                raise SwelltreeError(
                    f"state_space: output '{name}' has no linear law (one-sided, with end stops or "
                    f"states of its own). Take '{item}.stroke' and '{item}.stroke.rate'."
                )
            c[:f], c[f : 2 * f] = -element.stiffness * element.row, -element.damping * element.row
            if item in inputs:
                d[inputs.index(item)] = 1.0
        else:
            if element is not None and quantity in ("stroke", "length"):
                row = element.row
            else:
                strokes = [f"{e}.{q}" for e in linear.elements for q in ("stroke", "force")]
                row = _row(linear, plain, "output", strokes)
            if derivative == 2:
                c, d = row @ linear.A[f : 2 * f], row @ B[f : 2 * f]
            else:
                c[derivative * f : (derivative + 1) * f] = row
        labels.append(spelled(name))
        C.append(c)
        D.append(d)
    if not labels:
        raise SwelltreeError("state_space: there is no output. Name e.g. 'hinge.Pitch'.")
    return tuple(labels), np.array(C), np.array(D)
