"""Runs that go on where another ended.

A result keeps the state of its stepper at the end as one row of numbers, the coordinate
`end_state`, with fingerprints of what it belongs to. The row goes into files with the result, so
that a run read from a file can be continued too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError, shown
from swelltree.integrate.problem import Code
from swelltree.jit import Contents, Tree, flatten, hashed, leaves_of
from swelltree.model.model import Model
from swelltree.model.values.described import Described
from swelltree.results.dataset import Labelled
from swelltree.studies.memo import Remembered

if TYPE_CHECKING:
    import xarray as xr

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
