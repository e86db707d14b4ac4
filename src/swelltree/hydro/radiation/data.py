"""Radiation data made ready for a fit: checked, symmetric, scaled, split into parts."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Complex, Float

from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.hydro.radiation.damping_band import damping_scale, extend_damping
from swelltree.hydro.radiation.memory import (
    added_mass_change,
    infinite_added_mass,
)
from swelltree.hydro.radiation.spikes import jumps
from swelltree.hydro.radiation.symmetry import independent_parts
from swelltree.jit import Array

ASYMMETRY = 0.1  # warn when A or B differ from their transposes by more than this
NEGATIVE = 0.05  # a frequency whose scaled B is more negative than this is left out
DECAYED = 0.05  # B of a DOF has decayed when its last value is below this part of its largest
MOVED = 0.05  # warn when the fit moves A_inf by more than this part
DOUBT = 0.03  # ... and A is then taken from B when the two disagree by more than this part of K


@dataclass(frozen=True)
class RadiationData:
    """What a fit works on.

    Args:
        omega: frequencies kept [rad/s].
        K: scaled transfer matrix B + i omega (A - A_inf) there, symmetric.
        weight: width of the band that each frequency stands for [rad/s].
        scale: physical K is scaled K times scale_i scale_j.
        A_inf: added mass at infinite frequency, symmetric.
        parts: motions that radiate together, each an orthonormal basis (m, k) of scaled DOFs.
        inconsistency: part of the data's K that contradicts causality and was replaced.
        notes: what was done to the data.
    """

    omega: Float[Array, " f"]
    K: Complex[Array, "f m m"]
    weight: Float[Array, " f"]
    scale: Float[Array, " m"]
    A_inf: Float[Array, "m m"]
    parts: tuple[Array, ...]
    inconsistency: float
    notes: tuple[str, ...]

    def with_mass_of(self, fit: Complex[Array, "f m m"]) -> "RadiationData":
        """The data with A_inf moved by what a fit lacks: resonances of the water above the band.

        There it is faster than all that is known and acts as a constant added mass.
        """
        lacks = missing_mass(self.omega, self.weight, self.K - fit)
        # motions that radiate apart stay apart
        inside = [b @ b.T for b in self.parts]
        mass = sum((p @ lacks @ p for p in inside), np.zeros_like(lacks))
        moved = mass * np.outer(self.scale, self.scale)
        part = np.linalg.norm(mass) / max(
            float(np.linalg.norm(self.A_inf / np.outer(self.scale, self.scale))), 1e-300
        )
        notes = list(self.notes)
        if part > 1e-6:
            notes.append(
                f"A_inf was moved by {100 * part:.2g} %, the added mass of resonances above "
                "the band."
            )
        if part > MOVED:
            warn_user(
                f"radiation data: {notes[-1]} A_inf contradicts A and B: check it, or give data "
                "of higher frequencies."
            )
        K = self.K - 1j * self.omega[:, None, None] * mass
        return replace(self, K=K, A_inf=self.A_inf + moved, notes=tuple(notes))

    def error(self, fit: Complex[Array, "f m m"]) -> float:
        """Frobenius norm of the misfit over that of K, over the band."""
        gap = np.abs(fit - self.K) ** 2
        return float(
            np.sqrt(
                np.einsum("f,fij->", self.weight, gap)
                / np.einsum("f,fij->", self.weight, np.abs(self.K) ** 2)
            )
        )


def missing_mass(omega: Array, weight: Array, gap: Array) -> Array:
    """The constant added mass nearest to a misfit of K (m, m).

    Args:
        omega: frequencies [rad/s].
        weight: of each.
        gap: data less fit (f, m, m).
    """
    return np.einsum("f,fij->ij", weight * omega, gap.imag) / (weight * omega**2).sum()


def prepare(
    omega: Array,
    A: Array,
    B: Array,
    A_inf: Array | None = None,
    *,
    omega_max: float | None = None,
    scale: Array | None = None,
    causal: bool = True,
    as_specified: bool = False,
) -> RadiationData:
    """Check radiation data and bring them into the form that fits work on.

    Args:
        omega: frequencies [rad/s]; a row at infinity gives A_inf, a row at zero is not needed.
        A: added mass (f, m, m).
        B: radiation damping (f, m, m).
        A_inf: added mass at infinite frequency; without it and without a row at infinity Ogilvie's
            relation is used.
        omega_max: leave out data above this frequency [rad/s].
        scale: what makes DOFs comparable, default the square root of the largest damping.
        causal: correct added mass that contradicts the damping, where that has decayed.
        as_specified: keep frequencies at which the data jump and added mass that contradicts the
            damping.
    """
    omega, A, B = (np.asarray(v, dtype=float) for v in (omega, A, B))
    _check(omega, A, B)
    notes: list[str] = []
    if A_inf is None and np.isinf(omega).any():
        A_inf = A[int(np.flatnonzero(np.isinf(omega))[0])]
    omega, A, B = _within(omega, A, B, omega_max)
    unit: Array = damping_scale(B) if scale is None else np.asarray(scale, dtype=float)
    notes += _symmetry(B / np.outer(unit, unit))
    B = (B + B.transpose(0, 2, 1)) / 2
    A = (A + A.transpose(0, 2, 1)) / 2
    B, noisy = _without_noise(B, unit, notes)
    if not as_specified:
        omega, A, B = _without_jumps(omega, A, B, unit, notes)
    if scale is None:  # a spike may have been the largest damping
        unit = damping_scale(B)
    outer = np.outer(unit, unit)
    omega, A, B = _without_negative(omega, A, B, outer, notes)
    A_inf = _at_infinity(omega, A, B, A_inf, notes)
    raw = (B + 1j * omega[:, None, None] * (A - A_inf)) / outer
    raw[:, noisy, :] = raw[:, :, noisy] = 0.0
    notes += _undecayed(omega, B / outer)
    weight = np.gradient(omega)
    weight[[0, -1]] /= 2
    K = raw
    if causal and not as_specified:
        K, doubtful = _causal(omega, B / outer, raw, weight)
        if doubtful:
            notes.append(_contradiction(omega, K - raw, A / outer, B / outer, doubtful))
    lost = float(
        np.sqrt(
            np.einsum("f,fij->", weight, np.abs(K - raw) ** 2)
            / np.einsum("f,fij->", weight, np.abs(raw) ** 2)
        )
    )
    return RadiationData(omega, K, weight, unit, A_inf, independent_parts(K), lost, tuple(notes))


def _within(
    omega: Array, A: Array, B: Array, omega_max: float | None
) -> tuple[Array, Array, Array]:
    """Data between zero and the upper limit, sorted by frequency."""
    keep = np.isfinite(omega) & (omega > 0)
    if omega_max is not None:
        keep &= omega <= omega_max * (1 + 1e-9)
    order = np.flatnonzero(keep)[np.argsort(omega[keep])]
    if order.size < 4:
        raise SwelltreeError(
            f"radiation data have {order.size} frequencies between zero and the upper limit. Give "
            "at least 4."
        )
    return omega[order], A[order], B[order]


def _without_noise(B: Array, unit: Array, notes: list[str]) -> tuple[Array, list[int]]:
    """Damping without DOFs that contain noise only, and these DOFs."""
    noisy = _noisy(B / np.outer(unit, unit), unit)
    if noisy:
        notes.append(
            f"radiation of DOFs {noisy} was left out: it is small and its damping is negative "
            "or too large "
            "for its own diagonal at many frequencies. Refine the mesh if these DOFs move."
        )
        warn_user("radiation data: " + notes[-1])
        B[:, noisy, :] = B[:, :, noisy] = 0.0
    return B, noisy


def _without_negative(
    omega: Array, A: Array, B: Array, outer: Array, notes: list[str]
) -> tuple[Array, Array, Array]:
    """Data without frequencies of negative damping: irregular frequencies and other failures."""
    least = np.linalg.eigvalsh(B / outer)[:, 0]
    bad = least < -NEGATIVE
    if not bad.any() or (~bad).sum() < 4:
        return omega, A, B
    notes.append(
        f"left out {int(bad.sum())} of {omega.size} frequencies whose damping is negative in "
        "some "
        f"direction (worst at {omega[np.argmin(least)]:.4g} rad/s: {100 * least.min():.0f} %). "
        "Irregular frequencies look like this: add a lid or refine the mesh."
    )
    warn_user("radiation data: " + notes[-1])
    return omega[~bad], A[~bad], B[~bad]


def _at_infinity(omega: Array, A: Array, B: Array, A_inf: Array | None, notes: list[str]) -> Array:
    """Symmetric added mass at infinite frequency: given, or by Ogilvie's relation."""
    if A_inf is None:
        result = infinite_added_mass(omega, A, B)
        A_inf = result.value
        notes.append(
            f"A_inf from Ogilvie's relation, scatter over the band up to {100 * result.worst:.2g} "
            "% of the "
            "largest added mass of a DOF."
        )
    A_inf = np.asarray(A_inf, dtype=float)
    if A_inf.shape != A.shape[1:] or not np.isfinite(A_inf).all():
        raise SwelltreeError(
            f"A_inf has shape {A_inf.shape}, or numbers that are not finite. Give {A.shape[1:]} "
            "finite numbers."
        )
    return (A_inf + A_inf.T) / 2


def _undecayed(omega: Array, B: Array) -> list[str]:
    """Message if the damping is still large at the end of the band."""
    size = np.linalg.norm(B, axis=(1, 2))
    if not size[-1] > 0.1 * size.max():
        return []
    return [
        f"B is still {100 * size[-1] / size.max():.0f} % of its largest value at "
        f"{omega[-1]:.4g} rad/s: "
        "above the band the model is a plausible continuation, not data."
    ]


def _without_jumps(
    omega: Array, A: Array, B: Array, unit: Array, notes: list[str]
) -> tuple[Array, Array, Array]:
    """Data without frequencies with jumps, which are named."""
    off = jumps(omega, A, B, unit)
    bad = off > 0
    if not bad.any():
        return omega, A, B
    shown = ", ".join(f"{w:.4g}" for w in omega[bad][:8]) + (" ..." if bad.sum() > 8 else "")
    notes.append(
        f"left out {int(bad.sum())} of {omega.size} frequencies at which added mass and damping "
        f"jump by up to {100 * off.max():.0f} % of the largest damping ({shown} rad/s). "
        "Irregular frequencies look like this: add a lid or refine the mesh."
    )
    warn_user("radiation data: " + notes[-1])
    return omega[~bad], A[~bad], B[~bad]


def _causal(omega: Array, B: Array, K: Array, weight: Array) -> tuple[Array, list[int]]:
    """K with the imaginary part that B implies, where B has decayed but A disagrees.

    At high frequency omega (A - A_inf) multiplies small errors of A; where B is known until it
    vanishes, the Kramers-Kronig relation is the better source.
    """
    data = extend_damping(omega, B)
    implied = B + 1j * omega[:, None, None] * added_mass_change(data.omega, data.damping, omega)
    diagonal = np.diagonal(B, axis1=1, axis2=2)
    decayed = np.abs(diagonal[-1]) < DECAYED * np.abs(diagonal).max(axis=0).clip(min=1e-300)
    gap = np.einsum("f,fii->i", weight, np.abs(implied - K) ** 2)
    size = np.einsum("f,fii->i", weight, np.abs(implied) ** 2)
    # DOFs that hardly radiate are left as they are
    doubtful = decayed & (gap > DOUBT**2 * size) & (np.abs(diagonal).max(axis=0) > 1e-2)
    either = doubtful[:, None] | doubtful[None, :]
    return np.where(either, implied, K), [int(i) for i in np.flatnonzero(doubtful)]


def _contradiction(omega: Array, gap: Array, A: Array, B: Array, doubtful: list[int]) -> str:
    """Deviation of the model's added mass from the data, where the bodies radiate."""
    diagonals: list[Array] = [np.diagonal(v, axis1=1, axis2=2)[:, doubtful] for v in (gap, A, B)]
    weight = np.abs(diagonals[2]) / np.abs(diagonals[2]).sum(axis=0).clip(min=1e-300)
    change = (weight * diagonals[0].imag / omega[:, None]).sum(axis=0)
    part = np.max(np.abs(change) / np.abs(diagonals[1]).max(axis=0).clip(min=1e-300))
    return (
        f"A contradicts B (Kramers-Kronig) for DOFs {doubtful}, whose B has decayed: "
        "omega (A - A_inf) was taken from B there. Where they radiate most, the added mass of the "
        f"model differs from the data by up to {100 * part:.2g} %."
    )


def _check(omega: Array, A: Array, B: Array) -> None:
    """Validate shapes and numbers."""
    if omega.ndim != 1 or A.ndim != 3 or A.shape != B.shape or A.shape[0] != omega.size:
        raise SwelltreeError(
            f"radiation data do not belong together: omega {omega.shape}, added mass {A.shape}, "
            "damping "
            f"{B.shape}. Give (f,), (f, m, m) and (f, m, m)."
        )
    if A.shape[1] != A.shape[2]:
        raise SwelltreeError(
            f"added mass has {A.shape[1]} rows and {A.shape[2]} columns for each frequency. Give "
            "square matrices."
        )
    finite = np.isfinite(A).all(axis=(1, 2)) & (
        np.isfinite(B).all(axis=(1, 2)) | ~np.isfinite(omega)
    )
    if np.isnan(omega).any() or not finite.all():
        first = omega[~finite][0] if (~finite).any() else np.nan
        raise SwelltreeError(
            f"radiation data hold NaN or infinite numbers at {int((~finite).sum())} of "
            f"{omega.size} frequencies "
            f"(first at omega = {first:.4g} rad/s). Drop these rows or run the BEM there again."
        )


def _symmetry(B: Array) -> list[str]:
    """Message if the damping is not symmetric."""
    skew = np.linalg.norm(B - B.transpose(0, 2, 1), axis=(1, 2)).max()
    size = np.linalg.norm(B, axis=(1, 2)).max()
    if size == 0:
        raise SwelltreeError(
            "radiation damping is zero at every frequency: there is nothing to fit. "
            "Check the data, or leave radiation out."
        )
    if skew <= ASYMMETRY * size:
        return [
            f"B differs from its transpose by up to {100 * skew / size:.2g} %; the mean was taken."
        ]
    text = (
        f"radiation damping is not symmetric: B and its transpose differ by "
        f"{100 * skew / size:.0f} % of the "
        "largest |B|; the mean was taken. Check the order of rows and columns, or refine the mesh."
    )
    warn_user(text)
    return [text]


def _noisy(B: Array, scale: Array) -> list[int]:
    """DOFs of little radiation with negative damping at many frequencies."""
    m = scale.size
    kinds = scale.reshape(-1, 2, 3) if m % 6 == 0 else scale.reshape(1, 1, -1)
    size = (kinds / kinds.max(axis=(0, 2), keepdims=True)).ravel()
    B, out = B.copy(), []
    while True:
        value, vector = np.linalg.eigh(B)
        bad = value[:, 0] < -NEGATIVE
        if bad.mean() < 0.15:
            return sorted(out)
        share = (vector[bad, :, 0] ** 2).mean(axis=0) * (size < 0.03)
        worst = int(np.argmax(share))
        if share[worst] < 0.05:
            return sorted(out)
        out.append(worst)
        B[:, worst, :] = B[:, :, worst] = 0.0
