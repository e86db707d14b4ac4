"""Which feature runs with which solver: asked of the code, written as a table of the pages.

    python docs/combinations.py            writes docs/tables/combinations.md

A cell is what `simulate` says when such a run is set up: yes, or the sentence of the refusal.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import swelltree as sw
from swelltree.describe.options import TracedOptions, complete
from swelltree.integrate.runge_kutta.smooth import METHODS
from swelltree.studies.time.simulate import stepper_of
from swelltree.studies.time.task import TWO_STEP, read_task

PAGE = Path(__file__).parent / "tables" / "combinations.md"
SOLVERS = (*METHODS, *TWO_STEP)
EVEN, UNEVEN = {"duration": 1.0, "output_step": 0.1}, {"times": np.array([0.1, 0.25, 0.7, 1.0])}
ODD = {"times": np.array([0.0, 1.0 / np.pi, 1.0])}


def hanging(*, lines: str | None = None, **more: Any) -> sw.Model:
    """A load on a rail, on a line if asked for."""
    load = sw.Body("load", 900.0, (9.0, 9.0, 9.0), position=(0, 0, -5))
    rope = sw.LineType("rope", diameter=0.05, mass_per_length=8.0, EA=2e6)
    specified = {}
    if lines is not None:
        line = sw.Line("wire", sw.WORLD, load, 4.99, rope, model=lines, segments=4)
        specified["lines"] = [line]
    free = lines == "multibody"
    joints = [] if free else [sw.Slider("rail", sw.WORLD, load, axis="z")]
    return sw.compile(sw.System("hanging", [load], joints, **specified, **more))


def latching() -> sw.Model:
    """A load on a rail with a latch."""
    return hanging(ptos=[sw.LatchingPto("latch", joint="rail", release_after=0.5)])


def touching() -> sw.Model:
    """A load that may touch the seabed."""
    ground = sw.SeabedContact("feet", "load", at=[(0, 0, 0)])
    return hanging(contacts=[ground], seabed=sw.Seabed(), water=sw.Water(depth=6.0))


def floating(**more: Any) -> sw.Model:
    """A float with its hydrodynamic data."""
    return sw.gallery.sphere().model(fit={"error": 0.2}, **more)


FEATURES: dict[str, tuple[Callable[[], sw.Model], dict[str, Any]]] = {
    "joints, springs, PTOs, control": (hanging, EVEN),
    "lines, quasi-static": (lambda: hanging(lines="quasi_static"), EVEN),
    "lines, multibody cables": (lambda: hanging(lines="multibody"), EVEN),
    "lines, dynamic": (lambda: hanging(lines="dynamic"), EVEN),
    "contact with the seabed": (touching, EVEN),
    "latches, clutches": (latching, EVEN),
    "radiation by states": (floating, EVEN),
    "radiation by convolution": (lambda: floating(radiation="convolution", step=0.05), EVEN),
    "axes that follow the yaw": (lambda: floating(frame="yaw"), EVEN),
    "uneven output times": (hanging, UNEVEN),
    "output times that are not on a grid": (hanging, ODD),
    "extremes between samples": (hanging, EVEN | {"extremes": ("position",)}),
}


def answer(model: sw.Model, solver: str, sampling: dict[str, Any]) -> str:
    """Nothing where such a run can be set up, else the sentence that refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            task = read_task(model, None, complete(TracedOptions, **sampling, solver=solver))
            stepper_of(task, 10)
    except sw.SwelltreeError as error:
        return str(error)
    return ""


def table() -> str:
    """The page: a table of marks, and the sentences its numbers stand for."""
    rows, sentences = [], []
    for feature, (make, sampling) in FEATURES.items():
        model, cells = make(), []
        for solver in SOLVERS:
            said = answer(model, solver, sampling).replace(f"'{solver}'", "'...'")
            if said and said not in sentences:
                sentences.append(said)
            cells.append(f"({sentences.index(said) + 1})" if said else "yes")
        rows.append(f"| {feature} | {' | '.join(cells)} |")
    head = [f"| | {' | '.join(f'`{s}`' for s in SOLVERS)} |", "|---" * (len(SOLVERS) + 1) + "|"]
    notes = [f"{k}. {text}" for k, text in enumerate(sentences, 1)]
    between = ["", "Numbers refer to the error messages of such runs:", ""]
    return "\n".join([*head, *rows, *between, *notes]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table())
