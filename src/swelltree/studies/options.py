"""What all studies share: models checked, findings cached, the sea realised and shown."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import numpy as np
import xarray as xr

from swelltree.describe import Case, System
from swelltree.describe.environment.seas import MeasuredWave, SeaOf
from swelltree.describe.errors import SwelltreeError, warn_user
from swelltree.describe.spec import Description
from swelltree.jit import Array, Tree, flatten, is_tracer, leaves_of, noted
from swelltree.model.model import Model
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.dataset import Labelled, provenance
from swelltree.results.sea import sea_quantities, sea_text
from swelltree.waves.airy import Components
from swelltree.waves.measured import check_inside
from swelltree.waves.sea import AnySea, RealisedSea, elevation_record, realise

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
