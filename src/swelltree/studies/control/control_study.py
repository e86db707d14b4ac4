"""One model under optimal control: what is known of it for every sea, and the search in one."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.hydro import hydro_table, linear_hydro
from swelltree.integrate.fourier import from_complex, to_complex
from swelltree.jit import Tree, note, noted
from swelltree.model.capabilities import HasUnknowns, having
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.multibody.formulations import Formulation
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.results.sea import sea_text
from swelltree.studies.control.actuators import Ports, best_damper, freed, no_damper, with_signals
from swelltree.studies.control.goal import ControlProgram, Goal
from swelltree.studies.control.limited import Response, values_at
from swelltree.studies.control.limits import read_limits
from swelltree.studies.control.linear import (
    Port,
    body_motion,
    damped,
    linear_response,
    look_in,
    power_bound,
    wave_forces,
    wave_rates,
)
from swelltree.studies.control.nodes import driven_node
from swelltree.studies.control.nonlinear import (
    ControlSolution,
    SearchRequest,
    best_of_starts,
    check_found,
    nonlinear_control,
    scales,
    series_of,
    spread_scale,
)
from swelltree.studies.linear.frequency_modes import HEADING
from swelltree.studies.linear.linear_model import (
    LinearModel,
    find_nonlinearity,
    is_affine,
    is_linear,
    may_be_linear,
)
from swelltree.studies.linear.linearise import linear_model, still_model
from swelltree.studies.options import Remembered
from swelltree.studies.periodic.nodes import points_of
from swelltree.studies.periodic.problem import PeriodRequest, set_up
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    import xarray as xr
from typing import TYPE_CHECKING

from swelltree.describe.values import NamedValues
from swelltree.multibody.layout import DOFS
from swelltree.studies.control.goal import electrical, fine_values
from swelltree.studies.control.limited import sampled

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.multibody.layout import Layout


# --- Datasets of optimal control


def control_dataset(
    layout: Layout, ports: Ports, omega: float, solution: ControlSolution, attrs: NamedValues
) -> xr.Dataset:
    """Series, harmonics, multipliers and mean powers of an optimum, labelled.

    Args:
        layout: of the model.
        ports: driven elements.
        omega: of the period [rad/s].
        solution: of the search.
        attrs: attributes of the result.
    """
    import xarray as xr

    r, goal, program, optimum = solution.response, solution.goal, solution.program, solution.optimum
    u = r.force + ports.damping * r.rate + ports.stiffness * r.stroke
    n = (len(r.force) - 1) // 2
    count = 2 ** int(np.ceil(np.log2(max(16 * n, 64))))
    t = 2 * np.pi / omega * np.arange(count) / count
    F, v, x = (sampled(y, count) for y in (r.force, r.rate, r.stroke))
    absorbed = -F * v
    delivered = electrical(goal, absorbed, F)
    over = 0.0
    for limit in goal.limits:
        value = fine_values(omega, r, limit)
        over = max(over, max(value.max() - limit.high, limit.low - value.min()) / limit.scale)
    both = ("time", "pto")
    units = "N or N m"
    about = {"time_convention": "exp(-iwt)"}
    order = [layout.bodies.index(name) for name in layout.described]
    bodies = solution.bodies.reshape(len(solution.bodies), -1, 6)[:, order]
    active = np.flatnonzero(np.abs(optimum.multiplier) > 1e-7)
    rows = [
        (limit.name, ports.names[limit.port], float(time))
        for limit, times in zip(program.goal.limits, program.times, strict=True)
        for time in times
    ]
    names, where, when = zip(*(rows[i] for i in active), strict=True) if len(active) else ((),) * 3

    def series(
        y: np.ndarray, name: str, unit: str
    ) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
        return (both, y, {"units": unit, "long_name": name})

    data = {
        "force": series(F, "force of the PTO", units),
        "control": series(sampled(u, count), "actuator force u", units),
        "stroke": series(x, "stroke", "m or rad"),
        "rate": series(v, "rate of the stroke", "m/s or rad/s"),
        "absorbed_power": series(absorbed, "absorbed power", "W"),
        "electrical_power": series(delivered, "electrical power", "W"),
        "force_harmonics": (("harmonic", "pto"), to_complex(r.force), about | {"units": units}),
        "control_harmonics": (("harmonic", "pto"), to_complex(u), about | {"units": units}),
        "stroke_harmonics": (
            ("harmonic", "pto"),
            to_complex(r.stroke),
            about | {"units": "m, rad"},
        ),
        "position_harmonics": (
            ("body_harmonic", "body", "dof"),
            bodies,
            about
            | {"units": "m, rad", "long_name": "displacement from equilibrium", "frame": HEADING},
        ),
        "passive_damping": (
            "pto",
            solution.passive.damping,
            {"long_name": "best damper", "units": "N s/m"},
        ),
        "multiplier": (
            "active",
            optimum.multiplier[active],
            {"long_name": "of the scaled limit; negative at its lower side"},
        ),
    }
    coords = {
        "time": ("time", t, {"units": "s"}),
        "pto": list(ports.names),
        "harmonic": np.arange(n + 1),
        "body_harmonic": np.arange(len(bodies)),
        "body": list(layout.described),
        "dof": list(DOFS),
        "active_limit": ("active", np.array(names, dtype=str)),
        "active_pto": ("active", np.array(where, dtype=str)),
        "active_time": ("active", np.array(when, dtype=float), {"units": "s"}),
    }
    numbers = {
        "omega": omega,
        "period": 2 * np.pi / omega,
        "harmonics": n,
        "mean_power": float(absorbed.sum(axis=1).mean()),
        "electrical_power": float(delivered.sum(axis=1).mean()),
        "passive_power": solution.passive.power,
        "passive_electrical_power": solution.passive.electrical,
        "kkt_residual": optimum.kkt,
        "leak": max(float(over), 0.0),
        "iterations": len(optimum.history),
        "search_cpu": solution.search_cpu,
        "quadratic_iterations": optimum.quadratic_iterations,
    }
    return xr.Dataset(data, coords, numbers | attrs)


# --- Optimal control of linear models: one convex quadratic program of the driven elements


def linear_control(
    linear: LinearModel, port: Port, waves: RealisedSea | None, asked: SearchRequest
) -> tuple[ControlSolution, float]:
    """Optimal force on the linear model, and the upper bound of the power."""
    begin = time.process_time()
    excitation = wave_forces(linear, port, waves)
    alone = wave_rates(port, excitation)
    force_scale, power_scale = scales(port, alone, asked.limits)
    limits = read_limits(port.ports, asked.limits, power_scale)
    goal = Goal(asked.efficiency, asked.copper, limits)
    respond, size = linear_response(port, alone)
    convex = asked.efficiency == 1.0 and not goal.limits_power
    program = ControlProgram(
        respond,
        goal,
        port.omega,
        port.harmonics,
        spread_scale(port, force_scale),
        power_scale,
        convex=convex,
        points=asked.points,
    )
    optimum = best_of_starts(program, np.zeros(size), asked)
    spent = time.process_time() - begin
    check_found(program, port, optimum, asked)

    def passive(c: np.ndarray) -> Response:
        return series_of(port, *damped(port, alone, c))

    bare = np.abs(1.0 / np.maximum(np.abs(np.einsum("kii->ki", port.mobility)), 1e-300))
    lead = int((np.abs(alone) ** 2).sum(axis=1).argmax())
    best = no_damper(len(port.ports))
    if asked.compare:
        best = best_damper(passive, goal, port.omega, bare[lead])
    response = optimum.point.response  # pyright: ignore[reportAttributeAccessIssue]
    F = to_complex(response.force)
    bodies = body_motion(port, excitation, F[1:])
    bodies = np.concatenate([np.zeros_like(bodies[:1]), bodies])
    return ControlSolution(response, optimum, program, goal, best, bodies, spent), power_bound(
        port, alone
    )


# --- Is a model with driven elements linear? Asked once, of the equations of the search


def looks_linear(
    model: Model, how: Formulation, ports: Ports, linear: LinearModel, period: PeriodRequest
) -> bool:
    """Whether the model is linear, by the equations that the nonlinear search would use."""
    if not may_be_linear(still_model(model), how):
        return False
    if not having(model, HasUnknowns) and period.harmonics >= 1:
        problem = set_up(model, how, period)
        size = 3 * linear.at.state.s.shape[0] + len(ports)
        some = np.asarray(problem.basis.time)[:3]
        points = points_of(driven_node, how, ports.place)
        return is_affine(points, problem.bare(), some, size)
    return is_linear(still_model(model), how, linear.at.state)


# --- The force of an optimum in a run in time: does it take the power that the search says?

LONGEST = 60.0  # s: of periods up to this, many are run
MANY, FEW = 30, 4  # periods of a run
SAMPLES = 40  # per shortest period of the sea, at least
OFF = 0.01  # of the power: a difference that is reported
DECAYS = 0.95  # of what differed a stretch before: more than this does not calm down


def replayed_powers(
    model: Model, result: xr.Dataset, waves: RealisedSea | None, period: float, radiation: str
) -> tuple[dict[str, float], str]:
    """Mean power of the last periods in time, as attributes, and a message where it differs.

    Where the run fails, the power of the search is not that of a motion: it is given as
    `search_power`, and the mean powers are not numbers.

    Args:
        model: as given to `optimal_control`.
        result: of it.
        waves: the sea, realised.
        period: of the motion [s].
        radiation: source of radiation in the search.
    """
    none = {"replayed_power": np.nan, "replayed_change": np.nan}
    why = _why_not(model, waves, radiation)
    if why:
        return none, f"Not replayed in time: {why}."
    try:
        powers, restless = _powers(model, result, waves, period)
    except SwelltreeError as error:
        found = {"search_power": float(result.attrs["mean_power"])}
        no_power = {"mean_power": np.nan, "electrical_power": np.nan}
        said = (
            f"The run in time under the force that was found failed: {error} The power of the "
            f"search, {found['search_power']:.4g} W, is not that of a motion and is not given as "
            "mean_power. Limit force, stroke or velocity."
        )
        return none | found | no_power, said
    power, change = powers[-1], abs(powers[-1] - powers[-2])
    requested = float(result.attrs["mean_power"])
    said = ""
    if not abs(power - requested) <= OFF * abs(requested):
        said = f"The replay takes {power:.4g} W, not the {requested:.4g} W of the search."
        if change > OFF * abs(power):
            said += f" The run had not settled{restless}."
        elif restless:
            said += f" The run does not repeat{restless}."
    return {"replayed_power": power, "replayed_change": change}, said


def _why_not(model: Model, waves: RealisedSea | None, radiation: str) -> str:
    if not isinstance(waves, Components):
        return "this sea has no ramp"
    hydro = linear_hydro(model)
    if hydro is None or hydro.memory is not None or radiation != "data" or hydro.table is None:
        return ""
    radiates = np.any(np.asarray(hydro.table.radiation_damping))
    if radiates and not np.any(np.asarray(hydro.damping)):
        return "the model was compiled without radiation, radiation='none'"
    return ""


def _powers(
    model: Model, result: xr.Dataset, waves: RealisedSea | None, period: float
) -> tuple[tuple[float, float], str]:
    """Mean power of the last two stretches of a run, and its non-periodic part."""
    from swelltree.studies.control.actuators import find_ports
    from swelltree.studies.control.laws import replayed
    from swelltree.studies.time.simulate import simulate

    count = MANY if period <= LONGEST else FEW
    ramp = period * (5 if count == MANY else 1)
    highest = max(len(result.harmonic) - 1, 1)
    each = int(np.clip(SAMPLES * highest / 15, SAMPLES, 20 * SAMPLES))
    times = np.arange(count * each + 1) * period / each
    assert isinstance(waves, Components)  # _why_not
    driven = replayed(model, result, ramp=ramp)
    run = simulate(driven, replace(waves, ramp=ramp), times=times, progress=False)
    if str(run.attrs.get("result", "success")) != "success":
        raise SwelltreeError(f"the run ended with '{run.attrs['result']}'.")
    ports = find_ports(model, [str(name) for name in result.pto.values])
    power = np.zeros(len(run.time))
    rows = values_at(float(result.attrs["omega"]), np.asarray(times), highest)
    for i, name in enumerate(ports.names):
        x, v = _motion(run, model, ports, i)
        u = rows @ from_complex(result.control_harmonics.sel(pto=name).values)
        power -= (u - ports.damping[i] * v - ports.stiffness[i] * x) * v
    window = each * (5 if count == MANY else 1)
    last = power[-window:].mean()
    before = power[-2 * window : -window].mean()
    return (float(before), float(last)), restless(run, each, window)


def restless(run: xr.Dataset, each: int, window: int) -> str:
    """What differs most from a period before, in words; empty where all repeats.

    Rates are compared: a steady drift of what nothing holds repeats, too.

    Args:
        run: in time.
        each: samples of a period.
        window: samples of a stretch.
    """
    rate = run["joint_rate"].values
    if rate.shape[1] == 0 or 2 * window + each > len(rate):
        return ""

    def size(values: np.ndarray, end: int) -> np.ndarray:
        return np.sqrt((values[len(values) - end - window : len(values) - end] ** 2).mean(axis=0))

    apart = rate[each:] - rate[:-each]
    late, early, scale = size(apart, 0), size(apart, window), size(rate, 0)
    share = late / np.maximum(scale, 1e-3 * scale.max())
    worst = int(share.argmax())
    if not share[worst] > OFF:
        return ""
    name = str(run["coordinate"].values[worst])
    text = f": '{name}' changes by {share[worst]:.0%} of its speed from one period to the next"
    if late[worst] < DECAYS * early[worst]:
        return text
    return (
        f"{text} and does not calm down. The periodic motion is not stable: give damping there, "
        "or look at `modes` for one near twice the period"
    )


def _motion(run: xr.Dataset, model: Model, ports: Ports, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Stroke and rate of a driven element in a run."""
    forces, name = stroke_forces(model), ports.names[i]
    if name in run.get("pto", ()):
        x, v = run.pto_stroke.sel(pto=name), run.pto_rate.sel(pto=name)
        return x.values, v.values
    k = forces.strokes.dof_of(ports.place[i])
    if k is not None:
        return run.joint_coordinate.values[:, k] - ports.zero[i], run.joint_rate.values[:, k]
    length, rate = run.spring_length.sel(spring=name), run.spring_rate.sel(spring=name)
    return length.values - float(forces.strokes.rest[ports.place[i]]), rate.values


CURVED = "its equations bend, as where bodies turn"
KNOWN = Remembered()  # what depends on the model alone


def recalled(known: dict[Tree, Tree], key: object, make: Callable[[], Tree]) -> Tree:
    """Cached result of a key, computed if absent."""
    if key not in known:
        with noted(apart=True) as ran:
            known[key] = make(), ran.engine
    result, engine = known[key]
    note(engine)
    return result


@dataclass(frozen=True)
class ControlStudy:
    """A model with driven elements."""

    model: Model  # as given
    free: Model  # its driven elements without law and signal
    how: Formulation
    ports: Ports
    linear: LinearModel  # of the free model
    nonlinearity: str  # why it is not linear for sure, in words
    method: str  # "auto", "linear" or "nonlinear"
    known: dict[Hashable, Tree]  # results that hold for any sea

    @classmethod
    def of(
        cls,
        model: Model,
        how: Formulation,
        ports: Ports,
        off_stops: frozenset[str],
        radiation: str,
        method: str,
    ) -> ControlStudy:
        """Prepare a model.

        Args:
            model: compiled.
            how: formulation.
            ports: driven elements.
            off_stops: names of those whose stroke stays off their stops.
            radiation: "data" or "state_space".
            method: "auto", "linear" or "nonlinear".
        """
        still = [Constant(np.zeros(())) for _ in ports.names]
        free = with_signals(freed(model, ports.place), ports, still)
        known = KNOWN.about((free, hydro_table(free)))

        def linearised() -> LinearModel:
            return linear_model(free, how, radiation, study="optimal_control")

        linear = recalled(known, (how, "linear", radiation), linearised)
        nonlinearity = find_nonlinearity(free, off_stops)
        return cls(model, free, how, ports, linear, nonlinearity, method, known)

    def is_linear(self, period: PeriodRequest) -> bool:
        """Whether the model is linear, by its elements and by its equations."""

        def looks() -> bool:
            return looks_linear(self.free, self.how, self.ports, self.linear, period)

        return not self.nonlinearity and recalled(self.known, (self.how, "is linear"), looks)

    def port(self, period: PeriodRequest) -> Port:
        """The linear model seen from its driven elements."""
        length, count = period.length, period.harmonics

        def built() -> Port:
            return look_in(self.free, self.how, self.ports, length, count, self.linear)

        key = (self.how, self.ports.names, length, count, period.radiation)
        return recalled(self.known, key, built)

    def result(self, period: PeriodRequest, asked: SearchRequest, replay: bool) -> xr.Dataset:
        """The optimum in one sea as a dataset.

        Args:
            period: the sea and the series.
            asked: limits and losses.
            replay: simulate the model with the optimal force.
        """
        straight, port = self.is_linear(period), self.port(period)
        method = self.method
        if method == "auto":
            method = "linear" if straight else "nonlinear"
        if method == "linear":
            solution, bound = linear_control(self.linear, port, period.waves, asked)
        else:
            solution, bound = nonlinear_control(
                self.free, self.how, port, self.linear, period, asked
            )
        about = {
            "study": "optimal_control",
            "method": method,
            "radiation": period.radiation,
            "bound" if straight else "linear_bound": bound,
            "wave_components": "" if period.waves is None else sea_text(period.waves),
            "clipped": " ".join(str(k) for k in port.clipped),
        }
        dataset = control_dataset(self.free.layout, self.ports, port.omega, solution, about)
        why = self.nonlinearity or ("" if straight else CURVED)
        notes = [*solution.notes, why and f"The model is not linear: {why}."]
        if asked.compare and np.isnan(solution.passive.power):
            notes.append("No linear damper satisfies the limits: passive_power is not a number.")
        if replay:
            with noted(apart=True):  # a run of its own, by the engine that its law asks for
                numbers, said = replayed_powers(
                    self.model, dataset, period.waves, period.length, period.radiation
                )
            dataset.attrs |= numbers
            notes.append(said)
        dataset.attrs["report"] = " ".join(note for note in notes if note)
        return dataset
