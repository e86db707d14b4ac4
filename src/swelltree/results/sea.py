"""The sea of a run, kept in its result: every plane wave, as JSON in an attribute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.environment import seas
from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.integrate.problem import SUFFIXES
from swelltree.jit import Array, namespace
from swelltree.model.channels import CHANNELS, own_channels
from swelltree.model.effect import Channel
from swelltree.model.model import Model, Pose
from swelltree.multibody.kinematics import displacement
from swelltree.results.energy import energy_residual
from swelltree.spatial.rotations import matrix_to_euler, matrix_to_quat
from swelltree.waves.airy import Components
from swelltree.waves.gridded import GridWaves
from swelltree.waves.spectra import total_energy
from swelltree.waves.stream_function import StreamWave, bound_components

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.waves.sea import AnySea, RealisedSea

ROWS = ("amplitude", "omega", "wavenumber", "beta", "phase")
UNITS = "amplitude m, omega rad/s, wavenumber 1/m, beta rad (towards), phase rad at the origin"


def sea_text(waves: RealisedSea) -> str:
    """The plane waves of a realised sea; empty for a field on a grid, which has none.

    A steep wave is given by the harmonics of its surface.
    """
    if isinstance(waves, StreamWave):
        waves = bound_components(waves)
    if not isinstance(waves, Components):
        return ""
    rows = {name: _digits(getattr(waves, name)) for name in ROWS}
    text = {"units": UNITS, "ramp": float(waves.ramp), **rows}
    return json.dumps(text, separators=(",", ":"))


def sea_quantities(sea: AnySea, waves: RealisedSea) -> dict[str, str]:
    """A sea in its own quantities, for people.

    Args:
        sea: as described, or already realised.
        waves: realised.
    """
    match sea:
        case seas.StreamFunctionWave():
            assert not isinstance(waves, GridWaves)
            period = 2 * np.pi / float(waves.omega)
            return {"wave height": f"{sea.height:.3g} m", "wave period": f"{period:.3g} s"}
        case seas.FocusedWave():
            Hs = 4.0 * float(np.sqrt(total_energy(sea.spectrum)))
            crest = f"{sea.amplitude:.3g} m"
            return {"crest at the focus": crest, "significant height of its sea": f"{Hs:.3g} m"}
        case seas.GriddedSea():
            return {"sea": "field on a grid"}
    if not isinstance(waves, Components) or not np.any(waves.amplitude):
        return {}
    if len(waves) == 1:
        height, period = 2 * float(waves.amplitude[0]), 2 * np.pi / float(waves.omega[0])
        return {"wave height": f"{height:.3g} m", "wave period": f"{period:.3g} s"}
    Hs, Tz = f"{float(waves.Hs):.3g} m", f"{float(waves.Tz):.3g} s"
    return {"significant height": Hs, "mean period Tz": Tz}


def sea_words(dataset: xr.Dataset) -> dict[str, str]:
    """Sea quantities stored in a result."""
    return json.loads(dataset.attrs.get("sea_quantities", "") or "{}")


def _digits(values: Array) -> list[float]:
    # nine digits place a crest within a millimetre after hours
    return [float(f"{x:.9g}") for x in np.asarray(values, float)]


def sea_of(dataset: xr.Dataset) -> Components | None:
    """Plane waves stored in a result, or None."""
    text = dataset.attrs.get("wave_components", "")
    if not text:
        return None
    rows = json.loads(text)
    return Components(*(np.array(rows[name]) for name in ROWS), ramp=float(rows["ramp"]))


# --- The one vocabulary of channels: what observation calls them, and what results call them

WORDS: dict[str, str] = dict(zip(SUFFIXES, ("largest", "smallest", "mean"), strict=True))
DERIVED = ("displacement", "quaternion", "energy_residual")  # from other channels


def body_order(model: Model) -> list[int]:
    """Depth-first number of each body in the order of the description."""
    return [model.layout.bodies.index(name) for name in model.layout.described]


def labels_of(model: Model, channels: dict[str, Array]) -> dict[str, Channel]:
    """Labels of channels by the names of `observe`, including derived ones."""
    known = CHANNELS | own_channels(model, channels)
    labels = {name: label for name, label in known.items() if name in channels or name in DERIVED}
    by_name = {label.name: label for label in known.values()}
    for name in channels:
        suffix = next((end for end in SUFFIXES if name.endswith(end)), "")
        full = by_name.get(name.removesuffix(suffix)) if suffix else None
        if name not in labels and full is not None:
            about = f"{WORDS[suffix]} value since the sample before: {full.long_name}"
            labels[name] = full._replace(name=name, long_name=about)
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
    """Extremes extended to include the samples, which another program may round differently."""
    stored = {}
    for suffix, pick in (("_max", "maximum"), ("_min", "minimum")):
        for name in named:
            sampled = named.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
            if sampled is not None and sampled.shape == named[name].shape:
                stored[name] = getattr(namespace(sampled), pick)(named[name], sampled)
    return stored


def finished_now(model: Model, channels: dict[str, Array]) -> dict[str, Array]:
    """Finished channels of one instant."""
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
