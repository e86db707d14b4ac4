"""A campaign as one page: matrices of power, energy of a year, slowest and failed cases.

The page is whole in itself and runs no script.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, SupportsInt

import numpy as np

from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.values import DOFS
from swelltree.report.html import card, table
from swelltree.report.plots.frequency import matrix
from swelltree.report.plots.time import to_png
from swelltree.results.cases.power import annual_energy, power_channel, power_matrix
from swelltree.results.units import unit_of

if TYPE_CHECKING:
    import xarray as xr

SHOWN = 12  # slowest or failed cases
MATRICES = ("power", "absorbed_power", "power_std", "capture_width", "occurrence")
ABSORBED = "absorbed_power"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;
 style-src 'unsafe-inline'">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #22303c; background: #f4f6f8; margin: 0; }}
main {{ max-width: 1100px; margin: 0 auto; padding: 24px; }}
h1 {{ font-size: 24px; margin: 0; }} h2 {{ font-size: 16px; margin: 0 0 10px; }}
.soft {{ color: #5b6b79; margin: 2px 0 18px; }}
.card {{ background: white; border: 1px solid #e1e6ea; border-radius: 8px; padding: 16px;
 margin: 0 0 16px; }}
.chips {{ display: flex; flex-wrap: wrap; gap: 10px; padding: 0; margin: 0 0 16px;
 list-style: none; }}
.chips li {{ background: white; border: 1px solid #e1e6ea; border-radius: 8px; padding: 8px 14px; }}
.chips b {{ display: block; font-size: 18px; }}
.pictures {{ display: flex; flex-wrap: wrap; gap: 16px; }}
.pictures figure {{ width: calc(50% - 8px); margin: 0; }} .pictures img {{ width: 100%; }}
.pictures figcaption {{ font-weight: 600; font-size: 13px; }}
@media (max-width: 800px) {{ .pictures figure {{ width: 100%; }} }}
.scroll {{ overflow-x: auto; }} table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid #e9edf0; }}
.n {{ text-align: right; }} code {{ font-size: 12px; }}
</style></head><body><main>
<h1>{name}</h1><p class="soft">{about}</p>
<ul class="chips">{chips}</ul>{cards}
<p class="soft">{footer}</p></main></body></html>
"""


def write_campaign_report(campaign: xr.Dataset, path: str | Path) -> Path:
    """Write the results of a campaign as one self-contained HTML page.

    Args:
        campaign: from `open_campaign`.
        path: of the page; an older file is replaced. Replays of single cases that lie beside it, in
            `replays/`, are linked.
    """
    return write_atomic(Path(path), page(campaign, Path(path).parent))


def page(campaign: xr.Dataset, folder: Path) -> str:
    attrs = campaign.attrs
    chips = [("cases done", f"{attrs['cases_done']}")]
    for word in ("failed", "missing"):
        if attrs[f"cases_{word}"]:
            chips.append((f"cases {word}", f"{attrs[f'cases_{word}']}"))
    cards = [_pictures(campaign, chips), _times(campaign), _failed(campaign)]
    seconds = float(campaign["seconds"].sum())
    about = [str(attrs.get("system", "")), f"{attrs.get('duration', 0):g} s each"]
    if "step" in attrs:
        about.append(f"steps of {attrs['step']:g} s")
    if "step_error" in attrs:
        about.append(f"error of the steps {attrs['step_error']:.1g}")
    about += [f"engine {attrs.get('engine', '')}", f"{seconds:.3g} s of computing"]
    name = str(attrs.get("campaign", "campaign"))
    return PAGE.format(
        title=escape(f"{name} – swelltree"),
        name=escape(name),
        about=escape(" · ".join(text for text in about if text)),
        chips="".join(f"<li><b>{escape(v)}</b>{escape(k)}</li>" for k, v in chips),
        cards="".join(cards)
        + _replays(campaign, folder)
        + _ranges(campaign)
        + _peaks_and_fatigue(campaign),
        footer=escape(
            f"Made by swelltree {attrs.get('swelltree_version', '')}, {attrs.get('created', '')}. "
            f"Statistics from {attrs.get('statistics_from', 0)} s on."
        ),
    )


def _pictures(campaign: xr.Dataset, chips: list[tuple[str, str]]) -> str:
    """Annual energy of the designs, and power and energy over the sea states."""
    power = power_channel(campaign)
    if power not in campaign or "statistic" not in campaign[power].dims:
        return ""
    designs = ""
    matrix = power_matrix(campaign, power)
    both = {"absorbed_power", "delivered_power"} <= set(matrix.data_vars)
    same = both and matrix["absorbed_power"].identical(
        matrix["delivered_power"].rename(ABSORBED).assign_attrs(matrix["absorbed_power"].attrs)
    )
    shown = [name for name in MATRICES if name in matrix and not (same and name == ABSORBED)]
    if "occurrence" in matrix and matrix["power"].notnull().any():
        year = annual_energy(matrix)
        matrix = matrix.assign(energy=year["energy"])
        if year["MAEP"].ndim == 0:
            word = "absorbed" if power == ABSORBED else "delivered"
            chips.append((f"MAEP, {word}", _with_error(year, ())))
            if "absorbed_energy" in year and not same:
                energy = float(year["absorbed_energy"]) / 1e6
                chips.append(("absorbed in a year", f"{energy:.4g} MWh"))
            chips.append(("mean power of a year", f"{float(year['mean_power']) / 1e3:.4g} kW"))
            if "capture_width" in year:
                chips.append(("capture width", f"{float(year['capture_width']):.3g} m"))
        elif year["MAEP"].notnull().any():
            heads, rows = _designs(year)
            best = ", ".join(f"{a} = {b}" for a, b in zip(heads, rows[0], strict=False))
            chips.append(("best design", best.partition(", MAEP")[0]))
            chips.append(("its MAEP", rows[0][heads.index("MAEP [MWh]")] + " MWh"))
            more = f"<p>and {len(rows) - SHOWN} more</p>" if len(rows) > SHOWN else ""
            designs = card("Designs, best first", table(heads, rows[:SHOWN]) + more)
    pictures = "".join(
        _picture(x)
        for name in shown + ["energy"] * ("energy" in matrix)
        for x in _planes(matrix[name])
    )
    states = card("Sea states", f'<div class="pictures">{pictures}</div>') if pictures else ""
    return designs + states


def _with_error(year: xr.Dataset, place: tuple[int, ...]) -> str:
    """Annual energy with its standard error over the seeds."""
    energy = f"{float(year['MAEP'].values[place]) / 1e6:.4g}"
    if "MAEP_error" not in year or not np.isfinite(year["MAEP_error"].values[place]):
        return f"{energy} MWh"
    return f"{energy} ± {float(year['MAEP_error'].values[place]) / 1e6:.2g} MWh"


def _designs(year: xr.Dataset) -> tuple[list[str], list[list[str]]]:
    """Annual energy of each design, the best first."""
    energy = year["MAEP"].values
    dims = [str(dim) for dim in year["MAEP"].dims]
    heads, rows = [*dims, "MAEP [MWh]", "mean power [kW]"], []
    if "capture_width" in year:
        heads.append("capture width [m]")
    for k in np.argsort(np.where(np.isfinite(energy), -energy, np.inf), axis=None):
        place = _full(np.unravel_index(k, energy.shape))
        row = [_shown(year[dim].values[i]) for dim, i in zip(dims, place, strict=True)]
        row += [_with_error(year, place).removesuffix(" MWh")]
        row += [f"{float(year['mean_power'].values[place]) / 1e3:.4g}"]
        if "capture_width" in year:
            row.append(f"{float(year['capture_width'].values[place]):.3g}")
        rows.append(row)
    return heads, rows


def _planes(values: xr.DataArray) -> Iterator[xr.DataArray]:
    """Matrices over two dimensions, at most a few."""
    states = [dim for dim in ("Hs", "Tp") if dim in values.dims]
    if len(states) != 2:
        if values.ndim == 2:
            yield values
        return
    others = [dim for dim in values.dims if dim not in states]
    stacked = values.stack(other=others) if others else values.expand_dims("other")
    for k in range(min(stacked.sizes["other"], 4)):
        one = stacked.isel(other=k, drop=not others)
        where = {str(dim): float(one[dim]) for dim in others}
        words = ", ".join(f"{dim} = {value:g}" for dim, value in where.items())
        title = f"{values.attrs.get('long_name', values.name)}" + (f" ({words})" if words else "")
        drop = [name for name in one.coords if name not in states]
        yield one.drop_vars(drop).transpose("Hs", "Tp").assign_attrs(values.attrs, long_name=title)


def _picture(values: xr.DataArray) -> str:
    text = base64.b64encode(to_png(matrix(values, title=" "), dpi=110)).decode()
    about = escape(str(values.attrs.get("long_name", values.name)))
    image = f'<img alt="{about}" src="data:image/png;base64,{text}">'
    return f"<figure><figcaption>{about}</figcaption>{image}</figure>"


def _full(place: Iterable[SupportsInt]) -> tuple[int, ...]:
    """Index in the table, as Python integers."""
    return tuple(int(k) for k in place)


def _rows(
    campaign: xr.Dataset, places: Iterable[tuple[int, ...]]
) -> tuple[list[str], list[list[str]]]:
    """Dimensions and labels of some cases."""
    dims = [str(dim) for dim in campaign["state"].dims]
    rows = []
    for place in places:
        where = [_shown(campaign[d].values[i]) for d, i in zip(dims, place, strict=True)]
        rows.append([str(campaign["case_id"].values[place]), *where])
    return ["case", *dims], rows


def _shown(value: float | np.integer) -> str:
    """Text of a table value; seeds and integers with all digits."""
    return str(value) if isinstance(value, np.integer) else f"{value:g}"


def _times(campaign: xr.Dataset) -> str:
    seconds = campaign["seconds"].values
    if not np.isfinite(seconds).any():
        return ""
    order = np.argsort(np.where(np.isfinite(seconds), -seconds, np.inf), axis=None)[:SHOWN]
    places = [_full(np.unravel_index(k, seconds.shape)) for k in order]
    places = [place for place in places if np.isfinite(seconds[place])]
    heads, rows = _rows(campaign, places)
    rows = [[*row, f"{seconds[place]:.3g}"] for row, place in zip(rows, places, strict=True)]
    return card("Slowest cases", table([*heads, "s"], rows))


def _failed(campaign: xr.Dataset) -> str:
    state = campaign["state"].values
    places = [_full(row) for row in np.argwhere(state == "failed")]
    if not places:
        return ""
    heads, rows = _rows(campaign, places[:SHOWN])
    rows = [
        [*row, str(campaign["message"].values[place])]
        for row, place in zip(rows, places, strict=False)
    ]
    more = f"<p>and {len(places) - SHOWN} more</p>" if len(places) > SHOWN else ""
    return card("Failed cases", table([*heads, "why"], rows, numbers=False) + more)


def _replays(campaign: xr.Dataset, folder: Path) -> str:
    """Links to pages of single runs, and the command that makes one."""
    names = campaign["case_id"].values
    there = {path.stem for path in (folder / "replays").glob("*.html")}
    links = []
    for place in map(_full, np.argwhere(np.isin(names, list(there)))) if there else ():
        heads, rows = _rows(campaign, [place])
        words = ", ".join(f"{a} {b}" for a, b in zip(heads[1:], rows[0][1:], strict=True))
        name = escape(rows[0][0])
        links.append(f'<li><a href="replays/{name}.html">{name}</a> {escape(words)}</li>')
    listing = f"<ul>{''.join(links)}</ul>" if links else ""
    how = "A whole run of one case: <code>swelltree sweep CAMPAIGN --replay CASE</code>."
    return card("Replays", f"{listing}<p>{how}</p>")


def _unit(values: xr.DataArray, labels: dict[str, str]) -> str:
    """Unit of one entry of a channel with translations and rotations."""
    turns = labels.get("dof") in DOFS[3:]
    for dim, label in labels.items():
        if f"{dim}_turns" in values.coords:
            turns |= bool(values[f"{dim}_turns"].sel({dim: label}))
    return unit_of(str(values.attrs.get("units", "")), turns)


def _ranges(campaign: xr.Dataset) -> str:
    """Min and max of mean, deviation and extremes of every channel over all cases."""
    rows = []
    for name, values in campaign.data_vars.items():
        if "statistic" not in values.dims:
            continue
        entry_dims = [
            d for d in values.dims if d not in campaign["state"].dims and d != "statistic"
        ]
        stacked = (
            values.stack(entry=entry_dims).compute()
            if entry_dims
            else values.compute().expand_dims("entry")
        )
        for k in range(stacked.sizes["entry"]):
            one = stacked.isel(entry=k)
            label = (
                ", ".join(str(v) for v in np.atleast_1d(one["entry"].item())) if entry_dims else ""
            )
            numbers = [one.sel(statistic=s).values for s in ("mean", "std", "min", "max")]
            if not np.nanmax(np.abs(numbers[1]), initial=0.0) > 0:
                continue
            least, greatest = float(np.nanmin(numbers[2])), float(np.nanmax(numbers[3]))
            mean, std = float(np.nanmean(numbers[0])), float(np.nanmax(numbers[1]))
            at = np.atleast_1d(one["entry"].item()) if entry_dims else ()
            unit = _unit(values, {str(d): str(v) for d, v in zip(entry_dims, at, strict=True)})
            row = [f"{name} {label}".strip(), unit]
            rows.append([*row, *(f"{x:.4g}" for x in (mean, std, least, greatest))])
    heads = ["channel", "unit", "mean of all", "largest std", "min", "max"]
    return card("Channels over all cases", table(heads, rows)) if rows else ""


def _peaks_and_fatigue(campaign: xr.Dataset) -> str:
    """Extreme peaks and damage-equivalent ranges of every channel over all cases."""
    cases = campaign["state"].dims
    exponents = [f"{m:g}" for m in campaign["exponent"].values] if "exponent" in campaign else []
    rows = []
    for name in sorted({str(key).rpartition("_")[0] for key in campaign.data_vars}):
        parts = {key: campaign.get(f"{name}_{key}") for key in ("troughs", "peaks", "del")}
        known = [part for part in parts.values() if part is not None]
        if not known or not {"rank", "exponent"} & {*known[0].dims}:
            continue
        dims = [d for d in known[0].dims if d not in (*cases, "rank", "exponent")]
        for place in np.ndindex(*(known[0].sizes[d] for d in dims)):
            at = dict(zip(dims, place, strict=True))
            labels = {str(d): str(known[0][d].values[k]) for d, k in at.items()}
            row = [f"{name} {', '.join(labels.values())}".strip(), _unit(known[0], labels)]
            for key, extreme in (("troughs", np.fmin), ("peaks", np.fmax)):
                part = parts[key]
                found = np.nan if part is None else extreme.reduce(part.isel(at).values.ravel())
                row.append(f"{found:.4g}")
            ranges = parts["del"]
            for m in range(len(exponents)):
                found = np.nan
                if ranges is not None:
                    found = np.fmax.reduce(ranges.isel({**at, "exponent": m}).values.ravel())
                row.append(f"{found:.4g}")
            if any(x not in ("nan", "0") for x in row[2:]):
                rows.append([x if x != "nan" else "–" for x in row])
    heads = ["channel", "unit", "deepest trough", "highest peak"]
    heads += [f"equivalent range, m = {m}" for m in exponents]
    return card("Peaks and fatigue, extremes of all cases", table(heads, rows)) if rows else ""
