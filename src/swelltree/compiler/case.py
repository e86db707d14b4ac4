"""From a case file to the model that its studies run."""

from __future__ import annotations

from collections.abc import Callable

from swelltree.compiler.compile import compile
from swelltree.engine.doing import doing
from swelltree.hydro.case import hydro_of_case, hydro_options
from swelltree.model.model import Model
from swelltree.system import Case


def compile_case(case: Case, *, progress: bool | Callable[[int, int], None] | None = None) -> Model:
    """Compile the system of a case with the data and the options of its [hydro] section.

    Args:
        case: from `load` or `loads`.
        progress: of a BEM run, as in `run_bem`.
    """
    data = hydro_of_case(case, progress=progress)
    with doing("compiling the model"):
        return compile(case.system, data, **hydro_options(case))
