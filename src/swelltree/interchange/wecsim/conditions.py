"""Multiple conditions: values that a script or a table beside it gives more than once.

A table (mcr.header, mcr.cases in a .mat file) sets the fields it names, row by row. Fields of waves
become studies of one case file; what belongs to the system makes a case file for each setting.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swelltree.interchange.wecsim.findings import Findings
from swelltree.interchange.wecsim.given import Given
from swelltree.interchange.wecsim.matfile import read_mat
from swelltree.interchange.wecsim.script.run import Script
from swelltree.system.errors import SwelltreeError

MOST_VARIANTS = 50
MOST_ROWS = 400


Settings = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Variant:
    """One system and its seas.

    Args:
        settings: fields of the script and their values, such as "pto(1).damping".
        seas: fields of waves, one table for each condition; one empty table for the script's own.
    """

    settings: tuple[tuple[str, float], ...]
    seas: tuple[tuple[tuple[str, float], ...], ...] = ((),)


def variants_of(script: Script, folder: Path, file: str, findings: Findings) -> list[Variant]:
    """All settings of a script, those of its table of conditions or those it lists itself."""
    item = script.objects("simu").get(1)
    if item is not None:
        simu = Given("simu", 0, item, file, findings)
        rows = _table_rows(simu, script, folder)
        if rows:
            return _grouped(rows, simu)
    axes = []
    for n, item in script.objects("pto").items():
        given = Given("pto", n, item, file, findings)
        for name in ("damping", "stiffness"):
            values = given.raw(name)
            if isinstance(values, np.ndarray) and values.size > 1:
                result = given.numbers(name) or []
                axes.append([(f"pto({n}).{name}", value) for value in result])
    chosen = list(itertools.islice(itertools.product(*axes), MOST_VARIANTS + 1))
    if len(chosen) > MOST_VARIANTS:
        findings.leave(file, f"PTOs have more than {MOST_VARIANTS} settings; the first are taken.")
    return [Variant(tuple(row)) for row in chosen[:MOST_VARIANTS]]


def _grouped(rows: list[dict[str, float]], simu: Given) -> list[Variant]:
    """Rows that share their system are one variant."""
    groups: dict[Settings, list[Settings]] = {}
    for row in rows[:MOST_ROWS]:
        seas = tuple((k, v) for k, v in row.items() if k.startswith("waves"))
        rest = tuple((k, v) for k, v in row.items() if not k.startswith("waves"))
        groups.setdefault(rest, []).append(seas)
    if len(rows) > MOST_ROWS or len(groups) > MOST_VARIANTS:
        simu.leave("mcrMatFile", f"only {MOST_ROWS} rows and {MOST_VARIANTS} settings are taken.")
    return [Variant(rest, tuple(seas)) for rest, seas in list(groups.items())[:MOST_VARIANTS]]


def _table_rows(simu: Given, script: Script, folder: Path) -> list[dict[str, float]]:
    """Rows of the table of conditions that the script names."""
    if simu.text("mcrExcelFile"):
        simu.leave("mcrExcelFile", "tables of conditions are read from .mat files only.")
    name = simu.text("mcrMatFile")
    if not name or "\0" in name:
        return []
    path = folder / name.replace("\\", "/")
    if not os.path.isfile(path):
        simu.leave(
            "mcrMatFile",
            f"the table of conditions '{name}' is not there; the script's own are taken.",
        )
        return []
    try:
        mcr = read_mat(path).get("mcr")
    except SwelltreeError as error:
        simu.leave("mcrMatFile", f"{error} The script's own conditions are taken.")
        return []
    header, cases = (mcr.get("header"), mcr.get("cases")) if isinstance(mcr, dict) else (None, None)
    if not isinstance(header, list) or not isinstance(cases, np.ndarray):
        simu.leave("mcrMatFile", f"'{name}' has no mcr.header and mcr.cases.")
        return []
    words = [word.replace(" ", "") if isinstance(word, str) else "" for word in header]
    if cases.shape[1] != len(words) or not np.isfinite(cases).all():
        simu.leave("mcrMatFile", f"'{name}': mcr.cases does not fit mcr.header.")
        return []
    unknown = [word for word in words if not script.is_place(word)]
    if unknown:
        simu.leave("mcrMatFile", f"'{name}' sets '{unknown[0][:40]}', which is not a field.")
        return []
    return [dict(zip(words, map(float, row), strict=True)) for row in cases]
