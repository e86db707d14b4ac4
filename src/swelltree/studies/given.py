"""What all studies have in common: they take a compiled model, and their results say whence.

What is not a model is rejected with an error message. Every dataset keeps versions, date, water,
hashes of the data, the description as the text of a case file and, where programs ran, by which
engine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from swelltree.engine.machine.ran import noted
from swelltree.model.model import Model
from swelltree.results.dataset import provenance
from swelltree.system import Case, System
from swelltree.system.errors import SwelltreeError

P = ParamSpec("P")
R = TypeVar("R")


def study_of_model(
    study: Callable[Concatenate[Model, P], R],
) -> Callable[Concatenate[Model, P], R]:
    """A study that takes nothing but a compiled model and stamps its dataset."""

    @functools.wraps(study)
    def checked(model: object, *args: P.args, **options: P.kwargs) -> R:
        check_model(model, study.__name__)
        assert isinstance(model, Model)
        with noted() as ran:
            result = study(model, *args, **options)
        if hasattr(result, "data_vars"):
            engine = {"engine": ran.engine} if ran.engine else {}
            result.attrs = provenance(model) | engine | result.attrs  # type: ignore[attr-defined]
        return result

    return checked


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
