"""Is a model with driven elements linear? Asked once, of the equations of the search."""

from __future__ import annotations

import numpy as np

from swelltree.formulations import Formulation
from swelltree.model.model import Model
from swelltree.studies.control.nodes import driven_node
from swelltree.studies.control.ports import Ports
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linear_or_not import is_affine, is_linear, may_be_linear
from swelltree.studies.linear.linearise import still_model
from swelltree.studies.periodic.nodes import points_of
from swelltree.studies.periodic.set_up import PeriodAsked, set_up


def looks_linear(
    model: Model, how: Formulation, ports: Ports, linear: LinearModel, period: PeriodAsked
) -> bool:
    """Is the model linear? Asked of the equations that the nonlinear search would need."""
    if not may_be_linear(still_model(model), how):
        return False
    if not model.has_unknowns and period.harmonics >= 1:
        problem = set_up(model, how, period)
        size = 3 * linear.at.state.s.shape[0] + len(ports)
        some = np.asarray(problem.basis.time)[:3]
        points = points_of(driven_node, how, ports.place)
        return is_affine(points, problem.bare(), some, size)
    return is_linear(still_model(model), how, linear.at.state)
