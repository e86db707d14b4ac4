r"""The coupling with a multibody system through its Jacobian, in two equal forms.

The bodies accelerate with :math:`\alpha = J\dot v + \dot J v`, and
:math:`H\dot v + J^\top A\alpha = \tau + J^\top F`, with the added mass A and the wrench F of
`hydrodynamics`. `schur` solves just this. `monolithic` is the system A X = B of Wuillaume et al.
(2017), section 5, for the rates of the potential, the flux on the bodies and the accelerations at
once; in print its eq. 24 has phi_t for phi_tn in the last term on the left, and B has C_D phi_m
for -C_S phi_tn of the walls and lost a dot on J.
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Bodies, Hydrodynamics, Prepared
from swelltree.jit import Array, jnp, pytree


@pytree()
class Mechanics:
    """A multibody system at an instant, of n velocities v.

    Args:
        bodies: motion of the bodies in the water.
        jacobian: J of their velocities by v, all bodies in a row.
        bias: J-dot v, their accelerations without rates of v.
        mass: H.
        load: tau, all loads but those of the water, less velocity-dependent inertia.
    """

    bodies: Bodies
    jacobian: Float[Array, "dofs n"]
    bias: Float[Array, " dofs"]
    mass: Float[Array, "n n"]
    load: Float[Array, " n"]


def schur(water: Hydrodynamics, prepared: Prepared, system: Mechanics) -> Float[Array, " n"]:
    """Accelerations from the added mass and the wrench of the water."""
    J, A = system.jacobian, water.added_mass
    load = system.load + J.T @ (water.wrench - A @ system.bias)
    return jnp.linalg.solve(system.mass + J.T @ A @ J, load)


def monolithic(water: Hydrodynamics, prepared: Prepared, system: Mechanics) -> Float[Array, " n"]:
    """Accelerations from one system with the rates of the potential and the flux on bodies."""
    matrices, second, J = prepared.matrices, water.second, system.jacobian
    A = matrices.unknowns
    n, flux, v = len(A), len(second.flux), len(system.load)
    S = matrices.per_flux
    CK = second.per_acceleration
    big = jnp.block(
        [
            [A, -S, jnp.zeros((n, v))],
            [jnp.zeros((flux, n)), jnp.eye(flux), -CK @ J],
            [-J.T @ second.wrench_of, -J.T @ second.wrench_of_flux, system.mass],
        ]
    )
    right = jnp.concatenate(
        [
            second.right,
            CK @ system.bias + second.flux,
            system.load + J.T @ second.known,
        ]
    )
    return jnp.linalg.solve(big, right)[n + flux :]


COUPLINGS = {"schur": schur, "monolithic": monolithic}


def coupling(name: str):
    """The coupling of a name."""
    if name not in COUPLINGS:
        raise SwelltreeError(
            f"coupling '{name}' is not known.{suggest(name, COUPLINGS)} Give one of "
            f"{listed(COUPLINGS)}."
        )
    return COUPLINGS[name]
