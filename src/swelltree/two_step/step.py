"""One step of the two-step scheme: its solver, and the derivatives that go through it."""

from __future__ import annotations

from dataclasses import replace

from swelltree.engine.backend import jax
from swelltree.model.model import Model
from swelltree.two_step.between_steps import after_events
from swelltree.two_step.finish import finished
from swelltree.two_step.inside import search_inside
from swelltree.two_step.instant import Step, step_from
from swelltree.two_step.sampled_control import sampled
from swelltree.two_step.samples import Sample
from swelltree.two_step.solve.newton import Iterate, search
from swelltree.two_step.state import Form, Setup, StepperState
from swelltree.two_step.step_rows import changed, direction

POLISHING = 2  # Newton steps that carry derivatives


def advance(
    model: Model, form: Form, setup: Setup, state: StepperState
) -> tuple[StepperState, Sample]:
    """One step."""
    step = step_from(model, form, setup, state)
    inside = form.interior_point and step.now.frozen is not None
    solve = polished if form.differentiable else search_inside if inside else search
    solution = solve(step)
    after, sample = finished(step, solution)
    after = sampled(model, setup.h, after, state)
    return after_events(model, form, setup, step.size.split(solution.at.x)[0], after), sample


def polished(step: Step) -> Iterate:
    """The solution with the derivatives of the implicit function.

    It is found without derivatives; more Newton steps with the Jacobian held fixed leave its value
    and give it its derivatives.
    """
    solution = jax.lax.stop_gradient(search(jax.lax.stop_gradient(step)))
    at, power = solution.at, solution.power
    for _ in range(POLISHING):
        last = direction(step, at, frozen_jacobian=True)
        at = changed(step, at, last.change)
        power = last.power
    return replace(solution, at=at, power=power)
