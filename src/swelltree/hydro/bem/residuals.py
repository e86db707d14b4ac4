r"""How well the data of one frequency agree with themselves.

The force of a wave on a fixed body follows from the waves that the body makes (Haskind 1957): with
the potential :math:`\psi_i` of unit velocity in a degree of freedom and that of the wave
:math:`\phi_0`,

.. math:: X_i = -i\omega\rho \int \left(\phi_0 n_i - \psi_i\, \partial\phi_0/\partial n\right) dS .

With it the forces of waves from all sides cost no further solution, and so does the damping from
the energy of the waves far away (Newman 1962):

.. math:: B_{ii} = \frac{k}{8 \pi \rho g c_g} \int_0^{2\pi} |X_i|^2 \, d\beta .

Both hold for the exact solution. Panels too large for the waves, irregular frequencies and unfit
lids break them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swelltree.describe.values import DOFS, NamedValues
from swelltree.hydro.data.relations import group_velocity

WEAK = 0.03  # of omega A: damping below it is measured by this
HEADINGS = (24, 240)  # min and max number around the bodies


def by_kind(
    size: np.ndarray, labels: Sequence[str], floor: float = 0.01, arm: float = 0.0
) -> np.ndarray:
    """Sizes of degrees of freedom with a floor: what vanishes by symmetry is measured by its like.

    Args:
        size: of each degree of freedom.
        labels: their names, body__Heave.
        floor: of the largest of its kind, translations or rotations.
        arm: what makes a rotation of a translation: no moment of a sphere about its centre is
            judged by more than rounding.
    """
    turns = np.array([label.endswith(DOFS[3:]) for label in labels])
    result = np.maximum(size, 1e-100)
    if turns.any() and not turns.all():
        result[turns] = np.maximum(result[turns], floor * arm * result[~turns].max())
    for kind in (turns, ~turns):
        if kind.any():
            result[kind] = np.maximum(result[kind], floor * result[kind].max())
    return result


def residuals(
    potentials: np.ndarray,
    common: NamedValues,
    directions: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    FK: np.ndarray,
    D: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Relative residuals of Haskind's relation and of the energy far away, (dof,) each.

    Forces are measured by the largest of all headings, damping by itself or by a small fraction of
    omega A, whichever is larger.

    Args:
        potentials: on the panels for unit velocity in every degree of freedom, (dof, panel).
        common: arguments of the problems of Capytaine: body, omega, water_depth, rho, g.
        directions: of the waves [rad].
        A: added mass.
        B: damping.
        FK: Froude-Krylov force (direction, dof).
        D: diffraction force, from pressures.
    """
    w, rho, g, depth = (common[name] for name in ("omega", "rho", "g", "water_depth"))
    body = common["body"]
    labels = list(body.dofs)
    bodies = len({label.rpartition("__")[0] for label in labels})
    weighted = potentials * body.mesh.faces_areas

    def excitation(beta: float) -> np.ndarray:
        import capytaine as cpt
        from capytaine.bem.airy_waves import froude_krylov_force

        problem = cpt.DiffractionProblem(wave_direction=float(beta), **common)
        condition = problem.boundary_condition[body.hull_mask]
        undisturbed = froude_krylov_force(problem)
        own = np.array([undisturbed[label] for label in labels])
        return own - 1j * w * rho * weighted @ condition

    k = float(_wavenumber(common))
    centers = body.mesh.faces_centers[:, :2]
    extent = float(np.linalg.norm(np.ptp(centers, axis=0)))
    arm = np.sqrt(float(body.mesh.faces_areas.sum()) / bodies)  # about the size of a body
    count = int(np.clip(4.0 * k * extent + HEADINGS[0], *HEADINGS))
    around = np.array([excitation(b) for b in 2.0 * np.pi / count * np.arange(count)])
    speed = float(group_velocity(np.array([w]), np.array([k]), depth)[0])
    far = k / (8.0 * np.pi * rho * g * speed) * 2.0 * np.pi * (np.abs(around) ** 2).mean(axis=0)
    near, size = np.diagonal(B), w * by_kind(np.abs(np.diagonal(A)), labels, 0.1, arm**2)
    energy = np.abs(near - far) / np.maximum(np.maximum(near, far), WEAK * size)
    haskind = np.zeros(len(far))
    if len(directions):
        largest = np.maximum(np.abs(around).max(axis=0), np.abs(FK).max(axis=0))
        scale = by_kind(largest, labels, 0.1, arm)
        by_radiation = np.array([excitation(b) for b in directions])
        haskind = np.abs(by_radiation - FK - D).max(axis=0) / scale
    return haskind, energy


def _wavenumber(common: NamedValues) -> float:
    """Wavenumber of a problem of Capytaine [1/m]."""
    from swelltree.waves.dispersion import dispersion

    w, depth, g = common["omega"], common["water_depth"], common["g"]
    return float(np.asarray(dispersion(np.array([w]), depth, g))[0])
