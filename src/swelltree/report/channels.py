"""The channels of a run for a page: which there are, to which thing they belong, how to plot them.

A channel is one row of numbers in time with a name, a unit and an owner (a body, a joint, a PTO
...). A plot is a few channels of one unit.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.values import NamedValues
from swelltree.report.html import Blocks
from swelltree.report.scene import COLORS, segment_tension, stride, times
from swelltree.results.displacement import motion_name, turning, unwrapped
from swelltree.results.statistics import (
    is_power,
    of_samples,
    period_of,
    settled,
    time_weights,
    window_text,
)
from swelltree.results.units import prefixed, readable, unit_of

if TYPE_CHECKING:
    import xarray as xr

CHANNEL_SAMPLES = 4_500_000  # numbers kept for the plots of a page
MOST_CHANNELS = 800
MOST_LINES = 16  # in one plot

# dimensions that name things one can pick
OWNERS = {
    "body": "body",
    "joint": "joint",
    "coordinate": "joint",
    "pto": "pto",
    "spring": "spring",
    "mooring": "mooring",
    "line": "line",
    "winch": "winch",
    "point": "point",
    "pair": "pair",
    "junction": "junction",
    "contact": "contact",
}
# shown otherwise, or by other variables already
LEFT_OUT = {
    "rotation",
    "quaternion",
    "reaction_joint_axes",
    "joint_point",
    "line_position",
    "weak_scatterer_surface",
    "weak_scatterer_elevation",
    "weak_scatterer_hull",
    "weak_scatterer_pressure",
    "line_slack",
    "line_length",
    "line_segments",
    "line_grounded",
    "line_kinetic_energy",
    "line_stored_energy",
    "line_potential_energy",
    "winch_rope_mass",
    "winch_rope_energy",
    "winch_rope_momentum",
    "winch_lost_energy",
    "winch_lost_momentum",
    "winch_segments",
    "iterations",
    "residual",
    "complementarity",
    "kinetic_energy",
    "potential_energy",
    "work",
    "energy_residual",
    "closure",
    "joint_force",
    "joint_force_control",
    "pto_control",
    "spring_control",
}
WINCHES = {
    "winch_length": "Rope out, unstretched",
    "winch_speed": "Speed of paying out",
    "winch_tension": "Tension at the winch",
    "winch_power": "Power of the winch into the line",
}
ALONG = ("line_tension", "line_node_tension")
NAMES = {
    "joint_coordinate": "",
    "joint_rate": "rate of",
    "elevation": "sea surface",
    "pto_stroke": "stroke",
    "pto_rate": "rate",
    "pto_force": "force",
    "absorbed_power": "absorbed power",
    "delivered_power": "delivered power",
    "spring_tension": "tension",
    "spring_length": "length",
    "line_tension": "tension",
    "line_node_tension": "tension",
    "winch_length": "rope out",
    "winch_speed": "speed of paying out",
    "winch_tension": "tension",
    "winch_power": "power",
    "winch_work": "work",
}


class Channels:
    """Channels and plots of a run."""

    def __init__(self, dataset: xr.Dataset, blocks: Blocks, samples: int) -> None:
        self.dataset = dataset
        self.blocks = blocks
        self.rows: list[NamedValues] = []
        self.plots: list[NamedValues] = []
        self.where: dict[str, list[int]] = {}  # channels of a variable
        self.blocks_about: dict[int, NamedValues] = {}
        self.settled = settled(dataset)
        count = sum(self._width(name) for name in self._requested())
        self.every = stride(dataset.sizes["time"], min(max(count, 1), MOST_CHANNELS), samples)
        self.used = dataset["time"].values >= self.settled
        self.weights = time_weights(dataset["time"].values[self.used], period_of(dataset))

    def _requested(self) -> list[str]:
        return [
            str(name)
            for name, values in self.dataset.data_vars.items()
            if "time" in values.dims and name not in LEFT_OUT and values.dtype.kind in "fiub"
        ]

    def _width(self, name: str) -> int:
        if name in ALONG:
            return 2 * self.dataset.sizes["line"]
        return int(np.prod([n for d, n in self.dataset[name].sizes.items() if d != "time"]))

    def add_all(self) -> None:
        for name in self._requested():
            if name not in self.where and len(self.rows) + self._width(name) <= MOST_CHANNELS:
                self.add(name)

    def add(self, name: str) -> list[int]:
        """Add the channels of one variable; returns their numbers."""
        if name in self.where:
            return self.where[name]
        if name not in self.dataset or "time" not in self.dataset[name].dims:
            return []
        # catenaries beside dynamic lines know theirs at nodes
        along = segment_tension(self.dataset) if name == "line_tension" else None
        values = unwrapped(self.dataset[name]) if along is None else along
        dims = [str(dim) for dim in values.dims if dim != "time"]
        data = np.asarray(values.transpose("time", *dims).values, float)
        if name in ALONG:  # the largest along the line and the one at its end
            data = np.stack([np.fmax.reduce(data, axis=-1), data[..., -1]], axis=-1)
            dims[-1] = "_end"
        shapes = [range(size) for size in data.shape[1:]]
        abouts, columns = [], []
        for index in itertools.product(*shapes):
            owner, label, turns = self._about(name, dims, index)
            unit, factor = readable(unit_of(str(values.attrs.get("units", "")), turns))
            column = factor * data[(slice(None), *index)]
            if name == "position" and "displacement" not in self.dataset:
                column = column - column[0]
            abouts.append({"owner": owner, "label": label, "unit": unit, "turns": turns})
            columns.append(column)
        return self.keep(name, abouts, columns)

    def keep(self, name: str, abouts: list[NamedValues], columns: list[np.ndarray]) -> list[int]:
        """Pack columns as one block; one prefix per unit."""
        if not columns:
            return []
        largest: dict[str, float] = {}
        for about, column in zip(abouts, columns, strict=True):
            top = float(np.nanmax(np.abs(column), initial=0.0))
            largest[about["unit"]] = max(largest.get(about["unit"], 0.0), top)
        first = len(self.rows)
        for about, column in zip(abouts, columns, strict=True):
            unit, factor = prefixed(about["unit"], largest[about["unit"]])
            if factor != 1.0:
                column *= factor
            numbers = of_samples(column[self.used], self.weights)
            if is_power(about["unit"]):
                numbers[-1] = np.nan  # it has no Gaussian extremes
            self.rows.append(
                about | {"unit": unit, "variable": name, "stats": [_digits(x) for x in numbers]}
            )
        block = self.blocks.add(np.stack(columns, axis=1)[:: self.every])
        for number, k in enumerate(range(first, len(self.rows))):
            self.rows[k] |= {"block": block["block"], "column": number}
        self.blocks_about[block["block"]] = block
        self.where[name] = list(range(first, len(self.rows)))
        return self.where[name]

    def _about(
        self, name: str, dims: list[str], index: tuple[int, ...]
    ) -> tuple[object, str, bool]:
        """Owner, label and kind of one entry of a variable."""
        word = "" if name == motion_name(self.dataset) else NAMES.get(name, name.replace("_", " "))
        owner, words, turns = None, [word], False
        for dim, i in zip(dims, index, strict=True):
            turns = turns or turning(self.dataset, dim, i)
            if dim == "_end":
                words.append(("maximum", self._last(name))[i])
                continue
            text = str(self.dataset[dim].values[i]) if dim in self.dataset.coords else str(i)
            if dim == "coordinate":
                joint, _, dof = text.rpartition("__")
                owner = ("joint", joint)
                words.append(dof)
            elif dim in OWNERS and owner is None:
                owner = (OWNERS[dim], text)
            else:
                words.append(text)
        return owner, " ".join(word for word in words if word), turns

    @staticmethod
    def _last(name: str) -> str:
        """Coordinate of the last entry: nodes reach end B, segments half a segment before it."""
        return "at end B" if name == "line_node_tension" else "of the last segment"

    def plot(self, section: str, title: str, numbers: list[int], **more: object) -> None:
        """A plot of channels of one unit; nothing if none varies."""
        numbers = [k for k in numbers if _alive(self.rows[k]["stats"])][:MOST_LINES]
        if not numbers:
            return
        self.plots.append(
            {
                "section": section,
                "title": title,
                "unit": self.rows[numbers[0]]["unit"],
                "series": [
                    {"channel": k, "label": self._short(k), "color": COLORS[n % len(COLORS)]}
                    for n, k in enumerate(numbers)
                ],
            }
            | more
        )

    def _short(self, k: int) -> str:
        """Label of a channel in a legend."""
        row = self.rows[k]
        return row.get("legend") or (row["owner"][1] if row["owner"] else row["label"])


def _digits(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _alive(stats: list[float | None]) -> bool:
    low, high = stats[3], stats[4]
    return low is not None and high is not None and max(abs(low), abs(high)) > 1e-9


def channels(dataset: xr.Dataset, blocks: Blocks, samples: int = CHANNEL_SAMPLES) -> NamedValues:
    """Channels, plots and time base of a run.

    Args:
        dataset: a result in time.
        blocks: where the packed numbers go.
        samples: most numbers kept.
    """
    page = Channels(dataset, blocks, samples)
    _sea_and_power(page)
    _motions(page)
    _joints(page)
    _pulls(page)
    if "work" in dataset and "kinetic_energy" in dataset:
        _energy(page)
    page.add_all()
    return {
        "time": times(dataset["time"].values[:: page.every]),
        "every": page.every,
        "settled": page.settled,
        "window": window_text(dataset),
        "channels": page.rows,
        "plots": page.plots,
        "blocks": {
            str(key): {k: v for k, v in about.items() if k != "block"}
            for key, about in page.blocks_about.items()
        },
    }


def _sea_and_power(page: Channels) -> None:
    page.plot("Sea", "Sea surface at the origin", page.add("elevation"), fill=True)
    power = page.add("absorbed_power")
    page.plot("Power", "Absorbed power", power, means=True)
    delivered = page.add("delivered_power")
    same = [page.rows[k]["stats"] for k in power] == [page.rows[k]["stats"] for k in delivered]
    for k in delivered:
        page.rows[k]["aside"] = same
    if not same:
        page.plot("Power", "Delivered power", delivered, means=True)
    for name, title in (("pto_stroke", "Stroke"), ("pto_force", "PTO force")):
        _by_unit(page, "Power", title, page.add(name))


def _motions(page: Channels) -> None:
    name = motion_name(page.dataset)
    numbers, moved = page.add(name), name == "displacement"
    for dof in dict.fromkeys(page.rows[k]["label"] for k in numbers):
        same_dof = [k for k in numbers if page.rows[k]["label"] == dof]
        page.plot("Motions", dof if moved else f"{dof}, from the start", same_dof)


def _joints(page: Channels) -> None:
    numbers = page.add("joint_coordinate")
    owners = [page.rows[k]["owner"] for k in numbers]
    # a joint with six DOFs is the motion of its body
    for k, owner in zip(numbers, owners, strict=True):
        page.rows[k]["aside"] = owners.count(owner) == 6
    numbers = [k for k in numbers if not page.rows[k]["aside"]]
    for k in numbers:
        joint, dof = page.rows[k]["owner"][1], page.rows[k]["label"]
        many = owners.count(page.rows[k]["owner"]) > 1
        page.rows[k]["legend"] = f"{joint} {dof}" if many else joint
    _by_unit(page, "Joints", "Joint coordinate", numbers)
    dataset = page.dataset
    if "reaction" in dataset:
        full = [str(name) for name in dataset["joint"].values]
        free = {owner[1] for owner in owners if owners.count(owner) == 6}
        names = [name for name in full if name not in free]  # a free joint holds nothing
        rows = [full.index(name) for name in names]
        parts = dataset["reaction"].transpose("time", "joint", "dof").values[:, rows]
        for title, part, unit in (
            ("Reaction force", slice(0, 3), "N"),
            ("Reaction moment", slice(3, 6), "N m"),
        ):
            size = np.linalg.norm(parts[:, :, part], axis=-1)
            abouts = [
                {"owner": ("joint", name), "label": title.lower() + ", size", "unit": unit}
                for name in names
            ]
            channel = page.keep(title, abouts, [size[:, i].copy() for i in range(len(names))])
            page.plot("Joints", f"{title}, size", channel)


def _pulls(page: Channels) -> None:
    numbers = page.add("line_tension") or page.add("line_node_tension")
    for k in numbers:
        row = page.rows[k]
        row["legend"] = row["owner"][1]
    page.plot("Moorings and lines", "Maximum tension along the line", numbers[::2])
    ends = page.add("fairlead_tension")
    page.plot("Moorings and lines", "Tension at end B, the fairlead", ends)
    if not ends:
        last = page._last("line_tension" if "line_tension" in page.where else "line_node_tension")
        page.plot("Moorings and lines", f"Tension {last}", numbers[1::2])
    page.plot("Moorings and lines", "Tension at end A, the anchor", page.add("anchor_tension"))
    page.plot("Moorings and lines", "Spring tension", page.add("spring_tension"))
    for name, title in WINCHES.items():
        page.plot("Winches", title, page.add(name))
    numbers = page.add("mooring_force")
    for k in numbers:
        row = page.rows[k]
        row["legend"] = f"{row['owner'][1]} {row['label'].rpartition(' ')[2]}"
    _by_unit(page, "Moorings and lines", "Mooring force", numbers)


def _by_unit(page: Channels, section: str, title: str, numbers: list[int]) -> None:
    for unit in dict.fromkeys(page.rows[k]["unit"] for k in numbers):
        page.plot(section, title, [k for k in numbers if page.rows[k]["unit"] == unit])


def _energy(page: Channels) -> None:
    """Energies by kind, work by element, and residual."""
    dataset = page.dataset
    terms = energy_terms(dataset)

    def built(name: str, rows: dict[str, np.ndarray]) -> list[int]:
        abouts = [{"owner": None, "label": label, "unit": "J"} for label in rows]
        return page.keep(name, abouts, list(rows.values()))

    page.plot("Energy", "Energy since the start", built("energy", terms))
    work = dataset["work"].transpose("time", "element").values
    order = [k for k in np.argsort(-np.abs(work).max(0, initial=0.0)) if work[:, k].any()]
    names = [str(name) for name in dataset["element"].values]
    rows = {names[k]: work[:, k].copy() for k in order[:8]}
    if len(order) > 8:
        rows["others"] = work[:, order[8:]].sum(1)
    page.plot("Energy", "Work done on the system", built("work", rows))
    residual = {"residual": dataset["energy_residual"].values.copy()}
    page.plot("Energy", "Energy not accounted for", built("energy_residual", residual))


def energy_terms(dataset: xr.Dataset) -> dict[str, np.ndarray]:
    """Energies of a run by kind, in time [J]."""
    kinetic = dataset["kinetic_energy"].sum("body").values
    stored = dataset["potential_energy"].transpose("time", "element").values
    work = dataset["work"].transpose("time", "element").values
    names = [str(name) for name in dataset["element"].values]
    still = np.array([name in ("gravity", "buoyancy") for name in names])
    # linear hydrostatics gives back what it takes: shown with the weight it carries
    lifting = np.array([name == "hydrostatics" for name in names])
    weight = stored[:, still].sum(1) - work[:, lifting].sum(1)
    weight = weight - weight[:1]
    elastic = stored[:, ~still].sum(1)
    total = kinetic + elastic + weight
    terms = {
        "kinetic": kinetic,
        "springs": elastic,
        "weight and buoyancy": weight,
        "sum": total,
        "start + work done": total[0] + work[:, ~lifting].sum(1),
    }
    return {name: values for name, values in terms.items() if np.abs(values).max(initial=0) > 0}
