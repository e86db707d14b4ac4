"""Tables of a result: key numbers, findings, statistics, energy, model, provenance."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.report.html import card, citations, folded, table, text_table
from swelltree.report.scene import segment_tension
from swelltree.report.units import power_text, prefixed, readable
from swelltree.results.design_values import HEADS, MPM, design_tables
from swelltree.results.energy import mean_energy_terms
from swelltree.results.sea import sea_words
from swelltree.results.statistics import settled, statistic, window_text
from swelltree.results.summary import budget, relative_residual, residuals, warnings_of

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


def short(value: float | None) -> str:
    """A number of four digits."""
    if value is None or not np.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) < 1e-3 or abs(value) >= 1e5:
        return f"{value:.2e}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def chips(dataset: xr.Dataset) -> str:
    """The numbers to see first."""
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
    """What pulls most of all lines, and how much [N]: at the fairleads where they are known."""
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
    """A statistic; what is nothing beside the range of the channel is zero."""
    size = max(abs(stats[3] or 0.0), abs(stats[4] or 0.0))
    value = stats[i]
    return "0" if value is not None and abs(value) < 5e-5 * size else short(value)


def _name(row: NamedValues) -> str:
    return f"{row['owner'][1]}: {row['label']}" if row["owner"] else row["label"]


def design_card(dataset: xr.Dataset) -> str:
    """Tensions, hook loads, offsets and accelerations, with the largest to expect."""
    content = ""
    for built in design_tables(dataset):
        heads = [f"{built.title} [{readable(built.unit)[0]}]", *HEADS]
        content += table(heads, [[row[0], *map(short, row[1:])] for row in built.rows])
    if not content:
        return ""
    about = f"{window_text(dataset).capitalize()}. {MPM}"
    return card("Loads and motions", f'<p class="about">{escape(about)}</p>' + content)


def ranges_card(dataset: xr.Dataset) -> str:
    """Range graphs of the lines, those after the first folded."""
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


def energy_card(dataset: xr.Dataset) -> str:
    """The energy budget over the run."""
    rows = budget(dataset)
    largest = max([abs(x) for row in rows for x in row[1:]], default=0.0)
    unit, factor = prefixed("J", largest)

    def number(value: float) -> str:
        return f"{factor * value:,.4g}".replace("-", "−") if value else "–"

    lines = [[name, number(stored), number(work)] for name, stored, work in rows]
    lines.append(["sum", number(sum(r[1] for r in rows)), number(sum(r[2] for r in rows))])
    last, worst = residuals(dataset)
    for words, (value, share) in (("residual at the end", last), ("largest residual", worst)):
        text = f"{factor * value:.2e}".replace("-", "−")
        lines.append([words, text, f"{share:.1e} of what moved".replace("-", "−")])
    heads = ["element", f"stored energy, change [{unit}]", f"work done [{unit}]"]
    return card("Energy budget", table(heads, lines, total=3))


def joints_card(dataset: xr.Dataset, drawing: NamedValues) -> str:
    """Largest reactions of every joint."""
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


def ptos_card(dataset: xr.Dataset) -> str:
    """Energy balance of the power take-offs."""
    rows, sums = [], np.zeros(3)
    tops = statistic(dataset["absorbed_power"], "max")
    for i, (name, absorbed, delivered, lost) in enumerate(mean_energy_terms(dataset)):
        top = float(tops[i])
        share = f"{delivered / absorbed:.1%}" if absorbed > 0 else "–"
        rows.append([name, *map(power_text, (absorbed, top, delivered, lost)), share])
        sums += (absorbed, delivered, lost)
    top = float(statistic(dataset["absorbed_power"].sum("pto"), "max"))
    share = f"{sums[1] / sums[0]:.1%}" if sums[0] > 0 else "–"
    rows.append(["sum", *map(power_text, (sums[0], top, sums[1], sums[2])), share])
    heads = ["power take-off", "mean absorbed", "max", "mean delivered", "lost", "efficiency"]
    about = f'<p class="about">{window_text(dataset).capitalize()}.</p>'
    return card("Power take-offs", about + table(heads, rows, total=1))


def model_card(dataset: xr.Dataset, drawing: NamedValues) -> str:
    """Bodies, joints and water of the model."""
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
        content += text_table(["joint", "type", "DOFs"], joints)
    ptos = [[pto["name"], pto["type"].replace("_", " ")] for pto in drawing["ptos"]]
    if ptos:
        content += text_table(["power take-off", "type"], ptos)
    attrs = dataset.attrs
    depth = float(attrs.get("water_depth", np.inf))
    water = (
        f"Water: rho {float(attrs.get('rho', np.nan)):g} kg/m³, g {float(attrs.get('g', np.nan)):g}"
        f" m/s², depth {'infinite' if np.isinf(depth) else f'{depth:g} m'}."
    )
    notes = " ".join([water, str(attrs.get("report", ""))])
    return card("Model", f'<p class="about">{escape(notes)}</p>' + content)


def modes_card(dataset: xr.Dataset) -> str:
    """Periods and damping of modes."""
    share = dataset["energy_share"].values
    rows = []
    for i, mode in enumerate(dataset["mode"].values):
        body, dof = np.unravel_index(share[i].argmax(), share[i].shape)
        rows.append(
            [
                str(mode),
                *(
                    short(float(dataset[name].values[i]))
                    for name in ("natural_period", "damped_period", "damping_ratio")
                ),
                f"{dataset['body'].values[body]} {dataset['dof'].values[dof]}",
            ]
        )
    heads = ["mode", "natural period [s]", "damped period [s]", "damping [of critical]"]
    about = (
        f"Added mass {dataset.attrs.get('added_mass', '?')}. What moves most has the "
        "largest fraction of the kinetic energy."
    )
    content = f'<p class="about">{escape(about)}</p>' + table([*heads, "moves most"], rows)
    return card("Modes", content)


def still_card(dataset: xr.Dataset) -> str:
    """Equilibrium of bodies, or how much they move in a sea."""
    for name, title in (
        ("position", "Equilibrium"),
        ("standard_deviation", "Standard deviation of the motion"),
    ):
        if name in dataset and set(dataset[name].dims) == {"body", "dof"}:
            values = dataset[name].transpose("body", "dof").values.copy()
            values[:, 3:] = np.degrees(values[:, 3:])
            rows = [
                [str(body), *(short(x) if abs(x) > 1e-9 else "0" for x in row)]
                for body, row in zip(dataset["body"].values, values, strict=True)
            ]
            dofs = [str(dof) for dof in dataset["dof"].values]
            heads = [f"{dof} [{'m' if i < 3 else 'deg'}]" for i, dof in enumerate(dofs)]
            return card(title, table(["body", *heads], rows))
    return ""


def provenance_card(dataset: xr.Dataset, source: str) -> str:
    """Where the numbers come from: settings, versions, the case."""
    rows = [["file", source]] if source else []
    rows += [
        [key.replace("_", " "), str(value)]
        for key, value in dataset.attrs.items()
        if key not in HIDDEN and str(value)
    ]
    content = text_table(["setting", "value"], rows)
    content = folded("Settings, versions and sea", content)
    text = str(dataset.attrs.get("case", ""))
    if text:
        content += folded("The case file", f"<pre>{escape(text)}</pre>")
    return card("Provenance", content)


def methods_card(datasets: list[xr.Dataset]) -> str:
    """Papers behind the methods used."""
    texts = list(dict.fromkeys(text for dataset in datasets for text in citations(dataset)))
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return card("Methods and sources", f'<ol class="cites">{items}</ol>')


def comparison_card(names: list[str], comparisons: list[NamedValues]) -> str:
    """Standard deviations and extremes of several runs in one table."""
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


# --- The table of `operability` on a page: verdict, governing limit and numbers of every case

VERDICT = ("state", "utilisation", "governing", "operable")


def operability_card(dataset: xr.Dataset) -> str:
    """Every case in a row, what it may be above.

    Args:
        dataset: from `swelltree.operability`.
    """
    state = dataset["state"]
    numbers = [str(name) for name in dataset.data_vars if name not in VERDICT]
    units = {name: dataset[name].attrs.get("units", "") for name in state.dims}
    heads = [f"{name} [{units[name]}]" if units[name] else str(name) for name in state.dims]
    rows = []
    for place in np.ndindex(state.shape):
        where = [short(float(dataset[d].values[i])) for d, i in zip(state.dims, place, strict=True)]
        values = [dataset[name].values[place] for name in ("utilisation", *numbers)]
        use, *others = (short(float(value)) for value in values)
        governing = str(dataset["governing"].values[place]) or "–"
        rows.append([*where, str(state.values[place]), use, governing, *others])
    count = int((state == "operable").sum())
    about = f"{count} of {state.size} cases are operable. Limits: {dataset.attrs['limits']}."
    content = table([*heads, "state", "part of limit", "governing", *numbers], rows)
    return card("Operability", f'<p class="about">{escape(about)}</p>' + content)
