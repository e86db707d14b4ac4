"""Files beside a MoorDyn file: stress-strain curves, bending curves, bathymetry."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.interchange.sections import Place, TextRow
from swelltree.system import DepthGrid, SwelltreeError

Curve = tuple[tuple[float, float], ...]


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return None


def _lines(place: Place, row: TextRow, name: str) -> list[str]:
    """Lines of a file that is named beside its own, or from a folder above, as MoorDyn is run."""
    own = name.strip("\"'")
    folders = [place.path.parent, *place.path.resolve().parents[1:]]
    path = next((at / own for at in folders if (at / own).is_file()), folders[0] / own)
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise place.fail(
            row, f"'{name}' is neither a number nor a file that can be read: {error.strerror}."
        ) from None


def read_curve(place: Place, row: TextRow, name: str, columns: str) -> Curve:
    """Two columns of numbers, from the origin upwards; headings are skipped."""
    rows = [_numbers(line) for line in _lines(place, row, name)]
    table = [(x[0], x[1]) for x in rows if x is not None and len(x) >= 2]
    # the part below zero is that of compression, which a line does not have
    table = [pair for pair in table if pair[0] >= 0.0]
    if table and table[0] != (0.0, 0.0):
        table.insert(0, (0.0, 0.0))
    if len(table) < 2 or (np.diff(np.array(table), axis=0) <= 0).any():
        raise place.fail(
            row, f"file '{name}' does not hold {columns} that grow from zero. Sort its rows."
        )
    return tuple(table)


def write_curve(path: Path, name: str, curve: Curve) -> None:
    """A curve as MoorDyn reads it."""
    from swelltree.system.whole_files import write_whole

    rows = [f"----{name}----", "Strain Tension", "(-) (N)"]
    rows += [f"{strain!r} {tension!r}" for strain, tension in curve]
    write_whole(path, "\n".join(rows) + "\n")


def read_grid(place: Place, row: TextRow, name: str) -> DepthGrid:
    """Bathymetry, in the forms of MoorDyn-C and of MoorDyn-F and MoorPy."""
    lines = [line for line in _lines(place, row, name) if line.strip()]
    try:
        if "ngridx" in " ".join(lines[:3]).lower():
            x = tuple(float(word) for word in lines[3].split())
            body = [[float(word) for word in line.split()] for line in lines[4:]]
            y = tuple(entries[0] for entries in body)
            depth = np.array([entries[1 : len(x) + 1] for entries in body]).T
        else:
            x, y = (tuple(float(word) for word in lines[k].split()) for k in (1, 2))
            depth = np.full((len(x), len(y)), np.nan)
            for line in lines[3:]:
                at_x, at_y, value = (float(word) for word in line.split()[:3])
                depth[x.index(at_x), y.index(at_y)] = abs(value)
        if not np.isfinite(depth).all():
            raise ValueError
        return DepthGrid(x, y, tuple(tuple(r) for r in depth.tolist()))
    except (ValueError, IndexError):
        raise place.fail(
            row, f"file '{name}' is not a bathymetry of MoorDyn. Check its rows."
        ) from None
    except SwelltreeError as error:
        raise place.fail(row, f"file '{name}': {error}") from None


def write_grid(path: Path, grid: DepthGrid) -> None:
    """Bathymetry in the form of MoorDyn-C, which has heights, not depths."""
    from swelltree.system.whole_files import write_whole

    rows = [f"{len(grid.x)} {len(grid.y)}"]
    rows += [" ".join(f"{v!r}" for v in axis) for axis in (grid.x, grid.y)]
    rows += [
        f"{x!r} {y!r} {-grid.depth[i][j]!r}"
        for i, x in enumerate(grid.x)
        for j, y in enumerate(grid.y)
    ]
    write_whole(path, "\n".join(rows) + "\n")
