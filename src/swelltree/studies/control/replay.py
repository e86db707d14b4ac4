"""The force of an optimum in a run in time: does it take the power that the search says?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.effects.strokes.stroke_forces import stroke_forces
from swelltree.model.model import Model
from swelltree.solvers.fourier import from_complex
from swelltree.studies.control.series import values_at
from swelltree.system.errors import SwelltreeError
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.studies.control.ports import Ports

LONGEST = 60.0  # s: of periods up to this, many are run
MANY, FEW = 30, 4  # periods of a run
SAMPLES = 40  # per shortest period of the sea, at least
OFF = 0.01  # of the power: a difference that is reported
DECAYS = 0.95  # of what differed a stretch before: more than this does not calm down


def replayed_powers(
    model: Model, result: xr.Dataset, waves: RealisedSea | None, period: float, radiation: str
) -> tuple[dict[str, float], str]:
    """Mean power of the last periods in time, as attributes, and a message where it differs.

    Where the run fails, the power of the search is not that of a motion: it is given as
    `search_power`, and the mean powers are not numbers.

    Args:
        model: as given to `optimal_control`.
        result: of it.
        waves: the sea, realised.
        period: of the motion [s].
        radiation: source of radiation in the search.
    """
    none = {"replayed_power": np.nan, "replayed_change": np.nan}
    why = _why_not(model, waves, radiation)
    if why:
        return none, f"Not replayed in time: {why}."
    try:
        powers, restless = _powers(model, result, waves, period)
    except SwelltreeError as error:
        found = {"search_power": float(result.attrs["mean_power"])}
        no_power = {"mean_power": np.nan, "electrical_power": np.nan}
        said = (
            f"The run in time under the force that was found failed: {error} The power of the "
            f"search, {found['search_power']:.4g} W, is not that of a motion and is not given as "
            "mean_power. Limit force, stroke or velocity."
        )
        return none | found | no_power, said
    power, change = powers[-1], abs(powers[-1] - powers[-2])
    wanted = float(result.attrs["mean_power"])
    said = ""
    if not abs(power - wanted) <= OFF * abs(wanted):
        said = (
            f"Replayed in time the force takes {power:.4g} W, not the {wanted:.4g} W of the search."
        )
        if change > OFF * abs(power):
            said += f" The run had not settled{restless}."
        elif restless:
            said += f" The run does not repeat{restless}."
    return {"replayed_power": power, "replayed_change": change}, said


def _why_not(model: Model, waves: RealisedSea | None, radiation: str) -> str:
    if not isinstance(waves, Components):
        return "this sea has no ramp"
    hydro = model.hydro
    if hydro is None or hydro.memory is not None or radiation != "data" or hydro.table is None:
        return ""
    radiates = np.any(np.asarray(hydro.table.radiation_damping))
    if radiates and not np.any(np.asarray(hydro.damping)):
        return "the model was compiled without radiation, radiation='none'"
    return ""


def _powers(
    model: Model, result: xr.Dataset, waves: RealisedSea | None, period: float
) -> tuple[tuple[float, float], str]:
    """Mean power of the last two stretches of a run, and what does not repeat in it."""
    from swelltree.studies.control.laws import replayed
    from swelltree.studies.control.ports import find_ports
    from swelltree.studies.time.simulate import simulate

    count = MANY if period <= LONGEST else FEW
    ramp = period * (5 if count == MANY else 1)
    highest = max(len(result.harmonic) - 1, 1)
    each = int(np.clip(SAMPLES * highest / 15, SAMPLES, 20 * SAMPLES))
    times = np.arange(count * each + 1) * period / each
    assert isinstance(waves, Components)  # _why_not
    driven = replayed(model, result, ramp=ramp)
    run = simulate(driven, replace(waves, ramp=ramp), times=times, progress=False)
    if str(run.attrs.get("result", "success")) != "success":
        raise SwelltreeError(f"the run ended with '{run.attrs['result']}'.")
    ports = find_ports(model, [str(name) for name in result.pto.values])
    power = np.zeros(len(run.time))
    rows = values_at(float(result.attrs["omega"]), np.asarray(times), highest)
    for i, name in enumerate(ports.names):
        x, v = _motion(run, model, ports, i)
        u = rows @ from_complex(result.control_harmonics.sel(pto=name).values)
        power -= (u - ports.damping[i] * v - ports.stiffness[i] * x) * v
    window = each * (5 if count == MANY else 1)
    last = power[-window:].mean()
    before = power[-2 * window : -window].mean()
    return (float(before), float(last)), restless(run, each, window)


def restless(run: xr.Dataset, each: int, window: int) -> str:
    """What differs most from a period before, in words; empty where all repeats.

    Rates are compared: a steady drift of what nothing holds repeats, too.

    Args:
        run: in time.
        each: samples of a period.
        window: samples of a stretch.
    """
    rate = run["joint_rate"].values
    if rate.shape[1] == 0 or 2 * window + each > len(rate):
        return ""

    def size(values: np.ndarray, end: int) -> np.ndarray:
        return np.sqrt((values[len(values) - end - window : len(values) - end] ** 2).mean(axis=0))

    apart = rate[each:] - rate[:-each]
    late, early, scale = size(apart, 0), size(apart, window), size(rate, 0)
    share = late / np.maximum(scale, 1e-3 * scale.max())
    worst = int(share.argmax())
    if not share[worst] > OFF:
        return ""
    name = str(run["coordinate"].values[worst])
    text = f": '{name}' changes by {share[worst]:.0%} of its speed from one period to the next"
    if late[worst] < DECAYS * early[worst]:
        return text
    return (
        f"{text} and does not calm down. The periodic motion is not stable: give damping there, "
        "or look at `modes` for one near twice the period"
    )


def _motion(run: xr.Dataset, model: Model, ports: Ports, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Stroke and rate of a driven element in a run."""
    forces, name = stroke_forces(model), ports.names[i]
    if name in run.get("pto", ()):
        x, v = run.pto_stroke.sel(pto=name), run.pto_rate.sel(pto=name)
        return x.values, v.values
    k = forces.strokes.dof_of(ports.place[i])
    if k is not None:
        return run.joint_coordinate.values[:, k] - ports.zero[i], run.joint_rate.values[:, k]
    length, rate = run.spring_length.sel(spring=name), run.spring_rate.sel(spring=name)
    return length.values - float(forces.strokes.rest[ports.place[i]]), rate.values
