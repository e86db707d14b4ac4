"""The first sample of a run by the two-step scheme: the velocity given, and its acceleration.

A sample has the mean velocity of the half steps around it and their difference for an acceleration,
both right to second order. At the start the velocity is known; with it the equations of motion of
that instant give acceleration, joint forces and the pull of elastic lines
(`two_step.lines.hung_points`). The seabed, and lines that cannot stretch, push and pull as the
first step says.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from swelltree.hydro.splash_zone.immersions import with_immersed_mass
from swelltree.integrate.complementarity.lines.attachments import hung, with_inertia
from swelltree.integrate.complementarity.lines.channels import solved_loads
from swelltree.integrate.complementarity.samples import Sample
from swelltree.integrate.complementarity.start import motion_at
from swelltree.integrate.complementarity.state import SchemeOptions, StepConstants, StepperState
from swelltree.jit import Array, Program, mapped
from swelltree.model.capabilities import present
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.model.solved import solved_at, total_loads, with_solved_mass
from swelltree.multibody.build_layout import evaluate_rows
from swelltree.multibody.inertia import dense_inertia, gyroscopic, world_inertia
from swelltree.multibody.kinematics import Motion
from swelltree.spatial.linalg import constrained_solve


class Start(NamedTuple):
    """Start of a run: step constants, and the state with the given velocities."""

    setup: StepConstants
    state: StepperState


def as_specified(model: Model, form: SchemeOptions, samples: Sample, start: Start) -> Sample:
    """Samples whose first one has the given velocities."""
    sample = mapped(lambda x: np.asarray(x)[0], samples)
    moving = replace(sample, v=np.asarray(start.state.v_minus))
    first = _accelerated(model, form, start, moving)
    if not np.isfinite(first.v_dot).all() or not np.isfinite(first.lam).all():
        first = moving  # bodies without mass
    return mapped(_written, samples, first)


def _accelerated(model: Model, form: SchemeOptions, start: Start, first: Sample) -> Sample:
    """Sample with accelerations, multipliers of the form's rows and line forces."""
    first, points = hung(model, form, *start, first)
    t, pose, v = first.t, first.pose, first.v
    motion = motion_at(model, pose, v, first.angles)
    now = solved_at(present(model, first.internal), Instant(t, motion, first.internal))
    solved = solved_loads(model, first)
    wrench = total_loads(now, t, motion, first.internal, solved=solved).wrench
    heavy = with_solved_mass(with_immersed_mass(now, t, motion))
    inertia = world_inertia(heavy, pose)
    M = np.asarray(dense_inertia(heavy, inertia))
    f = np.asarray(wrench - gyroscopic(inertia, v)).reshape(-1)
    if points is not None:
        M, f = points.add_to(M, f, v)
    a, lam = _solved(model, form, first, motion, M, f)
    return with_inertia(replace(first, v_dot=a, lam=lam), points)


def _solved(
    model: Model, form: SchemeOptions, first: Sample, motion: Motion, M: np.ndarray, f: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations (N, 6) and multipliers of the form's rows."""
    if not model.all_rows:
        return np.linalg.solve(M, f).reshape(-1, 6), first.lam
    drives = drives_at(model.drives, first.t)
    rows = evaluate_rows(
        model, model.all_rows, first.pose, motion.frames, first.v, first.angles, drives
    )
    a, lam = _solver(model.surplus)(M, f, np.asarray(rows.jacobian), np.asarray(rows.gamma))
    of_form = np.array([model.all_rows.index(row) for row in form.rows], dtype=int)
    return np.asarray(a).reshape(-1, 6), np.asarray(lam)[of_form]


@functools.lru_cache(maxsize=32)
def _solver(surplus: int) -> Program:
    """Acceleration and multipliers of a constrained system; see `constrained_solve`."""

    def solve(M: Array, f: Array, J: Array, gamma: Array) -> tuple[Array, Array]:
        return constrained_solve(M, f, J, gamma, surplus)

    return Program(solve, fixed=0)


def _written(rows: Array, row: Array) -> np.ndarray:
    rows = np.array(rows)
    rows[0] = row
    return rows
