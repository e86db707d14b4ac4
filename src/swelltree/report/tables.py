"""Tables of a result: key numbers, findings, statistics, energy, model, provenance."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.report.html import card, citations, folded, table
from swelltree.report.scene import segment_tension
from swelltree.results.design_values import MPM
from swelltree.results.energy import mean_energy_terms
from swelltree.results.sea import sea_words
from swelltree.results.statistics import settled, statistic, window_text
from swelltree.results.summary import relative_residual, warnings_of
from swelltree.results.tables import Table, load_tables, short
from swelltree.results.units import power_text, prefixed

if TYPE_CHECKING:
    import xarray as xr


# long texts that have a place of their own
HIDDEN = (
    "case",
    "case_place",
    "drawing",
    "wave_components",
    "sea_quantities",
    "findings",
    "report",
    "conventions",
    "title",
)
STATISTICS = ("mean", "std", "significant", "min", "max", "MPM")
SHOWN_FIRST = (
    "elevation",
    "displacement",
    "position",
    "joint_coordinate",
    "absorbed_power",
    "delivered_power",
)
MOST_ROWS = 400
MOST_RANGES = 12  # lines with range graphs


def chips(dataset: xr.Dataset) -> str:
    """Headline values."""
    attrs = dataset.attrs
    values: dict[str, str] = {}
    if "time" in dataset.dims:
        values["simulated"] = f"{dataset['time'].values[-1]:g} s"
    values |= sea_words(dataset)
    if "absorbed_power" in dataset and "pto" in dataset["absorbed_power"].dims:
        energy_terms = mean_energy_terms(dataset)
        values["mean delivered power"] = power_text(sum(row[2] for row in energy_terms))
        values["mean absorbed power"] = power_text(sum(row[1] for row in energy_terms))
    pull = greatest_tension(dataset)
    if pull is not None:
        unit, factor = prefixed("N", pull[1])
        values[pull[0]] = f"{pull[1] * factor:.3g} {unit}"
    if "time" in dataset.dims:
        first, last = settled(dataset), float(dataset["time"].values[-1])
        values["window of the statistics"] = f"{first:g} to {last:g} s"
    if "body" in dataset.dims:
        count = dataset.sizes["body"]
        values["bodies" if count > 1 else "body"] = str(count)
    if "formulation" in attrs:
        values["formulation"] = str(attrs["formulation"]).replace("_", " ")
    if "energy_residual" in dataset and "time" in dataset.dims:
        share = 100 * relative_residual(dataset)
        values["energy residual"] = f"{share:.2g} %" if share > 1e-3 else "< 0.001 %"
    return "".join(f"<li><b>{escape(v)}</b><span>{k}</span></li>" for k, v in values.items())


def greatest_tension(dataset: xr.Dataset) -> tuple[str, float] | None:
    """Maximum tension of all lines and its item [N]: at the fairleads if known."""
    has_fairleads = "fairlead_tension" in dataset
    tension = dataset["fairlead_tension"] if has_fairleads else segment_tension(dataset)
    if tension is None:
        return None
    values = statistic(tension, "max") if "time" in tension.dims else tension.values
    where = "maximum fairlead tension" if has_fairleads else "maximum tension along lines"
    return where, float(np.nanmax(values, initial=0.0))


def findings(dataset: xr.Dataset) -> str:
    """Warnings about a result, and the findings of the model checks."""
    rows = [("warning", text) for text in warnings_of(dataset)]
    for line in str(dataset.attrs.get("findings", "")).splitlines():
        kind, _, text = line.partition(": ")
        rows.append((kind.split(" ")[0], text or line))
    run = "time" in dataset.dims and dataset.attrs.get("result") == "success"
    if not rows and run:
        rows = [("good", "All checks passed: finished, joints closed, energy in order.")]
    kinds = ("error", "warning", "good")
    items = "".join(
        f'<li class="{kind if kind in kinds else "note"}">{escape(text)}</li>'
        for kind, text in rows
    )
    return f'<ul class="findings" aria-label="Findings">{items}</ul>' if items else ""


def shown(built: Table) -> str:
    about = f'<p class="about">{escape(built.about)}</p>' if built.about else ""
    title = built.title[0].upper() + built.title[1:]
    return card(title, about + table(built.heads, built.rows, built.total))


def design_card(dataset: xr.Dataset) -> str:
    """Tensions, hook loads, offsets and accelerations, with expected maxima."""
    built = load_tables(dataset)
    if not built:
        return ""
    content = "".join(table([x.title, *x.heads[1:]], x.rows) for x in built)
    about = f"{window_text(dataset).capitalize()}. {MPM}"
    return card("Loads and motions", f'<p class="about">{escape(about)}</p>' + content)


def statistics_card(statistics: NamedValues) -> str:
    """Statistics of the channels that matter, the others folded."""

    def lines(rows: list[NamedValues]) -> str:
        # mean, std, significant, min, max, most probable maximum
        order = (0, 1, 2, 3, 4, 6)
        return table(
            ["channel", "unit", *STATISTICS],
            [
                [_name(row), row["unit"], *(_adjacent(row["stats"], i) for i in order)]
                for row in rows[:MOST_ROWS]
            ],
        )

    moving = [row for row in statistics["channels"] if row["stats"][1]]
    first = [row for row in moving if _matters(row)]
    rest = [row for row in moving if not _matters(row)]
    about = (
        f"Samples {statistics['window']}. Significant: 2 standard deviations (amplitude). "
        "MPM: most probable maximum of a Gaussian channel (Rayleigh), mean + std √(2 ln N); not of "
        "powers, which are not Gaussian. "
        "Motions are displacements from the datum of the run."
    )
    content = f'<p class="about">{escape(about)}</p>' + lines(first or rest)
    if first and rest:
        content += folded(f"{len(rest)} more channels", lines(rest))
    return card("Statistics", content)


def _matters(row: NamedValues) -> bool:
    return row["variable"] in SHOWN_FIRST and not row.get("aside", False)


def _adjacent(stats: list[float | None], i: int) -> str:
    """A statistic, zero if negligible relative to the range of the channel."""
    size = max(abs(stats[3] or 0.0), abs(stats[4] or 0.0))
    value = stats[i]
    return "0" if value is not None and abs(value) < 5e-5 * size else short(value)


def _name(row: NamedValues) -> str:
    return f"{row['owner'][1]}: {row['label']}" if row["owner"] else row["label"]


def ranges_card(dataset: xr.Dataset) -> str:
    """Range graphs of the lines, collapsed after the first."""
    if "line_position" not in dataset or "line" not in dataset.coords:
        return ""
    from swelltree.report import plots as plot

    content = ""
    for i, name in enumerate(map(str, dataset["line"].values[:MOST_RANGES])):
        picture = base64.b64encode(plot.to_png(plot.line_ranges(dataset, name), dpi=80)).decode()
        image = (
            f'<img alt="{escape(f"Min, mean and max along {name}", quote=True)}" '
            f'style="max-width:100%" src="data:image/png;base64,{picture}">'
        )
        content += folded(name, image) if i else image
    left = dataset.sizes["line"] - MOST_RANGES
    if left > 0:
        content += f"<p>{left} more lines: see plot.line_ranges.</p>"
    about = f"Min, mean and max along the lines, {window_text(dataset)}."
    return card("Ranges along lines", f'<p class="about">{escape(about)}</p>' + content)


def joints_card(dataset: xr.Dataset, drawing: NamedValues) -> str:
    """Maximum reactions of every joint."""
    types = {joint["name"]: joint["type"] for joint in drawing["joints"]}
    parts = dataset["reaction"]
    force, moment = (
        statistic((parts.isel(dof=part) ** 2).sum("dof") ** 0.5, "max")
        for part in (slice(0, 3), slice(3, 6))
    )
    (unit_f, f), (unit_m, m) = (
        prefixed("N", force.max(initial=0.0)),
        prefixed("N m", moment.max(initial=0.0)),
    )
    rows = []
    for i, name in enumerate(dataset["joint"].values):
        if types.get(str(name), "free") == "free":
            continue  # it holds nothing
        between = f"{dataset['base'].values[i]} – {dataset['follower'].values[i]}"
        kind = types.get(str(name), "free").replace("_", "-")
        values = (short(f * force[i]), short(m * moment[i]))
        rows.append([f"{name} ({kind})", between, *(v if v != "0" else "–" for v in values)])
    if not rows:
        return ""
    heads = ["joint", "between", f"maximum force [{unit_f}]", f"maximum moment [{unit_m}]"]
    about = f'<p class="about">{window_text(dataset).capitalize()}.</p>'
    return card("Joint reactions", about + table(heads, rows))


def model_card(dataset: xr.Dataset, drawing: NamedValues) -> str:
    bodies = [
        [
            body["name"],
            str(body.get("hull", "–")),
            short(body["mass"]) if body.get("mass") is not None else "–",
            ", ".join(f"{x:g}" for x in body.get("start", ())) or "–",
        ]
        for body in drawing["bodies"]
    ]
    content = table(["body", "hull", "mass [kg]", "reference point as described [m]"], bodies)
    joints = [
        [joint["name"], joint["type"].replace("_", "-"), ", ".join(joint["dofs"]) or "–"]
        for joint in drawing["joints"]
    ]
    if joints:
        content += table(["joint", "type", "DOFs"], joints, numbers=False)
    ptos = [[pto["name"], pto["type"].replace("_", " ")] for pto in drawing["ptos"]]
    if ptos:
        content += table(["power take-off", "type"], ptos, numbers=False)
    attrs = dataset.attrs
    depth = float(attrs.get("water_depth", np.inf))
    water = (
        f"Water: rho {float(attrs.get('rho', np.nan)):g} kg/m³, g {float(attrs.get('g', np.nan)):g}"
        f" m/s², depth {'infinite' if np.isinf(depth) else f'{depth:g} m'}."
    )
    notes = " ".join([water, str(attrs.get("report", ""))])
    return card("Model", f'<p class="about">{escape(notes)}</p>' + content)


def provenance_card(dataset: xr.Dataset, source: str) -> str:
    """Settings, versions and case of a result."""
    rows = [["file", source]] if source else []
    rows += [
        [key.replace("_", " "), str(value)]
        for key, value in dataset.attrs.items()
        if key not in HIDDEN and str(value)
    ]
    content = table(["setting", "value"], rows, numbers=False)
    content = folded("Settings, versions and sea", content)
    text = str(dataset.attrs.get("case", ""))
    if text:
        content += folded("The case file", f"<pre>{escape(text)}</pre>")
    return card("Provenance", content)


def methods_card(datasets: list[xr.Dataset]) -> str:
    texts = list(dict.fromkeys(text for dataset in datasets for text in citations(dataset)))
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return card("Methods and sources", f'<ol class="cites">{items}</ol>')


def comparison_card(names: list[str], comparisons: list[NamedValues]) -> str:
    """Standard deviations and extremes of several runs."""
    keys = [{_name(row): row for row in one["channels"] if _matters(row)} for one in comparisons]
    common = [key for key in keys[0] if all(key in other for other in keys[1:])]
    rows = []
    for key in common:
        values = [other[key] for other in keys]
        if not any(row["stats"][1] for row in values) or len({row["unit"] for row in values}) > 1:
            continue
        numbers = [short(row["stats"][i]) for row in values for i in (1, 4)]
        rows.append([key, values[0]["unit"], *numbers])
    heads = ["channel", "unit"]
    heads += [f"{name}: {word}" for name in names for word in ("std", "max")]
    return card("Comparison of runs", table(heads, rows)) if rows else ""
