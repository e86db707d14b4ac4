"""Amplitudes of a linear model with equivalent drag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.options import DRAG
from swelltree.model.model import Model
from swelltree.studies.linear.drag import DragSolver, LinearDrag, Waves
from swelltree.studies.linear.excitation import waves_of
from swelltree.studies.linear.line_response import CoupledDrag, LineSystem, Motion
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.waves.sea import AnySea


@dataclass(frozen=True)
class DragResponse:
    """Amplitudes of the free directions per metre, and how drag was linearised."""

    y: np.ndarray  # (c, f) complex, exp(-iwt)
    matrices: list[np.ndarray]  # equivalent matrices of every piece of drag
    rounds: int  # until drag and motion agreed
    lines: Motion | None = None  # of the nodes of dynamic lines, where they move on their own


def check_drag(drag: str, amplitude: object = 0.0, sea: object = 0.0) -> None:
    """A word that is known, with what it needs."""
    if drag not in DRAG:
        raise SwelltreeError(
            f"drag '{drag}' is not known.{suggest(drag, DRAG)} Choose one of {listed(DRAG)}."
        )
    if drag == "harmonic" and amplitude is None:
        raise SwelltreeError("drag='harmonic' needs the amplitude of the waves. Give metres.")
    if drag == "stochastic" and sea is None:
        raise SwelltreeError("drag='stochastic' needs a sea. Give sea=IrregularSea(...).")


def with_drag(
    linear: LinearModel,
    waves: Waves,
    force: np.ndarray,
    drag: str,
    system: LineSystem | None = None,
) -> DragResponse:
    """Response to waves of given amplitudes under the equivalent drag of this very motion.

    Args:
        linear: with its drag apart.
        waves: c of them.
        force: excitation per metre without that by drag, (c, 6N).
        drag: "none", "harmonic" or "stochastic".
        system: dynamic lines whose nodes move on their own, or None.
    """
    if system is not None and drag != "none":
        moved, found, rounds = CoupledDrag(system, waves, force).run(drag)
        return DragResponse(moved.y, found.bodies, rounds, moved)
    if drag == "none" or not linear.drag:
        return DragResponse(linear.amplitudes(waves.omega, force), [], 0)
    responses: list[np.ndarray] = []

    def solve(equivalent: LinearDrag) -> np.ndarray:
        shape = (len(waves.omega), *equivalent.damping.shape[-2:])
        damping = np.broadcast_to(equivalent.damping, shape)
        y = linear.amplitudes(waves.omega, force + equivalent.force, damping)
        responses.append(y)
        return y @ linear.to_bodies.T

    _, matrices, rounds = DragSolver(linear.at.model, linear.drag, waves, solve).run(drag)
    return DragResponse(responses[-1], matrices, rounds)


def with_drag_of_sea(
    linear: LinearModel,
    model: Model,
    sea: AnySea | None,
    waves: Waves,
    force: np.ndarray,
    system: LineSystem | None = None,
) -> DragResponse:
    """Response to waves under the drag of the motion in a sea.

    Args:
        linear: with its drag apart.
        model: with its data.
        sea: described.
        waves: c of them, of one metre.
        force: their excitation without that by drag, (c, 6N).
        system: dynamic lines whose nodes move on their own, or None.
    """
    assert sea is not None  # check_drag
    in_sea = waves_of(model, sea, 0)
    excitation = linear.excitation(in_sea.omega, in_sea.beta)
    if system is not None:
        _, found, rounds = CoupledDrag(system, in_sea, excitation).run("stochastic")
        moved = CoupledDrag(system, waves, force).solved(found)
        return DragResponse(moved.y, found.bodies, rounds, moved)
    there = with_drag(linear, in_sea, excitation, "stochastic")
    damping = None
    if there.matrices:
        solver = DragSolver(linear.at.model, linear.drag, waves, None)
        equivalent = solver.linear(there.matrices)
        force, damping = force + equivalent.force, equivalent.damping
    return DragResponse(
        linear.amplitudes(waves.omega, force, damping), there.matrices, there.rounds
    )
