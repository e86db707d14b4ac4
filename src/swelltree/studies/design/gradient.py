"""`gradient`: one number of a run and its derivatives in numbers of the description."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed
from swelltree.describe.options import (
    GradientOptions,
    TracedOptions,
    complete,
    options_of,
    with_options,
)
from swelltree.describe.values import NamedValues
from swelltree.hydro.linear.radiation import radiation_memory
from swelltree.integrate.runge_kutta.explicit import TABLEAUS
from swelltree.jit import Array, Tree, jax, jnp, shapes_of, structure_of
from swelltree.model.capabilities import HasEvents, having
from swelltree.model.model import Model, Pose
from swelltree.model.solved import coupled_effect
from swelltree.multibody.formulations import Formulation
from swelltree.multibody.formulations.equations import event_count, observe
from swelltree.results.sea import finished, labels_of
from swelltree.results.statistics import settled_time
from swelltree.studies.design.adjoint import (
    SAMPLES,
    Recorded,
    Seen,
    followed_back,
    observed_back,
    observer,
    recorded,
)
from swelltree.studies.design.chain import Chain, Changes, Design, RunOf, Varied, chain_of, unit_of
from swelltree.studies.design.objectives import ChannelObjective, Objective, window_weights
from swelltree.studies.options import study_of_model
from swelltree.studies.time.smooth import problem_of
from swelltree.studies.time.task import Task
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr


MAX_GOALS = 16  # compiled objectives


@dataclass(frozen=True)
class Slopes:
    """Objectives of a run and their derivatives, as numbers.

    Args:
        values: of the objectives (g,).
        chain: of the parameters.
        derivatives: by each of them (g, p).
        record: of the run.
    """

    values: np.ndarray
    chain: Chain
    derivatives: np.ndarray
    record: Recorded


@study_of_model
@with_options(GradientOptions)
def gradient(
    model: Model,
    sea: AnySea | None,
    objective: Objective,
    parameters: Sequence[str] | str,
    **options: Unpack[GradientOptions],
) -> xr.Dataset:
    """One result of a run, and its derivatives with respect to any number of parameters.

    The run is that of `simulate`; it is followed backwards step by step in native code (discrete
    adjoint), at the cost of a few runs whatever the number of parameters. The accepted steps of an
    adaptive solver are held fixed. See docs/how-to/gradients.md.

    Returns a dataset with `objective` and, along `parameter`, `derivative`, `value` (of the
    parameters) and `relative` (relative change of the objective per relative change of the
    parameter).

    Args:
        model: from `compile`.
        sea: a described sea; None for still water.
        objective: `mean_of`, `rms_of` or `smooth_max_of` a channel, or a JAX function that gives
            one number from a dict of channels, time first, under the names of results, with "time"
            [s] and "weight" (of each sample in a mean over the window).
        parameters: names: paths of the description ("bodies.float.mass"), numbers of the compiled
            model ("pto.damping"), numbers of the sea ("sea.spectrum.Hs").
    """
    requested: NamedValues = {**options}
    design = Design(model, sea)
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    found = slopes_of(design, (objective,), names, requested)
    return _to_dataset(design, objective, found, requested)


def slopes_of(
    design: Design, objectives: Sequence[Objective], names: Sequence[str], options: NamedValues
) -> Slopes:
    """Objectives of a design and their derivatives, all by one run.

    Args:
        design: model and sea.
        objectives: as of `gradient`.
        names: of parameters.
        options: all of `GradientOptions`.
    """
    if not names:
        raise SwelltreeError("gradient: no parameters are given. Give e.g. ['pto.damping'].")
    for name in names:
        design.value(name)  # a name that is not known stops here
    run_options = _of_run(options)
    run = RunOf.prepared(design, run_options)
    check_differentiable(run.task)
    chain = chain_of(run, names, run_options)
    record = recorded(run, options["memory"])
    values, derivatives = [], []
    for objective in objectives:
        value, slopes, slope = Goal(record, chain, objective, options["settled"]).slopes()
        lam, more = followed_back(record, chain.varied, chain.changes, chain.theta, slopes)
        values.append(value)
        derivatives.append(chain.of(slope + more, lam))
    return Slopes(np.array(values), chain, np.array(derivatives), record)


def value_of(design: Design, objective: Objective, options: NamedValues) -> float:
    """The objective of a design without derivatives."""
    run = RunOf.prepared(design, _of_run(options))
    check_differentiable(run.task)
    record = recorded(run, 0.0)
    return Goal(
        record, Chain.of_nothing(len(record.values[0])), objective, options["settled"]
    ).value()


def _of_run(options: NamedValues) -> NamedValues:
    """Run options among those of the gradient."""
    known = {name: options[name] for name in options_of(TracedOptions) if name in options}
    return complete(TracedOptions) | known


def check_differentiable(task: Task) -> None:
    """Reject models without adjoint, with advice."""
    model, solver = task.model, task.solver
    methods = listed([f"'{name}'" for name in TABLEAUS])
    memory = radiation_memory(model)
    reasons = {
        f"solver '{solver}' has no adjoint. Use {methods}, and quasi-static lines in place of "
        "dynamic ones": solver not in TABLEAUS,
        f"the model switches at events ({event_words(model)}), whose times move with the "
        "parameters. Leave such elements out, or use differences of whole runs": (
            event_count(model) > 0
        ),
        "radiation='convolution' keeps the past of the motion. Compile with "
        "radiation='state_space'": memory is not None and memory.records,
        "flows that are solved for in every step have no adjoint. Use linear hydrodynamics": (
            coupled_effect(model) is not None
        ),
    }
    for reason, applies in reasons.items():
        if applies:
            raise SwelltreeError(f"gradient: {reason}.")


def event_words(model: Model) -> str:
    """Elements of a model with events."""
    watching = [effect for effect in having(model, HasEvents) if effect.event_count]
    return listed([f"'{name}'" for effect in watching for name in effect.names])


class _Compiled(NamedTuple):
    """An objective as a function of raw channels, compiled.

    Args:
        names: of the raw channels that it needs.
        value: ``value(some, theta, args, datum, times, weight)``.
        slopes: the same with derivatives in the first two.
    """

    names: tuple[str, ...]
    value: Callable[..., Array]
    slopes: Callable[..., tuple[Array, tuple[dict[str, Array], Array]]]


_compiled: OrderedDict[Hashable, _Compiled] = OrderedDict()


class Goal:
    """An objective of the samples of a recorded run.

    Args:
        record: of the run.
        chain: of its parameters.
        objective: as of `gradient`.
        settled: time from which samples count [s], or None.
    """

    def __init__(
        self, record: Recorded, chain: Chain, objective: Objective, settled: float | None
    ) -> None:
        run, times = record.run, record.times
        task, model = run.task, run.model
        problem, how = problem_of(task.model, task.formulation), task.formulation
        ramp = 0.0 if task.waves is None else float(task.waves.ramp)
        first = settled_time(times, ramp) if settled is None else float(settled)
        datum, _ = task.datum_at(float(times[0]), _FIRST)
        from_model = datum is task.model.datum
        self.args = (model, chain.changes)
        fixed = None if from_model or datum is _FIRST else datum
        self.about = self.args, fixed, times, window_weights(times, first)
        self.record, self.chain = record, chain

        shapes = shapes_of(_channels_of(how), model, np.zeros(()), record.like)
        known = {name: (len(times), *x.shape) for name, x in shapes.items()}
        key = objective, chain.varied, datum is _FIRST, from_model, structure_of(self.args)
        key = *key, tuple(known.items()), len(chain.theta)
        if key not in _compiled:
            function = (
                objective.of_model(model, labels_of(model, shapes))
                if isinstance(objective, ChannelObjective)
                else objective
            )
            goal = _goal_of(function, chain.varied, known, datum is _FIRST)
            names = _needed(goal, known, (chain.theta, *self.about))
            both = jax.jit(jax.value_and_grad(goal, argnums=(0, 1)))
            while len(_compiled) >= MAX_GOALS:
                _compiled.popitem(last=False)
            _compiled[key] = _Compiled(names, jax.jit(goal), both)
        self.compiled = _compiled[key]
        names = self.compiled.names
        self.seen = Seen(problem, how, names, run.stepper.free, chain.varied)
        self.blocks = [slice(k, k + SAMPLES) for k in range(0, len(times), SAMPLES)]
        raw: dict[str, list[np.ndarray]] = {name: [] for name in names}
        for block in self.blocks:
            found = observer(self.seen)(self.args, record.like, chain.theta, *self._rows(block))
            for name in names:
                raw[name].append(np.asarray(found[name])[: len(times[block])])
        self.channels = {name: np.concatenate(parts) for name, parts in raw.items()}

    def _rows(self, block: slice) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of some samples."""
        return _padded(self.record.times[block]), _padded(self.record.values[block])

    def value(self) -> float:
        return float(self.compiled.value(self.channels, self.chain.theta, *self.about))

    def slopes(self) -> tuple[float, np.ndarray, np.ndarray]:
        """The objective, its derivatives in the values at the samples, and in theta beside them."""
        found = self.compiled.slopes(self.channels, self.chain.theta, *self.about)
        value, (of_channels, slope) = found
        slope, slopes = np.array(slope), []
        for block in self.blocks:
            here = {name: _padded(np.asarray(x)[block], 0.0) for name, x in of_channels.items()}
            rows = self.chain.theta, *self._rows(block), here, slope
            slope, found = observed_back(self.seen)(self.args, self.record.like, *rows)
            slope = np.asarray(slope)
            slopes.append(np.asarray(found)[: len(self.record.times[block])])
        return float(value), np.concatenate(slopes), slope


@functools.lru_cache(maxsize=16)
def _channels_of(how: Formulation) -> Callable[[Model, Array, Tree], dict[str, Array]]:
    """All channels of an instant; one function for each formulation, so that shapes are known."""
    return lambda model, t, y: observe(model, how, t, y)


_FIRST = Pose(np.zeros((0, 3)), np.zeros((0, 3, 3)))  # stands for the pose at the first sample


def _goal_of(
    function: Callable[[dict[str, Array]], Array],
    varied: Varied,
    known: dict[str, tuple[int, ...]],
    from_first: bool,
) -> Callable[..., Array]:
    """An objective as a function of raw channels and of theta."""

    def goal(
        some: dict[str, Array],
        theta: Array,
        args: tuple[Model, Changes],
        datum: Pose | None,
        times: Array,
        weight: Array,
    ) -> Array:
        raw = {name: some.get(name, jnp.zeros(shape)) for name, shape in known.items()}
        model = varied(args, theta)
        if from_first:
            datum = Pose(raw["position"][0], raw["rotation"][0])
        if datum is not None:
            model = model.replace(datum=datum)
        channels = finished(model, raw)
        result = jnp.asarray(function(channels | {"time": times, "weight": weight}))
        if result.shape != ():
            raise SwelltreeError(
                f"objective: it gives an array of shape {result.shape}. Give one number, e.g. a "
                "mean, a sum or one entry."
            )
        return result

    return goal


def _padded(rows: np.ndarray, fill: float | None = None) -> np.ndarray:
    """Rows up to the number of one call: the last again, or a number."""
    missing = SAMPLES - len(rows)
    if not missing:
        return rows
    last = np.repeat(rows[-1:], missing, axis=0)
    return np.concatenate([rows, last if fill is None else np.full_like(last, fill)])


def _needed(
    goal: Callable[..., Array], known: dict[str, tuple[int, ...]], others: tuple[Tree, ...]
) -> tuple[str, ...]:
    """Names of the raw channels that an objective depends on."""
    like = {name: jax.ShapeDtypeStruct(shape, float) for name, shape in known.items()}
    traced = jax.make_jaxpr(goal)(like, *others).jaxpr
    used = {var for var in traced.outvars if not hasattr(var, "val")}
    for eqn in reversed(traced.eqns):
        if used & set(eqn.outvars):
            used |= {var for var in eqn.invars if not hasattr(var, "val")}
    return tuple(n for n, var in zip(sorted(like), traced.invars, strict=False) if var in used)


def _to_dataset(
    design: Design, objective: Objective, found: Slopes, options: NamedValues
) -> xr.Dataset:
    import xarray as xr

    chain, record = found.chain, found.record
    plain = [name.split("[")[0] for name in chain.names]
    values = np.concatenate([np.ravel(design.value(n)) for n in dict.fromkeys(plain)])
    state = record.end
    about = {
        "study": "gradient",
        "objective": str(objective) if isinstance(objective, ChannelObjective) else "own function",
        "solver": record.run.task.solver,
        "formulation": record.run.task.formulation.name,
        "steps_accepted": int(state.n_accepted),
        "engine": record.engine,
        "parts_recomputed": record.remade,
        "steps": "discrete adjoint of the accepted steps, whose lengths are held",
        "compilation": "exact for numbers that feed one array entry; central differences of fourth "
        "order of the compiled arrays alone for others, with the fit of the radiation held",
    }
    value, derivative = float(found.values[0]), found.derivatives[0]
    relative = derivative * values / value if value else np.nan * values
    return xr.Dataset(
        {
            "objective": ((), value),
            "derivative": ("parameter", derivative),
            "value": ("parameter", values),
            "relative": ("parameter", relative),
        },
        coords={
            "parameter": np.array(chain.names, dtype=object),
            "unit": ("parameter", np.array([unit_of(design, n) for n in plain], dtype=object)),
        },
        attrs=about | (options["provenance"] or {}),
    )
