r"""The two hinged barges of Ó Catháin et al. (2006), written down as in the paper.

Body 1 turns about a fixed pivot :math:`O_1`, body 2 hangs on it; q holds the two pitch angles.
With P the 2 x 12 matrix of partial velocities (eq. 49) the equations are

.. math::
    M^g \dot s + C^g s + \mu^g + G^g q = \tau_E^g + \tau_c^g, \qquad
    M^g = P (M_{RB} + M_A) P^\top, \quad G^g = P G P^\top, \quad \mu^g = P \mu^b

(eqs. 18, 21, 22, 25, 59; C^g multiplies s, not its rate as in print). Every memory force
:math:`\mu_{i,j}`, i and j in {1, 3, 5, 7, 9, 11}, has six states of its own (eqs. 19, 20, 52-58;
:math:`D_r = 0`), found by the Hankel method of Kristiansen and Egeland (2003). Departures from
print: factor rho g in eq. 60, sixth zero in eq. 24, :math:`M_A P'` in :math:`C^g`, the added mass
at infinite frequency instead of that at 12 rad/s. Axes are those of the paper (z down), to which
the data are turned by eqs. 26 and 27.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from swelltree.gallery.tank import ARM1, ARM2, PITCH_STIFFNESS, PTO_DAMPING
from swelltree.hydro.radiation.memory import radiation_kernel
from swelltree.hydro.radiation.reduction import hankel_identify
from swelltree.multibody.layout import DOFS

if TYPE_CHECKING:
    import xarray as xr


RHO, G, ORDER = 1000.0, 9.81, 6
PLANE = (0, 2, 4, 6, 8, 10)  # DOFs in the plane of motion, counted from zero
ARM = 0.1  # of the ram above the hinge [m]
# length, width, draft [m], mass [kg], inertia about the centre of mass [kg m^2]
BOXES = ((1.1, 0.67, 0.37, 272.69, 34.8793), (2.5, 0.64, 0.08, 128.0, 66.8203))
_TURN = np.tile([1.0, -1.0, -1.0], 4)  # eqs. 26, 27: z up to z down, both bodies


@dataclass(frozen=True)
class TwoBarges:
    """The paper's model: entries (i, j) with their state space, added mass and excitation."""

    pairs: tuple[tuple[int, int], ...]
    A: np.ndarray  # (36, 6, 6)
    B: np.ndarray  # (36, 6)
    C: np.ndarray  # (36, 6)
    added_mass: np.ndarray  # (12, 12) at infinite frequency
    omega: np.ndarray
    excitation: np.ndarray  # (f, 12), exp(-iwt) per metre

    @property
    def states(self) -> int:
        """Number of radiation states."""
        return self.B.size


def partial_velocities(q: np.ndarray) -> np.ndarray:
    """P of eq. 49: velocities of both bodies per unit of both pitch rates, transposed."""
    c, s = np.cos(q[1] - q[0]), np.sin(q[1] - q[0])
    P = np.zeros((2, 12))
    P[0, 4] = P[1, 10] = 1.0
    P[0, 6], P[0, 8], P[1, 8] = ARM1 * s, -ARM1 * c, -ARM2
    return P


def rigid_mass() -> np.ndarray:
    """M_RB, 12 x 12, about the centres of mass; only the plane of motion matters."""
    return np.diag(np.concatenate([[m, m, m, 1.0, spin, 1.0] for *_, m, spin in BOXES]))


def rigid_mass_printed(q: np.ndarray) -> np.ndarray:
    """M_RB^g as printed in eq. 50."""
    (*_, m1, I1), (*_, m2, I2) = BOXES
    cross = m2 * ARM1 * ARM2 * np.cos(q[1] - q[0])
    return np.array([[I1 + m1 * 0.0 + m2 * ARM1**2, cross], [cross, I2 + m2 * ARM2**2]])


def coriolis_printed(q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """C_RB^g as printed in eq. 51."""
    m2 = BOXES[1][3]
    size = m2 * ARM1 * ARM2 * np.sin(q[1] - q[0])
    return np.array([[0.0, -size * s[1]], [size * s[0], 0.0]])


def velocity_force(M: np.ndarray, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """C^g s with C^g = P M P'^T + P C_RB P^T; M is M_RB + M_A, of which print has only M_RB."""
    P, Pdot, d = partial_velocities(q), np.zeros((2, 12)), (s[1] - s[0]) * ARM1
    Pdot[0, 6], Pdot[0, 8] = d * np.cos(q[1] - q[0]), d * np.sin(q[1] - q[0])
    v, turning = P.T @ s, np.zeros(12)
    for k, (*_, m, _) in enumerate(BOXES):
        # eq. 5: m w x v in axes that turn with the body
        w = v[6 * k + 4]
        turning[6 * k], turning[6 * k + 2] = m * w * v[6 * k + 2], -m * w * v[6 * k]
    return P @ (M @ (Pdot.T @ s) + turning)


def restoring() -> np.ndarray:
    """G of eqs. 23, 24 (corrected): centres of mass on the line of the hinges."""
    rows = []
    for length, width, draft, _, _ in BOXES:
        area, volume = length * width, length * width * draft
        lift = -draft / 2
        second = length * width**3 / 12, width * length**3 / 12
        gm_t, gm_l = (lift + moment / volume for moment in second)
        rows += [0.0, 0.0, area, volume * gm_t, volume * gm_l, 0.0]
    return RHO * G * np.diag(rows)


def two_barges(data: xr.Dataset, order: int = ORDER) -> TwoBarges:
    """The model from hydrodynamic data of both barges.

    Args:
        data: of both barges, DOFs in the order of the bodies, about the waterline origins.
        order: states for each pair of DOFs.
    """
    labels = [f"{body}__{dof}" for body in data["body"].values for dof in DOFS]
    # data of the vertical plane leave out the rest, which the barges do not have
    data = data.reindex(influenced_dof=labels, radiating_dof=labels, fill_value=0.0)
    omega = np.asarray(data["omega"].values, dtype=float)
    band = np.isfinite(omega) & (omega > 0)
    turn = np.outer(_TURN, _TURN)
    A = np.asarray(data["added_mass"].values, dtype=float) * turn
    B = np.asarray(data["radiation_damping"].values, dtype=float) * turn
    A, B = (0.5 * (x + np.swapaxes(x, 1, 2)) for x in (A, B))
    F = np.asarray(data["excitation_force"].sel(wave_direction=0.0).values) * _TURN
    step = np.pi / omega[band][-1] / 4
    pairs = tuple((i, j) for i in PLANE for j in PLANE)
    plane = B[band][:, PLANE][:, :, PLANE]
    K = radiation_kernel(omega[band], plane, step=step).values
    n = len(PLANE)
    with threadpool_limits(limits=1):
        # reciprocity: (j, i) is (i, j)
        realised = {
            (a, b): hankel_identify(step, K[:, a : a + 1, b : b + 1], order)[0]
            for a in range(n)
            for b in range(a, n)
        }
    parts = [realised[min(a, b), max(a, b)] for a in range(n) for b in range(n)]
    a_r = np.zeros((len(pairs), order, order))
    b_r, c_r = np.zeros((len(pairs), order)), np.zeros((len(pairs), order))
    for p, (a, b, c) in enumerate(parts):
        # a mode that no continuous system has was dropped: its place stays empty
        k = a.shape[0]
        a_r[p] = -np.eye(order)
        a_r[p, :k, :k], b_r[p, :k], c_r[p, :k] = a, b[:, 0], c[0]
    return TwoBarges(pairs, a_r, b_r, c_r, A[np.isinf(omega)][0], omega[band], F[band])


def _excitation(model: TwoBarges, omega: float) -> np.ndarray:
    """Excitation at a frequency of the data, (12,)."""
    row = int(np.abs(model.omega - omega).argmin())
    if abs(model.omega[row] - omega) > 1e-9:
        raise ValueError(f"omega {omega} rad/s is not one of the data")
    return model.excitation[row]


def controls() -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of mooring and ram in q, from which tau_c^g comes."""
    turn = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.diag([PITCH_STIFFNESS, 0.0]), PTO_DAMPING * ARM**2 * turn


def linear_response(model: TwoBarges, omega: float) -> np.ndarray:
    """Amplitudes of both angles per metre of wave, exp(-iwt), about rest."""
    P = partial_velocities(np.zeros(2))
    K = np.zeros((12, 12), dtype=complex)
    eye = np.eye(model.A.shape[1])
    for p, (i, j) in enumerate(model.pairs):
        # the paper's time factor is exp(+iwt)
        K[i, j] = model.C[p] @ np.linalg.solve(1j * omega * eye - model.A[p], model.B[p])
    M = P @ (rigid_mass() + model.added_mass) @ P.T
    stiff, damp = controls()
    Z = -(omega**2) * M + 1j * omega * (damp + P @ K @ P.T) + stiff + P @ restoring() @ P.T
    return np.linalg.solve(Z, P @ _excitation(model, omega).conj()).conj()


def heave_of_second(q: np.ndarray) -> np.ndarray:
    """Heave of barge 2, z down as in the paper, from the angles (..., 2)."""
    return -ARM1 * np.sin(q[..., 0]) - ARM2 * np.sin(q[..., 1])


def simulate_two_barges(
    model: TwoBarges, omega: float, amplitude: float, times: np.ndarray, ramp: float
) -> np.ndarray:
    """Angles over time in a regular wave, nonlinear, by the classical Runge-Kutta method.

    Args:
        model: from `two_barges`.
        omega: of the wave, one of the data's [rad/s].
        amplitude: of the wave [m].
        times: equally spaced; one step each [s].
        ramp: over which the wave grows [s].
    """
    M, Gb = rigid_mass() + model.added_mass, restoring()
    stiff, damp = controls()
    F = amplitude * _excitation(model, omega)
    pairs = np.array(model.pairs)
    P0 = partial_velocities(np.zeros(2))
    G_g = P0 @ Gb @ P0.T
    onto = (np.arange(12)[:, None] == pairs[None, :, 0]).astype(float)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, s, chi = x[:2], x[2:4], x[4:].reshape(model.B.shape)
        P = partial_velocities(q)
        v = P.T @ s
        mu = onto @ (model.C * chi).sum(axis=1)
        grown = 0.5 * (1 - np.cos(np.pi * min(t / ramp, 1.0)))
        tau = P @ (grown * np.real(F * np.exp(-1j * omega * t)) - mu)
        bias = velocity_force(M, q, s)
        s_dot = np.linalg.solve(P @ M @ P.T, tau - bias - G_g @ q - stiff @ q - damp @ s)
        chi_dot = np.einsum("pab,pb->pa", model.A, chi) + model.B * v[pairs[:, 1], None]
        return np.concatenate([s, s_dot, chi_dot.ravel()])

    h, x = float(times[1] - times[0]), np.zeros(4 + model.states)
    out = np.empty((len(times), 2))
    for k, t in enumerate(times):
        out[k] = x[:2]
        k1 = rate(t, x)
        k2 = rate(t + h / 2, x + h / 2 * k1)
        k3 = rate(t + h / 2, x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(t + h, x + h * k3))
    return out
