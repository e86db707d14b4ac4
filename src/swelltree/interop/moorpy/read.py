"""`read_moorpy`: system files of MoorPy, as YAML or in the form of MoorDyn.

MoorPy is quasi-static, so the lines come as `model="quasi_static"`; its ground is rigid.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from swelltree.describe import LineType, Seabed, Water
from swelltree.describe.errors import SwelltreeError, error_in_file, listed, suggest
from swelltree.describe.files.numbers import to_integer, to_number
from swelltree.describe.values import NamedValues
from swelltree.interop.file_water import with_water
from swelltree.interop.moordyn.read import file_text, read_moordyn
from swelltree.interop.moordyn.tables import LineRow, PointRow, Row, attachment
from swelltree.interop.mooring_file import MooringFile
from swelltree.interop.sections import MOST_SEGMENTS
from swelltree.interop.yaml_text import read_yaml

GRAVITY = 9.81
# keys of a line type in YAML, and fields of LineType
COEFFICIENTS = {
    "transverse_drag": "Cdn",
    "tangential_drag": "Cdt",
    "transverse_added_mass": "Can",
    "tangential_added_mass": "Cat",
}


def read_moorpy(
    path: str | Path,
    *,
    depth: float | None = None,
    rho: float | None = None,
    g: float | None = None,
) -> MooringFile:
    """A system file of MoorPy; `parts` of the answer goes into a `System`.

    Args:
        path: .yaml or .yml, also with the system under the key `mooring`; else the form of MoorDyn.
        depth: of the water [m], where the file does not give it; that of the anchors if they agree.
        rho: density of the water [kg/m^3], likewise; 1025.
        g: gravity [m/s^2], likewise; 9.81.
    """
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml"):
        file = read_moordyn(path, depth=depth, rho=rho, g=g)
        if g is None and "g" not in file.stated:
            file = replace(file, water=file.water.replace(g=GRAVITY))
        # the ground of MoorPy is rigid, whatever the file says to MoorDyn
        bed = Seabed(grid=file.seabed.grid, friction=file.seabed.friction)
        return replace(file, model="quasi_static", seabed=bed)
    data = read_yaml(file_text(path), path.name)
    if isinstance(data, dict) and isinstance(data.get("mooring"), dict):
        data = data["mooring"]
    return _Yaml(path, data).file({"depth": depth, "rho": rho, "g": g})


class _Yaml:
    def __init__(self, path: Path, data: Any) -> None:
        self.path = path
        if not isinstance(data, dict):
            raise SwelltreeError(f"{path.name}: is not a table of line_types, points and lines.")
        self.data = data

    def fail(self, section: str, name: object, text: str) -> SwelltreeError:
        return error_in_file(f"{self.path.name}, section '{section}', '{name}': {text}")

    def rows(self, section: str) -> list[NamedValues]:
        rows = self.data.get(section)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SwelltreeError(
                f"{self.path.name}: '{section}' is not a list of items. Write '{section}:' and "
                "'- name: ...' below it."
            )
        return rows

    def get(self, section: str, row: NamedValues, key: str) -> object:
        if row.get(key) is None:
            raise self.fail(section, row.get("name", "?"), f"'{key}' is missing. Give it.")
        return row[key]

    def number(self, section: str, row: NamedValues, key: str) -> float:
        return self.checked(section, row, key, self.get(section, row, key))

    def checked(self, section: str, row: NamedValues, key: str, value: object) -> float:
        name = row.get("name", "?")
        return to_number(value, key, lambda text: self.fail(section, name, text))

    def file(self, specified: dict[str, float | None]) -> MooringFile:
        """All of it."""
        if self.data.get("bodies"):
            raise SwelltreeError(
                f"{self.path.name}: bodies in YAML are not read. Put fairleads on points of "
                "type 'vessel' and give fairleads_on=body."
            )
        points = tuple(self._point(k + 1, row) for k, row in enumerate(self.rows("points")))
        numbers: dict[str, str] = {}
        for k, row in enumerate(self.rows("points")):
            if str(row["name"]) in numbers:
                raise self.fail("points", row["name"], "this name comes twice. Give another.")
            numbers[str(row["name"])] = str(k + 1)
        lines = tuple(self._line(k + 1, row, numbers) for k, row in enumerate(self.rows("lines")))
        keys = {"depth": ("water_depth", "depth"), "rho": ("rho", "rho_water", "water_density")}
        keys["g"] = ("g", "gravity")
        stated = {
            word: self.checked("water", {"name": key}, key, self.data[key])
            for word, names in keys.items()
            for key in names
            if key in self.data
        }
        built = MooringFile(
            line_types=tuple(self._line_type(row) for row in self.rows("line_types")),
            points=points,
            lines=lines,
            water=Water(**({"g": GRAVITY} | stated)),
            seabed=Seabed(),
            stated=tuple(stated),
            path=self.path,
            model="quasi_static",
        )
        names = [row["name"] for row in self.rows("points")]

        def fail(section: str, row: Row, text: str) -> SwelltreeError:
            return self.fail(section, names[int(row.id) - 1], text)

        return with_water(built, specified, fail)

    def _line_type(self, row: NamedValues) -> LineType:
        name = str(self.get("line_types", row, "name"))
        numbers = {
            ours: self.number("line_types", row, theirs)
            for theirs, ours in COEFFICIENTS.items()
            if row.get(theirs) is not None
        }
        if row.get("breaking_load"):
            numbers["breaking_load"] = self.number("line_types", row, "breaking_load")
        try:
            return LineType(
                name,
                diameter=self.number("line_types", row, "diameter"),
                mass_per_length=self.number("line_types", row, "mass_density"),
                EA=self.number("line_types", row, "stiffness"),
                **numbers,
            )
        except SwelltreeError as error:
            raise self.fail("line_types", name, str(error)) from None

    def _point(self, number: int, row: NamedValues) -> PointRow:
        name, word = self.get("points", row, "name"), str(self.get("points", row, "type"))
        attached = attachment(word)
        if attached is None:
            known = ("fixed", "vessel", "connection", "free")
            hint = suggest(word, known) or f" The types are {listed(known)}."
            raise self.fail("points", name, f"type '{word}' is not known.{hint}")
        place = self.get("points", row, "location")
        if not isinstance(place, list) or len(place) != 3:
            raise self.fail("points", name, f"location {place} is not x, y, z. Give [x, y, z].")
        x, y, z = (self.checked("points", row, "location", v) for v in place)
        mass, volume, drag, added = (
            self.checked("points", row, key, row.get(key) or 0.0)
            for key in ("mass", "volume", "CdA", "Ca")
        )
        return PointRow(str(number), attached, (x, y, z), mass, volume, drag, added)

    def _segments(self, name: object, value: object) -> int:
        return to_integer(
            value, "segments", lambda text: self.fail("lines", name, text), 1, MOST_SEGMENTS
        )

    def _line(self, number: int, row: NamedValues, points: dict[str, str]) -> LineRow:
        name = row.get("name", number)
        ends = []
        for key in ("endA", "endB"):
            end = str(self.get("lines", row, key))
            if end not in points:
                hint = suggest(str(end), [str(p) for p in points])
                raise self.fail("lines", name, f"{key} '{end}' is not among the points.{hint}")
            ends.append(points[end])
        segments = row.get("segments", row.get("num_segments"))
        return LineRow(
            str(number),
            str(self.get("lines", row, "type")),
            ends[0],
            ends[1],
            self.number("lines", row, "length"),
            None if segments is None else self._segments(name, segments),
        )
