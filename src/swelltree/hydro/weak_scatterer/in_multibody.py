"""Accelerations of a multibody system in the water, by any formulation.

The formulation gets a mass matrix with the added mass. Boundary elements find it symmetric only
within the error of the mesh, and formulations want symmetry: the antisymmetric part acts as a force
that depends on the accelerations, found by iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
