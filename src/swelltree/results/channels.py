"""The one vocabulary of channels: what observation calls them, and what results call them.

Labelled results and those inside `jit`, `grad` and `vmap` pass through `finished`: bodies in the
order of the description, attitudes, the energy budget, and the names users know.
"""

from __future__ import annotations

import numpy as np

from swelltree.engine.arrays import Array, namespace
from swelltree.engine.extremes import SUFFIXES
from swelltree.model.model import Model, Pose
from swelltree.results.displacement import displacement
from swelltree.results.energy import energy_residual
from swelltree.results.labels import LABELS, Label
from swelltree.results.own_labels import own_labels
from swelltree.spatial.rotations import matrix_to_euler, matrix_to_quat
from swelltree.system.errors import SwelltreeError, listed, suggest

WORDS: dict[str, str] = dict(zip(SUFFIXES, ("largest", "smallest", "mean"), strict=True))
MADE = ("displacement", "quaternion", "energy_residual")  # from other channels


def body_order(model: Model) -> list[int]:
    """Depth-first number of each body in the order of the description."""
    return [model.layout.bodies.index(name) for name in model.layout.described]


def labels_of(model: Model, channels: dict[str, Array]) -> dict[str, Label]:
    """Labels of channels, by the names of `observe`; those made from others included."""
    known = LABELS | own_labels(model, channels)
    labels = {name: label for name, label in known.items() if name in channels or name in MADE}
    by_name = {label.name: label for label in known.values()}
    for name in channels:
        suffix = next((end for end in SUFFIXES if name.endswith(end)), "")
        whole = by_name.get(name.removesuffix(suffix)) if suffix else None
        if name not in labels and whole is not None:
            about = f"{WORDS[suffix]} value since the sample before: {whole.long_name}"
            labels[name] = whole._replace(name=name, long_name=about)
    return labels


def finished(model: Model, channels: dict[str, Array]) -> dict[str, Array]:
    """Channels of all samples under the names of results.

    Args:
        model: that was run.
        channels: of `observe`, time first, bodies depth first.
    """
    out = dict(channels)
    xp = namespace(*(x for x in channels.values()))
    order = np.array(body_order(model), dtype=int)
    labels = labels_of(model, channels)
    for name, label in labels.items():
        # extremes were taken of finished channels
        if name in out and label.dims[:1] == ("body",) and not name.endswith(SUFFIXES):
            out[name] = out[name][:, order]
    if "rotation" in out:
        datum = Pose(model.datum.p[order], model.datum.R[order])
        out["displacement"] = displacement(datum, out["position"], out["rotation"])
        out["quaternion"] = matrix_to_quat(out["rotation"])
        out["position"] = xp.concatenate([out["position"], matrix_to_euler(out["rotation"])], -1)
    if "work" in out:
        energies = out["kinetic_energy"], out["potential_energy"], out["work"]
        out["energy_residual"] = energy_residual(*energies)
        if "work_of_changes" in out:
            brought = out["work_of_changes"]
            out["energy_residual"] = out["energy_residual"] - (brought - brought[:1])
        # one row of names for both: prescribed motions work but store nothing
        drives = out["work"].shape[1] - out["potential_energy"].shape[1]
        out["potential_energy"] = xp.pad(out["potential_energy"], ((0, 0), (0, drives)))
    named = {label.name: out[name] for name, label in labels.items() if name in out}
    return named | _with_samples(named)


def _with_samples(named: dict[str, Array]) -> dict[str, Array]:
    """Extremes that hold the samples themselves, which another program may round otherwise."""
    kept = {}
    for suffix, pick in (("_max", "maximum"), ("_min", "minimum")):
        for name in named:
            sampled = named.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
            if sampled is not None and sampled.shape == named[name].shape:
                kept[name] = getattr(namespace(sampled), pick)(named[name], sampled)
    return kept


def finished_now(model: Model, channels: dict[str, Array]) -> dict[str, Array]:
    """The same of the channels of one instant."""
    now = finished(model, {name: x[None] for name, x in channels.items()})
    return {name: x[0] for name, x in now.items()}


def chosen(model: Model, channels: dict[str, Array], names: tuple[str, ...]) -> dict[str, Array]:
    """Channels of one instant that were chosen by the names of results.

    Args:
        model: that is run.
        channels: of `observe` at one instant.
        names: chosen channels.
    """
    now = finished_now(model, channels)
    missing = [name for name in names if name not in now]
    if missing:
        raise SwelltreeError(
            f"extremes: this run has no channel '{missing[0]}'.{suggest(missing[0], now)} "
            f"It has {listed(sorted(now))}."
        )
    return {name: now[name] for name in names}
