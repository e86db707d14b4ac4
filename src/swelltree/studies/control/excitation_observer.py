r"""`excitation_observer`: the force of the sea from measured motion, by a Kalman filter.

The control-oriented model is joined to a model of the force itself: for every excitation a few
oscillators that white noise keeps going,

.. math::
    \dot z_1 = \omega_k z_2, \qquad \dot z_2 = -\omega_k z_1 - 2 \zeta_k \omega_k z_2 + w_k, \qquad
    F = \sum_k z_{2,k}

with frequencies, widths and noise from the spectrum of the force in the sea that is expected. The
steady Kalman filter of the whole gives the force at every sample, without looking ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.jit import Array, Numbers, Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.linear.linear_model import FirstOrder, LinearModel
from swelltree.studies.linear.signals import (
    independent_coordinates,
    input_rows,
    model_with_states,
    output_rows,
    spelled,
)
from swelltree.studies.linear.state_space import import_control
from swelltree.studies.options import linear_waves
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    from control import StateSpace


DOUBLINGS = 60  # each looks twice as far ahead
DONE = 1e-13  # relative change of the covariance


def filter_covariance(Phi: np.ndarray, C: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """P of :math:`P = \\Phi (P^{-1} + C^\\top C)^{-1} \\Phi^\\top + Q`, noise of the outputs one.

    Where the eigenvalues that SciPy sorts lie too near the circle, doubling (Chu et al. 2004) goes
    on from Q, which needs no sorting.

    Args:
        Phi: (n, n) step of the states.
        C: (m, n) outputs.
        Q: (n, n) noise that a step gathers.
    """
    from scipy.linalg import LinAlgError, solve_discrete_are

    try:
        return solve_discrete_are(Phi.T, C.T, Q, np.eye(len(C)))
    except (LinAlgError, ValueError):
        return _doubled(Phi, C, Q)


def _doubled(Phi: np.ndarray, C: np.ndarray, Q: np.ndarray) -> np.ndarray:
    A, G, H = Phi.T, C.T @ C, Q
    for _ in range(DOUBLINGS):
        W = np.linalg.solve(np.eye(len(A)) + G @ H, np.concatenate([A, G], axis=1))
        A_next, G_next = W[:, : len(A)], W[:, len(A) :]
        with np.errstate(over="ignore", invalid="ignore"):
            H_next = H + A.T @ H @ A_next
        G = G + A @ G_next @ A.T
        A = A @ A_next
        change = np.abs(H_next - H).max()
        H = 0.5 * (H_next + H_next.T)
        if not np.isfinite(H).all():
            break
        if change <= DONE * np.abs(H).max():
            return H
    raise np.linalg.LinAlgError("the covariance grows without end")


WIDTH = 0.125  # of the gap to the next oscillator: damping of each, over its frequency
UNTOLD = 0.01  # of the force's size: noise for what neither model nor oscillators know


@dataclass(frozen=True)
class Bands:
    """Oscillators of the force: frequency (k,), damping ratio (k,), variance (k, m)."""

    centre: np.ndarray
    zeta: np.ndarray
    energy: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """Rms of every force (m,)."""
        return np.sqrt(self.energy.sum(axis=0))


@dataclass(frozen=True)
class ExcitationObserver:
    """A steady Kalman filter from measured motion to the excitation.

    Args:
        system: the filter as a sampled `control.StateSpace`: inputs are the measured signals and
            the known forces, outputs the estimated excitations.
        measures: names of the measured signals.
        known: names of the known forces.
        excitations: names of the estimated forces.
        step: time between samples [s].
        expected_error: rms error of each estimate that the filter expects, as a part of the rms.
        expected_size: rms of each force in the expected sea [N, N m].
        share: excitations of unit forces on the bodies (excitation, 6N).
    """

    system: StateSpace
    measures: tuple[str, ...]
    known: tuple[str, ...]
    excitations: tuple[str, ...]
    step: float
    expected_error: np.ndarray
    expected_size: np.ndarray
    share: np.ndarray

    def estimate(self, measured: Array, known: Tree = None) -> Tree:
        """Excitation over time from samples of the measured signals, an `xarray.DataArray`.

        Args:
            measured: (time, measure), deviations from rest.
            known: (time, known force); zero if not given.
        """
        import xarray as xr

        y = np.asarray(measured, dtype=float).reshape(-1, len(self.measures))
        u = np.zeros((len(y), len(self.known)))
        if known is not None:
            u = np.asarray(known, dtype=float).reshape(len(y), -1)
        both = np.concatenate([y, u], axis=1)
        A, B, C, D = (np.asarray(getattr(self.system, m)) for m in "ABCD")
        x, out = np.zeros(A.shape[0]), np.empty((len(y), len(self.excitations)))
        for i, row in enumerate(both):
            out[i] = C @ x + D @ row
            x = A @ x + B @ row
        coords = {"time": self.step * np.arange(len(y)), "excitation": list(self.excitations)}
        attrs = {"units": "N, N m", "long_name": "estimated excitation"}
        return xr.DataArray(out, coords, ("time", "excitation"), attrs=attrs)

    def excitations_from(self, force: Array) -> np.ndarray:
        """The same excitations from forces on all bodies (time, body, 6), to compare with.

        Args:
            force: `excitation_force` of a run, bodies in the order of the model.
        """
        force = np.asarray(force, dtype=float)
        return force.reshape(len(force), -1) @ self.share.T


def excitation_observer(
    model: Model,
    measures: Sequence[str],
    *,
    noise: Numbers,
    step: float,
    sea: AnySea,
    excitations: Sequence[str] | None = None,
    known: Sequence[str] = (),
    oscillators: int = 8,
    formulation: str | Formulation = "path_matrix",
    case: int | str = 0,
) -> ExcitationObserver:
    """A Kalman filter that estimates the force of the sea from measured motion.

    Args:
        model: compiled with hydro data.
        measures: measured signals as the outputs of `state_space`: "float.Heave",
            "hinge.Pitch.rate", "float.Heave.acceleration", ...
        noise: standard deviation of the noise of one sample, one for all or one for each measure,
            in its unit.
        step: time between samples [s].
        sea: the sea to expect; its phases do not matter.
        excitations: forces to estimate, as the inputs of `state_space`; by default the generalised
            force on every independent joint coordinate.
        known: forces that are measured or commanded, such as PTOs.
        oscillators: how many for each excitation.
        formulation: name or object.
        case: number or name of the run.
    """
    linear = model_with_states(model, chosen_formulation(formulation))
    if excitations is None:
        excitations = independent_coordinates(linear)
    pushed, T = input_rows(linear, list(excitations))
    _check(pushed, T, step, oscillators)
    both, rows = input_rows(linear, [*excitations, *known])
    measured, C, D = output_rows(linear, list(measures), both, rows)
    noise = np.broadcast_to(np.asarray(noise, dtype=float), (len(measured),))
    if not (noise > 0).all():
        raise SwelltreeError(
            "excitation_observer: noise must be positive for every measure. Give the standard "
            "deviation of a sample."
        )
    share = np.linalg.pinv(T.T) @ linear.to_bodies.T
    first = linear.first_order()
    bands = _bands(*_force_spectrum(model, linear, sea, case, share), oscillators)
    m, n = len(pushed), first.A.shape[0]
    A, B, force = _with_oscillators(first, rows, m, bands)
    output = np.hstack([C, D[:, :m] @ force[:, n:]])
    return _steady(
        (A, B[:, m:], output, D[:, m:]),
        _noise(first, T, bands, A.shape[0]),
        noise,
        step,
        force,
        bands.size,
        share,
        (measured, tuple(spelled(k) for k in known), pushed),
    )


def _check(names: tuple[str, ...], T: np.ndarray, step: float, oscillators: int) -> None:
    if np.linalg.matrix_rank(T) < len(names):
        raise SwelltreeError(
            f"excitation_observer: the forces {listed(names)} act in only "
            f"{np.linalg.matrix_rank(T)} independent directions and cannot be distinguished. "
            "Choose fewer, or leave excitations out for one on every joint coordinate."
        )
    if not step > 0:
        raise SwelltreeError(f"excitation_observer: step {step} s is not positive. Give e.g. 0.1.")
    if oscillators < 1:
        raise SwelltreeError(
            f"excitation_observer: {oscillators} oscillators cannot follow a force. Give e.g. 8."
        )


def _force_spectrum(
    model: Model, linear: LinearModel, sea: AnySea, case: int | str, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of the sea and the variance of every excitation at each, (c, m)."""
    if linear.excitation.by_data is None:
        raise SwelltreeError(
            "excitation_observer: the model has no hydro data. Compile with hydro=..."
        )
    waves = linear_waves("excitation_observer", model, sea, case)
    inside = linear.excitation.by_data.in_band(waves)
    omega, beta = np.asarray(waves.omega)[inside], np.asarray(waves.beta)[inside]
    F = linear.excitation(omega, beta) * np.asarray(waves.amplitude)[inside, None]
    order = np.argsort(omega)
    variance = 0.5 * np.abs(F @ share.T) ** 2
    if not (variance.sum(axis=0) > 0).all():
        raise SwelltreeError(
            "excitation_observer: the sea does not excite one of the excitations. Leave it out."
        )
    return omega[order], variance[order]


def _bands(omega: np.ndarray, variance: np.ndarray, count: int) -> Bands:
    """Oscillators that each represent an equal fraction of the energy of all forces."""
    part = (variance / variance.sum(axis=0)).sum(axis=1)
    level = np.cumsum(part) / part.sum()
    number = np.minimum((level * count).astype(int), count - 1)
    used = [k for k in range(count) if (number == k).any()]
    centre = np.array([np.average(omega[number == k], weights=part[number == k]) for k in used])
    gap = np.gradient(centre) if len(centre) > 1 else 0.2 * centre
    # narrower than the gaps: what lies far above the sea's band would else be taken for force
    zeta = np.clip(WIDTH * gap / centre, 0.005, 0.7)
    energy = np.array([variance[number == k].sum(axis=0) for k in used])
    return Bands(centre, zeta, energy)


def _with_oscillators(
    first: FirstOrder,
    rows: np.ndarray,
    m: int,
    bands: Bands,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """State matrix and inputs of model and oscillators, and the output rows of the forces."""
    n, count = first.A.shape[0], len(bands.centre)
    total = n + 2 * count * m
    B = np.zeros((total, len(rows)))
    B[:n] = first.push @ rows.T
    A, force = np.zeros((total, total)), np.zeros((m, total))
    A[:n, :n] = first.A
    for j in range(m):
        for k in range(count):
            i = n + 2 * (j * count + k)
            w = bands.centre[k]
            A[i, i + 1], A[i + 1, i], A[i + 1, i + 1] = w, -w, -2 * bands.zeta[k] * w
            # states of unit size
            force[j, i + 1] = np.sqrt(bands.energy[k, j])
    A[:n, n:] = B[:n, :m] @ force[:, n:]
    return A, B, force


def _noise(first: FirstOrder, T: np.ndarray, bands: Bands, total: int) -> np.ndarray:
    """Intensity of the white noise that drives the oscillators, and of a small force."""
    n, m = first.A.shape[0], len(T)
    into = first.push @ T.T * (UNTOLD * bands.size / np.sqrt(bands.centre.mean()))
    Q = np.zeros((total, total))
    Q[:n, :n] = into @ into.T
    at = np.arange(n + 1, total, 2)
    # oscillators of unit variance
    Q[at, at] = np.tile(4 * bands.zeta * bands.centre, m)
    return Q


def _sampled_noise(A: np.ndarray, Q: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Transition over a step and covariance of the accumulated noise (Van Loan 1978)."""
    from scipy.linalg import expm

    n = A.shape[0]
    both = np.zeros((2 * n, 2 * n))
    both[:n, :n], both[:n, n:], both[n:, n:] = -A, Q, A.T
    both = expm(both * step)
    Phi = both[n:, n:].T
    return Phi, Phi @ both[:n, n:]


def _steady(
    plant: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    Q: np.ndarray,
    noise: np.ndarray,
    step: float,
    force: np.ndarray,
    size: np.ndarray,
    share: np.ndarray,
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
) -> ExcitationObserver:
    """The steady filter as a sampled system."""
    from swelltree.integrate.linear_reduction import zero_order_hold

    A, B, C, D = plant
    measured, known, pushed = names
    Phi, gathered = _sampled_noise(A, Q, step)
    Gamma = zero_order_hold(A, B, step)[1]
    # outputs in units of their noise
    unit = 1.0 / noise
    C, D = C * unit[:, None], D * unit[:, None]
    try:
        P = filter_covariance(Phi, C, 0.5 * (gathered + gathered.T))
    except np.linalg.LinAlgError as error:
        raise SwelltreeError(
            f"excitation_observer: {listed(measured)} are not enough to estimate the excitations "
            f"{listed(pushed)}. Measure more, see control_report(state_space(...))."
        ) from error
    gain = np.linalg.solve(C @ P @ C.T + np.eye(len(C)), C @ P).T
    left = P - gain @ C @ P
    expected = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", force, left, force), 0.0)) / size
    control = import_control()
    keep = np.eye(A.shape[0]) - gain @ C
    system = control.StateSpace(
        Phi @ keep,
        np.hstack([Phi @ gain * unit, Gamma - Phi @ gain @ D]),
        force @ keep,
        np.hstack([force @ gain * unit, -force @ gain @ D]),
        step,
        inputs=[*measured, *known],
        outputs=list(pushed),
        name="excitation_observer",
        remove_useless_states=False,
    )
    return ExcitationObserver(system, measured, known, pushed, step, expected, size, share)
