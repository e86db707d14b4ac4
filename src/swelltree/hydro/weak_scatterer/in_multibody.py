r"""Accelerations of a multibody system in the water, by any formulation, in two equal forms.

`schur` gives the formulation a mass matrix with the added mass. Boundary elements find it symmetric
only within the error of the mesh, and formulations want symmetry: the rest acts as a force of the
accelerations, found by repetition. `monolithic` is the system A X = B of Wuillaume et al. (2017)
for rates of the potential, flux on bodies, accelerations and multipliers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Tree, jax, jnp
from swelltree.model.model import Model

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.effect import WeakScatterers
    from swelltree.multibody.formulations.base import Formulation, Kinematics

REPEATED = 10  # each repetition gains the ratio of both parts, a few hundredths at most


def schur(
    effect: WeakScatterers, model: Model, formulation: Formulation, kin: Kinematics, wrench: Array
) -> Tree:
    """From the added mass and the wrench of the water.

    Args:
        effect: solved.
        model: without its added mass.
        formulation: of the equations of motion.
        kin: kinematics.
        wrench: of all loads (N, 6).
    """
    A = effect.solved_mass(model)
    even, odd = 0.5 * (A + A.T), 0.5 * (A - A.T)
    heavy = model.replace(added_mass=even if model.added_mass is None else even + model.added_mass)

    def again(_: Array, known: Tree) -> Tree:
        rest = (odd @ known.v_dot.reshape(-1)).reshape(wrench.shape)
        return formulation.acceleration(heavy, kin, wrench - rest)

    like = jax.eval_shape(lambda: formulation.acceleration(heavy, kin, wrench))
    start = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), like)
    return jax.lax.fori_loop(0, REPEATED, again, start)


def monolithic(
    effect: WeakScatterers, model: Model, formulation: Formulation, kin: Kinematics, wrench: Array
) -> Tree:
    """From one system with the rates of the potential; arguments as `schur`."""
    if model.surplus:
        raise SwelltreeError(
            f"force '{effect.names[0]}': coupling 'monolithic' does not support redundant joints. "
            "Use coupling='schur'."
        )
    found = effect.solution
    matrices, second = found.prepared.matrices, found.water.second
    rows = np.array(effect.bodies, dtype=int)
    P = kin.P.reshape(-1, 6, kin.P.shape[-1])[rows].reshape(6 * len(rows), -1)
    bias = kin.bias_acceleration[rows].reshape(-1)
    A, S, CK = matrices.unknowns, matrices.per_flux, second.per_acceleration
    n, flux, v = len(A), len(second.flux), P.shape[1]
    # the wrench of the water with what is not known yet left out
    water = second.known.reshape(-1, 6)
    if found.entering is not None:
        water = water + found.entering.wrench
    apart = wrench.at[rows].add(water - found.wrench)
    load = formulation.project(model, kin, apart) - formulation.bias(model, kin)
    H = formulation.mass(model, kin)
    if found.entering is not None:
        H = H + P.T @ found.entering.added_mass @ P
        load = load - P.T @ found.entering.added_mass @ bias
    J, gamma = jnp.zeros((0, v)), jnp.zeros(0)
    if kin.rows is not None:
        _, J, _, gamma = formulation.constraint(kin)
    m = len(gamma)
    big = jnp.block(
        [
            [A, -S, jnp.zeros((n, v + m))],
            [jnp.zeros((flux, n)), jnp.eye(flux), -CK @ P, jnp.zeros((flux, m))],
            [-P.T @ second.wrench_of, -P.T @ second.wrench_of_flux, H, -J.T],
            [jnp.zeros((m, n + flux)), J, jnp.zeros((m, m))],
        ]
    )
    right = jnp.concatenate([second.right, CK @ bias + second.flux, load, gamma])
    result = jnp.linalg.solve(big, right)[n + flux :]
    s_dot = result[:v]
    v_dot = (kin.P @ s_dot).reshape(-1, 6) + kin.bias_acceleration
    return s_dot, v_dot, result[v:]
