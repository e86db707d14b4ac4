r"""Relations that hydrodynamic data satisfy among themselves.

Haskind's relation, in the form of an energy balance over all headings, with the group velocity
:math:`c_g`:

.. math:: B_{ij} = \frac{k}{8 \pi \rho g c_g} \int_0^{2\pi} X_i X_j^* \, d\beta

and Ogilvie's (Kramers-Kronig) relation:

.. math:: A(\omega) - A_\infty = \frac{2}{\pi} \,\mathrm{PV}\!\!\int_0^\infty
          \frac{B(x)}{x^2 - \omega^2} \, dx .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.hydro.data.dataset import (
    DOFS,
    FORCE,
    MATRIX,
    RADIATION,
    body_names,
    make_label,
    split_label,
    wavenumber,
)

if TYPE_CHECKING:
    import xarray as xr


SHARED = 0.5  # of the jump of a damping: that of its coupling with another body
A_INF = 0.03  # of the added mass: how far A_inf may be from that of added mass and damping
RESIDUAL = 0.05  # of a relation that data satisfy: more is reported


@dataclass
class Table:
    """Plain arrays of complete data at finite frequencies, for the checks."""

    omega: np.ndarray
    dofs: list[str]
    bodies: tuple[str, ...]
    added_mass: np.ndarray
    damping: np.ndarray
    headings: np.ndarray | None
    excitation: np.ndarray | None
    froude_krylov: np.ndarray | None
    stiffness: np.ndarray | None
    rho: float
    g: float
    depth: float
    wavenumber: np.ndarray
    centers: dict[str, np.ndarray]
    volumes: dict[str, float]

    def index(self, body: str, dof: str) -> int | None:
        """Row of a DOF, if the data have it."""
        label = make_label(body, dof)
        return self.dofs.index(label) if label in self.dofs else None

    def scale(self, values: np.ndarray) -> np.ndarray:
        """Size of each DOF: root of its largest diagonal entry, with a floor by kind.

        Entries that vanish by symmetry (yaw of a round body) are measured by their like; where all
        rotations do (a sphere about its centre), by translations at a hundredth of the body's size.
        """
        size = np.sqrt(np.abs(np.diagonal(values, axis1=1, axis2=2)).max(axis=0))
        kind = np.array([split_label(dof)[1] in DOFS[3:] for dof in self.dofs])
        for which in (kind, ~kind):
            if which.any():
                size[which] = np.maximum(size[which], 0.1 * size[which].max())
        volume = np.nanmax([0.0, *self.volumes.values()])
        if kind.any() and not kind.all():
            size[kind] = np.maximum(size[kind], 0.01 * np.cbrt(volume) * size[~kind].max())
        return np.maximum(size, 1e-100)

    @property
    def group_velocity(self) -> np.ndarray:
        """Of the waves [m/s]."""
        return group_velocity(self.omega, self.wavenumber, self.depth)


def group_velocity(omega: np.ndarray, wavenumber: np.ndarray, depth: float) -> np.ndarray:
    """Group velocity of waves [m/s]."""
    k = wavenumber
    if not np.isfinite(depth):
        return 0.5 * omega / k
    x = np.minimum(2 * k * depth, 300.0)
    return 0.5 * omega / k * (1 + x / np.sinh(x))


def table_of(data: xr.Dataset) -> Table:
    """Arrays of data without NaN and limits of omega."""

    def force(name: str) -> np.ndarray | None:
        if name not in data or np.isnan(data[name].values).any():
            return None
        return data[name].transpose(*FORCE).values

    omega = data["omega"].values
    depth, g = float(data["water_depth"]), float(data["g"])
    names = body_names(data)
    excitation = force("excitation_force")
    return Table(
        omega=omega,
        dofs=[str(x) for x in data["influenced_dof"].values],
        bodies=names,
        added_mass=data["added_mass"].transpose(*RADIATION).values,
        damping=data["radiation_damping"].transpose(*RADIATION).values,
        headings=None if excitation is None else data["wave_direction"].values,
        excitation=excitation,
        froude_krylov=force("Froude_Krylov_force"),
        stiffness=(
            data["hydrostatic_stiffness"].transpose(*MATRIX).values
            if "hydrostatic_stiffness" in data
            else None
        ),
        rho=float(data["rho"]),
        g=g,
        depth=depth,
        wavenumber=wavenumber(omega, depth, g),
        centers=dict(zip(names, data["rotation_center"].values, strict=True)),
        volumes=(
            dict(zip(names, data["displaced_volume"].values.tolist(), strict=True))
            if "displaced_volume" in data
            else dict.fromkeys(names, np.nan)
        ),
    )


def circle_weights(headings: np.ndarray) -> np.ndarray | None:
    """Weights of an integral over all headings, or None when they leave gaps above 31 degrees."""
    turned = np.mod(headings, 2 * np.pi)
    order = np.argsort(turned)
    angles = turned[order]
    # both ends of a circle given twice count once
    keep = np.concatenate([[True], np.diff(angles) > 1e-6])
    if 2 * np.pi - angles[-1] + angles[0] < 1e-6 and angles.size > 1:
        keep[-1] = False
    angles = angles[keep]
    if angles.size < 4:
        return None
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    if gaps.max() > np.deg2rad(31):
        return None
    weights = np.zeros(headings.size)
    weights[order[keep]] = 0.5 * (gaps + np.roll(gaps, 1))
    return weights


def axisymmetric(table: Table) -> bool:
    """Whether all bodies are axisymmetric about one vertical axis through the origin."""
    axis = np.array([table.centers[body][:2] for body in table.bodies])
    if np.isnan(axis).any() or np.abs(axis).max() > 1e-3:
        return False
    for body in table.bodies:
        pairs = (("Surge", "Sway"), ("Roll", "Pitch"))
        for one, other in pairs:
            i, j = table.index(body, one), table.index(body, other)
            if i is None or j is None:
                return False
            a, b = table.added_mass[:, i, i], table.added_mass[:, j, j]
            # medians: single disturbed frequencies do not matter
            if np.median(np.abs(a - b)) > 0.01 * np.median(np.abs(a)):
                return False
    # a wave along one axis pushes along it only
    assert table.headings is not None
    assert table.excitation is not None
    beta = table.headings[0]
    for body in table.bodies:
        i, j = table.index(body, "Surge"), table.index(body, "Sway")
        across = (
            -np.sin(beta) * table.excitation[:, 0, i] + np.cos(beta) * table.excitation[:, 0, j]
        )
        if np.median(np.abs(across)) > 0.01 * np.median(np.abs(table.excitation[:, 0, i])):
            return False
    return True


def haskind_damping(
    table: Table, i: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Damping of a DOF from the excitation force, by the energy balance.

    Args:
        table: the data.
        i: DOF.
        weights: of the headings; None for round bodies, where one heading suffices.

    Returns:
        The damping, and where the headings resolve the integral (every second heading gives the
        same within 5 %).
    """
    assert table.excitation is not None
    assert table.headings is not None
    force = np.abs(table.excitation[:, :, i]) ** 2
    resolved = np.ones(table.omega.size, dtype=bool)
    if weights is not None:
        integral = force @ weights
        used = np.flatnonzero(weights)
        used = used[np.argsort(np.mod(table.headings[used], 2 * np.pi))]
        coarse = 2 * np.pi * force[:, used[::2]].mean(axis=1)
        resolved = np.abs(coarse - integral) < 0.05 * integral
    else:
        beta = table.headings[0]
        dof = split_label(table.dofs[i])[1]
        if dof == "Heave":
            integral = 2 * np.pi * force[:, 0]
        else:  # the force of heading b goes like its cosine
            integral = np.pi * force[:, 0] / np.cos(beta) ** 2
    unit = table.wavenumber / (8 * np.pi * table.rho * table.g * table.group_velocity)
    return unit * integral, resolved


def infinite_from_ogilvie(
    omega: np.ndarray, added_mass: np.ndarray, damping: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A_inf of every DOF from A and B (f, n, n), and its scatter over the band.

    The singular part of the integral is taken out and done exactly; the tail beyond the band is
    taken to fall like omega^-3. The middle of the band is used.
    """
    w = omega
    A = np.diagonal(added_mass, axis1=1, axis2=2)
    B = np.diagonal(damping, axis1=1, axis2=2)
    edges = np.concatenate([[0.0], w])
    step = np.diff(edges)
    weight = 0.5 * (step + np.append(step[1:], 0.0))
    squares = w[None] ** 2 - w[:, None] ** 2
    np.fill_diagonal(squares, 1.0)
    G = weight[None] / squares
    np.fill_diagonal(G, 0.0)
    slope = np.gradient(B, w, axis=0) if w.size > 2 else np.zeros_like(B)
    smooth = G @ B - G.sum(axis=1, keepdims=True) * B + (weight / (2 * w))[:, None] * slope
    # first half interval, from omega = 0 where B = 0: -(B_i) / (0 - w_i^2)
    smooth += 0.5 * step[0] * B / (w**2)[:, None]
    top = w[-1]
    inner = w < 0.999 * top
    log = np.zeros_like(w)
    log[inner] = np.log((top - w[inner]) / (top + w[inner])) / (2 * w[inner])
    tail = infinite_tail(omega, damping)[None] * (1 + 2 / 3 * (w / top)[:, None] ** 2)
    rebuilt = A - (2 / np.pi) * (smooth + log[:, None] * B) - tail
    middle = (w > 0.1 * top) & (w < 0.6 * top)
    if middle.sum() < 3:
        middle = inner
    chosen = rebuilt[middle]
    mean = np.median(chosen, axis=0)
    return mean, np.abs(chosen - mean).mean(axis=0)


def infinite_tail(omega: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Part of A_inf from damping above the band that falls like omega^-3, (dof,)."""
    return (2 / np.pi) * np.diagonal(damping[-1]) / (4 * omega[-1])


def is_tail_known(
    omega: np.ndarray, added_mass: np.ndarray, damping: np.ndarray, infinite: np.ndarray
) -> np.ndarray:
    """Whether damping above the band falls like omega^-3, by the A_inf of the data, (dof,)."""
    size = np.abs(np.diagonal(added_mass, axis1=1, axis2=2)).max(axis=0)
    off = np.abs(infinite_from_ogilvie(omega, added_mass, damping)[0] - np.diagonal(infinite))
    return off < A_INF * size


def outliers(values: np.ndarray, share: float) -> np.ndarray:
    """Where a curve leaves the median of its neighbours by a fraction of its usual range.

    Args:
        values: (omega, DOF).
        share: of the largest value, spikes aside.
    """
    middle, half = _middle(values)
    rest = np.abs(values - middle)
    rest[:half] = rest[-half:] = 0.0  # one-sided there
    # wide peaks leave a little everywhere; a spike stands out from that
    usual = np.median(rest, axis=0)
    return (rest > share * np.abs(middle).max(axis=0)) & (rest > 10 * usual)


def _middle(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Median of the neighbours of every value (omega, ...), and their number on each side."""
    half = 2 if values.shape[0] < 100 else 5
    padded = np.pad(values, ((half, half), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
    return np.median(windows, axis=-1), half


def shared_jumps(table: Table) -> np.ndarray:
    """Where a jump of the damping is shared by two bodies, (omega, dof) bool.

    Water between bodies resonates with all of them: the jump couples them as much as it damps each
    one. An irregular frequency is that of the inside of one body and couples nothing.
    """
    n = len(table.dofs)
    flat = table.damping.reshape(-1, n * n)
    jump = np.abs(flat - _middle(flat)[0]).reshape(table.damping.shape)
    scale = table.scale(table.damping)
    jump /= scale[:, None] * scale[None]
    own = np.diagonal(jump, axis1=1, axis2=2)[:, :, None]
    coupling = np.divide(jump, own, out=np.zeros_like(jump), where=own > 1e-9)
    bodies = np.array([split_label(dof)[0] for dof in table.dofs])
    other = bodies[:, None] != bodies[None, :]
    return np.where(other, coupling, 0.0).max(axis=2) > SHARED
