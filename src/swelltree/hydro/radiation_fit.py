"""State-space models of radiation from added mass and damping.

The default road is common-pole vector fitting, balanced truncation, then a
passive form that is refined and enlarged until the error asked for is reached.
Others are offered beside it for comparison (docs/theory/radiation.md).
"""

import warnings
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from swelltree.hydro.memory import radiation_kernel
from swelltree.hydro.passive_form import Oscillators, PassiveProblem
from swelltree.hydro.radiation_data import RadiationData, prepare
from swelltree.hydro.radiation_model import RadiationModel, modal_parts, passivity_margin
from swelltree.hydro.reduction import (
    StateSpace,
    balance,
    hankel_identify,
    realise,
    response,
    truncate,
)
from swelltree.hydro.vector_fitting import vector_fit
from swelltree.system.errors import SwelltreeError, SwelltreeWarning, listed, suggest

__all__ = ["METHODS", "RadiationModel", "fit_radiation"]

PER_FREEDOM = 10  # default largest order: this many states for each radiating freedom


def fit_radiation(
    omega: Float[Array, " f"],
    A: Float[Array, "f m m"],
    B: Float[Array, "f m m"],
    A_inf: Float[Array, "m m"] | None = None,
    *,
    error: float = 0.03,
    max_order: int | None = None,
    method: str = "vector_fitting",
    scale: Float[Array, " m"] | None = None,
    omega_max: float | None = None,
    causal: bool = True,
    entry_order: int = 6,
) -> RadiationModel:
    r"""State space whose transfer function is :math:`K = B + i\omega (A - A_\infty)`.

    Args:
        omega: frequencies [rad/s]; a row at infinity gives A_inf.
        A: added mass.
        B: radiation damping.
        A_inf: added mass at infinite frequency; default the row at infinity, else Ogilvie's relation.
        error: largest Frobenius misfit over the band relative to K, freedoms scaled.
        max_order: most states, default ten for each freedom that radiates.
        method: "vector_fitting" (poles by vector fitting, balanced truncation, passive form: stable and
            passive by construction), "balanced" (without the passive form), "era" (Hankel singular
            values of the whole kernel matrix), "kristiansen" (the same for each entry), "per_entry" (vector
            fitting of each entry).
        scale: what makes freedoms comparable, default sqrt(max B_ii).
        omega_max: leave out data above this frequency [rad/s].
        causal: mend added mass that contradicts the damping, where that has decayed.
        entry_order: states for each entry in "kristiansen" and "per_entry".
    """
    if method not in METHODS:
        raise SwelltreeError(
            f"radiation fit: method {method!r} is not known.{suggest(method, METHODS)} "
            f"Choose from {listed(METHODS)}."
        )
    if not 0 < error < 1:
        raise SwelltreeError(
            f"radiation fit: error {error} is not between 0 and 1. Give a part of |K|, for example 0.03."
        )
    data = prepare(omega, A, B, A_inf, omega_max=omega_max, scale=scale, causal=causal)
    freedoms = sum(len(g) for g in data.groups)
    limit = max_order if max_order is not None else PER_FREEDOM * freedoms
    if limit < 2 * len(data.groups):
        raise SwelltreeError(
            f"radiation fit: max_order {limit} is too small for {len(data.groups)} independent groups of "
            f"freedoms. Give at least {2 * len(data.groups)}."
        )
    matrices, storage, notes = METHODS[method](data, error, limit, entry_order)
    return _finish(data, matrices, storage, error, method, notes)


# --- the default: vector fitting, balanced truncation, passive form -----------------------------


class _Group:
    """One group of freedoms on its way to a passive model."""

    def __init__(self, data: RadiationData, group: tuple[int, ...]) -> None:
        self.group = np.array(group)
        self.K = data.K[:, self.group][:, :, self.group]
        m = len(group)
        # a few dozen frequencies determine the fit
        rows = np.unique(np.linspace(0, data.omega.size - 1, 60).round().astype(int))
        omega = data.omega[rows] / data.omega[-1]
        self.problem = PassiveProblem(omega, self.K[rows], np.gradient(omega))
        self.data = data
        self.model = self._start()
        self.step = max(1, m // 5)
        self.idle = 0
        self._measure()

    def _start(self) -> Oscillators:
        """Oscillators with the poles of the balanced model, one for each freedom at most."""
        problem, m = self.problem, self.group.size
        model = problem.none()
        if problem.omega.size >= 12:
            A, B, C = _vector_fitted(problem.omega, problem.K, min(12, problem.omega.size // 2))
            _, right, left = balance(A, B, C)
            A, B, C = truncate(A, B, C, right, left, 2 * m)
            poles, V = np.linalg.eig(A)
            inputs, outputs = np.linalg.solve(V, B), C @ V
            for k in np.flatnonzero(poles.imag > 0):
                R = 2 * np.outer(outputs[:, k], inputs[k]).real
                size, direction = np.linalg.eigh((R + R.T) / 2)
                drive = np.sqrt(max(size[-1], 1e-4)) * direction[:, -1]
                model = model.with_one_more(abs(poles[k]), -2 * poles[k].real, drive)
        if model.frequency.size == 0:
            model = problem.grow(model)
        return problem.refine(model)

    def enlarge(self, room: int) -> None:
        """A few more oscillators, each refined with all the others."""
        for _ in range(min(self.step, room)):
            self.model = self.problem.grow(self.model)
        before = self.misfit
        self.model = self.problem.refine(self.model)
        self._measure()
        # three enlargements in vain: what is left is noise
        self.idle = self.idle + 1 if self.misfit > 0.96 * before else 0

    def _measure(self) -> None:
        gap = np.abs(self.model.transfer(1j * self.data.omega / self.data.omega[-1]) - self.K) ** 2
        self.misfit = float(np.einsum("f,fij->", self.data.weight, gap))


def _passive(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Passive oscillators for every group, enlarged where the misfit is largest."""
    whole = float(np.einsum("f,fij->", data.weight, np.abs(data.K) ** 2))
    groups = [_Group(data, g) for g in data.groups]
    # what couples the groups is noise; it counts as misfit
    inside = sum(float(np.einsum("f,fij->", data.weight, np.abs(g.K) ** 2)) for g in groups)
    between = max(whole - inside, 0.0)

    def states() -> int:
        return sum(2 * g.model.frequency.size for g in groups)

    while (
        np.sqrt((sum(g.misfit for g in groups) + between) / whole) > error and states() + 2 <= limit
    ):
        hopeful = [g for g in groups if g.idle < 3]
        if not hopeful:
            break
        worst = max(hopeful, key=lambda g: g.misfit)
        worst.enlarge((limit - states()) // 2)
    m, k = data.scale.size, states()
    A, B = np.zeros((k, k)), np.zeros((k, m))
    at = 0
    for g in groups:
        a, b, _ = g.model.state_space()
        n = a.shape[0]
        A[at : at + n, at : at + n] = a * data.omega[-1]
        B[at : at + n, g.group] = b * np.sqrt(data.omega[-1])
        at += n
    notes = [
        "passive by construction: "
        + ", ".join(
            f"{g.model.frequency.size} oscillators for {g.group.size} freedoms" for g in groups
        )
        + "."
    ]
    return (A, B, B.T), np.eye(k), notes


# --- the others ------------------------------------------------------------------------------


def _vector_fitted(omega: Array, K: Array, n_poles: int, weight: Array | None = None) -> StateSpace:
    """Common-pole model of a symmetric matrix, not reduced."""
    m = K.shape[1]
    i, j = np.triu_indices(m)
    factor = np.where(i == j, 1.0, np.sqrt(2.0))
    poles, residues = vector_fit(omega, K[:, i, j] * factor, n_poles, weight=weight)
    R = np.zeros((poles.size, m, m), dtype=complex)
    R[:, i, j] = residues / factor
    R[:, j, i] = residues / factor
    return realise(poles, R)


def _balanced(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Vector fitting with as many poles as half the error needs, then the smallest balanced order."""
    most = max(4, min(24, data.omega.size // 2))
    for n_poles in range(4, most + 1, 2):
        full = _vector_fitted(data.omega, data.K, n_poles, data.weight)
        fitted = data.error(response(*full, data.omega))
        if fitted <= error / 2:
            break
    sigma, right, left = balance(*full)
    reduced = full
    for order in range(2, min(limit, sigma.size) + 1, 2):
        reduced = truncate(*full, right, left, order)
        if data.error(response(*reduced, data.omega)) <= error:
            break
    return reduced, None, [f"vector fitting with {n_poles} poles: error {100 * fitted:.2g} %."]


def _era(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Hankel singular values of the kernel matrix, smallest order that reaches the error."""
    step, K, notes = _kernel(data)
    best: tuple[float, StateSpace, int] | None = None
    tried = sorted({min(limit, n) for n in (4, 8, 12, 18, 24, 36, 48, 72, 96, limit)})
    for order in tried:
        model, changed = hankel_identify(step, K, order)
        found = data.error(response(*model, data.omega))
        if best is None or found < best[0]:
            best = (found, model, changed)
        if found <= error:
            break
    assert best is not None
    if best[2]:
        notes.append(f"{best[2]} growing modes of the Hankel method were mirrored or dropped.")
    return best[1], None, notes


def _kristiansen(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Hankel singular values of each entry by itself (Kristiansen and Egeland 2003)."""
    step, K, notes = _kernel(data)

    def fit(i: int, j: int) -> StateSpace:
        return hankel_identify(step, K[:, i : i + 1, j : j + 1], entry_order)[0]

    return _entries(data, fit), None, notes


def _per_entry(
    data: RadiationData, error: float, limit: int, entry_order: int
) -> tuple[StateSpace, Array | None, list[str]]:
    """Vector fitting of each entry by itself."""

    def fit(i: int, j: int) -> StateSpace:
        return _vector_fitted(data.omega, data.K[:, i : i + 1, j : j + 1], entry_order, data.weight)

    return _entries(data, fit), None, []


def _entries(data: RadiationData, fit: Callable[[int, int], StateSpace]) -> StateSpace:
    """One small model for every pair of freedoms that radiate together."""
    parts: list[tuple[int, int, StateSpace]] = []
    for group in data.groups:
        for i in group:
            for j in group:
                if j >= i:
                    model = fit(i, j)
                    parts.append((i, j, model))
                    if i != j:
                        parts.append((j, i, model))
    m, k = data.scale.size, sum(p[2][0].shape[0] for p in parts)
    A, B, C, at = np.zeros((k, k)), np.zeros((k, m)), np.zeros((m, k)), 0
    for i, j, (a, b, c) in parts:
        rows = slice(at, at + a.shape[0])
        A[rows, rows], B[rows, j], C[i, rows] = a, b[:, 0], c[0]
        at += a.shape[0]
    return A, B, C


def _kernel(data: RadiationData) -> tuple[float, Array, list[str]]:
    """Samples of the scaled kernel for the Hankel methods."""
    step = np.pi / data.omega[-1] / 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        kernel = radiation_kernel(data.omega, data.K.real, step=step)
    return step, kernel.values, list(kernel.notes)


Fit = Callable[[RadiationData, float, int, int], tuple[StateSpace, Array | None, list[str]]]
METHODS: dict[str, Fit] = {
    "vector_fitting": _passive,
    "balanced": _balanced,
    "era": _era,
    "kristiansen": _kristiansen,
    "per_entry": _per_entry,
}


def _finish(
    data: RadiationData,
    matrices: StateSpace,
    storage: Array | None,
    error: float,
    method: str,
    notes: list[str],
) -> RadiationModel:
    """Physical units, modal states, and the numbers that say how good the model is."""
    A, B, C = matrices
    notes = [*data.notes, *notes]
    (A, B, C), poles, n_pairs, storage, condition = modal_parts(A, B, C, storage)
    band = (float(data.omega[0]), float(data.omega[-1]))
    draft = RadiationModel(
        A,
        B,
        C,
        poles,
        n_pairs,
        data.A_inf,
        np.ones_like(data.scale),
        storage,
        band,
        0.0,
        error,
        np.zeros_like(data.scale),
        0.0,
        method,
    )
    fit = draft.transfer(data.omega)
    found = data.error(fit)
    gap = np.einsum("f,fii->i", data.weight, np.abs(fit - data.K) ** 2)
    size = np.einsum("f,fii->i", data.weight, np.abs(data.K) ** 2)
    wide = np.concatenate([np.linspace(0, band[1], 500), np.geomspace(band[1], 10 * band[1], 500)])
    margin = passivity_margin(draft.transfer(wide))
    if condition > 1e8:
        notes.append(f"modal states are badly conditioned ({condition:.1e}).")
    if found > error:
        text = (
            f"radiation fit: error {100 * found:.2g} % with {A.shape[0]} states, asked for {100 * error:.2g} %. "
            "Allow a larger max_order, a larger error, or leave out bad frequencies with omega_max."
        )
        notes.append(text)
        warnings.warn(text, SwelltreeWarning, stacklevel=3)
    return RadiationModel(
        A,
        B * data.scale,
        C * data.scale[:, None],
        poles,
        n_pairs,
        data.A_inf,
        data.scale,
        storage,
        band,
        found,
        error,
        np.sqrt(gap / np.where(size > 0, size, 1.0)),
        margin,
        method,
        tuple(notes),
    )
