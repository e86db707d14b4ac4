"""From a case file to the model that its studies run."""

from __future__ import annotations

from collections.abc import Callable

from swelltree.compiler.compile import compile
from swelltree.describe import Case
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.case import hydro_of_case, hydro_options
from swelltree.hydro.linear.data import NEGLIGIBLE
from swelltree.hydro.linear.excitation import covered_by
from swelltree.model.model import Model
from swelltree.status import doing
from swelltree.waves.airy import Components
from swelltree.waves.sea import realise


def compile_case(case: Case, *, progress: bool | Callable[[int, int], None] | None = None) -> Model:
    """Compile the system of a case with the data and the options of its [hydro] section.

    Args:
        case: from `load` or `loads`.
        progress: of a BEM run, as in `run_bem`.
    """
    check_bands(case)
    data = hydro_of_case(case, progress=progress)
    with doing("compiling the model"):
        return compile(case.system, data, **hydro_options(case))


def check_bands(case: Case) -> list[str]:
    """The seas of the studies against the frequencies of a BEM run that is still to be made.

    An error where a sea would be rejected afterwards; notes on the energy that is left out.

    Args:
        case: from `load` or `loads`.
    """
    if case.hydro is None or case.hydro.source is None:
        return []
    low, high = min(case.hydro.frequencies), max(case.hydro.frequencies)
    notes = []
    for study in case.studies:
        run = study.in_time
        if run is None or run.sea is None:
            continue
        waves = realise(run.sea, case.system.water)
        if not isinstance(waves, Components) or not len(waves):
            continue
        try:
            _, part = covered_by(low, high, waves)
        except SwelltreeError as error:
            raise SwelltreeError(f"study '{study.name}': the {error}") from None
        if part > NEGLIGIBLE:
            notes.append(
                f"study '{study.name}': {100 * part:.2g} % of the energy of its sea lies outside "
                f"the {low:.4g} to {high:.4g} rad/s of [hydro] omega and is left out. Give "
                f"omega_max = {high:.4g} for the sea, or a wider omega."
            )
    return notes
