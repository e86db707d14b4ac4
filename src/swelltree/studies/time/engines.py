"""The engine that a run will use, reported before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.model.model import Model
from swelltree.studies.time.simulate import CHUNK, stepper_of
from swelltree.studies.time.task import Asked, Sampling, Stepping, read_task

if TYPE_CHECKING:
    from swelltree.system.casefile.studies import SimulateStudy


def engine_of(model: Model, run: SimulateStudy) -> str:
    """The engine of a run, and why it is not native code where it is not: "LLVM" or "XLA: ...".

    The program that is made for the answer is kept on disk, where the run finds it.

    Args:
        model: compiled.
        run: a `SimulateStudy`.
    """
    sampling = Sampling(run.duration, run.output_step, None, tuple(run.extremes))
    stepping = Stepping(run.rtol, run.atol, run.step, run.max_step)
    asked = Asked(stepping, run.solver, run.formulation, run.start, run.case, run.excitation)
    task = read_task(model, run.sea, sampling, asked)
    width = min(run.chunk or CHUNK, len(task.times))
    return stepper_of(task, width).engine(task.times[:width])
