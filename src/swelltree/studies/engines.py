"""The engine that a study of a case will use, reported before it is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.describe.casefile.studies import OptimalControlStudy, SteadyStateStudy, Study
from swelltree.jit import noted
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.problem import PeriodRequest, harmonics_for, period_of, set_up
from swelltree.studies.periodic.steady_state import HARMONICS, HIGHER
from swelltree.studies.seas import realised
from swelltree.studies.time.simulate import CHUNK, stepper_of
from swelltree.studies.time.task import RunOptions, Sampling, Stepping, read_task

if TYPE_CHECKING:
    from swelltree.describe.casefile.studies import SimulateStudy


# --- The engine that a run will use, reported before it is run


def engine_of(model: Model, run: SimulateStudy) -> str:
    """The engine of a run, and why it is not native code where it is not: "LLVM" or "XLA: ...".

    The program that is made for the answer is kept on disk, where the run finds it.

    Args:
        model: compiled.
        run: a `SimulateStudy`.
    """
    sampling = Sampling(run.duration, run.output_step, None, tuple(run.extremes))
    stepping = Stepping(run.rtol, run.atol, run.step, run.max_step)
    requested = RunOptions(
        stepping, run.solver, run.formulation, run.start, run.case, run.excitation
    )
    task = read_task(model, run.sea, sampling, requested)
    width = min(run.chunk or CHUNK, len(task.times))
    return stepper_of(task, width).engine(task.times[:width])


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
            requested = PeriodRequest(waves, length, count, study.nodes, study.radiation)
            Nodes(how, set_up(model, how, requested)).prepare()
        else:
            radiation = getattr(study, "radiation", "infinite")
            linear_model(model, how, radiation, study=study.type)
    return ran.engine
