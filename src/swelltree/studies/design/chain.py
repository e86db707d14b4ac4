r"""Which arrays of a run its parameters feed, and by how much: the chain rule through compilation.

A direct number (`model.values.parameters`) is one entry of one array: its derivative there is one.
Other numbers of the description are followed by compiling the changed description, those of the
sea by realising the changed sea: in numpy, without a step in time. The derivatives of all arrays by
these are central differences of fourth order of that map,

.. math:: f' = \frac{8 (f_1 - f_{-1}) - (f_2 - f_{-2})}{12 h} + O(h^4)

and right to about ten digits, because the map is smooth arithmetic. Where a number changes the
radiation data, their fit would be another: it chooses orders and weights, is not smooth, and such
numbers are rejected.

A run that begins at an equilibrium r(x, p) = 0 begins elsewhere in another design, by the implicit
function theorem :math:`dx/dp = -r_x^{+} r_p`.

The numbers of a run by name: those of its model and of its sea.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.paths import number_below, stated_unit, with_number_below
from swelltree.describe.spec import Description
from swelltree.describe.system import System
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.data import WaveForce
from swelltree.hydro.linear.hydro import linear_hydro
from swelltree.integrate.newton import RANK_TOLERANCE, residual_and_jacobian
from swelltree.jit import Array, Tree, flatten, jax, jnp, leaves_of, pytree
from swelltree.model.model import Model
from swelltree.model.values.by_path import check_fit, check_same, difference
from swelltree.model.values.parameters import entry_of, is_described, is_direct
from swelltree.mooring.cable.cables import with_drums_stopped
from swelltree.multibody.formulations import State
from swelltree.multibody.formulations.equations import Phase, settled_at, start_phase
from swelltree.studies.statics.equilibrium import find_rest, set_up, settled_by
from swelltree.studies.time.smooth import SmoothStepper, smooth_stepper
from swelltree.studies.time.task import Task, read_task, starts_at_equilibrium
from swelltree.waves.airy import Components
from swelltree.waves.sea import AnySea

STEP = 1e-4  # of a number, to take differences by
TURN = 1e-4  # rad: by which such a step of a number of the sea may turn the phase of a wave
MAX_ENTRIES = 20_000  # numbers of a model that parameters may feed


@pytree()
class VariedForce(WaveForce):
    """Loads of a sea and their change with some numbers, which are zero."""

    force: WaveForce
    changes: tuple[WaveForce, ...]  # derivatives of its arrays by each number
    by: Array  # (k,)

    def acting(self, t: Array, place: Array, psi: Array | None) -> Array:
        def acting(force: WaveForce) -> Array:
            return force.acting(t, place, psi)

        result = acting(self.force)
        for k, change in enumerate(self.changes):
            result = result + self.by[k] * jax.jvp(acting, (self.force,), (change,))[1]
        return result


Changes = tuple[tuple[WaveForce, ...], tuple[WaveForce, ...]]  # of first and second order


@dataclass(frozen=True)
class Varied:
    """The model of a run with other numbers in its arrays: ``varied((model, changes), theta)``.

    Theta has the entries of small arrays, and behind them one number for each change of the loads
    of the sea.

    Args:
        places: leaf of the model without these loads, and entries of it.
    """

    places: tuple[tuple[int, tuple[int, ...]], ...]

    def __call__(self, args: tuple[Model, Changes], theta: Array) -> Model:
        model, changes = args
        if not self.places and not any(changes):
            return model
        bare, loads = _apart(model)
        leaves, form = flatten(bare)
        first = 0
        for k, entries in self.places:
            leaf = jnp.asarray(leaves[k])
            new = theta[first : first + len(entries)]
            flat = leaf.reshape(-1).at[np.array(entries)].set(new)
            leaves[k] = flat.reshape(leaf.shape)
            first += len(entries)
        model = form.unflatten(leaves)
        varied = []
        for force, of_force in zip(loads, changes, strict=True):
            if force is not None and of_force:
                force = VariedForce(force, of_force, theta[first:])
            varied.append(force)
            first += len(of_force)
        return _together(model, tuple(varied))


def _apart(model: Model) -> tuple[Model, tuple[WaveForce | None, WaveForce | None]]:
    """The model without the loads of its sea, and these: of first and second order."""
    hydro = linear_hydro(model)
    if hydro is None:
        return model, (None, None)
    bare = model.with_effect(replace(hydro, waves=None, drift=None))
    return bare, (hydro.waves, hydro.drift)


def _together(model: Model, loads: tuple[WaveForce | None, WaveForce | None]) -> Model:
    hydro = linear_hydro(model)
    if hydro is None:
        return model
    return model.with_effect(replace(hydro, waves=loads[0], drift=loads[1]))


@dataclass(frozen=True)
class Chain:
    """How the arrays of a run follow its parameters.

    Args:
        names: of the single numbers (p,).
        varied: the model by its entries theta.
        changes: of the loads of the sea.
        theta: those entries now (m,).
        by_theta: their derivatives (p, m).
        by_start: derivatives of the start of the run (p, n).
    """

    names: tuple[str, ...]
    varied: Varied
    changes: Changes
    theta: np.ndarray
    by_theta: np.ndarray
    by_start: np.ndarray

    @classmethod
    def of_nothing(cls, n: int) -> Chain:
        """No parameters at all.

        Args:
            n: numbers of the state.
        """
        return cls((), Varied(()), ((), ()), np.zeros(0), np.zeros((0, 0)), np.zeros((0, n)))

    def of(self, slope: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Derivatives with respect to the parameters, from those of theta and the start."""
        return self.by_theta @ slope + self.by_start @ lam


@dataclass(frozen=True)
class RunOf:
    """The run of a design: its task, stepper and first state as one vector.

    Args:
        design: model and sea.
        task: of the run.
        stepper: of the task.
    """

    design: Design
    task: Task
    stepper: SmoothStepper

    @classmethod
    def prepared(cls, design: Design, options: NamedValues) -> RunOf:
        task = read_task(design.model, design.sea, options)
        return cls(design, task, smooth_stepper(task))

    def at(self, values: dict[str, np.ndarray]) -> RunOf:
        task, design = self.task, self.design.at(values)
        task = replace(task, model=task.model.with_values(values), still=design.model)
        return RunOf(design, task, smooth_stepper(task))

    @property
    def model(self) -> Model:
        return self.stepper.stepped


def flat(tree: Tree) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.ravel(np.asarray(x, float)) for x in leaves_of(tree))])


Found = tuple[np.ndarray, list[np.ndarray], RunOf]  # arrays of the model, of loads, and the run


def chain_of(run: RunOf, names: Sequence[str], options: NamedValues) -> Chain:
    """How the arrays of a run follow the numbers of some names.

    Args:
        run: of the design as it is.
        names: of parameters.
        options: of the run.
    """
    fixed = {**options, "times": run.task.times}
    starts = _Starts.of(run)
    bare, loads = _apart(run.model)
    old, form = flatten(bare)
    sizes = [np.size(x) for x in old]
    real = [k for k, x in enumerate(old) if np.asarray(x).dtype.kind == "f"]
    of_loads = [flatten(load) for load in loads]

    def arrays(name: str, other: RunOf) -> Found:
        bare, loads = _apart(other.model)
        leaves, after = flatten(bare)
        check_fit([name], run.design.model, other.design.model)
        check_same([name], old, form, leaves, after)
        for k in set(range(len(old))) - set(real):
            if not np.array_equal(old[k], leaves[k]):
                raise SwelltreeError(
                    f"'{name}' changes more than real numbers of the model. Compile the changed "
                    "system and compare runs."
                )
        rows = []
        for (before, same), load in zip(of_loads, loads, strict=True):
            parts, structure = flatten(load)
            check_same([name], before, same, parts, structure)
            rows.append(np.concatenate([np.zeros(0), *(np.ravel(x) for x in parts)]))
        numbers = np.concatenate([np.zeros(0), *(np.ravel(leaves[k]) for k in real)])
        # depths and limits that are not there are infinite in all designs
        return np.where(np.isfinite(numbers), numbers, 0.0), rows, other

    here = arrays("", run)
    labels: list[str] = []
    by_leaves: list[np.ndarray] = []
    by_loads: list[list[np.ndarray]] = []
    by_start: list[np.ndarray] = []
    for name in names:
        value = run.design.value(name)
        if is_direct(run.design.model, name):
            labels.append(name)
            leaf, entry = entry_of(bare, name)
            unit = np.zeros(sum(sizes[k] for k in real))
            unit[sum(sizes[k] for k in real if k < leaf) + entry] = 1.0
            by_leaves.append(unit)
            by_loads.append([np.zeros(len(x)) for x in here[1]])
            width = np.array([STEP * (abs(float(value)) or 1.0)])

            def moved(x: np.ndarray, name=name, value=value) -> RunOf:
                return run.at({name: np.asarray(value + x[0])})

            by_start.append(starts.derivative(moved, width))
            continue
        for k, label in enumerate(labels_of(name, value.shape)):
            labels.append(label)
            h = _step(run, name, float(value.flat[k]))
            unit = np.zeros(value.size)
            unit[k] = 1.0
            unit = unit.reshape(value.shape)
            found = {0.0: here}

            def at(x: np.ndarray, name=name, value=value, unit=unit, found=found) -> Found:
                s = float(x[0])
                if s not in found:
                    other = RunOf.prepared(
                        run.design.at({name: np.asarray(value + s * unit)}), fixed
                    )
                    found[s] = arrays(name, other)
                return found[s]

            zero, width = np.zeros(1), np.array([h])
            by_leaves.append(difference(lambda x: at(x)[0], zero, width) / h)
            by_loads.append(
                [difference(lambda x, i=i: at(x)[1][i], zero, width) / h for i in range(2)]
            )
            by_start.append(starts.derivative(lambda x: at(x)[2], width))
    leaves = np.array(by_leaves).reshape(len(labels), -1)
    fed = np.flatnonzero((leaves != 0.0).any(axis=0))
    if len(fed) > MAX_ENTRIES:
        raise SwelltreeError(
            f"the parameters feed {len(fed)} numbers of the model, more than {MAX_ENTRIES} that "
            "gradients follow. Give fewer parameters, or none that moves large tables."
        )
    first, places, numbers = 0, [], []
    for k in real:
        inside = fed[(fed >= first) & (fed < first + sizes[k])] - first
        if len(inside):
            places.append((k, tuple(inside.tolist())))
            numbers.append(np.ravel(np.asarray(old[k], float))[inside])
        first += sizes[k]
    rows = [leaves[:, fed]]
    changes: list[tuple[WaveForce, ...]] = []
    for i, (before, structure) in enumerate(of_loads):
        of_force = []
        for p, by in enumerate(by_loads):
            if not np.any(by[i]):
                continue
            cut = np.split(by[i], np.cumsum([np.size(x) for x in before])[:-1])
            parts = [x.reshape(np.shape(y)) for x, y in zip(cut, before, strict=True)]
            of_force.append(structure.unflatten(parts))
            rows.append(np.eye(len(labels))[:, p : p + 1])
        changes.append(tuple(of_force))
    by_theta = np.concatenate(rows, axis=1)
    theta = np.concatenate([np.zeros(0), *numbers])
    theta = np.pad(theta, (0, by_theta.shape[1] - len(theta)))
    varied = Varied(tuple(places))
    return Chain(
        tuple(labels), varied, (changes[0], changes[1]), theta, by_theta, np.array(by_start)
    )


def _step(run: RunOf, name: str, value: float) -> float:
    """Step of the finite differences."""
    h, waves = STEP, run.task.waves
    if name.startswith("sea.") and isinstance(waves, Components) and len(waves):
        turn = float(np.max(waves.omega)) * float(run.task.times[-1])
        h = min(h, TURN / max(turn, 1e-300))
    return h * (abs(value) or 1.0)


# --- The start of a run in other designs


class _Starts:
    """Described or given start."""

    def __init__(self, run: RunOf) -> None:
        self.run = run

    @staticmethod
    def of(run: RunOf) -> _Starts:
        at_rest = starts_at_equilibrium(run.task.still, run.task.start)
        return _AtRest(run) if at_rest else _Starts(run)

    def derivative(self, run_at: Callable[[np.ndarray], RunOf], h: np.ndarray) -> np.ndarray:
        if self.run.task.goes_on or isinstance(self.run.task.start, Phase):
            return np.zeros(len(flat(self.run.stepper.start().y)))
        return difference(lambda x: flat(run_at(x).stepper.start().y), np.zeros(1), h) / h[0]


class _AtRest(_Starts):
    """Start at equilibrium, by the implicit function theorem."""

    def __init__(self, run: RunOf) -> None:
        super().__init__(run)
        how = run.task.formulation
        model = with_drums_stopped(run.task.still)
        rest, multipliers, _, _ = find_rest(model, how)
        self.how, self.rest = how, State(rest.q, 0.0 * rest.s, rest.chart)
        residual, args, _ = set_up(model, how, self.rest)
        self.scale = args.force_scale
        self.x = np.concatenate([np.zeros(len(rest.s)), multipliers / float(self.scale)])
        self.program = residual_and_jacobian(residual)
        self.jacobian = np.asarray(self.program(args, self.x)[1])

    def derivative(self, run_at: Callable[[np.ndarray], RunOf], h: np.ndarray) -> np.ndarray:
        def still(x: np.ndarray) -> Model:
            return with_drums_stopped(run_at(x).task.still)

        def imbalance(x: np.ndarray) -> np.ndarray:
            _, args, _ = set_up(still(x), self.how, self.rest)
            return np.asarray(self.program(replace(args, force_scale=self.scale), self.x)[0])

        r = difference(imbalance, np.zeros(1), h) / h[0]
        slope = -np.linalg.pinv(self.jacobian, rcond=RANK_TOLERANCE) @ r
        n = len(self.rest.s)

        def start(x: np.ndarray) -> np.ndarray:
            model = still(x)
            state = settled_by(self.how)(model, self.rest, x[0] * slope[:n])
            work = start_phase(model, self.how).work
            return flat(Phase(state, work, settled_at(model, self.how, state)))

        return difference(start, np.zeros(1), h) / h[0]


SEA = "sea"  # first word of the names of numbers of the sea


@dataclass(frozen=True)
class Design:
    """A compiled model and its sea, whose numbers are known by name.

    Args:
        model: compiled.
        sea: described or realised, or None.
        memo: models of changed descriptions, which designs in other seas share.
    """

    model: Model
    sea: AnySea | None
    memo: dict[tuple, Model] = field(default_factory=dict, compare=False, repr=False)

    def in_sea(self, sea: AnySea | None) -> Design:
        return replace(self, sea=sea)

    def value(self, name: str) -> np.ndarray:
        """The number or row of numbers of that name."""
        if not _is_of_sea(name):
            return np.asarray(self.model.value(name), float)
        if not isinstance(self.sea, Description):
            raise SwelltreeError(
                f"'{name}': there is no described sea. Give one, e.g. RegularWave(...)."
            )
        return np.asarray(number_below(self.sea, name), float)

    def at(self, values: Mapping[str, np.ndarray]) -> Design:
        of_model = {name: x for name, x in values.items() if not _is_of_sea(name)}
        model, sea = self.model, self.sea
        if of_model:
            key = tuple((name, np.asarray(x).tobytes()) for name, x in sorted(of_model.items()))
            if key not in self.memo:
                self.memo[key] = model.with_values(of_model)
            model = self.memo[key]
        for name, x in values.items():
            if name not in of_model:
                assert isinstance(sea, Description)
                sea = with_number_below(sea, name, x.tolist())
        return Design(model, sea)


def _is_of_sea(name: str) -> bool:
    return name.partition(".")[0] == SEA


def labels_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the single numbers of a parameter: "bodies.float.com[2]"."""
    if not shape:
        return [name]
    return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)]


def unit_of(design: Design, name: str) -> str:
    """Unit of a number, as its description states it; empty where it does not."""
    keys = name.split(".")
    holder: object = design.sea if _is_of_sea(name) else design.model.described.specified
    keys = keys[1:] if _is_of_sea(name) else keys
    if isinstance(holder, System) and not is_described(design.model, name):
        parts = (*holder.bodies, *holder.joints, *holder.forces, *holder.ptos, *holder.lines)
        holder = next((part for part in parts if part.name == name.rpartition(".")[0]), None)
        keys = keys[-1:]
    return stated_unit(holder, keys)
