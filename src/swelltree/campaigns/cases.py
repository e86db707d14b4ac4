r"""Before a campaign begins: its folder, its version, input checks and warnings.

What the sea states of a campaign are, in the words of IEC TS 62600-100.

.. math:: H_{m0} = 4\sqrt{m_0}, \qquad T_e = \frac{m_{-1}}{m_0}, \qquad
          J = \rho g \int c_g(\omega) S(\omega)\, d\omega

from the waves of the run themselves, so that their power is that of the sea that was simulated.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.campaigns.vary import MOST_CASES, Part, Vary
from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning, listed, shown, warn_user
from swelltree.describe.values import NamedValues, as_number, row_of
from swelltree.jit import hashed, versions
from swelltree.model.model import Model
from swelltree.studies.batch.cases import BatchCase
from swelltree.studies.time.operability import changed
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea, realise

if TYPE_CHECKING:
    import xarray as xr


INTEGER_COLUMNS = ("seed",)  # columns of whole numbers
MOST_EXACT = 2**53  # whole numbers below it are exact as floats


def of_model(name: str) -> bool:
    """Is a column a number of the model ("pto.damping", "bodies.float.mass"), not of the sea?"""
    return "." in name


@dataclass(frozen=True)
class CaseTable:
    """All cases of a campaign.

    Args:
        dims: dimensions with their values, the last changing fastest.
        columns: value of each number for each case (n,).
        place: of each case on the grid of the dimensions, as one number (n,).
        occurrence: of each case's sea state, parts of one; None without a scatter diagram.
    """

    dims: dict[str, np.ndarray]
    columns: dict[str, np.ndarray]
    place: np.ndarray
    occurrence: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.place)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.dims.values())

    def row(self, k: int) -> dict[str, float | int]:
        return {
            name: int(values[k]) if name in INTEGER_COLUMNS else float(values[k])
            for name, values in self.columns.items()
        }

    def case(self, k: int, sea: Sea | None) -> BatchCase:
        row = self.row(k)
        return BatchCase(
            in_sea(sea, {name: x for name, x in row.items() if not of_model(name)}),
            tuple((name, x) for name, x in row.items() if of_model(name)),
        )

    def extremes(self, most: int) -> list[int]:
        """The first case and those with the minimum or maximum of some column."""
        ends = [f(values) for values in self.columns.values() for f in (np.argmin, np.argmax)]
        return list(dict.fromkeys([0, *(int(k) for k in ends)]))[:most]

    def samples(self, most: int) -> list[int]:
        """Cases that together hold every value of every column; the outermost values first.

        Where that were more than `most`, values between are left out evenly.
        """
        chosen, between = self.extremes(most), []
        for values in self.columns.values():
            _, first = np.unique(values, return_index=True)
            between.append([int(k) for k in first[1:-1]])
        room = max(most - len(chosen), 0)
        rest = [k for k in dict.fromkeys(itertools.chain(*between)) if k not in chosen]
        if len(rest) > room:
            rest = [rest[i] for i in np.linspace(0, len(rest) - 1, room).astype(int)]
        return chosen + rest

    def ids(self, base: str) -> list[str]:
        """Names of the cases: sixteen digits of a hash of the base and of their numbers."""
        return [case_id(base, self.row(k)) for k in range(len(self))]

    def reported(self) -> NamedValues:
        """The table as stored with a campaign."""
        return {
            "cases": len(self),
            "dims": {name: values.tolist() for name, values in self.dims.items()},
            "columns": {name: values.tolist() for name, values in self.columns.items()},
            "place": self.place.tolist(),
            "occurrence": None if self.occurrence is None else self.occurrence.tolist(),
        }

    def is_reported_by(self, about: NamedValues) -> bool:
        """Whether a stored campaign has this table."""
        return all(about.get(name) == value for name, value in self.reported().items())


def in_sea(sea: Sea | None, where: NamedValues) -> Sea | None:
    """The base sea with changed parameters."""
    if not where:
        return sea
    if sea is None:
        raise SwelltreeError(
            f"campaign: {listed(where)} belong to a sea, and the base has none. Give one."
        )
    return changed(sea, where, "campaign")


def case_id(base: str, row: NamedValues) -> str:
    text = json.dumps([base, sorted(row.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def case_table(vary: Sequence[Vary]) -> CaseTable:
    """Cartesian product of all varied parameters."""
    parts = [one.part() for one in vary]
    if not parts:
        raise SwelltreeError("campaign: nothing varies. Give at least one of vary, e.g. Seeds(6).")
    dims: dict[str, np.ndarray] = {}
    for part in parts:
        for name in [*part.dims, *(n for n in part.columns if n not in part.dims)]:
            if name in dims or any(name in other.columns for other in parts if other is not part):
                raise SwelltreeError(f"campaign: '{name}' varies twice. Vary it in one place.")
        dims |= part.dims
    count = int(np.prod([float(part.present.sum()) for part in parts]))
    if count > MOST_CASES:
        raise SwelltreeError(
            f"campaign: {count} cases are more than the {MOST_CASES} of one campaign. Divide it."
        )
    return functools.reduce(_times, [_table(part) for part in parts])


def _table(part: Part) -> CaseTable:
    here = part.present.ravel()
    columns = {name: values.ravel()[here] for name, values in part.columns.items()}
    often = None if part.occurrence is None else part.occurrence.ravel()[here]
    return CaseTable(part.dims, columns, np.flatnonzero(here), often)


def _times(a: CaseTable, b: CaseTable) -> CaseTable:
    n, m = len(a), len(b)
    columns = {name: np.repeat(x, m) for name, x in a.columns.items()}
    columns |= {name: np.tile(x, n) for name, x in b.columns.items()}
    size = int(np.prod(b.shape))
    place = (a.place[:, None] * size + b.place[None, :]).ravel()
    often = None
    if a.occurrence is not None or b.occurrence is not None:
        left = np.ones(n) if a.occurrence is None else a.occurrence
        right = np.ones(m) if b.occurrence is None else b.occurrence
        often = (left[:, None] * right[None, :]).ravel()
    return CaseTable(a.dims | b.dims, columns, place, often)


def check_table(table: CaseTable, sea: Sea | None, model: Model) -> None:
    """Check, before anything runs, that each value of each column can be used.

    Args:
        table: the cases.
        sea: of the base.
        model: of the base.
    """
    for name in INTEGER_COLUMNS:
        values = table.columns.get(name, np.zeros(0))
        parts = values[values != np.floor(values)]
        if len(parts):
            raise SwelltreeError(
                f"campaign: {name} {parts[0]:g} is not a whole number. Give 0, 1, 2 ..."
            )
        if values.dtype.kind == "f" and (np.abs(values) >= MOST_EXACT).any():
            raise SwelltreeError(
                f"campaign: {name} {np.abs(values).max():.0f} is so large that its neighbours are "
                f"the same number. Give one below {MOST_EXACT}."
            )
    base = {name: x for name, x in table.row(0).items() if not of_model(name)}
    for name, values in table.columns.items():
        if of_model(name):
            model.value(name)
            continue
        # whole numbers are all alike: the outermost are tried
        tried = [values.min(), values.max()] if name in INTEGER_COLUMNS else np.unique(values)
        for value in tried:
            in_sea(sea, base | {name: int(value) if name in INTEGER_COLUMNS else float(value)})


ABOUT = {
    "Hm0": {"units": "m", "long_name": "spectral estimate of the significant wave height"},
    "Te": {"units": "s", "long_name": "energy period"},
    "J": {"units": "W/m", "long_name": "omnidirectional wave power"},
}


def sea_quantities(
    waves: RealisedSea | None, rho: float, g: float, depth: float
) -> tuple[float, float, float]:
    """Hm0 [m], Te [s] and J [W/m] of a realised sea; gaps where it has no plane waves."""
    if not isinstance(waves, Components) or not np.any(waves.amplitude):
        return np.nan, np.nan, np.nan
    omega, k = np.asarray(waves.omega), np.asarray(waves.wavenumber)
    energy = 0.5 * np.asarray(waves.amplitude) ** 2
    m0 = energy.sum()
    period = 2.0 * np.pi * (energy / omega).sum() / m0
    kd = np.minimum(2.0 * k * depth, 700.0) if np.isfinite(depth) else np.full(len(k), 700.0)
    group = 0.5 * omega / k * (1.0 + kd / np.sinh(kd))
    return 4.0 * np.sqrt(m0), period, rho * g * (energy * group).sum()


def sea_states(table: CaseTable, sea: Sea | None, water: Any, g: float) -> NamedValues:
    """Quantities of the sea of each case; seeds of one state share them.

    Args:
        table: the cases.
        sea: of the base.
        water: rho and depth.
        g: gravity [m/s^2].
    """
    if sea is None:
        return {}
    names = [name for name in table.columns if not of_model(name) and name != "seed"]
    rows = np.stack([table.columns[name] for name in names], axis=1) if names else None
    if rows is None:
        first, inverse = np.array([0]), np.zeros(len(table), int)
    else:
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    quantities = []
    for k in first:
        where = {name: x for name, x in table.row(int(k)).items() if not of_model(name)}
        waves = realise(in_sea(sea, where) or sea, water)
        quantities.append(sea_quantities(waves, float(water.rho), g, float(water.depth)))
    values = np.array(quantities)[inverse.ravel()]
    return {
        name: {"values": values[:, i].tolist(), "attrs": ABOUT[name]}
        for i, name in enumerate(ABOUT)
    }


# variables that results have besides those of a run
OURS = ("state", "message", "case_id", "seconds", "occurrence", "Hm0", "Te", "J", "case")


@contextmanager
def created_folder(folder: Path) -> Iterator[Path]:
    """Create a folder and its parents; empty ones are removed again at the end."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SwelltreeError(
            f"cannot make the folder '{folder}': {error.strerror}. Choose another."
        ) from None
    try:
        yield folder
    finally:
        for path in new:
            if any(path.iterdir()):
                break
            path.rmdir()


@contextmanager
def report_each_once() -> Iterator[set[str]]:
    """Collect warnings of the block and emit each once at its end; yields the set of messages."""
    sentences: set[str] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SwelltreeWarning)
        try:
            yield sentences
        finally:
            reported = {(one.category, str(one.message)): one for one in caught}
    for one in reported.values():
        if issubclass(one.category, SwelltreeWarning):
            sentences.add(str(one.message))
            warn_user(str(one.message), one.category)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def check_vary(vary: object, name: str) -> None:
    """A list of what varies.

    Args:
        vary: as given.
        name: of the campaign.
    """
    rows = None if isinstance(vary, Vary) else row_of(vary)
    wrong = vary if rows is None else next((x for x in rows if not isinstance(x, Vary)), None)
    if wrong is not None:
        specified = shown(wrong) if isinstance(wrong, str) else type(wrong).__name__
        raise SwelltreeError(
            f"campaign '{name}': vary is {specified}, not a list of what varies. Give e.g. "
            "[Values('Hs', [1.0, 2.0]), Seeds(6)]."
        )


def check_numbers(name: str, *, seconds: NamedValues, counts: NamedValues) -> None:
    """Times in seconds and whole numbers, as given.

    Args:
        name: of the campaign.
        seconds: by word; None where not given.
        counts: by name, each with its min value; None where not given.
    """
    for word, value in seconds.items():
        if value is None:
            continue
        try:
            is_more = as_number(value) > 0
        except ValueError as error:
            raise SwelltreeError(f"campaign '{name}': {word} {error}") from None
        if not is_more:
            raise SwelltreeError(
                f"campaign '{name}': {word} {value} s is not positive. Give more than zero."
            )
    for word, (value, least) in counts.items():
        if value is None:
            continue
        is_complete = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_complete or value < least:
            raise SwelltreeError(
                f"campaign '{name}': {word} {value} is not a whole number of at least {least}. "
                f"Give {least} or more."
            )


def check_dims(table: CaseTable, blank: xr.Dataset) -> None:
    """No dimension of the cases has the name of something else in the results.

    Args:
        table: the cases.
        blank: what is kept of one.
    """
    taken = {str(name) for name in (*blank.variables, *blank.dims, *OURS)}
    clash = [name for name in table.dims if name in taken]
    if clash:
        raise SwelltreeError(
            f"campaign: the dimension {listed(clash)} has the name of a part of the results. Give "
            "another dim."
        )


@functools.cache
def code() -> str:
    """Hash of the package's text and of the versions of what computes."""
    return hashed(*versions())[:16]


@functools.cache
def own_text() -> str:
    return hashed(versions()[1])


def check_version(folder: Path, about: NamedValues) -> None:
    """Warn where a store was begun with another version.

    Args:
        folder: of the store.
        about: what it keeps.
    """
    if about.get("code", code()) != code():
        version = about["attrs"].get("swelltree_version", "unknown")
        warn_user(
            f"'{folder}' was begun with another version (swelltree {version}, or of Python, JAX, "
            "numpy, scipy or llvmlite): cases that run now may differ from those that are there. "
            "Name another folder where that matters; the index distinguishes them by `code`."
        )
