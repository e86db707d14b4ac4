r"""`optimal_control`: the periodic force of the power take-offs that takes most power.

The force of every driven PTO is a Fourier series. Linear models are condensed to the driven
elements, and the search is one convex quadratic program; other models are solved by sequential
quadratic programming on the periodic equations of motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.options import METHODS, OptimalControlOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import check_source
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.multibody.formulations import formulation as chosen_formulation
from swelltree.spatial.linalg import one_thread
from swelltree.studies.control.actuators import find_ports, machine_limits, off_the_stops
from swelltree.studies.control.control_study import ControlStudy
from swelltree.studies.control.limits import read_limits, read_losses, with_machine_limits
from swelltree.studies.control.nonlinear import SearchRequest
from swelltree.studies.options import check_traced, realised, study_of_model
from swelltree.studies.periodic.problem import PeriodRequest, harmonics_for, period_of
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr

LIMITS = (
    "force_max",
    "stroke_max",
    "velocity_max",
    "force_rate_max",
    "power_min",
    "power_max",
)
HARMONICS = 15  # of a regular wave, when nothing is said
HIGHER = 3  # times the highest component of a sea: limits give the force corners


@study_of_model
@with_options(OptimalControlOptions)
def optimal_control(
    model: Model,
    sea: AnySea,
    pto: str | Sequence[str] | None = None,
    **options: Unpack[OptimalControlOptions],
) -> xr.Dataset:
    """Periodic PTO forces of maximum mean power in a periodic sea, within limits.

    F = u - c v - k x is the whole force of a PTO, its own spring and damper included; limits and
    power are those of F. The result has `force`, `control` (u), `stroke`, `rate`, `absorbed_power`,
    `electrical_power` over one period, their harmonics, the motion of the bodies, the multipliers
    of the limits, and as attributes the mean powers, the best plain damper within the same limits,
    and the KKT residual. `mean_power`, `bound` and `passive_power` are absorbed, `electrical_power`
    and `passive_electrical_power` are after losses. `replayed_power` is the mean power of the same
    force in a run in time; where that run fails, `mean_power` is not a number and the search's own
    value is `search_power`. For linear models `bound` is the maximum for any force; other models
    have `linear_bound`, that of the model linearised at equilibrium, which they may exceed.

    Args:
        model: from `compile`, with hydro data.
        sea: a sea that repeats: RegularWave, or a spectrum with spacing="equal".
        pto: name or names of the PTOs driven; all plain ones, or all others where there are no
            plain ones, if not given. u replaces the law of a PTO; spring and stops stay.
    """
    chosen: NamedValues = {**options}
    radiation, method, efficiency = chosen["radiation"], chosen["method"], chosen["efficiency"]
    nodes, case = chosen["nodes"], chosen["case"]
    check_traced("optimal_control", model, sea)
    _check(method, efficiency, radiation)
    ports = find_ports(model, pto)
    specified = {name: chosen[name] for name in LIMITS}
    of_machines = machine_limits(model, ports.names, ports.place)
    required = SearchRequest(
        with_machine_limits(specified, of_machines),
        float(efficiency),
        read_losses(ports, chosen["copper_loss"]),
        chosen["tol"],
        chosen["max_iterations"],
        chosen["limit_points"],
        chosen["starts"],
        nodes,
        chosen["compare"],
    )
    off = off_the_stops(of_machines, read_limits(ports, required.limits, 1.0), ports.names)
    study = ControlStudy.of(
        model, chosen_formulation(chosen["formulation"]), ports, off, radiation, method
    )

    def of_case(one: int | str) -> xr.Dataset:
        waves = realised(model, sea, one)
        length = period_of("optimal_control", waves, chosen["period"])
        count = harmonics_for(
            "optimal_control", waves, length, chosen["harmonics"], HARMONICS, HIGHER
        )
        requested = PeriodRequest(waves, length, count, nodes, radiation)
        result = study.result(requested, required, chosen["replay"]).assign_attrs(case=str(one))
        return result.assign_attrs(chosen["provenance"] or {})

    with one_thread():
        if isinstance(case, int | str):
            return of_case(case)
        return _joined([of_case(one) for one in case], list(case))


def _check(method: str, efficiency: float, radiation: str) -> None:
    """Reject unknown words and efficiencies outside (0, 1]."""
    if method not in METHODS:
        raise SwelltreeError(
            f"method '{method}' is not known.{suggest(method, METHODS)} "
            f"Choose one of {listed(METHODS)}."
        )
    if not 0.0 < efficiency <= 1.0:
        raise SwelltreeError(f"efficiency {efficiency} is not in (0, 1]. Give a fraction.")
    check_source(radiation)


def _joined(results: list[Tree], cases: list[Tree]) -> xr.Dataset:
    """Several realisations merged into one dataset, along `realisation`."""
    import xarray as xr

    numbers = ("mean_power", "electrical_power", "passive_power", "kkt_residual")
    more = ("bound", "linear_bound", "replayed_power", "passive_electrical_power")
    numbers = (*numbers, *(name for name in more if name in results[0].attrs))
    parts = []
    for result in results:
        attrs = {f"{name}_of_case": ((), float(result.attrs[name])) for name in numbers}
        parts.append(result.drop_dims("active").assign(attrs))
    return xr.concat(parts, dim="case", combine_attrs="drop_conflicts").assign_coords(
        case=[str(c) for c in cases]
    )
