"""`write_moordyn`: a system's lines, junctions and rods as a MoorDyn input file, version 2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from swelltree.describe import LineType, System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import write_atomic
from swelltree.interop.moordyn.tables import write_curve, write_grid
from swelltree.interop.mooring_file import MooringFile
from swelltree.interop.mooring_of import mooring_of

TITLES = {
    "LINE TYPES": (
        "TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx",
        "(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)",
    ),
    "ROD TYPES": (
        "TypeName Diam Mass/m Cd Ca CdEnd CaEnd",
        "(name) (m) (kg/m) (-) (-) (-) (-)",
    ),
    "BODIES": (
        "ID Attachment X0 Y0 Z0 r0 p0 y0 Mass CG* I* Volume CdA* Ca*",
        "(#) (word) (m) (m) (m) (deg) (deg) (deg) (kg) (m) (kg-m^2) (m^3) (m^2) (-)",
    ),
    "RODS": (
        "ID RodType Attachment Xa Ya Za Xb Yb Zb NumSegs RodOutputs",
        "(#) (name) (word/ID) (m) (m) (m) (m) (m) (m) (-) (-)",
    ),
    "POINTS": (
        "ID Attachment X Y Z Mass Volume CdA Ca",
        "(#) (word/ID) (m) (m) (m) (kg) (m^3) (m^2) (-)",
    ),
    "LINES": (
        "ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs",
        "(#) (name) (ID) (ID) (m) (-) (-)",
    ),
    "FAILURE": ("FailureID Point Line(s) FailTime FailTen", "() () (,) (s) (N)"),
    "EXTERNAL LOADS": (
        "ID Object Fext Blin Bquad CSys",
        "(#) (name) (N) (Ns/m) (Ns^2/m^2) (-)",
    ),
}


def write_moordyn(
    system: System | MooringFile,
    path: str | Path,
    *,
    free: Sequence[str] = (),
    dtM: float | None = None,
    notes: str = "",
) -> list[Path]:
    """Write a MoorDyn input file; curves and bathymetry become files beside it.

    Bodies that carry lines or rods are written as coupled bodies, whose motion is given to MoorDyn.

    Args:
        system: its lines, junctions, rods and seabed are written; or what `read_moordyn` gave.
        path: of the file.
        free: names of bodies that MoorDyn moves itself, with their mass, volume and drag.
        dtM: time step of MoorDyn [s]; chosen by MoorDyn if not given.
        notes: a line of text for the head of the file.

    Returns:
        the files that were written.
    """
    path = Path(path)
    file = system if isinstance(system, MooringFile) else mooring_of(system, free)
    adjacent: list[Path] = []
    parts = ["--------------------- MoorDyn Input File ---------------------", notes or "swelltree"]
    for heading, rows in _rows(file, path, adjacent).items():
        if rows:
            parts += [_rule(heading), *_aligned([*(t.split() for t in TITLES[heading]), *rows])]
    parts += [_rule("OPTIONS"), *_aligned(_options(file, path, adjacent, dtM))]
    parts.append("--------------------- need this line ---------------------")
    write_atomic(path, "\n".join(parts) + "\n")
    return [path, *adjacent]


def _rule(heading: str) -> str:
    return f"---------------------- {heading} ----------------------"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with columns under one another."""
    width = [max(len(row[k]) for row in rows if k < len(row)) for k in range(max(map(len, rows)))]
    return ["  ".join(f"{w:<{width[k]}}" for k, w in enumerate(row)).rstrip() for row in rows]


def _n(value: float) -> str:
    """A number with all its digits."""
    return f"{float(value)!r}"


def _bars(values: Sequence[float]) -> str:
    return "|".join(_n(v) for v in values)


def _rows(file: MooringFile, path: Path, adjacent: list[Path]) -> dict[str, list[list[str]]]:
    return {
        "LINE TYPES": [_line_type(t, path, adjacent) for t in file.line_types],
        "ROD TYPES": [
            [t.id, *map(_n, (t.diameter, t.mass_per_length, t.Cd, t.Ca, t.Cd_end, t.Ca_end))]
            for t in file.rod_types
        ],
        "BODIES": [
            [
                *(b.id, _word(b.attachment), *map(_n, (*b.position, *b.rotation_deg, b.mass))),
                *(_bars(b.com), _bars(b.inertia), _n(b.volume)),
                *(_bars(b.drag_area), _bars(b.added_mass)),
            ]
            for b in file.bodies
        ],
        "RODS": [
            [r.id, r.type, _word(r.attachment), *map(_n, (*r.a, *r.b)), str(r.segments), "-"]
            for r in file.rods
        ],
        "POINTS": [
            [
                *(p.id, _word(p.attachment), *map(_n, p.position)),
                *map(_n, (p.mass, p.volume, p.drag_area, p.added_mass)),
            ]
            for p in file.points
        ],
        "LINES": [
            [x.id, x.type, x.A, x.B, _n(x.length), str(x.segments or 20), "-"] for x in file.lines
        ],
        "FAILURE": [
            [f.id, f.point, ",".join(f.lines), _n(f.time), _n(f.tension)] for f in file.failures
        ],
        "EXTERNAL LOADS": [
            [x.id, _word(x.object), _bars(x.force), _bars(x.linear), _bars(x.quadratic), x.axes]
            for x in file.loads
        ],
    }


def _word(attachment: str) -> str:
    """An attachment with capitals."""
    return attachment.capitalize().replace("pinned", "Pinned")


def _line_type(kind: LineType, path: Path, adjacent: list[Path]) -> list[str]:
    if kind.lift:
        raise kind.fail(f"lift {kind.lift} cannot be written to a MoorDyn file. Give 0.")
    if len(kind.name.split()) != 1:
        raise kind.fail("a name with spaces cannot be written to a MoorDyn file. Use '_'.")
    if kind.stretch is not None:
        curve = path.parent / f"{path.stem}_{kind.name}.dat"
        write_curve(curve, kind.name, kind.stretch)
        adjacent.append(curve)
        EA = curve.name
    elif kind.dynamic_EA is not None and kind.EA is not None:
        EA = _bars((kind.EA, kind.dynamic_EA, kind.dynamic_EA_slope or 0.0))
    elif kind.EA is not None:
        EA = _n(kind.EA)
    else:
        raise kind.fail("has no EA, which MoorDyn needs. Give EA or a stretch table.")
    BA = _n(kind.BA or 0.0 if kind.damping_ratio is None else -kind.damping_ratio)
    if kind.slow_BA is not None:
        if kind.damping_ratio is not None:
            raise kind.fail("MoorDyn takes no damping_ratio beside a slow spring. Give BA.")
        BA = _bars((kind.slow_BA, kind.BA or 0.0))
    values = (kind.EI, kind.Cdn, kind.Can, kind.Cdt, kind.Cat)
    return [kind.name, _n(kind.diameter), _n(kind.mass_per_length), EA, BA, *map(_n, values)]


def _options(
    file: MooringFile, path: Path, adjacent: list[Path], dtM: float | None
) -> list[list[str]]:
    bed, water = file.seabed, file.water
    rows: list[list[str]] = [] if dtM is None else [[_n(dtM), "dtM", "time step (s)"]]
    rows += [
        [_n(water.g), "g", "gravity (m/s^2)"],
        [_n(water.rho), "WtrDnsty", "water density (kg/m^3)"],
    ]
    depth = water.depth if bed.depth is None else bed.depth
    if np.isfinite(depth):
        rows.append([_n(depth), "WtrDpth", "water depth (m)"])
    if any(bed.slope):
        raise SwelltreeError(
            "seabed: a slope cannot be written to a MoorDyn file. Describe it by "
            "grid=DepthGrid(...)."
        )
    if bed.grid is not None:
        grid = path.parent / f"{path.stem}_seafloor.txt"
        write_grid(grid, bed.grid)
        adjacent.append(grid)
        rows.append([grid.name, "SeafloorFile", "bathymetry"])
    # MoorDyn has no rigid ground: its own defaults stand in for one
    stiffness = 3.0e6 if bed.stiffness is None else bed.stiffness
    damping = 3.0e5 if bed.stiffness is None else bed.damping
    rows += [
        [_n(stiffness), "kBot", "bottom stiffness (Pa/m)"],
        [_n(damping), "cBot", "bottom damping (Pa-s/m)"],
    ]
    if bed.friction:
        rows.append([_n(bed.friction), "FrictionCoefficient", "bottom friction (-)"])
    return rows
