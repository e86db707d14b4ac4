"""Case files: a system and its studies as TOML.

The tables have the keys of the Python classes; `type` chooses the class. Items are made by the
same constructors, so Python and TOML users read the same messages.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from swelltree.describe.bodies.body import Body
from swelltree.describe.casefile.schema import choice_schema, class_schema
from swelltree.describe.casefile.studies import (
    EquilibriumStudy,
    ModesStudy,
    OptimalControlStudy,
    RaoStudy,
    ResponseStudy,
    SimulateStudy,
    SteadyStateStudy,
    Study,
)
from swelltree.describe.casefile.study_operability import OperabilityStudy
from swelltree.describe.casefile.toml import parse_toml, read_toml_file
from swelltree.describe.environment.currents import CURRENT_TYPES, Wind
from swelltree.describe.environment.hydro import HydroSpec
from swelltree.describe.environment.seas import Sea
from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError, listed, shown, suggest
from swelltree.describe.files.paths import file_stems, user_path
from swelltree.describe.forces.body_contacts import CONTACT_TYPES
from swelltree.describe.forces.controllers import SENSOR_TYPES, Controller
from swelltree.describe.forces.elements import BUSHING_TYPES, FORCE_TYPES
from swelltree.describe.forces.fmu import Fmu
from swelltree.describe.forces.immersion import IMMERSION_TYPES
from swelltree.describe.forces.own_effects import OWN_TYPES
from swelltree.describe.forces.viscous import ROTOR_TYPES, VISCOUS_TYPES
from swelltree.describe.forces.weak_scatterer import SCATTERER_TYPES
from swelltree.describe.joints.couplings import COUPLING_TYPES
from swelltree.describe.joints.kinds import JOINT_TYPES
from swelltree.describe.mooring.line import MOORING_TYPES, Junction, Line
from swelltree.describe.mooring.line_types import LineType
from swelltree.describe.mooring.operations import Operation
from swelltree.describe.mooring.rods import Rod
from swelltree.describe.mooring.seabed import Seabed, SeabedContact
from swelltree.describe.mooring.winches import Winch
from swelltree.describe.pto.base import PTO_TYPES
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.describe.values import NamedValues

# --- The studies of a case file by their `type`

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
