"""State-space models of radiation from added mass and damping.

The default road is common-pole vector fitting, balanced truncation, then a
passive form that is refined and enlarged until the error asked for is reached.
Others are offered beside it for comparison (docs/theory/radiation.md).
"""

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, listed, suggest, warn_user
from swelltree.hydro.data import cache as stored
from swelltree.hydro.radiation import methods as radiation_methods
from swelltree.hydro.radiation import passive_fit, passive_form, reduction, symmetry, vector_fitting
from swelltree.hydro.radiation.damping_band import extend_damping
from swelltree.hydro.radiation.data import RadiationData, missing_mass, prepare
from swelltree.hydro.radiation.memory import cosine_transform
from swelltree.hydro.radiation.methods import balanced, era, kristiansen, per_entry
from swelltree.hydro.radiation.model import RadiationModel, modal_parts, passivity_margin
from swelltree.hydro.radiation.passive_fit import passive
from swelltree.hydro.radiation.reduction import StateSpace
from swelltree.jit import Array

__all__ = ["METHODS", "RadiationModel", "fit_radiation"]


class MissedFitWarning(SwelltreeWarning):
    """Warning: the misfit of K is larger than requested."""


Fit = tuple[StateSpace, Array | None, list[str]]  # matrices, stored energy, messages
COARSER = (0.01, 0.02, 0.05, 0.1)  # errors tried where a smaller one is not reached
LAGS = 200  # at which the impulse response is compared
PER_FREEDOM = 6  # default largest order: this many states for each radiating DOF


def fit_radiation(
    omega: Array,
    A: Array,
    B: Array,
    A_inf: Array | None = None,
    *,
    error: float = 0.02,
    max_order: int | None = None,
    method: str = "vector_fitting",
    scale: Array | None = None,
    omega_max: float | None = None,
    causal: bool = True,
    entry_order: int = 6,
    cache: bool = True,
    importance: Array | None = None,
    as_specified: bool = False,
) -> RadiationModel:
    r"""State space whose transfer function is :math:`K = B + i\omega (A - A_\infty)`.

    Args:
        omega: frequencies [rad/s]; a row at infinity gives A_inf.
        A: added mass (f, m, m).
        B: radiation damping (f, m, m).
        A_inf: added mass at infinite frequency; default the row at infinity, else Ogilvie's
            relation.
        error: largest Frobenius misfit over the band relative to K, DOFs scaled.
        max_order: most states, default six for each DOF that radiates, at least 40.
        method: "vector_fitting" (poles by vector fitting, balanced truncation, passive form:
            stable and
            passive by construction), "balanced" (without the passive form), "era" (Hankel singular
            values of the whole kernel matrix), "kristiansen" (the same for each entry),
            "per_entry" (vector
            fitting of each entry).
        scale: what makes DOFs comparable, default sqrt(max B_ii).
        omega_max: leave out data above this frequency [rad/s].
        causal: correct added mass that contradicts the damping, where that has decayed.
        entry_order: states for each entry in "kristiansen" and "per_entry".
        cache: cache the fits.
        as_specified: keep frequencies at which the data jump, and A that contradicts B.
        importance: of the misfit at each of `omega`, beside 1, which all have.
    """
    if method not in METHODS:
        raise SwelltreeError(
            f"radiation fit: method {method!r} is not known.{suggest(method, METHODS)} "
            f"Choose from {listed(METHODS)}."
        )
    if not 0 < error < 1:
        raise SwelltreeError(
            f"radiation fit: error {error} is not between 0 and 1. Give a part of |K|, for "
            "example 0.03."
        )
    data = prepare(
        omega,
        A,
        B,
        A_inf,
        omega_max=omega_max,
        scale=scale,
        causal=causal,
        as_specified=as_specified,
    )
    if importance is not None:
        at, known = np.asarray(omega, dtype=float), np.asarray(importance, dtype=float)
        weight = 1.0 + np.interp(data.omega, np.sort(at), known[np.argsort(at)]) ** 2
        data = replace(data, weight=data.weight * weight)
    dofs = sum(part.shape[1] for part in data.parts)
    limit = max_order if max_order is not None else max(PER_FREEDOM * dofs, 40)
    if limit < 2 * len(data.parts):
        raise SwelltreeError(
            f"radiation fit: max_order {limit} is too small for {len(data.parts)} sets of motions "
            f"without mutual radiation. Give at least {2 * len(data.parts)}."
        )
    result = _fitted(data, error, limit, method, entry_order, cache)
    if METHODS[method] is passive and result[0][0].shape[0] + 2 <= limit:
        # it gave up; one that was asked for less may have come further
        found = [result]
        if _misfit(data, result) > error:
            coarser = [rung for rung in COARSER if rung > error]
            found += [_fitted(data, e, limit, method, entry_order, cache) for e in coarser]
        result = min(found, key=lambda fit: _misfit(data, fit))
    return _finish(data, *result, error, method)


def _fitted(
    data: RadiationData, error: float, limit: int, method: str, entry_order: int, cache: bool
) -> Fit:
    """Load a fit from the cache or compute it."""
    key = _key(data, error, limit, method, entry_order)
    if cache and (result := _unpacked(stored.load("radiation", key))) is not None:
        return result
    # scipy's own library must be there to be limited
    importlib.import_module("scipy.linalg")
    from threadpoolctl import threadpool_limits

    # thousands of small products: one thread is faster than several that wait for one another
    with threadpool_limits(limits=1):
        result = METHODS[method](data, error, limit, entry_order)
    if cache:
        stored.store("radiation", key, _packed(*result))
    return result


def _misfit(data: RadiationData, fit: Fit) -> float:
    """Error of a passive fit up to a constant added mass."""
    values = reduction.response(*fit[0], data.omega)
    gap = values - data.K
    mass = missing_mass(data.omega, data.weight, -gap)
    return data.error(values + 1j * data.omega[:, None, None] * mass)


METHODS: dict[str, Callable[[RadiationData, float, int, int], Fit]] = {
    "vector_fitting": passive,
    "balanced": balanced,
    "era": era,
    "kristiansen": kristiansen,
    "per_entry": per_entry,
}


def _key(data: RadiationData, *options: object) -> str:
    """Cache key of a fit: data, options and the text of the programs."""
    modules = (passive_fit, passive_form, radiation_methods, reduction, symmetry, vector_fitting)
    programs = [Path(str(module.__file__)).read_bytes() for module in modules]
    return stored.content_key(*programs, data.omega, data.K, data.weight, options)


def _packed(matrices: StateSpace, storage: Array | None, notes: list[str]) -> dict[str, Array]:
    """A fit as named arrays for the cache."""
    arrays = dict(zip("ABC", matrices, strict=True)) | {"notes": np.array(notes, dtype=str)}
    return arrays if storage is None else arrays | {"storage": storage}


def _unpacked(arrays: dict[str, Array] | None) -> Fit | None:
    """Load a fit from the cache; None if absent or incomplete."""
    if arrays is None or not {"A", "B", "C", "notes"} <= arrays.keys():
        return None
    matrices = (arrays["A"], arrays["B"], arrays["C"])
    return matrices, arrays.get("storage"), [str(note) for note in arrays["notes"]]


def _finish(
    data: RadiationData,
    matrices: StateSpace,
    storage: Array | None,
    notes: list[str],
    error: float,
    method: str,
) -> RadiationModel:
    """Physical units, modal states, and error measures."""
    A, B, C = matrices
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
    if METHODS[method] is passive:
        # its misfit leaves a constant added mass out; other methods keep the A_inf of the data
        data = data.with_mass_of(fit)
    notes = [*data.notes, *notes]
    result = data.error(fit)
    gap = np.einsum("f,fii->i", data.weight, np.abs(fit - data.K) ** 2)
    size = np.einsum("f,fii->i", data.weight, np.abs(data.K) ** 2)
    wide = np.concatenate([np.linspace(0, band[1], 500), np.geomspace(band[1], 10 * band[1], 500)])
    margin = passivity_margin(draft.transfer(wide))
    if condition > 1e8:
        notes.append(f"modal states are badly conditioned ({condition:.1e}).")
    if result > error:
        text = (
            f"radiation fit: error {100 * result:.2g} % with {A.shape[0]} states, asked for "
            f"{100 * error:.2g} %. "
            "Allow a larger max_order, a larger error, or leave out bad frequencies with omega_max."
        )
        notes.append(text)
        warn_user(text, MissedFitWarning)
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
        result,
        error,
        np.where(size > 1e-6 * size.max(), np.sqrt(gap / size.clip(min=1e-300)), 0.0),
        margin,
        method,
        data.inconsistency,
        tuple(notes),
        *_reported_errors(data, fit),
        _impulse_error(data, draft),
        _fitted_data(data),
    )


def _fitted_data(data: RadiationData) -> tuple[Array, Array, Array]:
    """Frequencies, added mass and damping that were fitted."""
    K = data.K * np.outer(data.scale, data.scale)
    return data.omega, data.A_inf + K.imag / data.omega[:, None, None], K.real


def _reported_errors(data: RadiationData, fit: Array) -> tuple[float, float, float]:
    """Misfit of the kernel, of added mass and of damping over the band where bodies radiate."""
    # Parseval: the kernel is the cosine transform of the damping
    size = np.linalg.norm(data.K.real, axis=(1, 2))
    gap = np.linalg.norm((fit - data.K).real, axis=(1, 2))
    kernel = np.sqrt((data.weight * gap**2).sum() / max((data.weight * size**2).sum(), 1e-300))
    share = data.weight * size / max(float((data.weight * size).sum()), 1e-300)
    scaled = data.A_inf / np.outer(data.scale, data.scale)
    mass = scaled + data.K.imag / data.omega[:, None, None]
    off = np.linalg.norm((fit - data.K).imag, axis=(1, 2)) / data.omega
    most = np.linalg.norm(mass, axis=(1, 2))
    return (
        float(kernel),
        float(np.sqrt((share * off**2).sum() / max(float((share * most**2).sum()), 1e-300))),
        float(np.sqrt((share * gap**2).sum() / max(float((share * size**2).sum()), 1e-300))),
    )


def _impulse_error(data: RadiationData, scaled: RadiationModel) -> float:
    """Misfit of the impulse response to the cosine transform of the damping, rms over the lags.

    Above its band the damping is continued as `extend_damping` does; the model has a tail of its
    own there, so that data which end early show in this number and not in those over the band.
    """
    known = extend_damping(data.omega, data.K.real)
    # eight lags in the shortest period, until data of this spacing repeat
    step = np.pi / (4.0 * data.omega[-1])
    longest = np.pi / float(np.median(np.diff(data.omega)))
    time = step * np.arange(min(int(longest / step) + 1, LAGS))
    exact = cosine_transform(known.omega, known.damping, time) * (2.0 / np.pi)
    gap = np.linalg.norm(scaled.kernel(time) - exact)
    return float(gap / max(float(np.linalg.norm(exact)), 1e-300))
