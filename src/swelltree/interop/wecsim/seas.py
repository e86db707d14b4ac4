"""The waves of a script as seas of a case file, one for each condition."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.bodies import relative
from swelltree.interop.wecsim.findings import Findings
from swelltree.interop.wecsim.hydro_data import HydroData
from swelltree.interop.wecsim.matfile import columns_of, read_mat
from swelltree.interop.wecsim.script import Script

TYPES = {
    "irregularImport": "spectrumImport",
    "userDefined": "elevationImport",
    "etaImport": "elevationImport",
}
KNOWN = ("noWave", "noWaveCIC", "regular", "regularCIC", "irregular", "spectrumImport")
KNOWN = (*KNOWN, "elevationImport")
MAX_CONDITIONS = 400  # conditions


@dataclass
class Where:
    """What the translation of seas needs beside the waves themselves.

    Args:
        folder: of the script.
        out: of the case file.
        title: of the case, for names of files.
        hydro: the data, whose frequencies end somewhere.
        findings: takes comments and what is missing.
        records: elevations that are to be written beside the case, by name.
    """

    folder: Path
    out: Path
    title: str
    hydro: HydroData
    findings: Findings
    records: dict[str, np.ndarray] = field(default_factory=dict)


class Condition:
    """One sea, and the frequency of constant coefficients that goes with it.

    Args:
        name: of the study.
        table: of the sea, None for still water.
        omega: of added mass and damping, None for radiation with memory [rad/s].
    """

    def __init__(self, name: str, table: NamedValues | None, omega: float | None) -> None:
        self.name, self.table, self.omega = name, table, omega


def conditions_of(waves: list[Assignments], ramp: float, where: Where) -> list[Condition]:
    """All combinations of heights and periods; several `waves` are there at once."""
    if not waves:
        where.findings.leave("the script", "there are no waves; still water is taken.")
        return [Condition("still", None, None)]
    choices = [_choices(specified) for specified in waves]
    count = math.prod(len(rows) for rows in choices)
    if count > MAX_CONDITIONS:
        waves[0].leave(
            "height", f"{count} conditions are too many; the first {MAX_CONDITIONS} are taken."
        )
    result = []
    for chosen in itertools.islice(itertools.product(*choices), MAX_CONDITIONS):
        trains, omegas = [], []
        for specified, (height, period) in zip(waves, chosen, strict=True):
            tables, omega = _trains(specified, height, period, where)
            trains += tables
            omegas.append(omega)
        name = _name(chosen[0]) if count > 1 else "wecsim"
        if len(set(omegas)) > 1:
            waves[-1].leave("type", "constant coefficients are of one frequency; memory is taken.")
        omega = omegas[0] if len(set(omegas)) == 1 else None
        result.append(Condition(name, _sea(trains, ramp), omega))
    return result


def _name(chosen: tuple[float | None, float | None]) -> str:
    height, period = chosen
    parts = [f"H{height:g}" if height is not None else "", f"T{period:g}" if period else ""]
    return "_".join(part for part in parts if part).replace(".", "p") or "wecsim"


def _kind(specified: Assignments) -> str:
    kind = specified.first_text() or specified.text("type")
    return TYPES.get(kind, kind)


def _choices(specified: Assignments) -> list[tuple[float | None, float | None]]:
    """Pairs of height and period, heights varying slowest."""
    heights = specified.numbers("height") or [None]
    periods = specified.numbers("period") or [None]
    if _kind(specified) in ("noWaveCIC", "spectrumImport", "elevationImport"):
        return [(None, None)]
    return [(h, t) for h in heights for t in periods]


def _sea(trains: list[NamedValues], ramp: float) -> NamedValues | None:
    if not trains:
        return None
    if len(trains) == 1:
        return trains[0] | ({"ramp": ramp} if ramp else {})
    return {"type": "trains", "trains": trains} | ({"ramp": ramp} if ramp else {})


def _trains(
    specified: Assignments, height: float | None, period: float | None, where: Where
) -> tuple[list[NamedValues], float | None]:
    """The wave trains of one `waves` object, and its frequency if coefficients are constant."""
    kind = _kind(specified)
    if kind not in KNOWN:
        specified.findings.leave(
            specified.place(), f"waves of the type '{kind[:30]}' are not known."
        )
        return [], None
    omega = None
    if period is not None and period > 0 and kind in ("noWave", "regular"):
        omega = 2.0 * math.pi / period
        where.findings.comment(
            "hydro", "", f"'{kind}' takes added mass and damping at the wave's frequency."
        )
    if kind in ("noWave", "noWaveCIC"):
        return [], omega
    headings = specified.numbers("direction", default=[0.0])
    shares = specified.numbers("spread", default=[1.0])
    if len(shares) != len(headings):
        specified.refuse("spread", f"has {len(shares)} shares for {len(headings)} directions")
        shares = [1.0 / len(headings)] * len(headings)
    if kind in ("spectrumImport", "elevationImport"):
        built = _from_file(specified, kind, where)
        return [_heading(built, headings[0])] if built else [], None
    if height is None or period is None or not height > 0 or not period > 0:
        if height != 0:
            specified.findings.leave(specified.place(), "the waves have no height or no period.")
        return [], omega
    if kind in ("regular", "regularCIC"):
        if len(headings) > 1:
            specified.leave("direction", "a regular wave comes from the first direction only.")
        wave = {"type": "regular", "height": height, "period": period}
        return [_heading(wave, headings[0])], omega
    built = []
    for heading, share in zip(headings, shares, strict=True):
        if share > 0:
            sea = _irregular(specified, height * math.sqrt(share), height, period, where)
            built.append(_heading(sea, heading))
    return built, None


def _heading(sea: NamedValues, degrees: float) -> NamedValues:
    return sea | {"beta": math.radians(degrees)} if degrees else sea


def _irregular(
    specified: Assignments, height: float, full_height: float, period: float, where: Where
) -> NamedValues:
    findings = where.findings
    word = specified.text("spectrumType", "PM").upper()
    spectrum: NamedValues = {"type": "bretschneider", "Hs": height, "Tp": period}
    if word in ("JS", "JONSWAP"):
        gamma = specified.number("gamma")
        if gamma is None:
            gamma = _gamma(full_height, period)
            findings.comment("studies", "", "gamma is not given; WEC-Sim's rule of Hs and Tp.")
        spectrum = {"type": "jonswap", "Hs": height, "Tp": period, "gamma": gamma}
    elif word not in ("PM", "BS"):
        specified.refuse("spectrumType", f"'{word[:20]}' is not known; 'PM' is taken")
    if word == "PM":
        findings.comment(
            "studies", "", "'PM' with a height and a period of its own is Bretschneider's spectrum."
        )
    even = specified.text("bem.option", "EqualEnergy").lower() == "traditional"
    count = int(specified.number("bem.count", 1000 if even else 500))
    seed = specified.number("phaseSeed", 0.0)
    sea: NamedValues = {"type": "irregular", "spectrum": spectrum, "components": max(count, 1)}
    if even:
        sea["spacing"] = "equal"
    sea["seed"] = int(abs(seed)) if abs(seed) < 2**53 else 0
    findings.comment(
        "studies",
        "",
        "phases are drawn here: the same spectrum, but not the sea that MATLAB draws.",
    )
    return sea | _band(specified, 2.0 * math.pi / period, where)


def _gamma(height: float, period: float) -> float:
    """Peak enhancement of IEC 62600-2 from height and period, as WEC-Sim takes it."""
    ratio = period / math.sqrt(height)
    if ratio <= 3.6:
        return 5.0
    return math.exp(5.75 - 1.15 * ratio) if ratio <= 5.0 else 1.0


def _data_band(hydro: HydroData) -> tuple[float, float]:
    """Lowest and highest frequency of the data [rad/s]; zero and infinity if unknown."""
    if hydro.data is None:
        return 0.0, math.inf
    omega = hydro.data["omega"].values
    omega = omega[np.isfinite(omega) & (omega > 0)]
    return (float(omega.min()), float(omega.max())) if omega.size else (0.0, math.inf)


def _band(specified: Assignments, peak: float, where: Where) -> dict[str, float]:
    """Ends of the band: those of the script, or of data that reach less far than the sea."""
    specified.raw("bem.frequency")
    band = specified.numbers("bem.range", 2)
    if band is not None and 0 <= band[0] < band[1]:
        return {"omega_min": max(band[0], 1e-3), "omega_max": band[1]}
    low, high = _data_band(where.hydro)
    result = {}
    # fractions of Bretschneider's energy: 0.05 % below 0.63 and 0.2 % above 5 times the peak
    if low > 0.63 * peak:
        result["omega_min"] = low
    if high < 5.05 * peak:
        result["omega_max"] = high
    if result:
        where.findings.comment("studies", "", "the sea is cut where the hydrodynamic data end.")
    return result


def _from_file(specified: Assignments, kind: str, where: Where) -> NamedValues | None:
    """A sea from a file of its spectrum or its elevation."""
    field = "spectrumFile" if kind == "spectrumImport" else "elevationFile"
    name = specified.text(field)
    path = where.folder / name.replace("\\", "/")
    if not name or "\0" in name:
        specified.findings.leave(specified.place(), f"{specified.label}.{field} is not given.")
        return None
    if not os.path.isfile(path):
        specified.findings.leave(
            specified.place(field), f"the file '{name}' is not there.", missing=True
        )
        return None if kind == "spectrumImport" else _measured(relative(path, where.out), where)
    try:
        rows = columns_of(path)
    except SwelltreeError as error:
        specified.leave(field, str(error))
        return None
    if kind == "spectrumImport":
        return _spectrum_table(specified, rows)
    file = f"{where.title}_{path.stem}.txt"
    where.records[file] = rows[:, :2]
    return _measured(file, where)


def _measured(file: str, where: Where) -> NamedValues:
    """A recorded elevation, as far as the hydrodynamic data reach."""
    table: NamedValues = {"type": "measured", "file": file}
    top = _data_band(where.hydro)[1]
    if math.isfinite(top):
        table["omega_max"] = top
        where.findings.comment("studies", "", "the record is cut where the data end.")
    return table


def _spectrum_table(specified: Assignments, rows: np.ndarray) -> NamedValues | None:
    """Columns of frequency [Hz] and density [m^2/Hz]."""
    if rows.shape[1] > 2:
        specified.leave("spectrumFile", "the phases in its third column are drawn again here.")
    rows = rows[rows[:, 0] > 0]
    spectrum = {
        "type": "table",
        "omega": [float(x) for x in 2.0 * np.pi * rows[:, 0]],
        "density": [float(x) for x in rows[:, 1] / (2.0 * np.pi)],
    }
    return {"type": "irregular", "spectrum": spectrum, "components": 500}


def current_of(waves: list[Assignments]) -> NamedValues | None:
    """The current, by its model: 0 even, 1 by the seventh root of the depth, 2 linear."""
    for specified in waves:
        option = specified.number("current.option", 3.0)
        speed = specified.number("current.speed", 0.0)
        beta = math.radians(specified.number("current.direction", 0.0))
        depth = specified.number("current.depth", 0.0)
        if option == 0 and speed:
            return {"type": "uniform", "speed": speed, "beta": beta}
        if option in (1, 2) and speed and depth > 0:
            exponent = 1.0 / 7.0 if option == 1 else 1.0
            table = {"type": "power_law", "speed": speed, "beta": beta}
            return table | {"exponent": exponent, "depth": depth}
    return None


# --- Multiple conditions: values that a script or a table beside it gives more than once

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
        simu = Assignments("simu", 0, item, file, findings)
        rows = _table_rows(simu, script, folder)
        if rows:
            return _grouped(rows, simu)
    axes = []
    for n, item in script.objects("pto").items():
        specified = Assignments("pto", n, item, file, findings)
        for name in ("damping", "stiffness"):
            values = specified.raw(name)
            if isinstance(values, np.ndarray) and values.size > 1:
                result = specified.numbers(name) or []
                axes.append([(f"pto({n}).{name}", value) for value in result])
    chosen = list(itertools.islice(itertools.product(*axes), MOST_VARIANTS + 1))
    if len(chosen) > MOST_VARIANTS:
        findings.leave(file, f"PTOs have more than {MOST_VARIANTS} settings; the first are taken.")
    return [Variant(tuple(row)) for row in chosen[:MOST_VARIANTS]]


def _grouped(rows: list[dict[str, float]], simu: Assignments) -> list[Variant]:
    """Rows that share their system are one variant."""
    groups: dict[Settings, list[Settings]] = {}
    for row in rows[:MOST_ROWS]:
        seas = tuple((k, v) for k, v in row.items() if k.startswith("waves"))
        rest = tuple((k, v) for k, v in row.items() if not k.startswith("waves"))
        groups.setdefault(rest, []).append(seas)
    if len(rows) > MOST_ROWS or len(groups) > MOST_VARIANTS:
        simu.leave("mcrMatFile", f"only {MOST_ROWS} rows and {MOST_VARIANTS} settings are taken.")
    return [Variant(rest, tuple(seas)) for rest, seas in list(groups.items())[:MOST_VARIANTS]]


def _table_rows(simu: Assignments, script: Script, folder: Path) -> list[dict[str, float]]:
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
