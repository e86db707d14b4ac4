"""All files of one run with one stem, as the parts of hydrodynamic data."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import HydroParts, rigid_labels
from swelltree.hydro.data.frames import turn_parts
from swelltree.hydro.readers.textfile import TextFile
from swelltree.hydro.readers.wamit.control_files import family_of, read_setup
from swelltree.hydro.readers.wamit.listing import (
    ListingTables,
    read_listed_stiffness,
    read_listing_tables,
)
from swelltree.hydro.readers.wamit.numeric import (
    read_forces,
    read_radiation,
    read_stiffness,
    to_omega,
    zero_by_symmetry,
)
from swelltree.hydro.readers.wamit.second_order import read_second_order
from swelltree.hydro.readers.wamit.setup import WamitSetup, complete, require

# --- Bodies of a run: their DOFs, and where they are


def split_dofs(path: Path, n: int, setup: WamitSetup, bodies: int | None) -> list[int]:
    """Number of generalised modes of each body, from the total number of DOFs."""
    count = len(setup.places) or len(setup.names)
    if not count:
        count = n // 6 if n % 6 == 0 and not any(setup.modes) else bodies or 1
        if bodies is not None and bodies != count:
            raise SwelltreeError(
                f"'{path}' has {n} modes, those of {count} bodies, but names has {bodies} entries. "
                "Give one name for each, or keep the .cfg file with NEWMDS beside it."
            )
    modes = (setup.modes + [0] * count)[:count]
    if 6 * count + sum(modes) < n and not any(modes) and count == 1:
        modes = [n - 6]
    if 6 * count + sum(modes) != n:
        raise SwelltreeError(
            f"'{path}' has {n} modes, which {count} bodies with {modes} generalised modes do not "
            "explain. Keep the .cfg file with NEWMDS beside it, or give names=... for all bodies."
        )
    return modes


def numbered(stem: str, count: int) -> list[str]:
    """Names for unnamed bodies."""
    return [stem] if count == 1 else [f"body{k + 1}" for k in range(count)]


def place_bodies(parts: HydroParts, setup: WamitSetup, modes: list[int]) -> None:
    """Reference points, centres in world axes, and data rotated to world axes."""
    count = len(modes)
    if len(setup.places) != count:
        parts.notes.append(
            "No .out or .pot file states where the axes of the bodies are: they are taken at the "
            "origin. Give rotation_center=... if this is not so."
        )
        setup.places = [[0.0] * 4 for _ in range(count)]
    places = np.array(setup.places)
    turns = [rotation_about_z(np.deg2rad(angle)) for angle in places[:, 3]]
    parts.points["rotation_center"] = places[:, :3]
    for name, key in (("center_of_mass", "gravity"), ("center_of_buoyancy", "buoyancy")):
        points = setup.points.get(key, [])
        if len(points) == count:
            parts.points[name] = np.array(
                [
                    place + turn @ row
                    for place, turn, row in zip(places[:, :3], turns, points, strict=True)
                ]
            )
    volumes = setup.points.get("volume", [])
    if len(volumes) == count:
        # of VOLX, VOLY and VOLZ the last is what lifts the body
        parts.points["displaced_volume"] = np.array(volumes)[:, 2]
    if np.any(places[:, 3]):
        turn_parts(parts, turns)


def rotation_about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def read_wamit(
    path: Path,
    *,
    rho: float | None = None,
    g: float | None = None,
    depth: float | None = None,
    length: float | None = None,
    bodies: int | None = None,
    water: Water | None = None,
) -> HydroParts:
    """The contents of a family of WAMIT files with one stem.

    Args:
        path: any file of the family.
        rho: density [kg/m^3]; needed unless the .frc file gives it.
        g: gravity [m/s^2]; needed unless the .out file gives it.
        depth: [m]; needed unless .out or .pot gives it.
        length: scale ULEN [m]; that of the .out file, else 1.
        bodies: number of bodies, where no file gives it.
        water: whose density, gravity and depth hold where neither files nor the user give them.
    """
    family = family_of(path)
    setup = read_setup(family)
    complete(path, setup, {"rho": rho, "g": g, "depth": depth}, water)
    if length is not None:
        setup.length = length
    require(path, setup, "no .out file gives it")
    return assemble_wamit(path, family, setup, bodies)


def assemble_wamit(
    path: Path, family: dict[str, Path], setup: WamitSetup, bodies: int | None
) -> HydroParts:
    """The numbers of a family of files, dimensional and in our convention.

    Args:
        path: named by the user.
        family: files by ending.
        setup: complete.
        bodies: number of bodies, where no file gives it.
    """
    assert setup.rho is not None
    assert setup.g is not None
    assert setup.depth is not None
    listing = TextFile(family[".out"]) if ".out" in family else None
    first = _radiation(path, family, setup, listing)
    if listing is not None:
        titles = {line.strip() for line in listing.lines if "Wave period (sec)" in line}
        setup.announced[listing.path] = len(titles)
    n_dofs = first.radiation.shape[1]
    notes: list[str] = []
    zero_by_symmetry(first.source, first.radiation, notes)
    modes = split_dofs(path, n_dofs, setup, bodies)
    names = setup.names if len(setup.names) == len(modes) else numbered(path.stem, len(modes))
    dofs = [x for name, k in zip(names, modes, strict=True) for x in rigid_labels(name, k)]
    power = np.concatenate([[0, 0, 0, 1, 1, 1] + [0] * k for k in modes])
    scale = setup.length ** (power[:, None] + power[None, :])
    omega = to_omega(first.periods, first.kind, setup)
    finite = np.where(np.isfinite(omega), omega, 0.0)
    parts = HydroParts(
        names,
        dofs,
        omega,
        setup.rho * setup.length**3 * scale * first.radiation[..., 0],
        setup.rho * setup.length**3 * scale * finite[:, None, None] * first.radiation[..., 1],
        setup.rho,
        setup.g,
        setup.depth,
        notes=notes,
        attrs={"solver": "WAMIT", "format": "WAMIT"},
        files=[*setup.files, *first.files],
        sources={"added_mass": first.source, "radiation_damping": first.source},
        announced=dict(setup.announced),
    )
    _forces(parts, family, setup, first, setup.rho * setup.g * setup.length ** (2 + power))
    if ".hst" in family:
        stiffness = read_stiffness(TextFile(family[".hst"]), n_dofs)
        parts.matrices["hydrostatic_stiffness"] = (
            setup.rho * setup.g * setup.length**2 * scale * stiffness
        )
        parts.files.append(family[".hst"])
    elif listing is not None:
        read_listed_stiffness(parts, listing, setup, scale, modes)
    read_second_order(parts, family, setup, modes)
    place_bodies(parts, setup, modes)
    return parts


class Radiation(NamedTuple):
    """Added mass and damping as written, and the listing's tables if used."""

    periods: np.ndarray
    radiation: np.ndarray  # (period, i, j, [A, B])
    kind: int  # of the periods, see `to_omega`
    source: Path
    files: list[Path]
    tables: ListingTables | None


def _radiation(
    path: Path, family: dict[str, Path], setup: WamitSetup, listing: TextFile | None
) -> Radiation:
    """Radiation from the .1 file, else from the listing."""
    if ".1" in family:
        source = family[".1"]
        periods, radiation = read_radiation(TextFile(source), setup.period_kind)
        tables = None
        if ".3" not in family and listing is not None:
            tables = read_listing_tables(listing)
        return Radiation(periods, radiation, setup.period_kind, source, [source], tables)
    if listing is None:
        raise SwelltreeError(
            f"'{path}': there is no '{path.stem}.1' with added mass and damping beside it. "
            "Run WAMIT's FORCE with IOPTN(1) = 1, or name another file."
        )
    tables = read_listing_tables(listing)
    return Radiation(tables.periods, tables.radiation, 1, listing.path, [], tables)


def _forces(
    parts: HydroParts,
    family: dict[str, Path],
    setup: WamitSetup,
    first: Radiation,
    scale: np.ndarray,
) -> None:
    """Wave forces from the numeric files, else from the listing."""
    for ending, name in (
        (".3", "excitation_force"),
        (".3fk", "Froude_Krylov_force"),
        (".3sc", "diffraction_force"),
    ):
        if ending in family:
            _force(parts, TextFile(family[ending]), name, setup, len(parts.dofs), scale)
    tables = first.tables
    if "excitation_force" in parts.forces or tables is None or tables.force is None:
        return
    parts.directions = np.deg2rad(tables.headings)
    parts.force_omega = to_omega(tables.force_periods, 1, setup)
    parts.forces["excitation_force"] = scale * tables.force.conj()
    parts.sources["excitation_force"] = family[".out"]
    parts.notes.append(
        f"Excitation is from '{family['.out'].name}', where WAMIT rounds "
        "phases to whole degrees; write the .3 file (NUMHDR, IOPTN(3)) for exact ones."
    )


def _force(
    parts: HydroParts, file: TextFile, name: str, setup: WamitSetup, n: int, scale: np.ndarray
) -> None:
    """Forces of a .3, .3fk or .3sc file."""
    periods, headings, values = read_forces(file, n, setup.period_kind)
    omega = to_omega(periods, setup.period_kind, setup)
    directions = np.deg2rad(headings)
    if parts.directions is None:
        parts.directions, parts.force_omega = directions, omega
    elif (
        parts.directions.shape != directions.shape
        or parts.force_omega is None
        or parts.force_omega.shape != omega.shape
        or not np.allclose(parts.directions, directions)
        or not np.allclose(parts.force_omega, omega, rtol=1e-4)
    ):
        raise SwelltreeError(
            f"'{file.path}' has other periods or headings than '{parts.files[-1].name}'. "
            "Keep only files of one run together."
        )
    parts.forces[name] = scale * values.conj()
    parts.sources[name] = file.path
    parts.files.append(file.path)
