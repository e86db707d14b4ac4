"""`read_moorpy`: system files of MoorPy, as YAML or in the form of MoorDyn.

MoorPy is quasi-static, so the lines come as `model="quasi_static"`; its ground is rigid.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from swelltree.describe import LineType, Seabed, Water
from swelltree.describe.errors import SwelltreeError, error_in_file, listed, suggest
from swelltree.describe.files.numbers import to_integer, to_number
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.read import file_text, read_moordyn
from swelltree.interop.mooring_file import MooringFile, with_water
from swelltree.interop.mooring_rows import MAX_SEGMENTS, LineRow, PointRow, Row, attachment

GRAVITY = 9.81
MAX_DEPTH = 20  # of lists and maps in YAML
# keys of a line type in YAML, and fields of LineType
COEFFICIENTS = {
    "breaking_load": "breaking_load",
    "transverse_drag": "Cdn",
    "tangential_drag": "Cdt",
    "transverse_added_mass": "Can",
    "tangential_added_mass": "Cat",
}
WATER = {
    "water_depth": "depth",
    "depth": "depth",
    "g": "g",
    "gravity": "g",
    **dict.fromkeys(("rho", "rho_water", "water_density"), "rho"),
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
    if not isinstance(data, dict):
        raise SwelltreeError(f"{path.name}: is not a table of line_types, points and lines.")
    return _Yaml(path, data).file({"depth": depth, "rho": rho, "g": g})


def read_yaml(text: str, source: str) -> object:
    """Plain YAML: maps, lists, numbers and texts; anchors, which may expand without end, are not.

    Args:
        text: of the file.
        source: what messages call it.
    """
    import yaml

    def fail(mark: yaml.Mark | None, why: str) -> SwelltreeError:
        line = 1 if mark is None else mark.line + 1
        return error_in_file(f"{source}, line {line}: {why}. Write it as plain YAML.")

    depth = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise fail(event.start_mark, f"lists and maps are more than {MAX_DEPTH} deep")
            if getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise fail(event.start_mark, "anchors and tags are not read")
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise fail(error.problem_mark, str(error.problem)) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise fail(None, " ".join(str(error).split())[:80]) from None


class _Yaml:
    def __init__(self, path: Path, data: NamedValues) -> None:
        self.path, self.data = path, data

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

    def number(self, section: str, row: NamedValues, key: str, value: object = None) -> float:
        """A value of a row, or its default, as a number."""
        value = self.get(section, row, key) if value is None else value
        name = row.get("name", "?")
        return to_number(value, key, lambda text: self.fail(section, name, text))

    def file(self, specified: dict[str, float | None]) -> MooringFile:
        if self.data.get("bodies"):
            raise SwelltreeError(
                f"{self.path.name}: bodies in YAML are not read. Put fairleads on points of "
                "type 'vessel' and give fairleads_on=body."
            )
        rows = self.rows("points")
        points = tuple(self._point(k, row) for k, row in enumerate(rows, 1))
        names = [str(row["name"]) for row in rows]
        for name in names:
            if names.count(name) > 1:
                raise self.fail("points", name, "this name comes twice. Give another.")
        numbers = {name: str(k) for k, name in enumerate(names, 1)}
        lines = tuple(self._line(k, row, numbers) for k, row in enumerate(self.rows("lines"), 1))
        stated = {
            word: self.number("water", {"name": key}, key, self.data[key])
            for key, word in WATER.items()
            if self.data.get(key) is not None
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

        def fail(section: str, row: Row, text: str) -> SwelltreeError:
            return self.fail(section, names[int(row.id) - 1], text)

        return with_water(built, specified, fail)

    def _line_type(self, row: NamedValues) -> LineType:
        name = str(self.get("line_types", row, "name"))
        required = {"diameter": "diameter", "mass_density": "mass_per_length", "stiffness": "EA"}
        keys = required | {key: ours for key, ours in COEFFICIENTS.items() if row.get(key)}
        numbers = {ours: self.number("line_types", row, key) for key, ours in keys.items()}
        try:
            return LineType(name, **numbers)
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
        x, y, z = (self.number("points", row, "location", v) for v in place)
        mass, volume, drag, added = (
            self.number("points", row, key, row.get(key) or 0.0)
            for key in ("mass", "volume", "CdA", "Ca")
        )
        return PointRow(str(number), attached, (x, y, z), mass, volume, drag, added)

    def _line(self, number: int, row: NamedValues, points: dict[str, str]) -> LineRow:
        name = row.get("name", number)
        ends = [str(self.get("lines", row, key)) for key in ("endA", "endB")]
        for key, end in zip(("endA", "endB"), ends, strict=True):
            if end not in points:
                hint = suggest(end, list(points))
                raise self.fail("lines", name, f"{key} '{end}' is not among the points.{hint}")
        count = row.get("segments", row.get("num_segments"))
        if count is not None:
            fail = lambda text: self.fail("lines", name, text)  # noqa: E731
            count = to_integer(count, "segments", fail, 1, MAX_SEGMENTS)
        kind, length = str(self.get("lines", row, "type")), self.number("lines", row, "length")
        return LineRow(str(number), kind, points[ends[0]], points[ends[1]], length, count)
