"""One object of the script, read by current names, and what an import chose and left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from swelltree.interop.wecsim.values import Object, Objects, Unknown, Value

MAX_FIELDS = 2_000

# names before version 5 and those of today
OLD = {
    "simu": {
        "rampT": "rampTime",
        "CITime": "cicEndTime",
        "dtCITime": "cicDt",
        "ssCalc": "stateSpace",
        "g": "gravity",
        "mcrCaseFile": "mcrMatFile",
    },
    "waves": {
        "H": "height",
        "T": "period",
        "waveDir": "direction",
        "waveSpread": "spread",
        "spectrumDataFile": "spectrumFile",
        "etaDataFile": "elevationFile",
        "freqDisc": "bem.option",
        "numFreq": "bem.count",
        "freqRange": "bem.range",
    },
    "body": {
        "momOfInertia": "inertia",
        "cg": "centerGravity",
        "cb": "centerBuoyancy",
        "dispVol": "volume",
        "nhBody": "nonHydro",
        "nlHydro": "nonlinearHydro",
        "viscDrag.cd": "quadDrag.cd",
        "viscDrag.Drag": "quadDrag.drag",
        "viscDrag.characteristicArea": "quadDrag.area",
        "morrisonElement": "morisonElement",
    },
    "pto": {"k": "stiffness", "c": "damping"},
    "mooring": {"ref": "location", "matrix.k": "matrix.stiffness", "matrix.c": "matrix.damping"},
}
OLD_OF_ALL = {
    "loc": "location",
    "initDisp.initLinDisp": "initial.displacement",
    "initDisp.initAngularDispAxis": "initial.axis",
    "initDisp.initAngularDispAngle": "initial.angle",
}
# they steer the solver, the screen and the files of WEC-Sim, and change no physics here
SILENT = {
    "simu": (
        *("simMechanicsFile", "mode", "explorer", "solver", "dtMax", "domainSize", "cicEndTime"),
        *("cicDt", "stateSpace", "paraview", "outputDir", "outputtxt", "saveStructure", "saveText"),
        *("saveWorkspace", "reloadHydroData", "reloadH5Data", "pressureDis", "pressure"),
        *("numIntMidTimeSteps", "adjMassFactor", "adjMassWeightFun", "rateTransition"),
        *("autoRateTranBlk", "zeroCross", "zeroCrossCont", "nonlinearDt", "dtFeNonlin"),
        *("morisonDt", "dtME", "animation", "logFile", "saveMat", "caseDir"),
        *("mcrMatFile", "mcrExcelFile"),
    ),
    "waves": ("marker", "viz", "markerLoc", "markerSize", "markerStyle"),
    "body": ("viz", "paraview", "adjMassFactor", "bodyparaview", "geometryFile"),
    "constraint": ("extension",),
    "pto": ("extension",),
    "mooring": ("moorDyn", "moorDynLines", "moorDynNodes", "initial"),
    "cable": ("viz", "paraview"),
}
NAMES = ("simu", "waves", "body", "constraint", "pto", "mooring", "cable", "ptoSim", "controller")


class Left(NamedTuple):
    """Something that was not translated.

    Args:
        place: file and line, or file and block.
        sentence: what it is, and what to do.
        missing: a file that is not there, rather than something that has no counterpart.
    """

    place: str
    sentence: str
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


@dataclass
class Findings:
    """Choices and omissions of an import, collected during translation."""

    left: list[Left] = field(default_factory=list)
    comments: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def leave(self, place: str, sentence: str, *, missing: bool = False) -> None:
        """Record that something is not translated; reported once."""
        result = Left(place, " ".join(sentence.split()), missing)
        if result not in self.left:
            self.left.append(result)

    def comment(self, section: str, name: str, sentence: str) -> None:
        """A choice, written as a comment above an item of the case file.

        Args:
            section: such as "bodies"; "" for the head of the file.
            name: of the item; "" for the section itself.
            sentence: what was chosen and why.
        """
        rows = self.comments.setdefault((section, name), [])
        if sentence not in rows:
            rows.append(" ".join(sentence.split()))


class Assignments:
    """The fields of an object of the script; it records which of them were read.

    Args:
        kind: "body", "pto" ...
        number: from one; zero for the only one of its kind.
        item: as the script left it; an empty one for defaults alone.
        file: name of the script, for places.
        findings: takes what cannot be used.
    """

    def __init__(self, kind: str, number: int, item: Object, file: str, findings: Findings) -> None:
        self.kind = kind
        self.label = f"{kind}({number})" if number else kind
        self.item = item
        self.file = file
        self.findings = findings
        old = OLD.get(kind, {}) | OLD_OF_ALL
        self._fields: dict[str, tuple[Value, int, str]] = {}
        for path, value, line in _leaves(item):
            head, dot, rest = path.partition(".")
            name = old.get(path, old.get(head, head) + dot + rest)
            self._fields[name] = (value, line, path)
        self._asked: set[str] = set()

    def place(self, name: str = "") -> str:
        """File and line of a field, or of the object."""
        line = self._fields[name][1] if name in self._fields else self.item.line
        return f"{self.file}:{line}" if line else self.file

    def has(self, name: str) -> bool:
        return name in self._fields

    def raw(self, name: str) -> Value | None:
        """The value of a field, None where the script sets none."""
        self._asked.add(name)
        value = self._fields[name][0] if name in self._fields else None
        return None if isinstance(value, Unknown) else value  # its line is reported as not read

    def numbers(self, name: str, *sizes: int) -> list[float]:
        """Finite numbers in one row, whose count is one of the sizes (any if none are given)."""
        value = self.raw(name)
        if value is None:
            return []
        if not (isinstance(value, np.ndarray) and np.isfinite(value).all() and value.size):
            self.refuse(name, "is not made of finite numbers")
        elif sizes and value.size not in sizes:
            requested = " or ".join(map(str, sizes))
            self.refuse(name, f"has {value.size} numbers, expected {requested}")
        else:
            return [float(x) for x in value.reshape(-1, order="F")]
        return []

    def number(self, name: str, default: float = 0.0) -> float:
        return (self.numbers(name, 1) or [default])[0]

    def vector(self, name: str, default: tuple[float, ...] = (0.0, 0.0, 0.0)) -> np.ndarray:
        return np.array(self.numbers(name, len(default)) or default)

    def matrix(self, name: str) -> np.ndarray | None:
        """A 6 x 6 matrix; six numbers are its diagonal. None where it is not given or zero."""
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, np.ndarray) and np.isfinite(value).all():
            value = np.diag(value.reshape(-1)) if value.size == 6 else value
            if value.shape == (6, 6):
                return value if value.any() else None
        self.refuse(name, "is not a 6 x 6 matrix of finite numbers")
        return None

    def text(self, name: str, default: str = "") -> str:
        value = self.raw(name)
        return value.strip() if isinstance(value, str) else default

    def is_on(self, name: str) -> bool:
        """'on', or a nonzero number."""
        value = self.raw(name)
        if isinstance(value, str):
            return value.lower() == "on"
        return isinstance(value, np.ndarray) and bool(value.any())

    def first_text(self, k: int = 0) -> str:
        """A constructor argument that is text."""
        result = self.item.arguments[k] if k < len(self.item.arguments) else ""
        return result.strip() if isinstance(result, str) else ""

    def refuse(self, name: str, what: str) -> None:
        shown = self._fields[name][2] if name in self._fields else name
        self.findings.leave(self.place(name), f"{self.label}.{shown} {what}; it is left out.")

    def leave(self, name: str, sentence: str) -> None:
        """Record a field without counterpart."""
        self._asked.add(name)
        self.findings.leave(self.place(name), f"{self.label}.{name}: {sentence}")

    def lack(self, sentence: str, name: str = "", *, missing: bool = False) -> None:
        """Record a deficiency of the object, at its line or that of a field."""
        self.findings.leave(self.place(name), f"{self.label} {sentence}", missing=missing)

    def use(self, *names: str) -> None:
        """Mark fields as used, all if none are named."""
        self._asked |= set(names or self._fields)

    def use_requested(self, other: Assignments) -> None:
        """Mark the fields that another object used as used here."""
        self._asked |= other._asked

    def warn_unused(self) -> None:
        """Report unused fields that affect the physics."""
        silent = {*SILENT.get(self.kind, ()), *self._asked}
        for name, (_, _, shown) in self._fields.items():
            heads = {name.rsplit(".", k)[0] for k in range(name.count(".") + 1)}
            if not heads & silent:
                self.findings.leave(
                    self.place(name), f"{self.label}.{shown} is not translated and left out."
                )


def _leaves(item: Object) -> Iterator[tuple[str, Value, int]]:
    """Fields of an object and its nested structures, in dotted notation."""
    waiting = [(item, "")]
    count = 0
    while waiting:
        here, head = waiting.pop(0)
        for name, value in here.fields.items():
            count += 1
            if count > MAX_FIELDS:
                return
            if not isinstance(value, Objects):
                yield f"{head}{name}", value, here.lines.get(name, here.line)
            elif head.count(".") < 6:
                many = len(value.items) > 1
                for number, part in value.items.items():
                    waiting.append((part, f"{head}{name}{f'({number})' if many else ''}."))


# --- Names, numbers and paths for a case file


def plain(values: object) -> list[float]:
    """Numbers in TOML types."""
    return [float(x) + 0.0 for x in np.asarray(values, dtype=float).reshape(-1)]


def path_of(folder: Path, name: str) -> Path | None:
    """File named by a script, None if there is none."""
    return None if not name or "\0" in name else folder / name.replace("\\", "/")


def plain_name(name: str) -> str:
    """A name without characters that are special in labels."""
    letters = "".join(c if c.isprintable() and c not in ".:" else "_" for c in name.strip())[:60]
    while "__" in letters:
        letters = letters.replace("__", "_")
    return letters.strip()


def relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder, with forward slashes."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()
