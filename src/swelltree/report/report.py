"""One HTML page of results that opens by double click: replay, plots, tables.

The page is whole in itself: styles, viewer and data are inside it, nothing is loaded from
anywhere, and a rule in its head lets the browser run no other script. Everything that comes from a
model is put in as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.values import NamedValues
from swelltree.report import tables
from swelltree.report.channels import CHANNEL_SAMPLES, channels
from swelltree.report.frequency import modes_data, rao_data, sea_spectrum
from swelltree.report.html import Blocks
from swelltree.report.scene import COLORS, MOTION_SAMPLES, drawing_of, scene
from swelltree.results.files import load_result
from swelltree.results.tables import (
    budget_table,
    mode_table,
    operability_table,
    pto_table,
    still_tables,
)

if TYPE_CHECKING:
    import xarray as xr

    Result = xr.Dataset | str | Path  # or the file of one
    Results = Result | Sequence[Result]


def write_report(results: Results, path: str | Path, *, note: str = "", title: str = "") -> Path:
    """Write results as one self-contained HTML page.

    Args:
        results: a result, its file, or several of them: runs in time, `rao` and `modes`. Several
            runs are shown one at a time and compared in a table.
        path: of the page, usually ending in .html; an older file is replaced.
        note: a line or two of text under the heading.
        title: heading; the name of the system if not given.
    """
    return write_atomic(Path(path), page(results, note=note, title=title))


@np.errstate(all="ignore")  # files of others hold any number
def page(results: Results, *, note: str = "", title: str = "") -> str:
    """The page as text."""
    specified = _listed(results)
    if not specified:
        raise SwelltreeError("a report needs at least one result. Give a result or its file.")
    data, blocks = Data(), Blocks()
    share = len(specified)
    for result in specified:
        dataset = load_result(result) if isinstance(result, str | Path) else result
        data.add(dataset, Path(dataset.encoding.get("source", "")).name, blocks, share)
    return data.page(blocks, note, title)


def title_of(dataset: xr.Dataset) -> str:
    """Title of a result: system, study, and kind of study."""
    study = str(dataset.attrs.get("study", "simulate" if "time" in dataset.dims else ""))
    name = str(dataset.attrs.get("study_name", ""))
    name = name or Path(dataset.encoding.get("source", "")).stem or study
    return f"{drawing_of(dataset)['name']}: {name}" + (f" ({study})" if study else "")


def refuse_other_data(dataset: xr.Dataset, source: str) -> None:
    """Reject datasets that are not results of studies."""
    known = ("position", "rao", "shape_real", "standard_deviation")
    if any(name in dataset for name in known) or "study" in dataset.attrs:
        return
    what = f"'{source}'" if source else "the dataset"
    if "radiating_dof" in dataset.dims:
        raise SwelltreeError(
            f"{what} holds hydrodynamic data, not a result. Look at it with `swelltree hydro`."
        )
    has = ", ".join(map(str, list(dataset.data_vars)[:5])) or "nothing"
    raise SwelltreeError(
        f"{what} is not a result of swelltree (it holds {has}). Give a file that `swelltree run` "
        "or save(...) wrote."
    )


def _listed(results: Results) -> list[Result]:
    import xarray as xr

    return [results] if isinstance(results, str | Path | xr.Dataset) else list(results)


class Data:
    """Content of a page, collected from its results."""

    def __init__(self) -> None:
        self.runs: list[NamedValues] = []
        self.raos: list[NamedValues] = []
        self.modes: list[NamedValues] = []
        self.still: NamedValues | None = None
        self.shown: list[tuple[xr.Dataset, str]] = []  # what tables and methods are made of
        self.cards: list[str] = []  # of each run
        self.heads: list[str] = []  # key numbers and findings of each run
        self.others: list[str] = []  # of other results
        self.name = ""

    def add(self, dataset: xr.Dataset, source: str, blocks: Blocks, share: int) -> None:
        refuse_other_data(dataset, source)
        drawing = drawing_of(dataset)
        self.name = self.name or drawing["name"]
        self.shown.append((dataset, source))
        if "time" in dataset.dims:
            self._add_run(dataset, source, blocks, share)
        elif "rao" in dataset:
            self.raos.append(rao_data(dataset, blocks))
        elif "shape_real" in dataset:
            if dataset.sizes["mode"]:
                self.modes.append(modes_data(dataset, blocks))
            self.others.append(tables.shown(mode_table(dataset)))
        elif "utilisation" in dataset:
            self.others += [tables.findings(dataset), tables.shown(operability_table(dataset))]
            self.others.append(tables.provenance_card(dataset, source))
        else:
            self.others.append("".join(map(tables.shown, still_tables(dataset))))
            self.others.append(tables.provenance_card(dataset, source))
        if self.still is None and dataset.attrs.get("drawing"):
            self.still = scene(dataset.drop_dims("time", errors="ignore"), blocks)

    def _add_run(self, dataset: xr.Dataset, source: str, blocks: Blocks, share: int) -> None:
        shown = channels(dataset, blocks, CHANNEL_SAMPLES // share)
        label = str(dataset.attrs.get("study_name", "")) or Path(source).stem
        self.runs.append(
            shown
            | {
                "label": label or f"run {len(self.runs) + 1}",
                "periodic": dataset.attrs.get("study") == "steady_state",
                "scene": scene(dataset, blocks, MOTION_SAMPLES // share),
                "spectrum": sea_spectrum(dataset),
            }
        )
        drawing = drawing_of(dataset)
        self.heads.append(
            f'<ul class="chips" aria-label="Key numbers">{tables.chips(dataset)}</ul>'
            + tables.findings(dataset)
        )
        pairs = []
        if "work" in dataset and "energy_residual" in dataset:
            pairs.append(tables.shown(budget_table(dataset)))
        if "delivered_power" in dataset:
            pairs.append(tables.shown(pto_table(dataset)))
        if "reaction" in dataset:
            pairs.append(tables.joints_card(dataset, drawing))
        pairs.append(tables.model_card(dataset, drawing))
        self.cards.append(
            tables.design_card(dataset)
            + tables.ranges_card(dataset)
            + tables.statistics_card(shown)
            + f'<div class="grid">{"".join(pairs)}</div>'
            + tables.provenance_card(dataset, source)
        )

    def page(self, blocks: Blocks, note: str, title: str) -> str:
        first, source = self.shown[0]
        attrs = first.attrs
        name = title or self.name or "Result"
        labels = [run["label"] for run in self.runs]
        side = tables.comparison_card(labels, self.runs) if len(self.runs) > 1 else ""
        own_tables = (
            side
            + "".join(_of_run(i, card) for i, card in enumerate(self.cards))
            + "".join(self.others)
        )
        if not self.cards and not self.others:
            own_tables = tables.provenance_card(first, source)
        content = {
            "runs": self.runs,
            "raos": self.raos,
            "modes": self.modes,
            "still": self.still,
            "colors": COLORS,
        }
        script = web_file("viewer.min.js")
        about = [str(attrs.get("study_name", "")) or str(attrs.get("study", "")), source]
        about.append(str(attrs.get("created", "")).replace("T", " ").replace("+00:00", " UTC"))
        parts = {
            "title": escape(f"{name} – swelltree"),
            "name": escape(name),
            "subtitle": escape(" · ".join(text for text in about if text)),
            "note": f'<p class="note">{escape(note)}</p>' if note else "",
            "summary": "".join(_of_run(i, head) for i, head in enumerate(self.heads)),
            "tensions": _keys(self.runs),
            "tables": own_tables,
            "methods": tables.methods_card([dataset for dataset, _ in self.shown]),
            "footer": escape(
                f"Made by swelltree {attrs.get('swelltree_version', '')}. "
                f"{attrs.get('conventions', '')}."
            ),
            "data": in_script(content),
            # base64 holds no character that means anything to HTML
            "blocks": "\n".join(
                f'<script id="block-{i}" type="text/plain">{text}</script>'
                for i, text in enumerate(blocks.texts)
            ),
            "style": web_file("viewer.min.css"),
            "script": script,
            "script_hash": "sha256-"
            + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        }
        return filled(web_file("page.html"), parts)


def in_script(content: object) -> str:
    """JSON escaped for a script element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def filled(template: str, parts: dict[str, str]) -> str:
    """The template with its marks filled; no text put in can be taken for a mark."""
    head, *rest = template.split("{{")
    pieces = [head]
    for piece in rest:
        key, _, after = piece.partition("}}")
        pieces += [parts[key], after]
    return "".join(pieces)


def _of_run(i: int, content: str) -> str:
    return f'<div data-run="{i}"{" hidden" if i else ""}>{content}</div>'


def _keys(runs: list[NamedValues]) -> str:
    """Legend of all colours."""
    keys = _tensions(runs) + _pressures(runs)
    return f'<div class="tensions">{keys}</div>' if keys else ""


def _tensions(runs: list[NamedValues]) -> str:
    lines = next((run["scene"]["lines"] for run in runs if run["scene"]["lines"]), None)
    if lines is None or not lines.get("highest"):
        return ""
    unit, factor = tables.prefixed("N", lines["highest"])
    top = f"{lines['highest'] * factor:.3g} {unit}"
    return (
        '<span>0</span><i class="ramp"></i>'
        f'<span>{escape(top)}</span><i class="slack"></i><span>slack</span>'
        '<i class="grounded"></i><span>on the seabed</span>'
    )


def _pressures(runs: list[NamedValues]) -> str:
    fluid = next((run["scene"]["fluid"] for run in runs if run["scene"]["fluid"]), None)
    if fluid is None:
        return ""
    low, high = fluid["hull"]["lowest"], fluid["hull"]["highest"]
    unit, factor = tables.prefixed("Pa", high)
    return (
        f'<span>{low * factor:.3g}</span><i class="ramp"></i>'
        f"<span>{escape(f'{high * factor:.3g} {unit}')}, pressure on hulls</span>"
    )


def web_file(name: str) -> str:
    """Text of a viewer file."""
    return resources.files("swelltree.report").joinpath("web", name).read_text(encoding="utf-8")
