"""One HTML page of a run that opens by double click: moving scene, plots, tables.

The page is whole in itself: styles, viewer, data and pictures are inside it and nothing is
loaded from anywhere.
"""

from __future__ import annotations

import base64
import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swelltree.results.files import write_whole
from swelltree.results.summary import budget, extremes, relative_residual, spread, warnings_of
from swelltree.system import System
from swelltree.views.scene import scene

if TYPE_CHECKING:
    import xarray as xr


def write_report(
    system: System,
    dataset: xr.Dataset,
    path: str | Path,
    *,
    note: str = "",
    plots: tuple[bytes, ...] | None = None,
    wave: Any = None,
    case: int | str = 0,
) -> Path:
    """Write the page of a run.

    Args:
        system: what was run.
        dataset: its result in time.
        path: of the page.
        note: a sentence or two under the heading.
        plots: pictures (PNG) to show instead of the usual plots.
        wave: the sea of the run, shown as a moving surface.
        case: number or name of the run, as given to `simulate`.
    """
    if plots is None:
        from swelltree.views.plots import plot_energy, plot_motion, to_png

        plots = (to_png(plot_motion(dataset)), to_png(plot_energy(dataset)))
    return write_whole(Path(path), page(system, dataset, note, plots, wave, case))


def page(
    system: System,
    dataset: xr.Dataset,
    note: str,
    plots: tuple[bytes, ...],
    wave: Any = None,
    case: int | str = 0,
) -> str:
    """The page as text."""
    attrs = dataset.attrs
    data = scene(system, dataset, wave, case)
    parts = {
        "title": escape(f"{system.name} - swelltree"),
        "name": escape(system.name),
        "subtitle": escape(f"{attrs.get('study_name', 'simulation')}, {attrs.get('created', '')}"),
        "note": f'<p class="note">{escape(note)}</p>' if note else "",
        "warnings": "".join(f'<p class="warn">{escape(s)}</p>' for s in warnings_of(dataset)),
        "chips": _chips(dataset),
        "legend": _legend(data),
        "plots": "".join(f'<section class="card">{_picture(png)}</section>' for png in plots),
        "tables": _tables(system, dataset),
        "footer": escape(
            f"swelltree {attrs.get('swelltree_version', '')}, {attrs.get('conventions', '')}. "
            f"rho {attrs.get('rho', 0):g} kg/m^3, g {attrs.get('g', 0):g} m/s^2."
        ),
        # a name may hold "</script>"
        "scene": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "viewer": _resource("viewer.js"),
    }
    # cut at the marks once, so that no text put in can be taken for a mark
    head, *rest = _resource("page.html").split("{{")
    pieces = [head]
    for piece in rest:
        key, _, after = piece.partition("}}")
        pieces += [parts[key], after]
    return "".join(pieces)


def _resource(name: str) -> str:
    return resources.files("swelltree.views").joinpath(name).read_text(encoding="utf-8")


def _picture(png: bytes) -> str:
    return f'<img alt="plot" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def _chips(dataset: xr.Dataset) -> str:
    """The numbers to see first."""
    attrs, time = dataset.attrs, dataset["time"].values
    values = {
        "simulated": f"{time[-1]:g} s",
        "bodies": f"{dataset.sizes['body']}",
        "steps": f"{attrs.get('steps_accepted', '-')}",
        "formulation": str(attrs.get("formulation", "-")),
        "solver": str(attrs.get("solver", "-")),
        "joints closed within": f"{float(dataset['closure'].max()):.1e} m",
        "energy residual": f"{relative_residual(dataset):.1e}",
    }
    if "elevation" in dataset:
        values = {
            "simulated": values.pop("simulated"),
            "sea (4 rms)": _sea_height(dataset),
        } | values
    if "absorbed_power" in dataset:
        mean = float(dataset["absorbed_power"].sum("pto").mean())
        values = {"simulated": values.pop("simulated"), "mean power": power_text(mean)} | values
    return "".join(f"<li><b>{escape(v)}</b><span>{k}</span></li>" for k, v in values.items())


def _sea_height(dataset: xr.Dataset) -> str:
    later = dataset["elevation"].values[len(dataset["time"]) // 5 :]
    return f"{4.0 * float(later.std()):.2g} m"


def power_text(watts: float) -> str:
    """A power with a unit that fits."""
    for unit, size in (("MW", 1e6), ("kW", 1e3)):
        if abs(watts) >= size:
            return f"{watts / size:.3g} {unit}"
    return f"{watts:.3g} W"


def _legend(data: dict[str, Any]) -> str:
    bodies = "".join(
        f'<span><i style="background:{b["color"]}"></i>{escape(b["name"])}</span>'
        for b in data["bodies"][:12]
    )
    tension = '<span class="pull"><i></i>spring, slack to tight</span>' if data["springs"] else ""
    return bodies + tension


def table(heads: list[str], rows: list[list[str]], total: int = 0) -> str:
    """A table; the first column is text, the last `total` rows are sums."""

    def cells(tag: str, row: list[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if i else ''}>{escape(text)}</{tag}>" for i, text in enumerate(row)
        )

    first = len(rows) - total
    body = "".join(
        f"<tr{' class=sum' if i == first and total else ''}>{cells('td', row)}</tr>"
        for i, row in enumerate(rows)
    )
    return f'<div class="scroll"><table><tr>{cells("th", heads)}</tr>{body}</table></div>'


def _card(title: str, content: str) -> str:
    return f'<section class="card"><h2>{escape(title)}</h2>{content}</section>'


def _tables(system: System, dataset: xr.Dataset) -> str:
    """Motion of the bodies, energy budget, joints, springs, settings, case."""
    heads = ["body", "mass [kg]"]
    heads += [f"{d} [{'m' if i < 3 else 'deg'}]" for i, d in enumerate(dataset["dof"].values)]
    motion = [
        [name, f"{system.resolved.body(name).mass:g}", *(spread(*pair) for pair in ranges)]
        for name, ranges in extremes(dataset)
    ]
    cards = [_card("Bodies: least..greatest position", table(heads, motion))]
    pairs = [_card("Energy budget", _budget(dataset)), _card("Joints", _joints(system, dataset))]
    if "absorbed_power" in dataset:
        pairs.append(_card("Power take-offs", _ptos(dataset)))
    if "spring_tension" in dataset:
        pairs.append(_card("Springs", _springs(dataset)))
    hidden = ("case", "report", "conventions", "title")
    settings = [[k, str(v)] for k, v in dataset.attrs.items() if k not in hidden and str(v)]
    pairs.append(_card("Run", table(["setting", "value"], settings)))
    cards.append(f'<div class="grid">{"".join(pairs)}</div>')
    text = str(dataset.attrs.get("case", "")) or _toml(system)
    if text:
        content = (
            f"<details><summary>show the case file</summary><pre>{escape(text)}</pre></details>"
        )
        cards.append(_card("Case", content))
    return "".join(cards)


def _toml(system: System) -> str:
    from swelltree.system.errors import SwelltreeError

    try:
        return system.to_toml()
    except SwelltreeError:  # a lambda has no text
        return ""


def _budget(dataset: xr.Dataset) -> str:
    rows = budget(dataset)

    def number(value: float) -> str:
        return f"{value:,.1f}" if value else "-"

    lines = [[name, number(stored), number(work)] for name, stored, work in rows]
    lines.append(["sum", number(sum(r[1] for r in rows)), number(sum(r[2] for r in rows))])
    residual = float(dataset["energy_residual"].values[-1])
    lines.append(["residual", f"{residual:.2e}", ""])
    return table(["element", "stored energy, change [J]", "work done [J]"], lines, total=2)


def _joints(system: System, dataset: xr.Dataset) -> str:
    types = {joint.name: joint.type for joint in system.joints}
    force = np.linalg.norm(dataset["reaction"].values[:, :, :3], axis=-1).max(0)
    moment = np.linalg.norm(dataset["reaction"].values[:, :, 3:], axis=-1).max(0)
    rows = []
    for i, name in enumerate(dataset["joint"].values):
        between = f"{dataset['base'].values[i]} - {dataset['follower'].values[i]}"
        kind = types.get(str(name), "free").replace("_", "-")
        rows.append([str(name), kind, between, f"{force[i]:,.0f}", f"{moment[i]:,.0f}"])
    return table(["joint", "type", "between", "force [N]", "moment [N m]"], rows)


def _ptos(dataset: xr.Dataset) -> str:
    absorbed = dataset["absorbed_power"]
    delivered = dataset.get("delivered_power", absorbed)

    def row(name: str, taken: xr.DataArray, given: xr.DataArray) -> list[str]:
        return [name, *(power_text(float(x)) for x in (taken.mean(), taken.max(), given.mean()))]

    rows = [
        row(str(name), absorbed.sel(pto=name), delivered.sel(pto=name))
        for name in dataset["pto"].values
    ]
    rows.append(row("sum", absorbed.sum("pto"), delivered.sum("pto")))
    return table(["power take-off", "mean absorbed", "greatest", "mean delivered"], rows, total=1)


def _springs(dataset: xr.Dataset) -> str:
    tension, length = dataset["spring_tension"].values, dataset["spring_length"].values
    rows = [
        [
            str(name),
            f"{tension[:, i].min():,.0f}..{tension[:, i].max():,.0f}",
            f"{length[:, i].min():.2f}..{length[:, i].max():.2f}",
        ]
        for i, name in enumerate(dataset["spring"].values)
    ]
    return table(["spring", "tension [N]", "length [m]"], rows)
