"""Tables of a result: the terminal and the pages show the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.results.design_values import HEADS, design_tables
from swelltree.results.displacement import motion_name
from swelltree.results.energy import energy_scale, mean_energy_terms
from swelltree.results.statistics import statistic, window_text
from swelltree.results.units import prefixed, readable

if TYPE_CHECKING:
    import xarray as xr

NONE = "–"
ENDS = (("anchor_tension", "tension at A [N]"), ("fairlead_tension", "tension at B [N]"))
VERDICT = ("state", "utilisation", "governing", "operable")


@dataclass(frozen=True)
class Table:
    """Texts in rows; the first column names them.

    Args:
        title: of the table.
        heads: of the columns.
        rows: of the table.
        total: rows at the end that are sums.
        about: a note on all of it.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int = 0
    about: str = ""


def short(value: float | None) -> str:
    """A number with four digits."""
    if value is None or not np.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    if abs(value) < 1e-3 or abs(value) >= 1e5:
        return f"{value:.2e}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


# --- Motions


def _heads_of_dofs(dataset: xr.Dataset, per: str = "") -> list[str]:
    dofs = [str(dof) for dof in dataset["dof"].values]
    return [f"{dof} [{'m' if i < 3 else 'deg'}{per}]" for i, dof in enumerate(dofs)]


def motion_table(title: str, dataset: xr.Dataset, values: np.ndarray, per: str = "") -> Table:
    """One row for each body of values (body, dof), rotations in degrees."""
    shown = values.copy()
    shown[:, 3:] = np.degrees(shown[:, 3:])
    rows = [
        [str(body), *("0" if abs(x) < 1e-9 else short(x) for x in row)]
        for body, row in zip(dataset["body"].values, shown, strict=True)
    ]
    return Table(title, ["body", *_heads_of_dofs(dataset, per)], rows)


def still_tables(dataset: xr.Dataset) -> list[Table]:
    """Equilibrium of bodies, or how much they move in a sea."""
    titles = {"position": "equilibrium", "standard_deviation": "standard deviation of the motion"}
    return [
        motion_table(title, dataset, dataset[name].transpose("body", "dof").values)
        for name, title in titles.items()
        if name in dataset and set(dataset[name].dims) == {"body", "dof"} and dataset[name].size
    ]


def extremes(dataset: xr.Dataset) -> list[tuple[str, list[tuple[float, float]]]]:
    """Min and max displacement [m] and rotation [deg], body by body."""
    moved = dataset[motion_name(dataset)]
    low, high = (statistic(moved, name).copy() for name in ("min", "max"))
    low[:, 3:], high[:, 3:] = np.degrees(low[:, 3:]), np.degrees(high[:, 3:])
    return [
        (str(name), [(float(a), float(b)) for a, b in zip(low[i], high[i], strict=True)])
        for i, name in enumerate(dataset["body"].values)
    ]


def extremes_table(dataset: xr.Dataset) -> Table:
    away = dataset[motion_name(dataset)].attrs.get("measured_from")
    since = f" from {away}" if away else ""
    rows = []
    for name, ranges in extremes(dataset):
        for i, word in enumerate(("min", "max")):
            values = (pair[i] for pair in ranges)
            texts = (NONE if abs(x) < 5e-4 else f"{x:.{3 if abs(x) < 100 else 1}f}" for x in values)
            rows.append(["" if i else name, word, *texts])
    title = f"motion of the reference points{since}, {window_text(dataset)}"
    return Table(title, ["body", "", *_heads_of_dofs(dataset)], rows)


# --- Tensions, loads and offsets


def tension_tables(dataset: xr.Dataset) -> list[Table]:
    """Tensions of lines and springs; of a run those of springs, at most."""
    result, at_rest = [], "time" not in dataset.dims
    if at_rest and "line" in dataset.dims and all(name in dataset for name, _ in ENDS):
        columns = [dataset[name].values for name, _ in ENDS]
        rows = zip(dataset["line"].values, *columns, strict=True)
        texts = [[str(name), *(f"{x:.5g}" for x in values)] for name, *values in rows]
        result.append(Table("lines", ["line", *(head for _, head in ENDS)], texts))
    if "spring_tension" in dataset:
        names = ("spring_tension", "spring_length")
        columns = [dataset[x].values if at_rest else statistic(dataset[x], "max") for x in names]
        rows = zip(dataset["spring"].values, *columns, strict=True)
        texts = [[str(name), *(f"{x:.5g}" for x in values)] for name, *values in rows]
        title = "springs" if at_rest else f"springs, maximum {window_text(dataset)}"
        result.append(Table(title, ["spring", "tension [N]", "length [m]"], texts))
    return result


def load_tables(dataset: xr.Dataset) -> list[Table]:
    """Tensions, hook loads, offsets and accelerations, with the largest to expect."""
    return [
        Table(
            f"{built.title} [{readable(built.unit)[0]}]",
            [built.item, *HEADS],
            [[row[0], *map(short, row[1:])] for row in built.rows],
        )
        for built in design_tables(dataset)
    ]


# --- Power and energy


def pto_table(dataset: xr.Dataset) -> Table:
    """Mean powers of the power take-offs."""
    terms = mean_energy_terms(dataset)
    each, full = dataset["absorbed_power"], dataset["absorbed_power"].sum("pto")
    tops = [*statistic(each, "max"), float(statistic(full, "max"))]
    means = np.array([row[1:] for row in terms], float).reshape(-1, 3)
    means = np.concatenate([means, means.sum(0)[None]])
    unit, factor = prefixed("W", max(np.abs(means).max(), *np.abs(tops)))
    rows, names = [], [*(row[0] for row in terms), "sum"]
    for name, (absorbed, delivered, lost), top in zip(names, means.tolist(), tops, strict=True):
        powers = (f"{factor * float(x):.5g}" for x in (absorbed, top, delivered, lost))
        rows.append([name, *powers, f"{delivered / absorbed:.1%}" if absorbed > 0 else NONE])
    words = ("mean absorbed", "max", "mean delivered", "lost")
    heads = ["power take-off", *(f"{word} [{unit}]" for word in words), "efficiency"]
    about = f"{window_text(dataset).capitalize()}."
    return Table("power take-offs", heads, rows, total=1, about=about)


def budget(dataset: xr.Dataset) -> list[tuple[str, float, float]]:
    """Terms of the energy budget over the run: name, change of stored energy, work [J].

    Kinetic energy counts as stored; elements that did nothing are left out.
    """
    kinetic = dataset["kinetic_energy"].sum("body").values
    rows = [("kinetic", float(kinetic[-1] - kinetic[0]), 0.0)]
    for name in dataset["element"].values:
        stored = dataset["potential_energy"].sel(element=name).values
        work = float(dataset["work"].sel(element=name).values[-1])
        if stored.any() or work:
            rows.append((str(name), float(stored[-1] - stored[0]), work))
    return rows


def residuals(dataset: xr.Dataset) -> list[tuple[float, float]]:
    """Energy residual at the end and its max [J], each also as a fraction of what moved."""
    scale = energy_scale(dataset)
    values = dataset["energy_residual"].values
    chosen = (float(values[-1]), float(values[np.abs(values).argmax()]))
    return [(value, abs(value) / scale if scale > 0 else 0.0) for value in chosen]


def budget_table(dataset: xr.Dataset) -> Table:
    """The energy budget over the run."""
    rows = budget(dataset)
    unit, factor = prefixed("J", max([abs(x) for row in rows for x in row[1:]], default=0.0))

    def number(value: float) -> str:
        return f"{factor * value:,.4g}".replace("-", "−") if value else NONE

    lines = [[name, number(stored), number(work)] for name, stored, work in rows]
    lines.append(["sum", number(sum(r[1] for r in rows)), number(sum(r[2] for r in rows))])
    last, worst = residuals(dataset)
    for words, (value, share) in (("residual at the end", last), ("largest residual", worst)):
        texts = f"{factor * value:.2e}", f"{share:.1e} of what moved"
        lines.append([words, *(text.replace("-", "−") for text in texts)])
    heads = ["element", f"stored energy, change [{unit}]", f"work done [{unit}]"]
    return Table("energy budget", heads, lines, total=3)


# --- Modes, operability


def mode_table(dataset: xr.Dataset) -> Table:
    """Period and damping of every mode, and what moves most in it."""
    share, rows = dataset["energy_share"].values, []
    columns = ("natural_period", "damped_period", "damping_ratio")
    for i, mode in enumerate(dataset["mode"].values):
        body, dof = np.unravel_index(share[i].argmax(), share[i].shape)
        numbers = (short(float(dataset[name].values[i])) for name in columns)
        most = f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}"
        rows.append([str(mode), *numbers, most])
    heads = ["mode", "natural period [s]", "damped period [s]", "damping [of critical]"]
    about = (
        f"Added mass {dataset.attrs.get('added_mass', '?')}. What moves most has the "
        "largest fraction of the kinetic energy."
    )
    return Table("modes", [*heads, "moves most"], rows, about=about)


def operability_table(dataset: xr.Dataset) -> Table:
    """Every case in a row: its conditions, verdict, use of limits, what governs, and numbers."""
    state = dataset["state"]
    numbers = [str(name) for name in dataset.data_vars if name not in VERDICT]
    units = {name: dataset[name].attrs.get("units", "") for name in state.dims}
    heads = [f"{name} [{units[name]}]" if units[name] else str(name) for name in state.dims]
    rows = []
    for place in np.ndindex(state.shape):
        where = [short(float(dataset[d].values[i])) for d, i in zip(state.dims, place, strict=True)]
        values = [dataset[name].values[place] for name in ("utilisation", *numbers)]
        use, *others = (short(float(value)) for value in values)
        governing = str(dataset["governing"].values[place]) or NONE
        rows.append([*where, str(state.values[place]), use, governing, *others])
    count = int((state == "operable").sum())
    about = f"{count} of {state.size} cases are operable. Limits: {dataset.attrs['limits']}."
    heads += ["state", "part of limit", "governing", *numbers]
    return Table("operability", heads, rows, about=about)
