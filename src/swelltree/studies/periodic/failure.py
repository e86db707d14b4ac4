"""Why no periodic motion was found, as a message; it names a law that returns NaN."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swelltree.effects.controllers.missing_numbers import not_finite
from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax
from swelltree.formulations import Formulation
from swelltree.model.effect import Now
from swelltree.model.model import Model
from swelltree.solvers.fourier import at_nodes
from swelltree.solvers.solution import Code
from swelltree.studies.periodic.problem import sizes, state_at
from swelltree.studies.periodic.smoothing import advice
from swelltree.studies.periodic.solve import PeriodicSolution

TIMES_FARTHER = (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)  # than the last motion: a step led beyond it
PROBES = 16  # instants of a period


def failure(solution: PeriodicSolution, model: Model, how: Formulation) -> str:
    """The message of a search that failed."""
    why = {
        Code.NOT_FINITE: "the forces became infinite or not a number on the way",
        Code.TOO_MANY_STEPS: "Newton came no nearer within max_iterations",
    }.get(solution.code, "Newton came no nearer")
    advised = (
        "The motion may have another period or none: look at simulate, lower the "
        f"wave{advice(model)} or give more harmonics."
    )
    return (
        f"steady_state: no periodic motion was found: {why} (estimated error "
        f"{solution.history[-1]:.2g}, {100 * solution.fraction:.0f} % of the wave height "
        f"reached). {not_finite(model, _moments(solution, how)) or advised}"
    )


def _moments(solution: PeriodicSolution, how: Formulation) -> Iterator[Now]:
    """Instants of the last motion of the search, and of smaller and larger ones."""
    period = solution.period
    n = sizes(how, period)[0]
    Y = np.asarray(solution.Y)
    if not np.isfinite(Y).all() or not Y.any():
        Y = np.zeros(Y.shape)
        Y[1:3] = 0.3  # m, rad: nothing is known of the motion
    y, y_rate, _ = at_nodes(period.basis, Y)
    time = np.asarray(period.basis.time)

    @jax.jit
    def at(t: Array, x: Array, rate: Array) -> Now:
        state, _ = state_at(how, period, x, rate)
        return Now(t, how.kinematics(period.model, t, state).motion, period.internal)

    for factor in TIMES_FARTHER:
        for k in np.linspace(0, len(time) - 1, PROBES).astype(int):
            yield at(time[k], factor * y[k, :n], factor * y_rate[k, :n])
