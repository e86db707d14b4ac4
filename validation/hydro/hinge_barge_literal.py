r"""The hinge barge of Paparella et al. (2015), written down as in the paper.

Coordinates are :math:`q = [z_1, \theta_1, z_2, \theta_2]` in the plane of the waves, angles
positive bow up, so that pitch of the data changes its sign. **DAE form** (eqs. 13-15, 46-48):
four positions, four velocities and one multiplier,

.. math::
    \dot q = J v, \quad J = \mathrm{diag}(\cos\theta_1, 1, \cos\theta_2, 1), \qquad
    (M + M_\infty) \dot v + B v + C_z^\top \lambda = -G q - \mu + f, \qquad C(q) = 0

**ODE form** (eqs. 29-37, 49, 50): :math:`v = P v_s` with the constant P of eq. 65 and
:math:`\dot q_s = v_s`. All are series of a mean and :math:`N_x` harmonics, and residuals vanish at
:math:`N_c` equidistant nodes. Departures from print: hinge, ram and Coriolis terms with the signs
that energy asks for (eqs. 52, 57, 61), full added mass instead of blocks, a mean term in the
series, and :math:`2 N_x + 1` nodes (at :math:`2 N_x` the sine of the highest harmonic is zero).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.gallery.tank import ARM1, ARM2, PITCH_STIFFNESS, PTO_DAMPING
from swelltree.hydro.linear.excitation import excitation_at, interpolated
from swelltree.integrate.fourier import Basis, basis
from swelltree.jit import Array, Tree, jax, jitted, jnp, namespace
from swelltree.waves.dispersion import dispersion

if TYPE_CHECKING:
    from swelltree.hydro.linear.data import Table
    from swelltree.model.model import Model
    from swelltree.waves.dispersion import WaterNumbers


RHO, G = 1000.0, 9.81
ARM = 0.1  # of the ram above the centre line, d of eq. 60 [m]
# length, width, draft [m], mass [kg], inertia about the centre of mass, its depth h_g [m]
BOXES = ((1.1, 0.67, 0.37, 272.69, 34.8793, 0.084), (2.5, 0.64, 0.08, 128.0, 66.8203, 0.0175))
PLANE = (2, 4, 8, 10)  # heave and pitch of both bodies among the twelve DOFs
TURN = np.array([1.0, -1.0, 1.0, -1.0])  # bow up instead of bow down
HEAVE_STIFFNESS = PITCH_STIFFNESS  # both 3.5e4 in Table I
CZ = np.array([1.0, ARM1, -1.0, ARM2])  # eq. 54
P = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, ARM1, ARM2], [0, 0, 1.0]])  # eq. 65
STEP = 1e-30  # of the complex-step derivative


@dataclass(frozen=True)
class HingeBarge:
    """The paper's matrices, and where radiation and excitation come from."""

    added_mass: np.ndarray  # (4, 4) at infinite frequency
    losses: np.ndarray  # (4,) the viscous damping of eq. 57
    table: Table  # frequency-domain data of a compiled model
    water: WaterNumbers  # of that model
    memory: tuple[np.ndarray, np.ndarray, np.ndarray] | None  # A, B, C with 4 inputs

    @property
    def mass(self) -> np.ndarray:
        """M of eq. 56 and the added mass."""
        diagonal = [x for *_, m, spin, h in BOXES for x in (m, spin + m * h * h)]
        return np.diag(diagonal) + self.added_mass

    @property
    def stiffness(self) -> np.ndarray:
        """G and the moorings of eq. 63."""
        return np.diag(restoring() + [HEAVE_STIFFNESS, PITCH_STIFFNESS, 0.0, 0.0])

    @property
    def damping(self) -> np.ndarray:
        """Losses and the ram of eqs. 59-61, its sign such that it takes power."""
        out = np.diag(self.losses)
        out[np.ix_((1, 3), (1, 3))] += PTO_DAMPING * ARM**2 * np.array([[1.0, -1.0], [-1.0, 1.0]])
        return out

    def excitation(self, omega: float) -> np.ndarray:
        """Per metre of wave, exp(-iwt), (4,)."""
        k = np.array([float(dispersion(omega, self.water.depth, self.water.g))])
        return TURN * excitation_at(self.table, np.array([omega]), np.zeros(1), k)[0, PLANE]

    def radiation(self, omega: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """B(w) and w (A(w) - A_inf) at the frequencies (f, 4, 4)."""
        if kind == "state_space":
            if self.memory is None:
                raise ValueError("there is no fitted memory")
            a, b, c = self.memory
            eye = np.eye(len(a))
            K = np.array([c @ np.linalg.solve(1j * w * eye - a, b + 0j) for w in omega])
            return K.real, K.imag
        low, high = float(self.table.omega[0]), float(self.table.omega[-1])
        at, sign = np.clip(omega, low, high), np.outer(TURN, TURN)
        A, B = (
            interpolated(np.asarray(self.table.omega), np.asarray(x)[:, PLANE][:, :, PLANE], at)
            for x in (self.table.added_mass, self.table.radiation_damping)
        )
        inside = (omega <= high * (1 + 1e-9))[:, None, None]
        fall = (np.minimum(omega / low, 1.0) ** 2)[:, None, None]
        spring = omega[:, None, None] * (A * sign - self.added_mass)
        return np.where(inside, fall * B * sign, 0.0), np.where(inside, spring, 0.0)


def restoring() -> np.ndarray:
    """Buoyancy and weight of each box about its waterline origin, (4,)."""
    out = []
    for length, width, draft, mass, _, depth in BOXES:
        area, volume = length * width, length * width * draft
        moment = RHO * G * (width * length**3 / 12 - volume * draft / 2) + mass * G * depth
        out += [RHO * G * area, moment]
    return np.array(out)


def hinge_barge(model: Model, losses: np.ndarray) -> HingeBarge:
    """The paper's model with the hydrodynamic data of a compiled one, bodies in its order.

    Args:
        model: of both barges, the first one first, from `compile`.
        losses: linear damping of z1, th1, z2, th2.
    """
    sign = np.outer(TURN, TURN)
    added = np.asarray(model.added_mass)[np.ix_(PLANE, PLANE)] * sign
    hydro = model.hydro
    assert hydro is not None
    assert hydro.table is not None
    fitted = None if hydro.memory is None else hydro.memory.fitted
    memory = None
    if fitted is not None:
        b, c = np.asarray(fitted.B)[:, PLANE] * TURN, np.asarray(fitted.C)[PLANE, :]
        memory = np.asarray(fitted.A), b, c * TURN[:, None]
    return HingeBarge(added, np.asarray(losses, float), hydro.table, model.water, memory)


def bias(v: Array) -> Array:
    """Coriolis forces of eq. 57, with the centre of mass below the origin, (..., 4)."""
    rows = []
    for k, (_, _, _, mass, _, depth) in enumerate(BOXES):
        z, turn = v[..., 2 * k], v[..., 2 * k + 1]
        rows += [mass * depth * turn * turn, -mass * depth * turn * z]
    return namespace(v).stack(rows, axis=-1)


def hinge(q: np.ndarray) -> np.ndarray:
    """C(q): the vertical gap at the hinge (eq. 52, corrected), (...)."""
    return q[..., 0] + ARM1 * np.sin(q[..., 1]) - q[..., 2] + ARM2 * np.sin(q[..., 3])


@dataclass(frozen=True)
class Periodic:
    """A periodic motion: coefficients of q, v and the multiplier, mean, cosines, sines first."""

    basis: Basis
    q: np.ndarray  # (2N + 1, 4)
    v: np.ndarray  # (2N + 1, 4)
    multiplier: np.ndarray | None  # (2N + 1,)
    iterations: int

    def heave(self, times: np.ndarray) -> np.ndarray:
        """Heave of body 2 [m]."""
        k = float(self.basis.omega) * np.arange(1, self.basis.harmonics + 1)
        mean, cos, sin = np.split(self.q[:, 2], [1, 1 + len(k)])
        return mean + np.cos(np.outer(times, k)) @ cos + np.sin(np.outer(times, k)) @ sin

    @property
    def first(self) -> complex:
        """Amplitude of its first harmonic, exp(-iwt) [m]."""
        return complex(self.q[1, 2] + 1j * self.q[1 + self.basis.harmonics, 2])


def _radiated(v: np.ndarray, B: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Coefficients of the memory force, exact for each harmonic (N_x first frequencies)."""
    n = len(B)
    a, b = v[..., 1 : n + 1, :], v[..., n + 1 :, :]
    cos = np.einsum("kij,...kj->...ki", B, a) + np.einsum("kij,...kj->...ki", X, b)
    sin = np.einsum("kij,...kj->...ki", B, b) - np.einsum("kij,...kj->...ki", X, a)
    return np.concatenate([0.0 * v[..., :1, :], cos, sin], axis=-2)


def _force(barge: HingeBarge, omega: float, amplitude: float, harmonics: int) -> np.ndarray:
    """Coefficients of the wave force, (2N + 1, 4)."""
    out = np.zeros((2 * harmonics + 1, 4))
    F = amplitude * barge.excitation(omega)
    out[1], out[1 + harmonics] = F.real, F.imag
    return out


def periodic(
    barge: HingeBarge,
    omega: float,
    amplitude: float,
    harmonics: int = 1,
    nodes: int | None = None,
    *,
    form: str = "dae",
    radiation: str = "data",
    tol: float = 1e-13,
) -> Periodic:
    """The periodic motion in a regular wave by the paper's pseudo-spectral method.

    Args:
        barge: from `hinge_barge`.
        omega: of the wave [rad/s].
        amplitude: of the wave [m].
        harmonics: N_x.
        nodes: N_c, at least 2 N_x + 1, which is the default; with more of them residuals are
            projected on the series.
        form: "dae" or "ode".
        radiation: "data" or "state_space".
        tol: of the last Newton step [m, rad].
    """
    count = 2 * harmonics + 1 if nodes is None else nodes
    if count < 2 * harmonics + 1:
        raise SwelltreeError(
            f"nodes {count} cannot resolve {2 * harmonics + 1} coefficients: at "
            f"{2 * harmonics} equidistant nodes the sine of harmonic {harmonics} is zero "
            f"everywhere. Give at least {2 * harmonics + 1}."
        )
    b = basis(2 * np.pi / omega, harmonics, count)
    B, X = barge.radiation(omega * np.arange(1, harmonics + 1), radiation)
    force, M = _force(barge, omega, amplitude, harmonics), barge.mass
    damping, stiffness = barge.damping, barge.stiffness

    def balance(q: np.ndarray, v: np.ndarray, multiplier: np.ndarray | None) -> np.ndarray:
        """Eq. 47 at the nodes, from coefficients."""
        smooth = v @ damping.T + q @ stiffness.T + _radiated(v, B, X) - force
        if multiplier is not None:
            smooth = smooth + multiplier[..., None] * CZ
        return b.value @ smooth + (b.rate @ v) @ M.T + bias(b.value @ v)

    def dae(Y: np.ndarray) -> np.ndarray:
        q, v, multiplier = Y[..., :4], Y[..., 4:8], Y[..., 8]
        at = b.value @ q
        J = np.ones_like(at)
        J[..., 0], J[..., 2] = np.cos(at[..., 1]), np.cos(at[..., 3])
        rate = b.rate @ q - J * (b.value @ v)
        return np.concatenate([rate, balance(q, v, multiplier), hinge(at)[..., None]], axis=-1)

    def ode(Y: np.ndarray) -> np.ndarray:
        q, v = Y[..., :3], Y[..., 3:]
        rate = b.rate @ q - b.value @ v
        return np.concatenate([rate, balance(q @ P.T, v @ P.T, None) @ P], axis=-1)

    residual, size = (dae, 9) if form == "dae" else (ode, 6)
    Y, iterations = _newton(lambda Y: b.project @ residual(Y), (2 * harmonics + 1, size), tol)
    if form == "dae":
        return Periodic(b, Y[:, :4], Y[:, 4:8], Y[:, 8], iterations)
    return Periodic(b, Y[:, :3] @ P.T, Y[:, 3:] @ P.T, None, iterations)


def _newton(
    residual: Callable[[Array], Array], shape: tuple[int, int], tol: float
) -> tuple[np.ndarray, int]:
    """Newton from zero; derivatives by the complex step, exact to rounding."""
    count = shape[0] * shape[1]
    nudge = 1j * STEP * np.eye(count).reshape(count, *shape)
    Y = np.zeros(shape)
    for iteration in range(1, 21):
        J = residual(Y + nudge).imag.reshape(count, count).T / STEP
        row = np.abs(J).max(axis=1)
        change = np.linalg.solve(J / row[:, None], -residual(Y).ravel() / row).reshape(shape)
        Y = Y + change
        if np.abs(change[:, : min(4, shape[1])]).max() < tol:
            return Y, iteration
    raise SwelltreeError("the hinge barge: Newton did not converge. Lower the wave.")


def simulate_barge(
    barge: HingeBarge, omega: float, amplitude: float, times: np.ndarray, ramp: float
) -> np.ndarray:
    """Positions q (t, 4) by the classical Runge-Kutta method: ODE form, fitted memory.

    Args:
        barge: from `hinge_barge`, with a memory.
        omega: of the wave [rad/s].
        amplitude: of the wave [m].
        times: equally spaced; one step each [s].
        ramp: over which the wave grows [s].
    """
    if barge.memory is None:
        raise ValueError("there is no fitted memory")
    a, b, c = barge.memory
    inverse = np.linalg.inv(P.T @ barge.mass @ P)
    forces = [-P.T @ barge.stiffness @ P, -P.T @ barge.damping @ P, -P.T @ c]
    n = len(a)
    system = np.zeros((6 + n, 6 + n))
    system[:3, 3:6] = np.eye(3)
    system[3:6] = inverse @ np.hstack(forces)
    system[6:, 3:6], system[6:, 6:] = b @ P, a
    F = amplitude * P.T @ barge.excitation(omega)
    step, ramp, w = float(times[1] - times[0]), float(ramp), float(omega)
    motion = _stepped(times, system, inverse, (F.real, F.imag), (step, ramp, w))
    return np.asarray(motion) @ P.T


@jitted
def _stepped(times: Array, system: Tree, inverse: Array, wave: Tree, numbers: Tree) -> Array:
    """All steps of the classical Runge-Kutta method from rest, (t, 3)."""
    step, ramp, omega = numbers

    def rate(t: Array, x: Array) -> Array:
        grown = 0.5 * (1 - jnp.cos(jnp.pi * jnp.minimum(t / ramp, 1.0)))
        force = wave[0] * jnp.cos(omega * t) + wave[1] * jnp.sin(omega * t)
        load = inverse @ (grown * force - bias(P @ x[3:6]) @ P)
        return (system @ x).at[3:6].add(load)

    def one(x: Array, t: Array) -> tuple[Array, Array]:
        k1 = rate(t, x)
        k2 = rate(t + step / 2, x + step / 2 * k1)
        k3 = rate(t + step / 2, x + step / 2 * k2)
        k4 = rate(t + step, x + step * k3)
        return x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4), x[:3]

    return jax.lax.scan(one, jnp.zeros(len(system)), times)[1]
