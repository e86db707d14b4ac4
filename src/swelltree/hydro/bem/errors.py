"""Error of the panels of a BEM run, estimated from several sizes of them (Richardson).

With values f of panels of size h = 1 / sqrt(number), f = exact + c h^p, so the error of the first
level is (f1 - f2) / ((h2 / h1)^p - 1). The order p is the one seen from three levels, between 1
and 2: flat panels are of second order on smooth hulls and of first order near edges.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.hydro.bem.solve import Solved
from swelltree.hydro.data.dataset import DOFS, body_names, split_label
from swelltree.jit import Array

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.bodies.solids import Immersed

NAMES = {
    "added_mass": ("added_mass",),
    "radiation_damping": ("radiation_damping",),
    "excitation_force": ("froude_krylov", "diffraction"),
}


def with_errors(
    data: xr.Dataset, levels: list[tuple[Solved, list[Immersed], list[int], str]], extrapolate: bool
) -> xr.Dataset:
    """Add `..._error` variables and the attribute `refinement`.

    Args:
        data: of the first level.
        levels: (solved, displaced water, numbers of panels, key) of every size of panels.
        extrapolate: take the estimated error off the values.
    """
    h = np.array([1.0 / np.sqrt(sum(counts)) for _, _, counts, _ in levels])
    solved: list[Solved] = [level[0] for level in levels]
    common = solved[0].omega
    for other in solved[1:]:
        common = np.intersect1d(common, other.omega)
    report: NamedValues = {"panels": [int(sum(counts)) for _, _, counts, _ in levels]}
    rows = np.isin(data["omega"].values, common)
    # moments are compared with forces by the size of the bodies
    sizes = dict(zip(body_names(data), np.cbrt(data["displaced_volume"].values), strict=True))
    split = [split_label(label) for label in data["influenced_dof"].values]
    lengths = np.array([sizes[body] if dof in DOFS[3:] else 1.0 for body, dof in split])
    for name, parts in NAMES.items():
        values: list[Array] = [
            sum(getattr(s, part)[np.isin(s.omega, common)] for part in parts) for s in solved
        ]
        scale = lengths[:, None] * lengths if len(parts) == 1 else lengths
        change, order = _error(values, h, scale)
        error = np.zeros(data[name].shape)
        error[rows] = np.abs(change)
        unit = data[name].attrs["units"]
        data[f"{name}_error"] = (data[name].dims, error, {"units": unit})
        relative = _norm(change, scale) / _norm(values[0], scale)
        report[name] = {"order": round(order, 2), "relative": float(f"{relative:.3g}")}
        if extrapolate:
            stored, attrs = data[name].values.copy(), data[name].attrs
            stored[rows] -= change
            data[name] = (data[name].dims, stored, attrs)
            if name == "excitation_force":  # the undisturbed wave is known well enough
                rest = stored - data["Froude_Krylov_force"].values
                dims, attrs = data["diffraction_force"].dims, data["diffraction_force"].attrs
                data["diffraction_force"] = (dims, rest, attrs)
    words = ", ".join(
        f"{name.replace('_', ' ')} {100 * report[name]['relative']:.2g} %" for name in NAMES
    )
    taken = ", which was taken off" if extrapolate else ""
    data.attrs["refinement"] = json.dumps({**report, "extrapolated": extrapolate})
    data.attrs["notes"] += f"\nestimated error of the panels{taken}: {words}."
    return data


def _error(values: list[Array], h: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, float]:
    """Estimated error of the finest of several values, and the order."""
    order = 1.5  # between that of smooth hulls and that of edges
    if len(values) > 2:
        near, far = _norm(values[1] - values[0], scale), _norm(values[2] - values[1], scale)
        observed = _order(near, far, h)
        order = float(np.clip(observed, 1.0, 2.0))
    ratio = (h[1] / h[0]) ** order
    return (values[1] - values[0]) / (ratio - 1.0), order


def _order(near: float, far: float, h: np.ndarray) -> float:
    """The p for which the steps between three levels fit: far / near = (h3^p - h2^p) / ..."""
    if not near > 0.0 or not far > 0.0:
        return 2.0
    trial = np.linspace(0.5, 3.0, 251)
    a, b, c = (size**trial for size in h)
    return float(trial[np.argmin(np.abs((c - b) / (b - a) - far / near))])


def _norm(values: np.ndarray, scale: np.ndarray) -> float:
    """Root mean square of values over the scale of their units."""
    return float(np.sqrt(np.mean(np.abs(values / scale) ** 2)))
