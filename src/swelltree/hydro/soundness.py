"""What a reader found, checked before it becomes data: sizes, order, and what no sea has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.system.errors import SwelltreeError, listed
from swelltree.system.files import numbers
from swelltree.system.files.numbers import to_positive

if TYPE_CHECKING:
    from swelltree.hydro.dataset import HydroParts


LARGEST = np.float64(numbers.LARGEST)  # a plain number would be rounded to float32 with the data


def check_parts(parts: HydroParts) -> None:
    """Reject what cannot be: NaN where gaps are not allowed, infinite values, what comes twice.

    Gaps in added mass, damping and forces stay NaN here; `gaps` treats them.
    """
    main = parts.files[0] if parts.files else None

    def fail(text: str, name: str = "") -> SwelltreeError:
        path = parts.sources.get(name, main)
        return SwelltreeError(f"{_where(path)}: {text}")

    to_positive(parts.rho, "density rho", fail)
    to_positive(parts.g, "gravity g", fail)
    if not parts.depth > 0:
        raise fail(f"water depth {parts.depth:g} m is not positive. Fix it; deep water is inf.")
    for what, names in (("bodies", parts.bodies), ("degrees of freedom", parts.dofs)):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice or not names:
            text = f"{what} come twice: {listed(twice[:3])}" if twice else f"no {what} are there"
            raise fail(f"{text}. Give each its own name.")
    for name, omega in (("added_mass", parts.omega), ("excitation_force", parts.force_omega)):
        if omega is not None:
            _check_omega(np.asarray(omega, dtype=float), lambda text, name=name: fail(text, name))
    if parts.directions is not None:
        beta = np.asarray(parts.directions, dtype=float)
        if not (np.abs(beta) <= 1e3).all():
            k = int(np.argmin(np.abs(beta) <= 1e3))
            raise fail(f"heading {k + 1} is {np.rad2deg(beta[k]):g} deg. Fix it.")
        if np.unique(beta).size < beta.size:
            again = np.sort(beta)[:-1][np.diff(np.sort(beta)) == 0][0]
            raise fail(f"heading {np.rad2deg(again):g} deg comes twice. Keep one of them.")
    _check_shapes(parts, fail)


def check_announced(parts: HydroParts, *, refuse: bool) -> None:
    """Find files that end before the last of the frequencies they were to hold.

    Args:
        parts: of a reader.
        refuse: raise; else only a note is made.
    """
    for name, omega in (("added_mass", parts.omega), ("excitation_force", parts.force_omega)):
        if omega is None:
            continue
        count = int(((omega > 0) & np.isfinite(omega)).sum())
        for path, announced in parts.announced.items():
            if count >= announced:
                continue
            source = parts.sources.get(name, parts.files[0] if parts.files else None)
            sentence = (
                f"{_where(source)} holds {count} of the {announced} frequencies that "
                f"'{path.name}' states."
            )
            if refuse:
                raise SwelltreeError(
                    f"{sentence} Is the file whole? Write it again, or give gaps='drop' to take "
                    "what is there."
                )
            parts.notes.append(sentence)


def check_agrees(path: Path, name: str, given: float, stated: float) -> None:
    """A message where the user gives another number than the files."""
    if not np.isclose(given, stated, rtol=1e-3):
        raise SwelltreeError(
            f"'{path}' was computed with {name} = {stated:g}, but {name} = {given:g} is given. "
            f"Leave {name} out, or recompute the data."
        )


def _where(path: Path | None) -> str:
    return "hydro data" if path is None else f"'{path}'"


def _check_omega(omega: np.ndarray, fail) -> None:
    if not (omega >= 0).all():
        k = int(np.argmin(omega >= 0))
        raise fail(f"frequency {k + 1} is omega = {omega[k]:g} rad/s. Fix it or leave it out.")
    if omega.size == 0:
        raise fail("no frequencies are there. Recompute with a range of frequencies.")
    values = np.sort(omega)
    same = values[1:] == values[:-1]
    if same.any():
        raise fail(f"omega = {values[1:][same][0]:g} rad/s comes twice. Keep one of them.")


def _check_shapes(parts: HydroParts, fail) -> None:
    n, n_omega = len(parts.dofs), np.size(parts.omega)
    n_force = n_omega if parts.force_omega is None else np.size(parts.force_omega)
    n_beta = 0 if parts.directions is None else np.size(parts.directions)
    tables = {
        "added_mass": (parts.added_mass, (n_omega, n, n)),
        "radiation_damping": (parts.radiation_damping, (n_omega, n, n)),
    }
    tables |= {name: (values, (n_force, n_beta, n)) for name, values in parts.forces.items()}
    tables |= {name: (values, (n, n)) for name, values in parts.matrices.items()}
    for name, (values, shape) in tables.items():
        if np.shape(values) != shape:
            raise fail(f"{name} has shape {np.shape(values)}, expected {shape}.", name)
        gappy = name not in parts.matrices
        good = np.abs(values) <= LARGEST
        if gappy:
            good |= np.isnan(values)
        if not good.all():
            place = tuple(int(k) for k in np.argwhere(~good)[0])
            raise fail(f"{name} is {values[place]} at index {place}. Fix it.", name)
    for name, (_, values) in parts.extra.items():
        if np.isinf(values).any() or (np.abs(values) > LARGEST).any():
            raise fail(f"{name} holds infinite values. Fix it.", name)
    for name, values in parts.coords.items():
        numbers = np.asarray(values[1] if isinstance(values, tuple) else values)
        # frequencies may hold inf
        good = np.isfinite(numbers) if numbers.dtype.kind == "f" else np.ones(1, dtype=bool)
        if not (good | (name.endswith("omega") & (numbers == np.inf))).all():
            raise fail(f"coordinate '{name}' holds values that are not finite. Fix it.")
    for name, values in parts.points.items():
        rows = np.reshape(values, (len(parts.bodies), -1))
        for body, row in zip(parts.bodies, rows, strict=True):
            # what a file does not give is NaN as a whole
            if not (np.isnan(row).all() or (np.abs(row) <= LARGEST).all()):
                raise fail(f"{name} of body '{body}' is {row.tolist()}. Fix it.", name)
            if name == "displaced_volume" and (row < 0).any():
                raise fail(f"displaced_volume of body '{body}' is {row[0]:g} m^3. Fix it.", name)
