"""Case files: a system and its studies as TOML.

The tables have the keys of the Python classes; `type` chooses the class. Items are made by the
same constructors, so Python and TOML users read the same messages.

Code that a case file names: found beside the case, and only when the case asks for it.
"""

import dataclasses
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from swelltree.describe.bodies.body import Body
from swelltree.describe.casefile.studies import (
    EquilibriumStudy,
    ModesStudy,
    OperabilityStudy,
    OptimalControlStudy,
    RaoStudy,
    ResponseStudy,
    SimulateStudy,
    SteadyStateStudy,
    Study,
)
from swelltree.describe.casefile.toml import choice_schema, class_schema, parse_toml, read_toml_file
from swelltree.describe.environment.hydro import HydroSpec
from swelltree.describe.environment.seas import Sea
from swelltree.describe.environment.water import CURRENT_TYPES, Water, Wind
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.files.atomic import file_stems, user_path
from swelltree.describe.forces.controllers import OWN_TYPES, SENSOR_TYPES, Controller
from swelltree.describe.forces.elements import BUSHING_TYPES, CONTACT_TYPES, FORCE_TYPES
from swelltree.describe.forces.fmu import Fmu
from swelltree.describe.forces.immersion import IMMERSION_TYPES
from swelltree.describe.forces.signals import PATH
from swelltree.describe.forces.viscous import ROTOR_TYPES, VISCOUS_TYPES
from swelltree.describe.forces.weak_scatterer import SCATTERER_TYPES
from swelltree.describe.joints.couplings import COUPLING_TYPES
from swelltree.describe.joints.kinds import JOINT_TYPES
from swelltree.describe.mooring.line import MOORING_TYPES, Junction, Line
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.mooring.operations import Operation, Winch
from swelltree.describe.mooring.rods import Rod
from swelltree.describe.mooring.seabed import Seabed, SeabedContact
from swelltree.describe.pto import PTO_TYPES
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.describe.values import NamedValues

STUDY_TYPES: dict[str, type[Study]] = {
    cls.type: cls
    for cls in (
        SimulateStudy,
        EquilibriumStudy,
        ModesStudy,
        RaoStudy,
        ResponseStudy,
        SteadyStateStudy,
        OptimalControlStudy,
        OperabilityStudy,
    )
}

D = TypeVar("D", bound=Description)

# the lists of [system]: word of one item, its class or its classes by `type`
LISTS: dict[str, tuple[str, type[Description] | Mapping[str, type[Description]]]] = {
    "bodies": ("body", Body),
    "joints": ("joint", JOINT_TYPES),
    "forces": (
        "force",
        FORCE_TYPES
        | BUSHING_TYPES
        | CONTACT_TYPES
        | VISCOUS_TYPES
        | IMMERSION_TYPES
        | ROTOR_TYPES
        | SCATTERER_TYPES
        | OWN_TYPES,
    ),
    "controllers": ("controller", {"": Controller, Fmu.type: Fmu}),
    "sensors": ("sensor", SENSOR_TYPES),
    "ptos": ("pto", PTO_TYPES),
    "moorings": ("mooring", MOORING_TYPES),
    "lines": ("line", Line),
    "junctions": ("junction", Junction),
    "line_types": ("line type", LineType),
    "contacts": ("contact", SeabedContact),
    "rods": ("rod", Rod),
    "winches": ("winch", Winch),
    "operations": ("operation", Operation),
    "couplings": ("coupling", COUPLING_TYPES),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """What a case file says.

    Args:
        system: the system.
        studies: the studies in their order.
        path: of the file, None for a text.
        text: the file as it was, for provenance.
        hydro: where the hydrodynamic data come from, if there are any.
    """

    system: System
    studies: tuple[Study, ...] = ()
    path: Path | None = None
    text: str = ""
    hydro: HydroSpec | None = None

    def __post_init__(self) -> None:
        for study in self.studies:
            sea = getattr(study, "sea", None)
            if self.system.water.g == 0.0 and isinstance(sea, Sea) and sea.type != "still":
                raise SwelltreeError(
                    f"study '{study.name}': water with g = 0 carries no waves. Give a positive g, "
                    "or no sea."
                )

    def study(self, name: str) -> Study:
        """The study of a name."""
        for study in self.studies:
            if study.name == name:
                return study
        names = [study.name for study in self.studies]
        raise SwelltreeError(
            f"study '{name}' is not in the case."
            + (suggest(name, names) or f" It has {listed(names) or 'none'}.")
        )

    def to_toml(self, path: str | Path | None = None) -> str:
        """The case as TOML text; with a path the file is also written, whole or not at all."""
        from swelltree.describe.casefile.toml import to_text
        from swelltree.describe.files.atomic import write_atomic

        hydro = {} if self.hydro is None else {"hydro": self.hydro.table()}
        text = to_text(
            {
                "system": self.system.table(),
                **hydro,
                "studies": [study.table() for study in self.studies],
            }
        )
        if path is not None:
            write_atomic(Path(path), text)
        return text


def load(path: str | Path) -> Case:
    """Read a case file.

    Args:
        path: of a TOML file.
    """
    path = user_path(path, "case file")
    try:
        text = read_toml_file(path)
    except FileNotFoundError:
        near = suggest(
            path.name,
            [file.name for file in path.parent.glob("*.toml")] if path.parent.is_dir() else [],
        )
        raise SwelltreeError(
            f"case file '{path}' does not exist.{near or ' Check the path.'}"
        ) from None
    except UnicodeDecodeError:
        raise SwelltreeError(f"case file '{path}' is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise SwelltreeError(
            f"case file '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None
    return dataclasses.replace(loads(text, str(path), path.parent), path=path)


def loads(text: str, source: str = "case", folder: Path | None = None) -> Case:
    """Read the text of a case file.

    Args:
        text: TOML.
        source: what messages about the form of the text call it, usually the path.
        folder: mesh and data files that are named without a full path lie there.
    """
    document = parse_toml(text, source)
    for key in document:
        if key not in ("system", "hydro", "studies"):
            known = ("system", "hydro", "studies")
            hint = suggest(key, known) or " Write [system], [hydro] and [[studies]]."
            raise SwelltreeError(f"{source}: there is no section '{key}'.{hint}")
    if not isinstance(document.get("system"), dict):
        raise SwelltreeError(
            f"{source}: there is no [system] section. Begin with [system] and its name."
        )
    if folder is not None:
        _find_files(document, folder)
    hydro = document.get("hydro")
    if hydro is not None and not isinstance(hydro, dict):
        raise SwelltreeError(f"{source}: 'hydro' is not a table. Write [hydro].")
    studies = tuple(_item("study", STUDY_TYPES, row) for row in _rows(document, "studies", source))
    names = [study.name for study in studies]
    for study in studies:
        if names.count(study.name) > 1:
            raise study.fail("the name is used twice. Give every study its own name.")
    file_stems(names)
    spec = None if hydro is None else HydroSpec(**hydro)
    return Case(_system(document["system"], source), studies, text=text, hydro=spec)


def _find_files(table: object, folder: Path) -> None:
    """Make paths of meshes, data and records relative to the case file, in place."""
    if isinstance(table, list):
        for row in table:
            _find_files(row, folder)
    elif isinstance(table, dict):
        for key, value in table.items():
            is_mesh = key == "path" and table.get("shape") == "mesh"
            is_record = key == "file" and table.get("type") in ("measured", "fmu")
            is_data = key == "hydro" and isinstance(value, dict)
            is_field = key == "data" and table.get("type") == "gridded"
            if (is_mesh or is_record or is_field) and isinstance(value, str):
                table[key] = str(folder / value)
            elif is_data and isinstance(value.get("file"), str):
                value["file"] = str(folder / value["file"])
            else:
                _find_files(value, folder)


def _system(table: NamedValues, source: str) -> System:
    lists = {
        key: tuple(_item(word, classes, row) for row in _rows(table, key, source))
        for key, (word, classes) in LISTS.items()
    }
    return System(
        **{
            **table,
            **{key: items for key, items in lists.items() if items or key in ("bodies", "joints")},
        }
    )


def _rows(table: NamedValues, key: str, source: str) -> list[NamedValues]:
    rows = table.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SwelltreeError(
            f"{source}: '{key}' is not a list of tables. Write [[{key}]] or {key} = [ {{ ... }} ]."
        )
    return rows


def _item(word: str, classes: type[D] | Mapping[str, type[D]], row: NamedValues) -> D:
    """One item: its class by `type`, then its constructor."""
    if isinstance(classes, type):
        return classes(**row)
    label = f"{word} '{row['name']}'" if isinstance(row.get("name"), str) else word
    kind = row.get("type", "")
    if kind == "" and kind not in classes:
        raise SwelltreeError(f"{label}: 'type' is missing. Give one of {listed(classes)}.")
    if not isinstance(kind, str) or kind not in classes:
        raise SwelltreeError(
            f"{label}: there is no {word} type {shown(kind)}.{suggest(kind, classes)} The "
            "types are "
            f"{listed(filter(None, classes))}."
        )
    return classes[kind](**{key: value for key, value in row.items() if key != "type"})


def case_schema() -> NamedValues:
    """JSON schema of a case file, for editors that check and complete while one types."""

    def rows(classes: type[Description] | Mapping[str, type[Description]]) -> NamedValues:
        choices = [
            class_schema(cls)
            for cls in ([classes] if isinstance(classes, type) else classes.values())
        ]
        return {"type": "array", "items": choices[0] if len(choices) == 1 else {"oneOf": choices}}

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "swelltree case file",
        "type": "object",
        "properties": {
            "system": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    **{key: rows(classes) for key, (_, classes) in LISTS.items()},
                    "water": class_schema(Water),
                    "current": choice_schema(CURRENT_TYPES),
                    "wind": class_schema(Wind),
                    "seabed": class_schema(Seabed),
                },
                "required": ["name"],
                "additionalProperties": False,
            },
            "hydro": class_schema(HydroSpec),
            "studies": rows(STUDY_TYPES),
        },
        "required": ["system"],
        "additionalProperties": False,
    }


def named_code(case: Case) -> list[str]:
    """All "module:name" references of a case."""
    parts = [case.system, *case.studies, *([] if case.hydro is None else [case.hydro])]
    return sorted({text for part in parts for text in _texts(part.table()) if PATH.fullmatch(text)})


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for row in rows for text in _texts(row)]


def use_adjacent_code(case: Case, path: Path) -> None:
    """Let the modules that a case names be found beside it, after all that is installed.

    A case that names none leaves the path as it is, so that no file beside it can stand in for a
    package.

    Args:
        case: as read.
        path: of the case file.
    """
    names = named_code(case)
    if not names:
        return
    folder = path.resolve().parent
    for name in names:
        _refuse_hidden(name, folder)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _refuse_hidden(name: str, folder: Path) -> None:
    """Reject a module of the case folder that is hidden by an installed one of the same name."""
    top = name.partition(":")[0].partition(".")[0]
    adjacent = [file for file in (folder / f"{top}.py", folder / top) if file.exists()]
    if not adjacent:
        return
    try:
        result = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return
    places = [] if result is None else [result.origin, *(result.submodule_search_locations or ())]
    where = [Path(place).resolve() for place in places if place not in (None, "built-in", "frozen")]
    if result is not None and not any(folder in place.parents for place in where):
        raise SwelltreeError(
            f"'{name}': '{adjacent[0].name}' beside the case is hidden by a module of that name "
            f"({where[0] if where else 'part of Python'}). Give yours another name."
        )
