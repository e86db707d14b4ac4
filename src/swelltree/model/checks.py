"""Checks of a model: mass against displacement, rank of joint equations, lines alone.

Bodies that carry one another's weight through their joints float together; a joint that leaves
the vertical free carries nothing. Lines, springs, moorings, members and joints to the world may
carry a difference, so that it is then only reported as a note.

A row of a loop, written in the velocities of the tree, is a sum over the bodies that it joins. On
an axis that another joint holds already the terms cancel, and what remains is rounding: measured
by the largest entry of the Jacobian it may look like an equation, measured by the terms that
cancelled it is none. Every row is therefore divided by the size of its terms.

The equations of a system always have a body. Where only lines are described, between fixed points
and junctions, a body that is welded to the world stands in; results leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.bodies.body import WORLD, Body, Point
from swelltree.describe.errors import Finding, SwelltreeError
from swelltree.describe.forces.elements import OnJoint
from swelltree.describe.joints.kinds import Weld
from swelltree.describe.system import System
from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import DOFS
from swelltree.jit import Array, namespace

if TYPE_CHECKING:
    from swelltree.describe.joints.joint import Joint
    from swelltree.model.model import Model


UNBALANCED = 0.01  # of the weight
UPRIGHT = 0.999  # part of the vertical that a joint leaves free, within 2.6 degrees


class Afloat(NamedTuple):
    """Bodies that float together.

    Args:
        bodies: their names.
        hulls: what the hull of each displaces as described, zero without one [m^3].
        lifted: which hulls act in the model as they are (nonlinear buoyancy).
        carriers: what else may carry them, in words.
    """

    bodies: tuple[str, ...]
    hulls: tuple[float, ...]
    lifted: tuple[bool, ...]
    carriers: tuple[str, ...]


def floating_sets(system: System, nonlinear: tuple[str, ...] = ()) -> tuple[Afloat, ...]:
    """The sets of bodies that float together.

    Args:
        system: resolved.
        nonlinear: bodies whose hulls give the buoyancy.
    """
    lead = {body.name: body.name for body in system.bodies}
    carried: list[tuple[str, set[str]]] = []
    for joint in system.joints:
        ends = {joint.base.body, joint.follower.body}
        if _leaves_the_vertical(system, joint):
            continue
        if WORLD_NAME in ends:
            carried.append((joint.label, ends - {WORLD_NAME}))
            continue
        one, other = sorted(lead[name] for name in ends)
        lead = {name: one if first == other else first for name, first in lead.items()}
    carried += _carriers(system)
    sets = []
    for first in dict.fromkeys(lead.values()):
        members = tuple(name for name in lead if lead[name] == first)
        # what acts between bodies of one set carries nothing
        words = [
            label for label, ends in carried if ends & set(members) and not _inside(ends, members)
        ]
        hulls = tuple(_hull_volume(system.body(name)) for name in members)
        lifted = tuple(name in nonlinear for name in members)
        sets.append(Afloat(members, hulls, lifted, tuple(dict.fromkeys(words))))
    return tuple(sets)


def mass_against_displacement(model: Model) -> Iterator[Finding]:
    """Warn where mass and displacement differ; a note where something can carry the difference."""
    g, rho = float(np.abs(model.gravity[2])), float(model.rho)
    mass, volume = np.asarray(model.bodies.mass), np.array(model.bodies.volume, dtype=float)
    hydro = model.hydro
    if hydro is not None:
        volume = volume + np.asarray(hydro.buoyancy)[:, 2] / (rho * g)
    for each in model.described.afloat:
        rows = [model.layout.bodies.index(name) for name in each.bodies]
        acts = [volume[i] > 0.0 or yes for i, yes in zip(rows, each.lifted, strict=True)]
        volumes = [
            volume[i] if volume[i] > 0.0 else hull for i, hull in zip(rows, each.hulls, strict=True)
        ]
        weighs, displaces = float(mass[rows].sum()), rho * float(sum(volumes))
        if displaces > 0.0 and abs(displaces - weighs) > UNBALANCED * weighs:
            numbers = {"weight": weighs * g, "buoyancy": displaces * g}
            severity = "warning" if any(acts) and not each.carriers else "note"
            sentence = _sentence(each, weighs, displaces, any(acts), g)
            yield Finding(severity, "balance", sentence, numbers)


def _sentence(each: Afloat, weighs: float, displaces: float, acts: bool, g: float) -> str:
    """Message with both values and what carries the difference."""
    names = ", ".join(f"'{name}'" for name in each.bodies[:4])
    names += " ..." if len(each.bodies) > 4 else ""
    alone = len(each.bodies) == 1
    many = f"body {names} has a mass of" if alone else f"bodies {names} together have a mass of"
    it, off = "it" if alone else "they", abs(displaces - weighs)
    word = "too heavy" if weighs > displaces else "too light"
    text = (
        f"{many} {weighs:.5g} kg, but where {it} {'is' if alone else 'are'} described the "
        f"displaced water has {displaces:.5g} kg: {off:.4g} kg or "
        f"{100 * off / displaces:.2g} % {word}"
    )
    if each.carriers:
        what = ", ".join(each.carriers[:3]) + (" ..." if len(each.carriers) > 3 else "")
        return f"{text}. That leaves {off * g:.4g} N to {what}; correct the mass where it does not."
    if not acts:
        return f"{text}. Correct the mass or the draft before data are made for this hull."
    return (
        f"{text}, so {it} will {'sink' if weighs > displaces else 'rise'} at the start. Correct "
        'the mass, use mass="displacement", or start from equilibrium().'
    )


def _hull_volume(body: Body) -> float:
    """Displacement of the hull as described [m^3]."""
    if body.hull is None:
        return 0.0
    from swelltree.describe.bodies.solids import hull_immersed

    return float(hull_immersed(body.hull, body.rotation_matrix).volume)


def _leaves_the_vertical(system: System, joint: Joint) -> bool:
    """Whether a joint allows its follower to heave."""
    layout, driven = joint.layout(), joint.motions()
    base = joint.base.body
    R = np.eye(3) if base == WORLD_NAME else system.body(base).rotation_matrix
    free = [k for k in layout.translations if DOFS[k] not in driven]
    return bool(np.linalg.norm((R @ joint.base_frame()[1])[2, free]) > UPRIGHT)


def _inside(ends: set[str], bodies: tuple[str, ...]) -> bool:
    """Whether both ends are within one set of bodies."""
    return len(ends) > 1 and ends <= set(bodies)


def _carriers(system: System) -> Iterator[tuple[str, set[str]]]:
    """What may carry weight besides joints: label and bodies at its ends, the world among them."""
    for line in system.lines:
        # a junction, or a place on another line, stands for the world
        ends = {end.body if isinstance(end, Point) else WORLD_NAME for end in (line.A, line.B)}
        yield line.label, ends
    for contact in system.contacts:
        yield contact.label, {contact.body.body}
    driven = {name for controller in system.controllers for name in controller.drives}
    for force in (*system.forces, *system.ptos, *system.moorings):
        if force.name in driven or force.pushes_at_rest:
            if not isinstance(force, OnJoint) or force.joint is None:
                yield force.label, {point.body for point in force.points.values()}
            elif system.dof_of(force) in DOFS[:3]:
                ends = system.joint(force.joint).points
                yield force.label, {point.body for point in ends.values()}
    for operation in system.operations:
        for stage in operation.stages:
            if stage.to is not None:
                yield operation.label, {stage.to.body, stage.target}


RANK = 1e-8  # of a row's size: less is none; closing and rounding leave some 1e-12


def term_size(jacobian: Array, P: Array) -> Array:
    """Size of each row's terms before they cancel, (m,).

    Args:
        jacobian: rows in body velocities (m, 6N).
        P: body velocities per velocity of the system (6N, n).
    """
    xp = namespace(jacobian, P)
    # lengths of vectors, not entries: a row is as large whichever way its axes point
    vectors = P.shape[0] // 3
    rows = xp.linalg.norm(jacobian.reshape(len(jacobian), vectors, 3), axis=2)
    moves = xp.linalg.norm(P.reshape(vectors, 3, P.shape[1]), axis=1)
    size = xp.linalg.norm(rows @ moves, axis=1)
    # a row that nothing can move is none
    return xp.where(size > 0.0, size, 1.0)


def rank_of(J: np.ndarray) -> int:
    """Number of independent rows of a Jacobian whose rows are divided by `term_size`."""
    return int((singular_values(J) > RANK).sum())


def null_space(J: np.ndarray) -> np.ndarray:
    """Motions (n, k) in the null space of such a Jacobian."""
    if 0 in J.shape:
        return np.eye(J.shape[1])
    Vt = np.linalg.svd(J)[2]
    return Vt[rank_of(J) :].T


def smallest_step(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Least-squares solution of J x = b of min norm, directions below the rank left out."""
    if 0 in J.shape:
        return np.zeros(J.shape[1])
    U, size, Vt = np.linalg.svd(J, full_matrices=False)
    keep = size > RANK
    return Vt[keep].T @ ((U[:, keep].T @ b) / size[keep])


def independent(J: np.ndarray) -> list[int]:
    """Independent rows by pivoted Gram-Schmidt."""
    work = J.copy()
    stored: list[int] = []
    for _ in range(min(J.shape)):
        size = np.linalg.norm(work, axis=1)
        best = int(size.argmax())
        if size[best] <= RANK:
            break
        direction = work[best] / size[best]
        # twice is enough
        for _ in range(2):
            work = work - np.outer(work @ direction, direction)
        work[best] = 0.0
        stored.append(best)
    return stored


def singular_values(J: np.ndarray) -> np.ndarray:
    """Singular values in descending order; empty without rows or velocities."""
    return np.linalg.svd(J, compute_uv=False) if 0 not in J.shape else np.zeros(0)


def with_a_body(system: System) -> System:
    """The system, with a fixed body added if it has none."""
    if system.bodies:
        return system
    taken = {item.name for item in (*system.lines, *system.junctions, *system.sensors)}
    taken |= {item.name for item in (*system.winches, *system.operations)}
    name = next(name for k in range(len(taken) + 1) if (name := f"held{k or ''}") not in taken)
    body = Body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    return system.replace(bodies=(body,), joints=(Weld(f"{name} weld", WORLD, body),))


def refuse_lines_alone(model: Model, study: str) -> None:
    """Reject systems of lines without bodies in a study of body motions."""
    if not model.layout.described:
        raise SwelltreeError(
            f"{study}: the system has only lines, and no body that moves with the waves. Use "
            "equilibrium(...), or simulate(...) with lines of model='dynamic'."
        )
