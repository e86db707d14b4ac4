"""Signals of a linear model by name: forces that go in, motions and forces that come out.

Every signal is a row t of the free directions: an input u is a force that does the power u t y',
and an output is t y, its rate, its acceleration or the force of an element.
"""

from __future__ import annotations

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.values import as_names
from swelltree.jit import Tree
from swelltree.model.capabilities import HasDrag, having
from swelltree.model.model import Model
from swelltree.mooring.dynamic.lines import STATIC_LINES
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.layout import DOFS
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.studies.linear.linear_model import FirstOrder, LinearModel
from swelltree.studies.linear.linearise import linear_model


def model_with_states(model: Model, how: Formulation) -> LinearModel:
    """A linear model with radiation states, whose free directions are named velocities."""
    linear = linear_model(model, how, "state_space", study="state_space")
    Z = linear.at.directions
    if Z.shape[0] == Z.shape[1]:
        return linear
    return linear.in_directions(np.linalg.inv(Z[_independent(Z)]))


def _independent(rows: np.ndarray) -> np.ndarray:
    """The most independent rows of (n, f), as many as columns."""
    from scipy.linalg import qr

    pivots: Tree = qr(rows.T, mode="r", pivoting=True)[-1]
    return np.sort(pivots[: rows.shape[1]])


def state_names(linear: LinearModel) -> tuple[str, ...]:
    """State names of the first-order form of `model_with_states`."""
    Z, names = linear.at.directions, linear.at.names
    # the rows that are one are the velocities that serve as free directions
    free = [names[int(np.abs(Z - unit).max(axis=1).argmin())] for unit in np.eye(linear.free)]
    memory = linear.radiation.states
    k = 0 if memory is None else memory.order
    return (
        *free,
        *(f"{name}__rate" for name in free),
        *(f"radiation__{i + 1}" for i in range(k)),
        *linear.internal.names,
    )


def left_out(model: Model) -> tuple[str, ...]:
    """Notes on effects that the linear model omits."""
    groups = having(model, HasDrag)
    dragged = [group.word for group in groups if group.without_drag() is not group]
    notes = [STATIC_LINES] if STATIC_LINES in model.report else []
    if dragged:
        notes.append(
            f"drag ({listed(dragged)}) is linearised about equilibrium, where it has a derivative "
            "only in a current."
        )
    return tuple(notes)


def independent_coordinates(linear: LinearModel) -> list[str]:
    """Joint coordinates that can serve as free directions, in order."""
    labels = [label.replace("__", ".") for label in linear.at.model.layout.dof_labels]
    if len(labels) == linear.free:
        return labels
    return [labels[i] for i in _independent(linear.to_coordinates)]


def spelled(name: str) -> str:
    """A signal's name without dots, which python-control does not allow."""
    return name.replace(".", "__")


def _listed_names(names: object) -> list[str]:
    """Names as users write them, with dots; names of exported systems are accepted too."""
    return [name.replace("__", ".") for name in as_names(names)]


def input_rows(linear: LinearModel, names: object) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and rows (m, f) of the inputs.

    Args:
        linear: the linearised model.
        names: "excitation", elements with an actuator, "body.Dof", "joint.Dof", "push.Dof"; None
            for all PTOs and the excitation.
    """
    layout = linear.at.model.layout
    if names is None:
        forces = stroke_forces(linear.at.model)
        names = [*(forces.names[i] for i in forces.ptos), "excitation"]
    chosen: dict[str, np.ndarray] = {}
    strokes = dict(zip(linear.elements.names, linear.to_strokes, strict=True))
    for name in _listed_names(names):
        if name == "excitation":
            wet = linear.excitation.wet()
            for i, row in enumerate(linear.to_bodies):
                if np.abs(row).max(initial=0.0) > 1e-9 and wet[i // 6]:
                    chosen[f"{layout.bodies[i // 6]}.{DOFS[i % 6]}"] = row
        elif name in strokes:
            chosen[name] = strokes[name]
        else:
            chosen[name] = _row(linear, name, "input", list(strokes))
    if not chosen:
        raise SwelltreeError(
            "state_space: there is no input. Name a PTO, 'excitation' or e.g. 'body.Heave'."
        )
    return tuple(spelled(name) for name in chosen), np.array(list(chosen.values()))


def _row(linear: LinearModel, name: str, kind: str, others: list[str]) -> np.ndarray:
    """Row of "item.Dof": a body, an applied force or a joint."""
    layout = linear.at.model.layout
    item, _, dof = name.partition(".")
    if item in layout.bodies and dof in DOFS:
        motion = linear.to_displacements if kind == "output" else linear.to_bodies
        return motion[6 * layout.bodies.index(item) + DOFS.index(dof)]
    if kind == "input" and item in linear.applied and dof in DOFS:
        return linear.applied[item][DOFS.index(dof)] @ linear.to_bodies
    if f"{item}__{dof}" in layout.dof_labels:
        return linear.to_coordinates[layout.dof_labels.index(f"{item}__{dof}")]
    known = [f"{body}.{d}" for body in layout.bodies for d in DOFS]
    known += [label.replace("__", ".") for label in layout.dof_labels]
    if kind == "input":
        known += [f"{push}.{d}" for push in linear.applied for d in DOFS]
    near = suggest(name, [*known, *others])
    forms = "'body.Heave' or 'joint.Pitch'"
    forms = f"{forms}, an element such as {listed(others)}" if others else forms
    raise SwelltreeError(f"state_space: {kind} '{name}' is not known.{near} Give {forms}.")


def output_rows(
    linear: LinearModel, names: object, inputs: tuple[str, ...], forces: np.ndarray
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
        labels = [label.replace("__", ".") for label in linear.at.model.layout.dof_labels]
        names = [*labels, *(f"{name}.rate" for name in labels)]
    first = linear.first_order()
    rows = [(name, *_output(linear, first, name, inputs, forces)) for name in _listed_names(names)]
    if not rows:
        raise SwelltreeError("state_space: there is no output. Name e.g. 'hinge.Pitch'.")
    names, C, D = zip(*rows, strict=True)
    return tuple(spelled(name) for name in names), np.array(C), np.array(D)


def _output(
    linear: LinearModel, first: FirstOrder, name: str, inputs: tuple[str, ...], forces: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one output: for the states (s,) and for the inputs (m,)."""
    plain, derivative = name, 0
    for ending, count in ((".rate", 1), (".acceleration", 2)):
        if name.endswith(ending):
            plain, derivative = name[: -len(ending)], count
    item, _, quantity = plain.partition(".")
    f, elements = linear.free, linear.elements
    c, d = np.zeros(len(first.A)), np.zeros(len(inputs))
    is_element = item in elements.names
    if is_element and quantity == "force" and derivative == 0:
        i = elements.names.index(item)
        if not elements.full[i]:
            raise SwelltreeError(
                f"state_space: output '{name}' has no linear law (one-sided or with end stops). "
                f"Take '{item}.stroke' and '{item}.stroke.rate'."
            )
        c[: 2 * f] = linear.element_slopes[i]
        c[len(c) - len(linear.internal.names) :] = linear.internal.E[i]
        if item in inputs:
            d[inputs.index(item)] = 1.0
        return c, d
    if is_element and quantity in ("stroke", "length"):
        row = linear.to_strokes[elements.names.index(item)]
    else:
        strokes = [f"{e}.{q}" for e in elements.names for q in ("stroke", "force")]
        row = _row(linear, plain, "output", strokes)
    if derivative == 2:
        return row @ first.A[f : 2 * f], row @ first.push[f : 2 * f] @ forces.T
    c[derivative * f : (derivative + 1) * f] = row
    return c, d
