r"""Second-order wave loads of hydrodynamic data, in body order.

Mean drift coefficients D and quadratic transfer functions Q are forces per square metre of
amplitude,

.. math:: F(t) = \mathrm{Re} \sum_{i,j} \left[ a_i a_j^* Q^-_{ij}\, e^{-i(\omega_i-\omega_j)t}
          + a_i a_j Q^+_{ij}\, e^{-i(\omega_i+\omega_j)t} \right], \qquad
          Q^-_{ii} = D(\omega_i, \beta_i), \quad Q^-_{ji} = Q^{-*}_{ij}, \quad
          Q^+_{ji} = Q^+_{ij} .

They are kept with the phase of the waves at each body, where they change slowly.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment.hydro import DRIFT
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.jit import Array, pytree

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.hydro.linear.build import BodyOrder

WITHOUT_HULL = "without Froude-Krylov"  # attribute second_order_force of data


@pytree()
class MeanDrift:
    """Mean drift coefficients."""

    omega: Array  # (f,) rad/s, rising
    direction: Array  # (d,) rad
    force: Array  # (f, d, 6N) per square metre of amplitude


@pytree("crossing", "sum")
class Pairs:
    """A quadratic transfer function, with the phases of both waves at the body."""

    omega: Array  # (f,) rad/s, rising, of both waves
    direction: Array  # (d,) rad
    force: Array  # (d, f, f, 6N), or (d, d, f, f, 6N) when the data hold crossing waves
    known: Array  # the same without 6N: where the data hold values
    crossing: bool
    sum: bool  # of the sum of the frequencies, else of the difference


@pytree("method")
class DriftTable:
    """Second-order data and the method of their use."""

    mean: MeanDrift | None
    difference: Pairs | None
    sum: Pairs | None
    method: str


def chosen(drift: str | None) -> str:
    if drift is None:
        return "none"
    if drift not in DRIFT:
        raise SwelltreeError(
            f"drift '{drift}' is not known.{suggest(str(drift), DRIFT)} "
            f"Choose one of {listed(DRIFT)}."
        )
    return drift


def check_double_counting(
    nonlinear: Collection[str], drift: str | None, data: xr.Dataset | None = None
) -> None:
    """Reject second-order data on bodies whose hull forces are nonlinear.

    Pressure over the wetted hull holds the second-order force of the incident wave, which mean
    drift and QTF of a diffraction code hold too. Data that leave it out say so by
    `data.attrs["second_order_force"] = "without Froude-Krylov"`; bodies without second-order
    data have nothing that could be counted twice.

    Args:
        nonlinear: names of the bodies with nonlinear Froude-Krylov forces.
        drift: method of second-order loads.
        data: hydrodynamic data; without them every nonlinear body counts.
    """
    if chosen(drift) == "none" or not nonlinear:
        return
    both = sorted(nonlinear)
    if data is not None:
        if data.attrs.get("second_order_force") == WITHOUT_HULL:
            return
        both = [name for name in both if name in drifting(data)]
    if both:
        raise SwelltreeError(
            f"body '{both[0]}': drift '{drift}' and nonlinear Froude-Krylov forces would count "
            "the second-order force of the incident wave twice. Give drift='none' or leave the "
            "body out of nonlinear."
        )


def drifting(data: xr.Dataset) -> set[str]:
    """Bodies with nonzero second-order loads in the data."""
    names: set[str] = set()
    for name in ("mean_drift", "mean_drift_own_headings", "qtf_difference", "qtf_sum"):
        if name in data:
            values = np.asarray(data[name].transpose(..., "influenced_dof").values)
            live = (np.abs(values) > 0).reshape(-1, values.shape[-1]).any(axis=0)  # NaN is not
            labels = data["influenced_dof"].values[live]
            names |= {str(label).rpartition("__")[0] for label in labels}
    return names


def drift_table(
    order: BodyOrder, data: xr.Dataset, place: np.ndarray, drift: str | None
) -> tuple[DriftTable | None, list[str]]:
    """Second-order loads in body order, and what to report.

    Args:
        order: puts labels body__Dof into 6N (`build.BodyOrder`).
        data: hydrodynamic data.
        place: x and y of the body of each DOF (6N, 2).
        drift: method.
    """
    method = chosen(drift)
    if method == "none":
        return None, []
    notes: list[str] = []
    needed = method == "qtf"
    if needed and "qtf_difference" not in data:
        has_mean = _mean(order, data) is not None
        raise SwelltreeError(
            "drift 'qtf' needs a difference-frequency transfer function, which the hydro data do "
            "not hold. "
            + (
                "They hold mean drift: use drift='newman', or read a .12d file beside them."
                if has_mean
                else "Read data with a .12d file, or leave drift out."
            )
        )
    difference = _pairs(order, data, "difference", place) if "qtf_difference" in data else None
    mean = _mean(order, data)
    if mean is None and difference is not None:
        mean = diagonal(difference)
    if mean is None and not needed:
        raise SwelltreeError(_nothing(data, method))
    if not needed:
        assert mean is not None
        notes.append(f"drift: {_range(mean.omega)}; waves outside give no drift.")
        notes += _missing(data, "mean_drift", "mean_drift_own_headings", "qtf_difference")
        return DriftTable(mean, None, None, method), notes
    assert difference is not None
    total = _pairs(order, data, "sum", place) if "qtf_sum" in data else None
    notes.append(_pair_sentence(difference))
    notes.append(
        "drift: the data hold no sum-frequency transfer function, so only slow forces act."
        if total is None
        else _pair_sentence(total)
    )
    notes += _missing(data, "qtf_difference", "qtf_sum")
    return DriftTable(None, difference, total, method), notes


def _nothing(data: xr.Dataset, method: str) -> str:
    """Reason for zero mean drift."""
    if "mean_drift_total" in data:
        return (
            f"drift '{method}' needs the mean drift of every body, but the hydro data hold only "
            "the sum over all bodies (momentum, .8). Read a pressure file (.9) beside it."
        )
    return (
        f"drift '{method}' needs mean drift coefficients, which the hydro data do not hold. "
        "Read data with a .8, .9 or .12d file (WAMIT), or leave drift out."
    )


def _range(omega: np.ndarray) -> str:
    return f"data from omega = {omega[0]:.4g} to {omega[-1]:.4g} rad/s"


def _pair_sentence(pairs: Pairs) -> str:
    """Message about the band and headings of a transfer function."""
    first, second = np.meshgrid(pairs.omega, pairs.omega, indexing="ij")
    known = pairs.known.reshape(-1, *first.shape).any(axis=0)
    kind, reach = "difference", np.abs(first - second)[known].max()
    if pairs.sum:
        kind, reach = "sum", (first + second)[known].max()
    text = (
        f"drift: {_range(pairs.omega)}, {kind} frequencies up to {reach:.4g} rad/s; "
        "pairs outside give no force"
    )
    if not pairs.crossing:
        text += ", and pairs of crossing waves take the values of their mean heading"
    return text + "."


def _missing(data: xr.Dataset, *names: str) -> list[str]:
    """Message about DOFs without data."""
    specified = np.zeros(data.sizes["influenced_dof"], dtype=bool)
    for name in names:
        if name in data:
            values = np.asarray(data[name].transpose(..., "influenced_dof").values)
            specified |= np.isfinite(values).reshape(-1, values.shape[-1]).any(axis=0)
    absent = [str(label) for label in data["influenced_dof"].values[~specified]]
    if not absent:
        return []
    return [f"drift: the data say nothing of {listed(absent)}, which get no drift force."]


def _mean(order: BodyOrder, data: xr.Dataset) -> MeanDrift | None:
    """Mean drift of the data, with its own headings if present."""
    for name, rows, headings in (
        ("mean_drift", "omega", "wave_direction"),
        ("mean_drift_own_headings", "drift_omega", "drift_direction"),
    ):
        if name not in data:
            continue
        values = data[name].transpose(rows, headings, "influenced_dof")
        omega = np.asarray(data[rows].values, dtype=float)
        raw, known = _without_gaps(values)
        good = known.all(axis=1) & np.isfinite(omega) & (omega > 0)
        if good.sum() < 2:
            continue
        force = np.real(order.vector(raw))[good]
        rank = np.argsort(omega[good])
        direction = np.asarray(data[headings].values, dtype=float)
        return MeanDrift(omega[good][rank], direction, force[rank])
    return None


def _without_gaps(values: xr.DataArray) -> tuple[xr.DataArray, np.ndarray]:
    """DOFs without any value set to zero; rows with missing values removed."""
    array = np.asarray(values.values)
    specified = np.isfinite(array).reshape(-1, array.shape[-1]).any(axis=0)
    known = np.asarray(np.isfinite(array[..., specified]).all(axis=-1) & specified.any())
    return values.copy(data=np.where(np.isfinite(array), array, 0.0)), known


def _pairs(order: BodyOrder, data: xr.Dataset, short: str, place: np.ndarray) -> Pairs:
    """A transfer function in body order, sorted and mirrored."""
    name = f"qtf_{short}"
    axes = (f"{short}_omega_1", f"{short}_omega_2")
    values = data[name].transpose(f"{short}_headings", *axes, "influenced_dof")
    omega = np.asarray(data[axes[0]].values, dtype=float)
    if len(omega) < 2 or not np.allclose(omega, data[axes[1]].values):
        raise SwelltreeError(
            f"{name} needs two or more frequencies, the same for both waves. Compute it so."
        )
    rank = np.argsort(omega)
    raw, known = _without_gaps(values)
    force = order.vector(raw)[:, rank][:, :, rank]
    known = known[:, rank][:, :, rank]
    first = np.asarray(data[f"{short}_heading_1"].values, dtype=float)
    second = np.asarray(data[f"{short}_heading_2"].values, dtype=float)
    omega = omega[rank]
    # phases at the bodies in place of the origin
    wave = [_way(data, place, omega, beta) for beta in (first, second)]
    sign = 1.0 if short == "sum" else -1.0
    force = force * np.exp(-1j * (wave[0][:, :, None] + sign * wave[1][:, None, :]))
    return _by_heading(omega, (first, second), force, known, sum=short == "sum")


def _way(data: xr.Dataset, place: np.ndarray, omega: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """k.x of waves at the bodies (heading, f, 6N)."""
    from swelltree.waves.dispersion import dispersion

    k = np.asarray(dispersion(omega, float(data["water_depth"]), float(data["g"])))
    along = np.stack([np.cos(beta), np.sin(beta)], axis=1) @ place.T
    return k[None, :, None] * along[:, None, :]


def _by_heading(
    omega: np.ndarray,
    headings: tuple[np.ndarray, np.ndarray],
    force: np.ndarray,
    known: np.ndarray,
    *,
    sum: bool,
) -> Pairs:
    """All available pairs of headings, else unidirectional waves."""
    keys = [tuple(np.round(row, 9)) for row in zip(*headings, strict=True)]
    one = sorted({key[0] for key in keys if key[0] == key[1]})
    every = sorted({beta for key in keys for beta in key})

    def cell_of(a: float, b: float) -> tuple[np.ndarray, np.ndarray] | None:
        out = None
        for key, turned in (((a, b), False), ((b, a), True)):
            if key not in keys:
                continue
            values, here = force[keys.index(key)], known[keys.index(key)]
            if turned:  # Q-(2, 1) = conj Q-(1, 2), Q+(2, 1) = Q+(1, 2)
                values, here = np.swapaxes(values, 0, 1), here.T
                values = values if sum else values.conj()
            if out is None:
                out = values, here
            else:
                fill = here & ~out[1]
                out = np.where(fill[..., None], values, out[0]), out[1] | here
        return out

    if len(every) > 1 and all(cell_of(a, b) is not None for a in every for b in every):
        grid = [[cell_of(a, b) for b in every] for a in every]
        values = np.array([[cell[0] for cell in row if cell] for row in grid])
        there = np.array([[cell[1] for cell in row if cell] for row in grid])
        return Pairs(omega, np.array(every), values, there, True, sum)
    if not one:
        raise SwelltreeError(
            "the quadratic transfer function holds crossing waves only. Compute it for waves of "
            "one heading as well."
        )
    cells = [cell for cell in (cell_of(a, a) for a in one) if cell]
    values, there = (np.array(part) for part in zip(*cells, strict=True))
    return Pairs(omega, np.array(one), values, there, False, sum)


def diagonal(pairs: Pairs) -> MeanDrift | None:
    """Mean drift as the difference-frequency transfer function of equal waves."""
    n = np.arange(len(pairs.omega))
    d = np.arange(len(pairs.direction))
    force, known = pairs.force, pairs.known
    if pairs.crossing:
        force, known = force[d, d], known[d, d]
    good = known[:, n, n].all(axis=0)
    if good.sum() < 2:
        return None
    return MeanDrift(
        pairs.omega[good],
        pairs.direction,
        np.real(np.swapaxes(force[:, n, n], 0, 1))[good],
    )
