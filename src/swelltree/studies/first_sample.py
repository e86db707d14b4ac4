"""The first sample of a run by the two-step scheme: the velocity given, and its acceleration.

A sample has the mean velocity of the half steps around it and their difference for an acceleration,
both right to second order. At the start the velocity is known; with it the equations of motion of
that instant give acceleration and joint forces. Lines pull as the first step says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swelltree.model.constraints import evaluate_rows
from swelltree.model.forces.immersions import with_immersed_mass
from swelltree.model.forces.total import total_loads
from swelltree.model.inertia import dense_inertia, gyroscopic, world_inertia
from swelltree.model.model import Model
from swelltree.model.signals import drives_at
from swelltree.spatial.engine import jax
from swelltree.spatial.linalg import constrained_solve
from swelltree.studies.moored_results import attached_wrench
from swelltree.two_step.samples import Sample
from swelltree.two_step.start import motion_at
from swelltree.two_step.walk import Form


def as_given(model: Model, form: Form, samples: Sample, v: np.ndarray) -> Sample:
    """Samples whose first one moves with the velocities v (N, 6)."""
    first = replace(jax.tree.map(lambda x: np.asarray(x)[0], samples), v=np.asarray(v))
    v_dot, lam = _accelerated(model, form, first)
    if np.isfinite(v_dot).all() and np.isfinite(lam).all():  # bodies without mass have none
        first = replace(first, v_dot=v_dot, lam=lam)
    return replace(
        samples,
        v=_written(samples.v, first.v),
        v_dot=_written(samples.v_dot, first.v_dot),
        lam=_written(samples.lam, first.lam),
    )


def _accelerated(model: Model, form: Form, first: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations (N, 6) and multipliers of the form's rows."""
    t, pose, v = first.t, first.pose, first.v
    motion = motion_at(model, pose, v, first.angles)
    wrench = total_loads(model, t, motion, first.inner).wrench + attached_wrench(model, first)
    heavy = with_immersed_mass(model, t, motion)
    inertia = world_inertia(heavy, pose)
    M = np.asarray(dense_inertia(heavy, inertia))
    f = np.asarray(wrench - gyroscopic(inertia, v)).reshape(-1)
    if not model.all_rows:
        return np.linalg.solve(M, f).reshape(-1, 6), first.lam
    drives = drives_at(model.drives, t)
    rows = evaluate_rows(model, model.all_rows, pose, motion.frames, v, first.angles, drives)
    J, gamma = jax.numpy.asarray(rows.jacobian), jax.numpy.asarray(rows.gamma)
    M, f = jax.numpy.asarray(M), jax.numpy.asarray(f)
    a, lam = constrained_solve(M, f, J, gamma, model.surplus)
    own = np.array([model.all_rows.index(row) for row in form.rows], dtype=int)
    return np.asarray(a).reshape(-1, 6), np.asarray(lam)[own]


def _written(rows: Any, row: Any) -> np.ndarray:
    """Rows with the first replaced."""
    rows = np.array(rows)
    rows[0] = row
    return rows
