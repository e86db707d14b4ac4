"""The waves of a script as seas of a case file, one for each condition."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import Assignments, Findings, path_of, relative
from swelltree.interop.wecsim.hydro_data import HydroData, columns_of, read_mat
from swelltree.interop.wecsim.script import Script

TYPES = {
    "irregularImport": "spectrumImport",
    "userDefined": "elevationImport",
    "etaImport": "elevationImport",
}
KNOWN = (
    *("noWave", "noWaveCIC", "regular", "regularCIC", "irregular"),
    *("spectrumImport", "elevationImport"),
)
MAX_CONDITIONS = 400
MAX_VARIANTS = 50
MAX_ROWS = 400


@dataclass
class Condition:
    """One sea, and the frequency of constant coefficients that goes with it.

    Args:
        name: of the study.
        table: of the sea, None for still water.
        omega: of added mass and damping, None for radiation with memory [rad/s].
    """

    name: str
    table: NamedValues | None = None
    omega: float | None = None


@dataclass
class Seas:
    """Translates waves.

    Args:
        folder: of the script.
        out: of the case file.
        title: of the case, for names of files.
        hydro: the data, whose frequencies end somewhere.
        ramp: of the waves [s].
        findings: takes comments and what is missing.
        records: elevations that are to be written beside the case, by name.
    """

    folder: Path
    out: Path
    title: str
    hydro: HydroData
    ramp: float
    findings: Findings
    records: dict[str, np.ndarray] = field(default_factory=dict)

    def conditions(self, waves: list[Assignments]) -> list[Condition]:
        """All combinations of heights and periods; several `waves` act together."""
        if not waves:
            self.findings.leave("the script", "there are no waves; still water is taken.")
            return [Condition("still")]
        choices = [_choices(specified) for specified in waves]
        count = math.prod(map(len, choices))
        if count > MAX_CONDITIONS:
            waves[0].leave(
                "height", f"{count} conditions are too many; the first {MAX_CONDITIONS} are taken."
            )
        result = []
        for chosen in itertools.islice(itertools.product(*choices), MAX_CONDITIONS):
            pairs = zip(waves, chosen, strict=True)
            built = [self._trains(specified, *values) for specified, values in pairs]
            trains = [train for part, _ in built for train in part]
            omegas = {omega for _, omega in built}
            if len(omegas) > 1:
                waves[-1].leave(
                    "type", "constant coefficients are of one frequency; memory is taken."
                )
            table = trains[0] if len(trains) == 1 else {"type": "trains", "trains": trains}
            table = table | ({"ramp": self.ramp} if self.ramp else {}) if trains else None
            name = _name(*chosen[0]) if count > 1 else "wecsim"
            result.append(Condition(name, table, omegas.pop() if len(omegas) == 1 else None))
        return result

    def _trains(
        self, specified: Assignments, height: float | None, period: float | None
    ) -> tuple[list[NamedValues], float | None]:
        """Wave trains of one `waves` object, and its frequency if coefficients are constant."""
        kind = _kind(specified)
        if kind not in KNOWN:
            self.findings.leave(
                specified.place(), f"waves of the type '{kind[:30]}' are not known."
            )
            return [], None
        omega = None
        if period is not None and period > 0 and kind in ("noWave", "regular"):
            omega = 2.0 * math.pi / period
            self.findings.comment(
                "hydro", "", f"'{kind}' takes added mass and damping at the wave's frequency."
            )
        if kind in ("noWave", "noWaveCIC"):
            return [], omega
        headings = specified.numbers("direction") or [0.0]
        fractions = specified.numbers("spread") or [1.0]
        if len(fractions) != len(headings):
            specified.refuse(
                "spread", f"has {len(fractions)} shares for {len(headings)} directions"
            )
            fractions = [1.0 / len(headings)] * len(headings)
        if kind in ("spectrumImport", "elevationImport"):
            seas = [self._from_file(specified, kind)]
        elif height is None or period is None or not height > 0 or not period > 0:
            if height != 0:
                self.findings.leave(specified.place(), "the waves have no height or no period.")
            return [], omega
        elif kind == "irregular":
            seas = [
                self._irregular(specified, height * math.sqrt(f), height, period) if f > 0 else None
                for f in fractions
            ]
        else:
            seas = [{"type": "regular", "height": height, "period": period}]
            if len(headings) > 1:
                specified.leave("direction", "a regular wave comes from the first direction only.")
        return [
            sea | ({"beta": math.radians(heading)} if heading else {})
            for sea, heading in zip(seas, headings, strict=False)
            if sea is not None
        ], omega

    def _irregular(
        self, specified: Assignments, height: float, full_height: float, period: float
    ) -> NamedValues:
        word = specified.text("spectrumType", "PM").upper()
        spectrum: NamedValues = {"type": "bretschneider", "Hs": height, "Tp": period}
        if word in ("JS", "JONSWAP"):
            gamma = specified.number("gamma")
            if not gamma:
                gamma = _gamma(full_height, period)
                text = "gamma is not given; WEC-Sim's rule of Hs and Tp."
                self.findings.comment("studies", "", text)
            spectrum |= {"type": "jonswap", "gamma": gamma}
        elif word not in ("PM", "BS"):
            specified.refuse("spectrumType", f"'{word[:20]}' is not known; 'PM' is taken")
        if word == "PM":
            text = "'PM' with a height and a period of its own is Bretschneider's spectrum."
            self.findings.comment("studies", "", text)
        even = specified.text("bem.option", "EqualEnergy").lower() == "traditional"
        count = int(specified.number("bem.count", 1000 if even else 500))
        seed = specified.number("phaseSeed")
        sea: NamedValues = {"type": "irregular", "spectrum": spectrum, "components": max(count, 1)}
        sea |= {"spacing": "equal"} if even else {}
        sea["seed"] = int(abs(seed)) if abs(seed) < 2**53 else 0
        text = "phases are drawn here: the same spectrum, but not the sea that MATLAB draws."
        self.findings.comment("studies", "", text)
        return sea | self._band(specified, 2.0 * math.pi / period)

    def _data_band(self) -> tuple[float, float]:
        """Lowest and highest frequency of the data [rad/s]; zero and infinity if unknown."""
        if self.hydro.data is None:
            return 0.0, math.inf
        omega = self.hydro.data["omega"].values
        omega = omega[np.isfinite(omega) & (omega > 0)]
        return (float(omega.min()), float(omega.max())) if omega.size else (0.0, math.inf)

    def _band(self, specified: Assignments, peak: float) -> dict[str, float]:
        """Band of the script, limited to the data."""
        specified.use("bem.frequency")
        band = specified.numbers("bem.range", 2)
        if band and 0 <= band[0] < band[1]:
            return {"omega_min": max(band[0], 1e-3), "omega_max": band[1]}
        low, high = self._data_band()
        # fractions of Bretschneider's energy: 0.05 % below 0.63 and 0.2 % above 5 times the peak
        result = {"omega_min": low} if low > 0.63 * peak else {}
        result |= {"omega_max": high} if high < 5.05 * peak else {}
        if result:
            self.findings.comment("studies", "", "the sea is cut where the hydrodynamic data end.")
        return result

    def _from_file(self, specified: Assignments, kind: str) -> NamedValues | None:
        field = "spectrumFile" if kind == "spectrumImport" else "elevationFile"
        path = path_of(self.folder, specified.text(field))
        if path is None:
            specified.lack(f"has no {field}.")
            return None
        if not os.path.isfile(path):
            self.findings.leave(
                specified.place(field),
                f"the file '{specified.text(field)}' is not there.",
                missing=True,
            )
            return None if kind == "spectrumImport" else self._measured(relative(path, self.out))
        try:
            rows = columns_of(path)
        except SwelltreeError as error:
            specified.leave(field, str(error))
            return None
        if kind == "elevationImport":
            file = f"{self.title}_{path.stem}.txt"
            self.records[file] = rows[:, :2]
            return self._measured(file)
        # columns of frequency [Hz] and density [m^2/Hz]
        if rows.shape[1] > 2:
            specified.leave(field, "the phases in its third column are drawn again here.")
        rows = rows[rows[:, 0] > 0]
        spectrum = {
            "type": "table",
            "omega": (2.0 * np.pi * rows[:, 0]).tolist(),
            "density": (rows[:, 1] / (2.0 * np.pi)).tolist(),
        }
        return {"type": "irregular", "spectrum": spectrum, "components": 500}

    def _measured(self, file: str) -> NamedValues:
        """A measured elevation, limited to the band of the hydrodynamic data."""
        top = self._data_band()[1]
        if not math.isfinite(top):
            return {"type": "measured", "file": file}
        self.findings.comment("studies", "", "the record is cut where the data end.")
        return {"type": "measured", "file": file, "omega_max": top}


def _name(height: float | None, period: float | None) -> str:
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


def _gamma(height: float, period: float) -> float:
    """Peak enhancement factor of IEC 62600-2, as in WEC-Sim."""
    ratio = period / math.sqrt(height)
    if ratio <= 3.6:
        return 5.0
    return math.exp(5.75 - 1.15 * ratio) if ratio <= 5.0 else 1.0


def current_of(waves: list[Assignments]) -> NamedValues | None:
    """Current by its model: 0 uniform, 1 with the 1/7 power of the depth, 2 linear."""
    for specified in waves:
        option = specified.number("current.option", 3.0)
        speed = specified.number("current.speed")
        beta = math.radians(specified.number("current.direction"))
        depth = specified.number("current.depth")
        if option == 0 and speed:
            return {"type": "uniform", "speed": speed, "beta": beta}
        if option in (1, 2) and speed and depth > 0:
            table = {"type": "power_law", "speed": speed, "beta": beta}
            return table | {"exponent": 1.0 / 7.0 if option == 1 else 1.0, "depth": depth}
    return None


# --- Multiple conditions: values that a script or a table beside it gives more than once

Settings = tuple[tuple[str, float], ...]


class Variant(NamedTuple):
    """One system and its seas.

    Args:
        settings: fields of the script and their values, such as "pto(1).damping".
        seas: fields of waves, one table for each condition; one empty table for the script's own.
    """

    settings: Settings
    seas: tuple[Settings, ...] = ((),)


def variants_of(script: Script, folder: Path, file: str, findings: Findings) -> list[Variant]:
    """All variants of a script: from its table of conditions or its own lists."""
    for item in script.objects("simu").values():
        rows = _table_rows(Assignments("simu", 0, item, file, findings), script, folder)
        if rows:
            return rows
    axes = []
    for n, item in script.objects("pto").items():
        specified = Assignments("pto", n, item, file, findings)
        for name in ("damping", "stiffness"):
            values = specified.raw(name)
            if isinstance(values, np.ndarray) and values.size > 1:
                axes.append([(f"pto({n}).{name}", value) for value in specified.numbers(name)])
    chosen = list(itertools.islice(itertools.product(*axes), MAX_VARIANTS + 1))
    if len(chosen) > MAX_VARIANTS:
        findings.leave(file, f"PTOs have more than {MAX_VARIANTS} settings; the first are taken.")
    return [Variant(row) for row in chosen[:MAX_VARIANTS]]


def _table_rows(simu: Assignments, script: Script, folder: Path) -> list[Variant]:
    """Table of conditions named by the script; rows that share their system are merged."""
    if simu.text("mcrExcelFile"):
        simu.leave("mcrExcelFile", "tables of conditions are read from .mat files only.")
    name = simu.text("mcrMatFile")
    path = path_of(folder, name)
    if path is None:
        return []
    try:
        words, cases = _table_of(path, name, script)
    except SwelltreeError as error:
        simu.leave("mcrMatFile", f"{error} The script's own conditions are taken.")
        return []
    groups: dict[Settings, list[Settings]] = {}
    for row in cases[:MAX_ROWS].tolist():
        pairs = list(zip(words, row, strict=True))
        rest = tuple(pair for pair in pairs if not pair[0].startswith("waves"))
        seas = tuple(pair for pair in pairs if pair[0].startswith("waves"))
        groups.setdefault(rest, []).append(seas)
    if len(cases) > MAX_ROWS or len(groups) > MAX_VARIANTS:
        simu.leave("mcrMatFile", f"only {MAX_ROWS} rows and {MAX_VARIANTS} settings are taken.")
    return [Variant(rest, tuple(seas)) for rest, seas in list(groups.items())[:MAX_VARIANTS]]


def _table_of(path: Path, name: str, script: Script) -> tuple[list[str], np.ndarray]:
    """Fields set by a table of conditions, and their values, one row per condition."""
    if not os.path.isfile(path):
        raise SwelltreeError(f"the table of conditions '{name}' is not there.")
    mcr = read_mat(path).get("mcr")
    header, cases = (mcr.get("header"), mcr.get("cases")) if isinstance(mcr, dict) else (None, None)
    if not isinstance(header, list) or not isinstance(cases, np.ndarray):
        raise SwelltreeError(f"'{name}' has no mcr.header and mcr.cases.")
    words = [word.replace(" ", "") if isinstance(word, str) else "" for word in header]
    if cases.shape[1] != len(words) or not np.isfinite(cases).all():
        raise SwelltreeError(f"'{name}': mcr.cases does not fit mcr.header.")
    unknown = next((word for word in words if not script.is_place(word)), None)
    if unknown is not None:
        raise SwelltreeError(f"'{name}' sets '{unknown[:40]}', which is not a field.")
    return words, cases
