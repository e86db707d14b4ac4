"""`read_hydro`: one call for the data of every code, distinguished by their names and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.files.atomic import user_path
from swelltree.describe.files.numbers import to_number, to_positive
from swelltree.describe.values import euler_deg_matrix
from swelltree.hydro.data.dataset import (
    VARIABLES,
    HydroParts,
    assemble,
    body_names,
    check_agrees,
    check_announced,
    find_body,
    rename_bodies,
)
from swelltree.hydro.data.gaps import check_way, fill_gaps
from swelltree.hydro.readers.nemoh import lookup

if TYPE_CHECKING:
    import xarray as xr

FORMATS = ("wamit", "nemoh", "bemio", "aqwa", "capytaine", "hams")
WAMIT_ENDINGS = (".out", ".1", ".3", ".3fk", ".3sc", ".hst", ".7", ".8", ".9", ".12d", ".12s")


def read_hydro(
    path: str | Path,
    *,
    names: Sequence[str] | Mapping[str, str] | None = None,
    rho: float | None = None,
    g: float | None = None,
    depth: float | None = None,
    length: float | None = None,
    rotation_center: Mapping[str, Sequence[float]] | None = None,
    center_of_mass: Mapping[str, Sequence[float]] | None = None,
    rotation_deg: Mapping[str, Sequence[float]] | None = None,
    format: str | None = None,
    check: bool = True,
    gaps: str = "error",
    water: Water | None = None,
) -> xr.Dataset:
    """Hydrodynamic data of another code, in our convention.

    Reads WAMIT (.out and the numeric files of one stem), NEMOH folders, BEMIO/WEC-Sim h5,
    AQWA (.AH1 with .LIS), Capytaine netCDF and HAMS folders; see the page "Hydrodynamic data".

    Args:
        path: a file or folder.
        names: new names of the bodies, in the order of the file or as a table {old: new}.
        rho: density [kg/m^3], where the files do not give it (WAMIT); elsewhere it must agree.
        g: gravity [m/s^2], likewise.
        depth: [m], likewise.
        length: WAMIT's length scale ULEN [m], where there is no .out file.
        rotation_center: reference points {body: (x, y, z)}, where the files do not give them.
        center_of_mass: centres of mass {body: (x, y, z)}, likewise.
        rotation_deg: orientation of the body axes when the data were computed {body: (roll, pitch,
            yaw)}, as in `Body` [degrees]: a body described turned otherwise is then turned, or
            rejected.
        format: one of 'wamit', 'nemoh', 'bemio', 'aqwa', 'capytaine', 'hams' instead of guessing.
        check: run `hydro_report` and keep its findings in the attribute `findings`.
        gaps: treatment of missing values: "error" (reported with file and frequency), "interpolate"
            (between neighbouring frequencies), "drop" (these frequencies are left out) or "keep"
            (NaN, which `compile` rejects). The notes list what was done.
        water: whose density, gravity and depth hold where neither the files (WAMIT, HAMS) nor
            rho, g and depth give them; a case file gives its own.
    """
    path = user_path(path, "hydro data")
    check_way(gaps)
    _check_specified(names, rho, g, depth, length)
    kind = recognise(path) if format is None else format.lower()
    if kind not in FORMATS:
        raise SwelltreeError(
            f"format '{format}' of hydro data is not known.{suggest(kind, FORMATS)} "
            f"The formats are {listed(FORMATS)}."
        )
    count = len(names) if names is not None and not isinstance(names, Mapping) else None
    parts = _read(kind, path, rho, g, depth, length, count, water)
    for specified, stated, name in (
        (rho, parts.rho, "rho"),
        (g, parts.g, "g"),
        (depth, parts.depth, "depth"),
    ):
        if specified is not None:
            check_agrees(path, name, specified, stated)
    check_announced(parts, refuse=gaps == "error")
    data = fill_gaps(assemble(parts), gaps, f"'{path}'", parts.sources)
    if names is not None:
        data = rename_bodies(data, names)
    for variable, table in (
        ("rotation_center", rotation_center),
        ("center_of_mass", center_of_mass),
    ):
        data = _with_points(data, variable, table)
    data = _with_axes(data, rotation_deg)
    data.attrs.setdefault("format", kind)
    if check:
        from swelltree.hydro.data.report import hydro_report

        data.attrs["findings"] = "\n".join(str(finding) for finding in hydro_report(data))
    return data


def _check_specified(
    names: object, rho: float | None, g: float | None, depth: float | None, length: float | None
) -> None:
    """Validate the user's values that supplement the file."""
    for value, name in ((rho, "rho"), (g, "g"), (length, "length")):
        if value is not None:
            to_positive(value, name, lambda text: SwelltreeError(f"read_hydro: {text}"))
    if depth is not None and depth != np.inf:
        to_positive(depth, "depth", lambda text: SwelltreeError(f"read_hydro: {text}"))
    if names is None:
        return
    texts = list(names.values()) if isinstance(names, Mapping) else names
    if isinstance(names, str) or not isinstance(texts, Sequence) or not len(texts):
        raise SwelltreeError(
            f"read_hydro: names {shown(names)} is not a list of names. Give one name for each "
            "body, or a table {old: new}."
        )
    for name in texts:
        if not isinstance(name, str) or not name.strip() or "__" in name:
            raise SwelltreeError(
                f"read_hydro: name {shown(name)} of a body is not a word without '__'. Give "
                "another."
            )


def _read(
    kind: str,
    path: Path,
    rho: float | None,
    g: float | None,
    depth: float | None,
    length: float | None,
    bodies: int | None,
    water: Water | None,
) -> HydroParts:
    if kind == "wamit":
        from swelltree.hydro.readers.wamit.assemble import read_wamit

        return read_wamit(
            path, rho=rho, g=g, depth=depth, length=length, bodies=bodies, water=water
        )
    if kind == "nemoh":
        from swelltree.hydro.readers.nemoh import read_nemoh

        return read_nemoh(path)
    if kind == "bemio":
        from swelltree.hydro.readers.bemio import read_bemio

        return read_bemio(path)
    if kind == "aqwa":
        from swelltree.hydro.readers.aqwa import read_aqwa

        return read_aqwa(path)
    if kind == "hams":
        from swelltree.hydro.readers.hams import read_hams

        return read_hams(path, rho=rho, g=g, water=water)
    from swelltree.hydro.readers.capytaine import read_capytaine

    return read_capytaine(path)


def _with_points(
    data: xr.Dataset, variable: str, table: Mapping[str, Sequence[float]] | None
) -> xr.Dataset:
    """Reference points; those of the user override those of the file."""
    if not table:
        return data
    values = data[variable].values.copy()
    for body, point in table.items():
        if len(point) != 3:
            raise SwelltreeError(
                f"{variable} of body '{body}' has {len(point)} numbers. Give x, y, z."
            )
        values[body_names(data).index(find_body(data, body))] = [
            to_number(x, f"{variable} of body '{body}'", SwelltreeError) for x in point
        ]
    return data.assign({variable: (data[variable].dims, values, data[variable].attrs)})


def _with_axes(data: xr.Dataset, table: Mapping[str, Sequence[float]] | None) -> xr.Dataset:
    """Body axes given by the user; others stay unknown."""
    if not table:
        return data
    names = body_names(data)
    dims, units, meaning = VARIABLES["body_axes"]
    axes = np.full((len(names), 3, 3), np.nan)
    if "body_axes" in data:
        axes = data["body_axes"].transpose(*dims).values.copy()
    for body, angles in table.items():
        if len(angles) != 3:
            raise SwelltreeError(
                f"rotation_deg of body '{body}' has {len(angles)} numbers. Give roll, pitch, yaw."
            )
        turned = [to_number(x, f"rotation_deg of body '{body}'", SwelltreeError) for x in angles]
        axes[names.index(find_body(data, body))] = euler_deg_matrix(
            (turned[0], turned[1], turned[2])
        )
    return data.assign(body_axes=(dims, axes, {"units": units, "long_name": meaning}))


def recognise(path: Path) -> str:
    """Which format a file or folder is.

    Args:
        path: that exists.
    """
    if not path.exists():
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        raise SwelltreeError(
            f"hydro data '{path}' do not exist.{suggest(path.name, near) or ' Check the path.'}"
        )
    if path.is_dir():
        return _recognise_folder(path)
    ending = path.suffix.lower()
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith((b"\x89HDF", b"CDF")):
        return _recognise_binary(path, head)
    if ending in WAMIT_ENDINGS:
        return "hams" if path.parent.name.lower() == "wamit_format" else "wamit"
    if ending in (".ah1", ".lis"):
        return "aqwa"
    if ending in (".cal", ".tec"):
        return "nemoh"
    if path.name.lower() == "controlfile.in":
        return "hams"
    raise SwelltreeError(
        f"hydro data '{path}': the ending '{path.suffix}' and the contents are not known. "
        f"Give format=..., one of {listed(FORMATS)}."
    )


def _recognise_binary(path: Path, head: bytes) -> str:
    if head.startswith(b"CDF"):
        return "capytaine"
    from swelltree.describe.files.hdf5 import open_hdf5

    with open_hdf5(path, "hydro data") as file:
        return "bemio" if "simulation_parameters" in file else "capytaine"


def _recognise_folder(path: Path) -> str:
    if lookup(path, "Nemoh.cal") or (
        path.name.lower() == "results" and lookup(path.parent, "Nemoh.cal")
    ):
        return "nemoh"
    names = {entry.name.lower() for entry in path.iterdir()}
    if "controlfile.in" in names or {"input", "output"} <= names:
        return "hams"
    stems = sorted(
        p.name for p in path.iterdir() if p.suffix.lower() in (".1", ".out", ".nc", ".h5")
    )
    hint = f" Name a file in it, such as '{stems[0]}'." if stems else ""
    raise SwelltreeError(
        f"hydro data '{path}': the folder is neither NEMOH's (Nemoh.cal) nor HAMS's "
        f"(Input/ControlFile.in).{hint}"
    )
