"""What all studies share: models checked, findings cached, the sea realised and shown.

A run may go on where another ended: a result keeps the state of its stepper at the end as one row
of numbers, the coordinate `end_state`, with fingerprints of what it belongs to. The row goes into
files with the result, so that a run read from a file can be continued too.
"""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import xarray as xr

from swelltree.describe import Case, System
from swelltree.describe.environment.seas import MeasuredWave, SeaOf
from swelltree.describe.errors import SwelltreeError, shown, warn_user
from swelltree.describe.spec import Description
from swelltree.integrate.problem import Code
from swelltree.jit import Array, Contents, Tree, flatten, hashed, is_tracer, leaves_of, noted
from swelltree.model.model import Described, Model
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.dataset import Labelled, provenance
from swelltree.results.sea import sea_quantities, sea_text
from swelltree.waves.airy import Components
from swelltree.waves.measured import check_inside
from swelltree.waves.sea import AnySea, RealisedSea, elevation_record, realise

if TYPE_CHECKING:
    import xarray as xr


MAX_COMPARED = 64  # numbers: such arrays are compared, larger ones must be the same object


def _same(a: Array, b: Array) -> bool:
    if a is b:
        return True
    if np.shape(a) != np.shape(b) or np.size(a) > MAX_COMPARED:
        return False
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


class Remembered:
    """Cache of findings for a few trees; arrays must not change in place."""

    def __init__(self, most: int = 8) -> None:
        self.most = most
        self.entries: list[tuple[object, list[Array], dict[Hashable, Any]]] = []

    def about(self, tree: Tree) -> dict[Hashable, Any]:
        """Findings for a tree; empty for a new one."""
        leaves, structure = flatten(tree)
        if any(map(is_tracer, leaves)):
            return {}
        for known, values, notes in reversed(self.entries):
            if known == structure and all(map(_same, values, leaves)):
                return notes
        notes: dict[Hashable, Any] = {}
        self.entries = [*self.entries[-self.most + 1 :], (structure, leaves, notes)]
        return notes


Study = TypeVar("Study", bound=Callable[..., object])


def study_of_model(study: Study) -> Study:
    """Decorator of studies of a compiled model that return a dataset."""

    @functools.wraps(study)
    def checked(model: object, *args: object, **options: object) -> object:
        check_model(model, study.__name__)
        assert isinstance(model, Model)
        try:
            with noted() as ran:
                result: Any = study(model, *args, **options)
        finally:
            raise_faults(model)
        if hasattr(result, "data_vars"):
            engine = {"engine": ran.engine} if ran.engine else {}
            result.attrs = provenance(model) | engine | result.attrs
        return result

    return cast(Study, checked)


def check_model(model: object, study: str) -> None:
    """Reject what is not a compiled model."""
    if isinstance(model, Model):
        return
    if isinstance(model, System):
        raise SwelltreeError(
            f"{study}: system '{model.name}' is not compiled. Give compile(system), with hydro "
            "data where it floats on them."
        )
    if isinstance(model, Case):
        raise SwelltreeError(f"{study}: this is a case. Give compile_case(case).")
    raise SwelltreeError(f"{study}: {type(model).__name__} is not a model. Give compile(system).")


def _holds_traced(things: Tree) -> bool:
    """Whether models, arrays or described seas contain traced numbers."""
    leaves = leaves_of(things)
    if any(map(is_tracer, leaves)):
        return True
    described = [leaf for leaf in leaves if isinstance(leaf, Description)]
    return any(_holds_traced(list(vars(one).values())) for one in described)


def check_traced(study: str, *things: Tree) -> None:
    """Refuse to run inside grad, jit or vmap.

    Args:
        study: name in the message.
        things: what it depends on.
    """
    if _holds_traced(things):
        raise SwelltreeError(
            f"{study} cannot be differentiated, compiled or batched by JAX yet (grad, jit, vmap). "
            "Use simulate, equilibrium or modes inside of them, or differences of whole studies."
        )


def realised(model: Model, sea: AnySea, case: int | str) -> RealisedSea:
    """A described sea in the model's water."""
    return sea if isinstance(sea, RealisedSea) else realise(sea, model.water, case)


def check_times(sea: AnySea | None, waves: RealisedSea | None, begin: float, end: float) -> None:
    """A record must hold the times of a run, and a random sea should not repeat itself in it.

    Args:
        sea: as it was given.
        waves: the same realised, where it is.
        begin: of the run [s].
        end: of the run [s]; infinite where it is not known.
    """
    records = records_of(sea)
    for record in records:
        check_inside(record, begin, end)
    if records or not isinstance(waves, Components) or not waves.is_known:
        return
    period, omega = float(waves.repeat_period), np.asarray(waves.omega)
    if omega.size > 1 and np.ptp(omega) > 0.0 and period < (end - begin) * (1.0 - 1e-6):
        often, enough = "", "more"
        if np.isfinite(end):
            often = f", {(end - begin) / period:.3g} times in a run of {end - begin:.4g} s"
            enough = f"at least {int(np.ceil(omega.size * (end - begin) / period))}"
        warn_user(
            f"the sea repeats after {period:.4g} s{often}: its frequencies are multiples of "
            f"{2.0 * np.pi / period:.4g} rad/s. Give spacing='equal_energy', jitter=True or "
            f"{enough} components."
        )


def records_of(sea: object) -> list[MeasuredWave]:
    return [train for train in trains_of(sea) if isinstance(train, MeasuredWave)]


def trains_of(sea: object) -> list[object]:
    """The wave trains of a described sea, itself where it is one."""
    return (
        [each for train in sea.trains for each in trains_of(train)]
        if isinstance(sea, SeaOf)
        else [sea]
    )


def linear_waves(study: str, model: Model, sea: AnySea, case: int | str) -> Components:
    """Components of a sea for studies that superpose linear waves."""
    waves = realised(model, sea, case)
    if not isinstance(waves, Components):
        raise SwelltreeError(
            f"{study} works on linear waves, and this sea is not linear. Use RegularWave(...)."
        )
    return waves


def with_elevation(result: xr.Dataset, sea: AnySea, waves: RealisedSea) -> xr.Dataset:
    """The result with the free surface at the origin."""
    shown = result.assign(elevation_variable(waves, np.asarray(result.time)))
    return with_sea_attributes(shown, sea, waves)


def elevation_variable(waves: RealisedSea, times: np.ndarray) -> dict[str, Labelled]:
    """The free surface at the origin, as a variable of a result.

    Args:
        waves: the sea.
        times: samples [s].
    """
    about = {"units": "m", "long_name": "free surface at the origin", "frame": "world"}
    return {"elevation": (("time",), elevation_record(waves, times), about)}


def with_sea_attributes(result: xr.Dataset, sea: AnySea, waves: RealisedSea) -> xr.Dataset:
    """The result with attributes of the sea."""
    # a measured record would fill the attributes with its samples
    text = textwrap.shorten(repr(sea), 500, placeholder=" ...")
    words = json.dumps(sea_quantities(sea, waves))
    result.attrs |= {"sea": text, "wave_components": sea_text(waves), "sea_quantities": words}
    # on the axis, so that every variable taken out of the result knows its ramp
    result["time"].attrs["ramp"] = float(waves.ramp)
    return result


STATE = "end_state"
FINISHED = (Code.SUCCESS.name.lower(), Code.STOPPED_BY_USER.name.lower())
_keys = Remembered()  # fingerprints of the last models


def is_run(start: object) -> bool:
    """Whether a start is the result of another run."""
    return hasattr(start, "data_vars") and hasattr(start, "coords")


def model_key(model: Model) -> str:
    """Fingerprint of a model without its sea: parameters, layout and users' functions."""
    bare = model.replace(described=Described())
    known = _keys.about(bare)
    if "key" not in known:
        contents = Contents()
        key = hashed(contents.of(bare))
        if contents.unsure:
            return key  # what a function of the user reads may be another the next time
        known["key"] = key
    return known["key"]


def end_row(
    model: Model, coordinates: str, state: Tree, time: float, last_sample: float
) -> dict[str, Labelled]:
    """The state in which a run ended, as a coordinate of its result.

    Args:
        model: without its sea.
        coordinates: what the state is made of: stepper and formulation.
        state: tree of numbers.
        time: of the state [s].
        last_sample: its time [s].
    """
    row = np.concatenate([np.ravel(np.asarray(x)).astype(float) for x in leaves_of(state)])
    about = {
        "long_name": "state of the stepper at the end of the run, for simulate(start=run)",
        "model": model_key(model),
        "stepper": coordinates,
        "end_time": time,
        "last_sample": last_sample,
    }
    return {STATE: (("end_number",), row, about)}


def end_time(run: xr.Dataset) -> float:
    """End time of a complete run [s]."""
    if STATE not in run.coords:
        raise SwelltreeError(
            "start: this dataset keeps no end of a run. Give the result of simulate, or one that "
            "load_result has read."
        )
    about = run[STATE].attrs
    if run.attrs.get("result") not in FINISHED:
        raise SwelltreeError(
            f"start: that run ended with '{run.attrs.get('result')}' and cannot be continued: "
            f"{run.attrs.get('message', '')} Fix it and run it again."
        )
    last = float(run.time.values[-1]) if run.sizes.get("time") else float("nan")
    if last != float(about["last_sample"]):
        raise SwelltreeError(
            f"start: the samples given end at {last:g} s, those of the run at "
            f"{float(about['last_sample']):g} s. Give the whole result."
        )
    return float(about["end_time"])


def end_of(run: xr.Dataset, model: Model, coordinates: str, like: Tree) -> Tree:
    """The state in which a run of the same model ended.

    Args:
        run: its result.
        model: without its sea.
        coordinates: as in `end_row`.
        like: a state of the same shapes.
    """
    about = run[STATE].attrs
    if about["stepper"] != coordinates:
        raise SwelltreeError(
            f"start: that run was stepped by {about['stepper']}, this one by {coordinates}. "
            "Give the same formulation and kind of solver."
        )
    if about["model"] != model_key(model):
        raise SwelltreeError(
            "start: that run is of another model. Continue with the model it was made with; to "
            "start anew from a position, describe the bodies there."
        )
    leaves, tree = flatten(like)
    shapes = [np.shape(x) for x in leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    row = np.asarray(run[STATE].values, float)
    if not len(ends) or ends[-1] != len(row):
        raise SwelltreeError("start: the end of that run does not fit this model. Run it again.")
    parts = zip(np.split(row, ends[:-1]), shapes, leaves, strict=True)
    return tree.unflatten(
        [part.reshape(shape).astype(np.asarray(x).dtype) for part, shape, x in parts]
    )


def continued(times: np.ndarray, begin: float, specified: bool) -> np.ndarray:
    """Output times of a run that goes on at `begin`.

    Even times stay on the grid they would have in one long run, to the last digit.
    """
    if not specified:
        step = times[1] - times[0]
        count = np.round(begin / step)
        even = len(times) < 3 or np.ptp(np.diff(times)) < 1e-9 * step
        if even and abs(count * step - begin) < 1e-9 * step:
            return step * (count + np.arange(len(times)))
        return begin + times
    if times[0] < begin:
        raise SwelltreeError(
            f"times begin at {times[0]:g} s, before the run to be continued ends, at {begin:g} s. "
            "Give later times, or duration and output_step."
        )
    return times


def refuse_start(start: object, words: str) -> SwelltreeError:
    """Error message about an invalid start."""
    what = shown(start) if isinstance(start, str | int | float) else type(start).__name__
    return SwelltreeError(
        f"start {what} is not known. A run starts from {words}, or from the result of another run."
    )
