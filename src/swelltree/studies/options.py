"""Studies that cannot be differentiated, and what to use in their place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from swelltree.describe import Case, System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.spec import Description
from swelltree.jit import Tree, is_tracer, leaves_of, noted
from swelltree.model.model import Model
from swelltree.pto.controllers.controllers import raise_faults
from swelltree.results.dataset import provenance

# --- What all studies have in common: they take a compiled model, and their results say whence

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
