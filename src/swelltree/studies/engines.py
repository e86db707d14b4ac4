"""The engine that a study of a case will use, reported before it is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.describe.casefile.studies import OptimalControlStudy, SteadyStateStudy, Study
from swelltree.describe.options import SimulateOptions, complete
from swelltree.jit import noted
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.options import realised
from swelltree.studies.periodic.nodes import Nodes
from swelltree.studies.periodic.problem import PeriodRequest, harmonics_for, period_of, set_up
from swelltree.studies.periodic.steady_state import HARMONICS, HIGHER
from swelltree.studies.time.simulate import chunk_and_room, stepper_of
from swelltree.studies.time.task import read_task

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
    options = complete(SimulateOptions, **run.arguments())
    task = read_task(model, options.pop("sea"), options)
    chunk, room = chunk_and_room(task, options["chunk"])
    return stepper_of(task, room).engine(task.times[:chunk])


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
    specified = study.arguments()
    how = chosen_formulation(specified["formulation"])
    with noted() as ran:
        if isinstance(study, PERIODIC):
            waves = None if study.sea is None else realised(model, study.sea, specified["case"])
            length = period_of(study.type, waves, specified["period"])
            harmonics = specified["harmonics"]
            count = harmonics_for(study.type, waves, length, harmonics, HARMONICS, HIGHER)
            how_fine = specified["nodes"], specified["radiation"]
            requested = PeriodRequest(waves, length, count, *how_fine)
            Nodes(how, set_up(model, how, requested)).prepare()
        else:
            radiation = specified.get("radiation", "infinite")
            linear_model(model, how, radiation, study=study.type)
    return ran.engine
