"""HAMS's folders: `Input/ControlFile.in` and `Output/Wamit_format/Buoy.1`, `.3`, `.hst`.

The files of `Wamit_format` follow WAMIT in everything (normalisation, leading phases); the control
file gives depth, reference point, length scale and what the first column holds.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.numbers import to_integer, to_positive
from swelltree.hydro.data.dataset import HydroParts
from swelltree.hydro.readers.textfile import TextFile, leading_numbers
from swelltree.hydro.readers.wamit.assemble import assemble_wamit
from swelltree.hydro.readers.wamit.control_files import deep_or, family_of
from swelltree.hydro.readers.wamit.setup import WamitSetup, complete, require

# Output_frequency_type of HAMS as WAMIT's IPEROUT
KINDS = {1: 3, 2: 4, 3: 2, 4: 1, 5: 5}


def read_hams(
    path: Path, *, rho: float | None = None, g: float | None = None, water: Water | None = None
) -> HydroParts:
    """The contents of a HAMS folder.

    Args:
        path: of the folder, or of a file in it.
        rho: density [kg/m^3]; HAMS divides by it and does not write it here.
        g: gravity [m/s^2]; likewise.
        water: that gives them where the user does not.
    """
    root = path if path.is_dir() else path.parent
    while root.name.lower() in ("wamit_format", "output", "input"):
        root = root.parent
    control = _inside(root, ("Input", "ControlFile.in"), ("ControlFile.in",))
    output = _inside(root, ("Output", "Wamit_format"), ("Wamit_format",))
    first = sorted(output.glob("*.1"))
    if not first:
        raise SwelltreeError(f"'{output}' has no file ending in .1. Run HAMS first.")
    setup = read_control(TextFile(control))
    complete(path, setup, {"rho": rho, "g": g}, water)
    require(path, setup, "HAMS divides by it and does not write it")
    hydrostatic = root / "Input" / "Hydrostatic.in"
    parts = assemble_wamit(first[0], family_of(first[0]), setup, 1)
    parts.attrs.update(solver="HAMS", format="HAMS")
    if hydrostatic.is_file():
        _hydrostatic(TextFile(hydrostatic), parts)
    return parts


def _inside(root: Path, *candidates: tuple[str, ...]) -> Path:
    for parts in candidates:
        inside = root.joinpath(*parts)
        if inside.exists():
            return inside
    raise SwelltreeError(
        f"'{root}' has no '{'/'.join(candidates[0])}'. A HAMS folder holds Input and Output."
    )


def read_control(file: TextFile) -> WamitSetup:
    setup = WamitSetup(files=[file.path])
    values: dict[str, tuple[int, list[float]]] = {}
    for index, line in enumerate(file.lines):
        words = line.split()
        if len(words) > 1 and re.match(r"[A-Za-z]", words[0]):
            numbers = leading_numbers(" ".join(words[1:]), file.at(index))
            if numbers:
                values.setdefault(words[0].lower(), (index, numbers))
    for key, least in (
        ("waterdepth", 1),
        ("output_frequency_type", 1),
        ("reference_body_center", 3),
    ):
        if key not in values:
            raise file.fail(len(file.lines), f"a line '{key} ...'")
        if len(values[key][1]) < least:
            raise file.fail(values[key][0], f"{least} numbers of '{key}'")
    row, numbers = values["waterdepth"]
    setup.depth = deep_or(numbers[0], file, row)
    row, numbers = values["output_frequency_type"]
    kind = to_integer(numbers[0], "output_frequency_type", file.at(row), 1, 5)
    setup.period_kind = KINDS[kind]
    setup.places = [[*values["reference_body_center"][1][:3], 0.0]]
    if "number_of_frequencies" in values:  # negative where a step follows
        row, numbers = values["number_of_frequencies"]
        setup.announced[file.path] = to_integer(
            abs(numbers[0]), "number_of_frequencies", file.at(row), 1
        )
    if "reference_body_length" in values:
        row, numbers = values["reference_body_length"]
        setup.length = to_positive(numbers[0], "reference_body_length", file.at(row))
    return setup


def _hydrostatic(file: TextFile, parts: HydroParts) -> None:
    """Centre of gravity, mass and restoring of `Hydrostatic.in`; .hst wins over its restoring."""
    row = file.find("Center of Gravity")
    if row is not None:
        parts.points["center_of_mass"] = np.array(
            [file.numbers(row + 1, "centre of gravity", 3)[:3]]
        )
    for heading, name in (
        ("Body Mass Matrix", "inertia_matrix"),
        ("Hydrostatic Restoring Matrix", "hydrostatic_stiffness"),
    ):
        row = file.find(heading)
        if row is not None and name not in parts.matrices:
            what = f"six numbers of '{heading}'"
            rows = [file.numbers(row + 1 + k, what, 6)[:6] for k in range(6)]
            parts.matrices[name] = np.array(rows)
    parts.files.append(file.path)
