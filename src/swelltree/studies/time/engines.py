"""What a run will be computed by, told before it is run."""

from __future__ import annotations

from typing import Any

from swelltree.model.model import Model
from swelltree.studies.time.simulate import CHUNK, stepper_of
from swelltree.studies.time.task import Sampling, Stepping, read_task


def engine_of(model: Model, run: Any) -> str:
    """The engine of a run, and why it is not machine code where it is not: "LLVM" or "XLA: ...".

    The program that is made for the answer is kept on disk, where the run finds it.

    Args:
        model: compiled.
        run: a `SimulateStudy`.
    """
    task = read_task(
        model,
        run.sea,
        Sampling(run.duration, run.output_step, None, tuple(run.extremes)),
        Stepping(run.rtol, run.atol, run.step, run.max_step),
        solver=run.solver,
        formulation=run.formulation,
        start=run.start,
        case=run.case,
        excitation=run.excitation,
    )
    width = min(run.chunk or CHUNK, len(task.times))
    return stepper_of(task, width).engine(task.times[:width])
