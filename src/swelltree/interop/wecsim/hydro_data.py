"""The hydrodynamic data of a WEC-Sim case, as one file that a case file can name.

WEC-Sim takes each body from the file that it names, scales the data to the density of the run and
leaves out the interaction unless set otherwise. Where the file serves as it is, the case names it;
where bodies are chosen from it, renamed, rescaled or put together, the data are kept beside it.

Tables in MATLAB's binary files (.mat, versions 5 to 7), read with care.

Only what wave records and tables of conditions need is read: matrices of real numbers, texts, cells
and structures. Sizes are checked before memory is taken, and cells in cells have an end, which
those of `scipy.io.loadmat` have not: it overflows the stack. Files of version 7.3 are HDF5 and are
rejected with an error message.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import xarray as xr

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import plain_bytes, plain_text
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments, Findings, path_of, plain_name

SCALED = (
    *("added_mass", "radiation_damping", "hydrostatic_stiffness"),
    *("excitation_force", "Froude_Krylov_force", "diffraction_force"),
)


@dataclass
class HydroData:
    """What is known of the water.

    Args:
        file: that the case is to name, None where no body has data.
        data: the dataset, None where the file is not there.
        names: of the wet bodies, by their number in the script.
        built: the dataset is not what the file holds and must be written.
        gaps: how the case reads the file.
    """

    file: Path | None = None
    data: xr.Dataset | None = None
    names: dict[int, str] = field(default_factory=dict)
    built: bool = False
    gaps: str = "error"

    def of(self, number: int, variable: str) -> np.ndarray | None:
        """A number or point of a body, None if not in the data."""
        if self.data is None or number not in self.names or variable not in self.data:
            return None
        value = np.asarray(self.data[variable].sel(body=self.names[number]).values, dtype=float)
        return value if np.isfinite(value).all() else None


def find_hydro(
    bodies: dict[int, Assignments],
    folder: Path,
    instead: Path | None,
    rho: float,
    findings: Findings,
) -> HydroData:
    """The data that the bodies of a script ask for.

    Args:
        bodies: by number.
        folder: of the script; files are named from there.
        instead: a file to be taken in place of those.
        rho: density of the run [kg/m^3].
        findings: takes what is missing.
    """
    requested = {n: p for n, body in bodies.items() if (p := _data_path(body, folder, instead))}
    if not requested:
        return HydroData()
    paths = list(dict.fromkeys(requested.values()))
    absent = [path for path in paths if not os.path.exists(path)]
    for path in absent:
        n = next(n for n, named in requested.items() if named == path)
        shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path
        findings.leave(
            bodies[n].place(),
            f"the hydrodynamic data '{shown}' are not there. The case names them; put them there "
            "and import again, because centres of mass and displaced masses stand in them.",
            missing=True,
        )
    if absent:
        return HydroData(file=paths[0])
    read = {path: _read(path, rho) for path in paths}
    return _chosen(requested, read, rho, bodies, findings)


def _data_path(body: Assignments, folder: Path, instead: Path | None) -> Path | None:
    if body.number("nonHydro"):
        return None
    first = body.item.arguments[0] if body.item.arguments else ""
    if isinstance(first, list) and first:  # several files, one for each state of the body
        body.leave(
            "h5File", "data that change in the run have no counterpart; the first file is taken."
        )
        first = first[0]
    path = path_of(folder, first.strip() if isinstance(first, str) else "")
    return path and (instead or path)


class _Read(NamedTuple):
    data: xr.Dataset
    gaps: str  # how: "error", or "drop" where values are missing
    direct: bool  # without being given the density, as a case reads it


def _read(path: Path, rho: float) -> _Read:
    """Read the data of a file with the first reader that accepts it."""
    from swelltree.hydro.readers.read import read_hydro

    first: SwelltreeError | None = None
    for density in (None, rho):
        for gaps in ("error", "drop"):
            try:
                data = read_hydro(path, rho=density, check=False, gaps=gaps)
                return _Read(data, gaps, density is None)
            except SwelltreeError as error:
                first = first or error
    assert first is not None
    raise first


def _chosen(
    requested: dict[int, Path],
    read: dict[Path, _Read],
    rho: float,
    bodies: dict[int, Assignments],
    findings: Findings,
) -> HydroData:
    """Bodies selected from the files."""
    picks: dict[int, tuple[Path, str]] = {}
    for n, path in requested.items():
        in_file = [str(name) for name in read[path].data["body"].values]
        k = _number_in_file(bodies[n], n, len(in_file))
        if k is None:
            raise SwelltreeError(
                f"{bodies[n].place()}: {bodies[n].label} is body {n} of '{path.name}', which has "
                f"{len(in_file)}. Name a file that holds it."
            )
        if (path, in_file[k - 1]) in picks.values():
            raise SwelltreeError(
                f"{bodies[n].file}: two bodies take the same body of the hydrodynamic data. Give "
                "each its own."
            )
        picks[n] = path, in_file[k - 1]
    names: dict[int, str] = {}  # names that bodies can have, each once
    for n, (_, name) in picks.items():
        plain = plain_name(name) or f"body{n}"
        names[n] = f"{plain}{n}" if plain in names.values() or plain == "world" else plain
    full = list(read)
    first, _, direct = read[full[0]]
    order = [*names.values()]
    scaled = abs(float(first["rho"]) / rho - 1.0) >= 1e-3
    same = (
        len(full) == 1
        and direct
        and not scaled
        and [str(name) for name in first["body"].values] == order
        and len(first["influenced_dof"]) == len(_rigid_dofs(first, order))
    )
    data = first
    if not same:
        data = _together(
            [
                _piece(part.data, {name: names[n] for n, (p, name) in picks.items() if p == q}, rho)
                for q, part in read.items()
            ]
        )
        files = ", ".join(f"'{path.name}'" for path in full)
        how = f" and scaled from rho = {float(first['rho']):g} to {rho:g} kg/m^3" if scaled else ""
        findings.comment("hydro", "", f"the data of {files}, with the bodies of this case{how}.")
    gaps = any(part.gaps == "drop" for part in read.values())
    if gaps:
        findings.comment("hydro", "", "frequencies at which the data hold no numbers are dropped.")
    return HydroData(full[0], data, names, not same, "drop" if gaps and same else "error")


def _number_in_file(body: Assignments, n: int, count: int) -> int | None:
    """Index of a body in its file: given by older scripts, else its own number."""
    number = body.item.arguments[1] if len(body.item.arguments) > 1 else None
    if isinstance(number, np.ndarray) and number.size == 1 and np.isfinite(number).all():
        n = int(number[0, 0])
    if count == 1:
        return 1
    return n if 1 <= n <= count else None


def _rigid_dofs(data: xr.Dataset, bodies: list[str]) -> list[str]:
    """Labels of the rigid DOFs, without flexible modes."""
    from swelltree.hydro.data.dataset import DOFS, dofs_of, split_label

    result = [dof for name in bodies for dof in dofs_of(data, name)]
    return [dof for dof in result if split_label(dof)[1] in DOFS]


def _piece(data: xr.Dataset, names: dict[str, str], rho: float) -> xr.Dataset:
    """Bodies of a dataset with new names and another density."""
    from swelltree.hydro.data.dataset import rename_bodies

    dofs = _rigid_dofs(data, [*names])
    chosen = data.sel(body=[*names], influenced_dof=dofs, radiating_dof=dofs)
    ratio = rho / float(data["rho"])
    if abs(ratio - 1.0) >= 1e-3:
        scaled = {name: chosen[name] * ratio for name in SCALED if name in chosen}
        chosen = chosen.assign({**scaled, "rho": ((), rho)})
    return rename_bodies(chosen, [*names.values()])


def _together(pieces: list[xr.Dataset]) -> xr.Dataset:
    """Merge datasets of different bodies without interaction."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    for other in pieces[1:]:
        for axis in ("omega", "wave_direction"):
            if axis in first.coords and not np.array_equal(first[axis], other.get(axis, np.nan)):
                raise SwelltreeError(
                    f"the bodies' hydrodynamic data have different values of {axis}, so they "
                    "cannot be used together. Compute them at the same ones."
                )
    shared = set.intersection(*(set(map(str, piece.data_vars)) for piece in pieces))
    built: NamedValues = {}
    for name in sorted(shared):
        parts = [piece[name] for piece in pieces]
        if "radiating_dof" in parts[0].dims:
            # no force between the bodies of different files
            blocks = [
                xr.concat(
                    [part if k == j else _zeros(part, pieces[j]) for k, part in enumerate(parts)],
                    "influenced_dof",
                )
                for j in range(len(parts))
            ]
            built[name] = xr.concat(blocks, "radiating_dof")
            continue
        axis = next((d for d in ("influenced_dof", "body") if d in parts[0].dims), None)
        built[name] = parts[0] if axis is None else xr.concat(parts, axis)
    return xr.Dataset(built, attrs=first.attrs)


def _zeros(part: xr.DataArray, other: xr.Dataset) -> xr.DataArray:
    columns = other["radiating_dof"].values
    zero = part.isel(radiating_dof=[0] * len(columns)) * 0.0
    return zero.assign_coords(radiating_dof=columns)


MAX_BYTES = 256 * 2**20  # of the file, and unpacked of all variables together
MAX_NUMBERS = 2**24  # of one matrix
MAX_DEPTH = 8  # cells in structures in cells
MAX_ITEMS = 100_000
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
MATRIX, COMPRESSED = 14, 15
CELL, STRUCTURE, CHARACTERS = 1, 2, 4


def read_mat(path: Path) -> NamedValues:
    """Variables of a .mat file: matrices, texts, lists (cells) and dicts (structures).

    Args:
        path: of the file.
    """
    try:
        content = plain_bytes(path, MAX_BYTES)
    except OSError as error:
        raise SwelltreeError(f"MATLAB file '{path}' cannot be read: {error.strerror}.") from None
    if content.startswith((b"\x89HDF", b"MATLAB 7.3")):
        _refuse(path, "it is of version 7.3")
    if len(content) < 136 or content[126:128] not in (b"IM", b"MI"):
        _refuse(path, "it is not a MATLAB file of version 5 to 7")
    order = "<" if content[126:128] == b"IM" else ">"
    try:
        return _Reader(order).variables(content[128:])
    except (struct.error, zlib.error, ValueError, OverflowError) as error:
        _refuse(path, " ".join(str(error).split())[:80] or "it is damaged")


def _refuse(path: Path, why: str) -> NoReturn:
    raise SwelltreeError(
        f"MATLAB file '{path}': {why}. Save it in MATLAB with save(..., '-v7'), or as text."
    )


class _Reader:
    def __init__(self, order: str) -> None:
        self.order = order
        self.left = MAX_BYTES
        self.items = MAX_ITEMS

    def variables(self, content: bytes) -> NamedValues:
        result: NamedValues = {}
        at = 0
        while at + 8 <= len(content):
            kind, data, at = self.element(content, at)
            if kind == COMPRESSED:
                unpacked = zlib.decompressobj().decompress(data, self.left + 1)
                self.left -= len(unpacked)
                if self.left < 0:
                    raise ValueError("it unpacks to more than 256 MiB")
                kind, data, _ = self.element(unpacked, 0)
            if kind == MATRIX:
                name, value = self.matrix(data, 0)
                result[name] = value
        return result

    def element(self, content: bytes, at: int) -> tuple[int, bytes, int]:
        """Kind and bytes of the element that begins here, and where the next one does."""
        if at + 8 > len(content):
            raise ValueError("it ends too early")
        kind, size = struct.unpack_from(f"{self.order}II", content, at)
        if kind >> 16:  # short: size and kind in one word, four bytes of data
            kind, size, start, following = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            following = start + size + (0 if kind == COMPRESSED else -size % 8)
        if size > len(content) - start:
            raise ValueError("it ends too early")
        return kind, content[start : start + size], following

    def numbers(self, content: bytes, at: int) -> tuple[np.ndarray, int]:
        kind, data, at = self.element(content, at)
        if kind not in TYPES:
            raise ValueError(f"it holds numbers of the unknown kind {kind}")
        form = np.dtype(f"{self.order}{TYPES[kind]}")
        return np.frombuffer(data, form, len(data) // form.itemsize), at

    def matrix(self, content: bytes, depth: int) -> tuple[str, object]:
        self.items -= 1
        if depth > MAX_DEPTH or self.items < 0:
            raise ValueError("its cells are too deep or too many")
        if not content:
            return "", np.zeros((0, 0))
        flags, at = self.numbers(content, 0)
        sizes, at = self.numbers(content, at)
        _, raw, at = self.element(content, at)
        name = raw.decode("latin-1")[:200]
        shape = [int(n) for n in sizes]
        if not flags.size or min(shape, default=-1) < 0 or len(shape) > 4:
            raise ValueError("a variable has no size")
        count = math.prod(shape)
        kind = int(flags[0]) & 0xFF
        if kind in (CELL, STRUCTURE):
            return name, self.compound(content, at, kind, count, depth)
        if kind == CHARACTERS:
            return name, self.text(content, at)
        if not 6 <= kind <= 15 or int(flags[0]) & 0x0800:
            raise ValueError(f"'{name[:30]}' is not made of real numbers")
        values, _ = self.numbers(content, at)
        if values.size != count or count > MAX_NUMBERS:
            raise ValueError(f"'{name[:30]}' has {values.size} numbers of {count}")
        return name, values.astype(float).reshape(shape[0], -1 if count else 0, order="F")

    def text(self, content: bytes, at: int) -> str:
        kind, data, _ = self.element(content, at)
        if kind in TEXT:
            mark = "" if kind == 16 else "-le" if self.order == "<" else "-be"
            return data.decode(TEXT[kind] + mark)
        values, _ = self.numbers(content, at)
        return "".join(chr(int(c)) for c in values[:100_000] if 0 <= c < 0xD800)

    def compound(self, content: bytes, at: int, kind: int, count: int, depth: int) -> object:
        """A cell as a list, a structure as a dict."""
        names = [""]
        if kind == STRUCTURE:
            width, at = self.numbers(content, at)
            _, raw, at = self.element(content, at)
            size = int(width[0]) if width.size else 0
            if size < 1:
                raise ValueError("a structure has no names")
            parts = [raw[k : k + size] for k in range(0, len(raw), size)]
            names = [part.split(b"\0")[0].decode("latin-1") for part in parts]
        values = []
        for _ in range(min(count * len(names), self.items + 1)):
            part, data, at = self.element(content, at)
            if part != MATRIX:
                raise ValueError("a cell holds no variable")
            values.append(self.matrix(data, depth + 1)[1])
        return values if kind == CELL else dict(zip(names, values, strict=False))


def columns_of(path: Path) -> np.ndarray:
    """The one matrix of a .mat or text file that has two columns or more, a row for each time.

    Args:
        path: of the file.
    """
    if path.suffix.lower() == ".mat":
        found = [x for x in read_mat(path).values() if isinstance(x, np.ndarray)]
    else:
        try:
            lines = plain_text(path, MAX_BYTES).replace(",", " ").splitlines()
            found = [np.array([[float(x) for x in line.split()] for line in lines if line.strip()])]
        except (OSError, ValueError):
            found = []
    found = [x for x in found if x.ndim == 2 and min(x.shape) >= 2]
    if len(found) != 1 or not np.isfinite(found[0]).all():
        raise SwelltreeError(
            f"'{path}' has {len(found)} tables of two columns. Keep one, of finite numbers."
        )
    return found[0]
