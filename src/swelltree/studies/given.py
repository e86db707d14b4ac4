"""What studies are given: a compiled model, told in a sentence where it is something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from swelltree.model.model import Model
from swelltree.system import Case, System
from swelltree.system.errors import SwelltreeError

P = ParamSpec("P")
R = TypeVar("R")


def takes_model(
    study: Callable[Concatenate[Model, P], R],
) -> Callable[Concatenate[Model, P], R]:
    """A study that refuses anything but a compiled model, before it does anything."""

    @functools.wraps(study)
    def checked(model: Any, *args: P.args, **options: P.kwargs) -> R:
        check_model(model, study.__name__)
        return study(model, *args, **options)

    return checked


def check_model(model: Any, study: str) -> None:
    """A sentence for what is not a compiled model."""
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
