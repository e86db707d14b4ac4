"""The engine that a study of a case will use, reported before it is carried out."""

from __future__ import annotations

from swelltree.engine.machine.ran import noted
from swelltree.formulations import formulation as chosen_formulation
from swelltree.model.model import Model
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.set_up import PeriodAsked, harmonics_for, period_of, set_up
from swelltree.studies.periodic.steady_state import HARMONICS, HIGHER
from swelltree.studies.seas import realised
from swelltree.studies.time.engines import engine_of
from swelltree.system.casefile.studies import OptimalControlStudy, SteadyStateStudy, Study

# their equations are asked for at nodes in time
PERIODIC = (SteadyStateStudy, OptimalControlStudy)


def engine_of_study(model: Model, study: Study) -> str:
    """The engine of a study of a case, and why it is not native code where it is not.

    Args:
        model: compiled.
        study: of a case: of a run, at rest, linear, periodic or of control.
    """
    if study.in_time is not None:
        return engine_of(model, study.in_time)
    how = chosen_formulation(getattr(study, "formulation", "path_matrix"))
    with noted() as ran:
        if isinstance(study, PERIODIC):
            waves = None if study.sea is None else realised(model, study.sea, study.case)
            length = period_of(study.type, waves, study.period)
            count = harmonics_for(study.type, waves, length, study.harmonics, HARMONICS, HIGHER)
            asked = PeriodAsked(waves, length, count, study.nodes, study.radiation)
            Nodes(how, set_up(model, how, asked)).prepare()
        else:
            radiation = getattr(study, "radiation", "infinite")
            linear_model(model, how, radiation, study=study.type)
    return ran.engine
