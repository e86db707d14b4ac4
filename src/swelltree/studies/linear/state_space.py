"""`state_space`: the linearised model as a python-control system with named signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.linear_reduction import (
    minimal,
    reduced,
    split_unrestrained,
    zero_order_hold,
)
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.control.report import unrestrained_sentence
from swelltree.studies.linear.signals import (
    input_rows,
    left_out,
    model_with_states,
    output_rows,
    state_names,
)
from swelltree.studies.options import check_traced, study_of_model

if TYPE_CHECKING:
    from control import StateSpace

    class LinearSystem(StateSpace):
        """A `control.StateSpace` with a list of what was done to make it."""

        notes: tuple[str, ...]


@study_of_model
def state_space(
    model: Model,
    inputs: Sequence[str] | str | None = None,
    outputs: Sequence[str] | str | None = None,
    *,
    formulation: str | Formulation = "path_matrix",
    order: int | None = None,
    error: float | None = None,
    reduce_to_minimal: bool = False,
    step: float | None = None,
    name: str | None = None,
) -> LinearSystem:
    """The model about its equilibrium as a `control.StateSpace`, all states included.

    States are positions and rates of the free directions, those of the radiation, and internal
    states of effects: oil, flywheels, lags, states of controllers.

    Signals keep their names, with "__" for the dot, which python-control does not allow:
    "hinge.Pitch.rate" becomes `hinge__Pitch__rate`. All are deviations from equilibrium. The
    attribute `notes` lists the steps of the reduction.

    Args:
        model: from `compile`, with radiation "state_space", "constant" or "none".
        inputs: actuators by the name of their PTO, spring or joint force (a force that acts to
            increase the stroke), forces on bodies "float.Heave" (world axes, at the reference
            point), on joints "hinge.Pitch", of applied forces "push.Surge" (at their point), or
            "excitation" for the forces of the sea on all bodies. All PTOs and the excitation if
            not given.
        outputs: "hinge.Pitch", "float.Heave" (`displacement`, in the axes of the body's heading, as
            the same name of `stepper`), "ram.stroke", each also with ".rate" or
            ".acceleration", and "ram.force" (with what controllers give). All joint coordinates and
            rates if not given.
        formulation: name or object.
        order: reduce to this many states.
        error: reduce to the min number of states with this error: largest singular value, over
            frequency, of the difference of the responses, inputs and outputs scaled so that the
            largest response of each is one.
        reduce_to_minimal: remove uncontrollable and unobservable states; the response does not
            change.
        step: sample with this step, inputs held in between [s].
        name: of the system; "swelltree" if not given.
    """
    check_traced("state_space", model)
    control = import_control()
    _check(order, error, step)
    linear = model_with_states(model, chosen_formulation(formulation))
    into, rows = input_rows(linear, inputs)
    out, C, D = output_rows(linear, outputs, into, rows)
    first = linear.first_order()
    A, B, states = first.A, first.push @ rows.T, state_names(linear)
    notes = [*linear.notes, *left_out(linear.at.model), *linear.internal.notes()]
    if reduce_to_minimal:
        before = A.shape[0]
        A, B, C = minimal(A, B, C)
        states = tuple(f"minimal__{i + 1}" for i in range(A.shape[0]))
        notes.append(f"{A.shape[0]} of {before} states are controllable and observable.")
    if order is not None or error is not None:
        A, B, C, states = _reduced(A, B, C, order, error, notes)
    else:
        poles = split_unrestrained(A, B, C).poles
        if poles.size:
            notes.append(unrestrained_sentence(poles))
    if step is not None:
        A, B = zero_order_hold(A, B, step)
        notes.append(f"sampled every {step:g} s with inputs held in between.")
    system = control.StateSpace(
        A,
        B,
        C,
        D,
        step or 0,
        inputs=list(into),
        outputs=list(out),
        states=list(states),
        name=name or "swelltree",
        remove_useless_states=False,
    )
    system.notes = tuple(notes)
    return system


def import_control() -> Tree:
    """python-control, when it is needed."""
    import control

    return control


def _check(order: int | None, error: float | None, step: float | None) -> None:
    if order is not None and (order != int(order) or order < 1):
        raise SwelltreeError(f"state_space: order {order} is not a number of states. Give e.g. 10.")
    if error is not None and not 0 < error < 1:
        raise SwelltreeError(
            f"state_space: error {error} is not between 0 and 1. Give a part of the largest "
            "response, for example 0.01."
        )
    if step is not None and not step > 0:
        raise SwelltreeError(f"state_space: step {step} s is not positive. Give e.g. 0.1.")


def _reduced(
    A: np.ndarray,
    B: np.ndarray,
    C: np.ndarray,
    order: int | None,
    error: float | None,
    notes: list[str],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Balanced truncation with a note."""
    before, parts = A.shape[0], split_unrestrained(A, B, C)
    k = parts.poles.size
    if order is not None and order < k:
        raise SwelltreeError(
            f"state_space: order {order} is less than the {k} states that do not decay. "
            f"Give at least {k}, or moor the system."
        )
    small = reduced(A, B, C, order, error)
    if error is not None and not small.error <= error:
        raise SwelltreeError(
            f"state_space: {small.system[0].shape[0]} states give an error of {small.error:.2g}, "
            f"but {error:.2g} is asked for. Give a larger order or error."
        )
    A, B, C = small.system
    if k:
        notes.append(unrestrained_sentence(parts.poles))
    notes.append(
        f"reduced from {before} to {A.shape[0]} states by balanced truncation: error "
        f"{small.error:.2g} of the largest responses (never more than {small.bound:.2g})."
    )
    stored = A.shape[0] - k
    names = (*(f"drift__{i + 1}" for i in range(k)), *(f"balanced__{i + 1}" for i in range(stored)))
    return A, B, C, names
