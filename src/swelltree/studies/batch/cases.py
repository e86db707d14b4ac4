"""The cases of a batch: each is the model with its own numbers, in its own sea.

Cases are prepared in numpy, sequentially, by the functions of single runs, so that a case has the
same loads in a batch as in a single run, and an invalid one is rejected with the same message.
What they hold has one size whatever the sea: grids in time are filled up to the length that the
highest frequency of the data needs.

Which arrays of a model all cases of a batch share, and which are a case's own.

It follows from what the cases differ in, not from their numbers: a case has the same program, hence
the same result, whatever its neighbours are. Arrays that a sea makes are a case's own; so are those
that change where the numbers of the case do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import Finding, SwelltreeError, warn_user
from swelltree.hydro.linear.data import grid_points
from swelltree.hydro.linear.hydro import (
    POINTS_PER_PERIOD,
    excitation_of,
    hydro_table,
    linear_hydro,
    with_excitation,
    without_table,
)
from swelltree.hydro.linear.in_sea import apply_sea
from swelltree.jit import Array, PerCase, Tree, flatten, leaves_of, structure_of
from swelltree.model.model import Model, Pose
from swelltree.pto.controllers.controllers import control_of
from swelltree.studies.checks.sea import outside_linear_range
from swelltree.studies.options import realised

if TYPE_CHECKING:
    import xarray as xr


class BatchCase(NamedTuple):
    """What is a case's own.

    Args:
        sea: described; None for still water.
        values: numbers of the model by name or path, as `Model.with_values` takes them.
        case: number or name of the run; with the seed of the sea it gives the random phases.
    """

    sea: Sea | None = None
    values: tuple[tuple[str, object], ...] = ()
    case: int | str = 0


def batch_cases(
    seas: Sea | Iterable[object] | None,
    parameters: Mapping[str, Sequence[Tree]] | None,
    case: int | str = 0,
) -> list[BatchCase]:
    """Cases from rows of seas and of numbers, which are as long as one another.

    Args:
        seas: a sea for all, or one for each case.
        parameters: for each name or path a value per case.
        case: number or name of the runs.
    """
    rows = {str(path): list(values) for path, values in (parameters or {}).items()}
    sizes = {f"'{path}'": len(values) for path, values in rows.items()}
    many: list[Sea] | None = None
    one = seas if isinstance(seas, Sea) else None
    if seas is not None and not isinstance(seas, Sea):
        many = []
        for sea in seas:
            if not isinstance(sea, Sea):
                raise SwelltreeError(
                    f"simulate_batch: {type(sea).__name__} is not a sea. Give IrregularSea(...)."
                )
            many.append(sea)
        sizes["seas"] = len(many)
    if not sizes:
        raise SwelltreeError(
            "simulate_batch: one sea and no parameters are one case. Give several seas, or values "
            "of parameters; or use simulate."
        )
    count = next(iter(sizes.values()))
    if len(set(sizes.values())) > 1 or count == 0:
        reported = ", ".join(f"{n} of {name}" for name, n in sizes.items())
        raise SwelltreeError(
            f"simulate_batch: there are {reported}. Give as many of each, at least 1."
        )
    return [
        BatchCase(
            one if many is None else many[i],
            tuple([(path, values[i]) for path, values in rows.items()]),
            case,
        )
        for i in range(count)
    ]


def key_of(values: tuple[tuple[str, object], ...]) -> Hashable:
    """The numbers of a case as what they are looked up by: equal ones are one."""
    arrays = [(path, np.asarray(value)) for path, value in values]
    return tuple((path, x.shape, x.dtype.str, x.tobytes()) for path, x in arrays)


class Numbers(NamedTuple):
    """The model with the numbers of a case, in still water."""

    still: Model
    stepped: Model  # as fixed steps see it
    start: Tree


class CaseMaker:
    """Makes the models of cases; each set of numbers is compiled once.

    Args:
        model: from `compile`.
        duration: of the runs [s].
        prepare: function of a model that gives it as steps see it.
        start: function of a model that gives the first state of a run.
        sums_step: step of the grid on which loads of waves are summed later [s]; None: now.
        datum: function of a model and its first state: from where displacements count.
    """

    def __init__(
        self,
        model: Model,
        duration: float,
        prepare: Callable[[Model], Model] = lambda model: model,
        start: Callable[[Model], Tree] = lambda model: None,
        sums_step: float | None = None,
        datum: Callable[[Model, Tree], Pose] = lambda model, start: model.datum,
    ) -> None:
        self.model, self.duration = model, duration
        self.prepare, self.start, self.sums_step = prepare, start, sums_step
        self.datum = datum
        self._built: dict[Hashable, Numbers] = {}
        self._last_in_sea: tuple[BatchCase, Numbers, Model] | None = None

    def as_alone(self) -> CaseMaker:
        """What makes the same cases as single runs have them; itself if it does."""
        return self if self.sums_step is None else _Alone(self)

    def numbers(self, case: BatchCase) -> Numbers:
        key = key_of(case.values)
        if key not in self._built:
            still = self.model.with_values(dict(case.values)) if case.values else self.model
            start = self.start(still)
            stepped = self.prepare(still).replace(datum=self.datum(still, start))
            self._built[key] = Numbers(still, stepped, start)
        return self._built[key]

    def in_sea(self, case: BatchCase) -> tuple[Model, Tree]:
        """Model and first state of a case, ready to step."""
        built = self.numbers(case)
        last = self._last_in_sea
        if last is None or last[0] is not case or last[1] is not built:
            model = built.stepped
            if case.sea is not None:
                waves = realised(built.still, case.sea, case.case)
                model = apply_sea(model, waves, self.duration, sums_step=self.sums_step)
                model = filled_up(model, self.duration)
            self._last_in_sea = last = case, built, without_table(model)
        return last[2], built.start


class _Alone(CaseMaker):
    """Makes cases with the loads of single runs, of the numbers that another maker has made."""

    def __init__(self, other: CaseMaker) -> None:
        super().__init__(other.model, other.duration, other.prepare, other.start)
        self.other = other

    def numbers(self, case: BatchCase) -> Numbers:
        return self.other.numbers(case)


def grid_step(model: Model, points: int = POINTS_PER_PERIOD) -> float:
    """Step of a grid in time with some points in the shortest period of the data of a model [s]."""
    table = hydro_table(model)
    assert table is not None
    return 2.0 * np.pi / float(table.omega[-1]) / points


def filled_up(model: Model, duration: float) -> Model:
    """The model with its wave loads on a grid of the one length of all seas."""
    loads = excitation_of(model)
    if hydro_table(model) is None or loads is None:
        return model
    step = grid_step(model)
    # never read: the run ends before
    longer = loads.filled_up(grid_points(duration, step))
    return with_excitation(model, longer)


def ramp_of_case(case: BatchCase) -> float:
    """Ramp of the sea of a case [s]."""
    return 0.0 if case.sea is None else float(case.sea.ramp)


def check_expected_seas(model: Model, cases: Sequence[BatchCase]) -> None:
    """Warn where a law that was designed for one sea runs in another, once for all cases."""
    for expected in control_of(model).expected:
        for case in cases:
            try:
                waves = None if case.sea is None else realised(model, case.sea, case.case)
            except SwelltreeError:  # the case itself says what is wrong with its sea
                continue
            if waves is not None and not expected.is_same(waves):
                expected.check(waves)
                break


# --- After a batch: did the motion of all cases stay where linear data hold?


def with_findings(model: Model, result: xr.Dataset) -> xr.Dataset:
    """The result with what the extremes of positions show, also as warnings.

    Amplitudes are those of the case that went farthest from its mean, for each DOF; without
    statistics of positions nothing is found.

    Args:
        model: that was run.
        result: of a batch.
    """
    hydro = linear_hydro(model)
    position = result.get("position")
    if hydro is None or position is None or "statistic" not in position.dims:
        return result
    least, mean, most = (position.sel(statistic=name) for name in ("min", "mean", "max"))
    up, down = ((x - y).max("case") for x, y in ((most, mean), (mean, least)))
    away = up.where(up > down, down)
    stiffness, found = np.asarray(hydro.stiffness), list[Finding]()
    for name in map(str, away["body"].values):
        k = model.layout.bodies.index(name)
        amplitude = away.sel(body=name).values
        if np.any(stiffness[6 * k : 6 * k + 6]) and np.isfinite(amplitude).all():
            reach = float(np.broadcast_to(np.asarray(hydro.reach), model.layout.n_bodies)[k])
            found += outside_linear_range(model, name, amplitude, reach, "did")
    count = result.sizes["case"]
    for finding in found:
        text = f"at least one of {count} cases: {finding.sentence}"
        warn_user(text)
    return result.assign_attrs(findings="\n".join(str(finding) for finding in found))


ASIDE = 1.0 + 2.0**-10


class SeveralLayoutsError(Exception):
    """Cases whose arrays have several sizes, as those of seas with several numbers of waves."""


class OwnLeaves:
    """Distinguishes shared arrays from others.

    Args:
        maker: of the cases of the batch.
        example: one of its cases.
        model: of that case, if known.
    """

    def __init__(self, maker: CaseMaker, example: BatchCase, model: Model | None = None) -> None:
        model = maker.in_sea(example)[0] if model is None else model
        self.model, self.leaves = model, leaves_of(model)
        still = leaves_of(maker.numbers(example).stepped)
        varied = _varied(maker, example, still)
        shared = {id(x) for x, differs in zip(still, varied, strict=True) if not differs}
        self.differs = [id(x) not in shared for x in self.leaves]
        known = {id(x) for x in still}
        # steps of grids in time: as long as they are the same, all cases have the same times
        self.of_grids = [id(x) not in known and np.ndim(x) == 0 for x in self.leaves]

    def gathered(self, models: list[Model]) -> Tree:
        """All models as one, with an `Own` in place of each array that is a case's own."""
        rows, differs = self._rows(models)
        leaves = [
            PerCase([row[k] for row in rows]) if differs_here else self.leaves[k]
            for k, differs_here in enumerate(differs)
        ]
        return structure_of(self.model).unflatten(leaves)

    def own_of(self, models: list[Model]) -> list[bool]:
        """Of each array, whether it is a case's own."""
        return self._rows(models)[1]

    def _rows(self, models: list[Model]) -> tuple[list[list[Tree]], list[bool]]:
        """Arrays of all models, and which of them are a case's own."""
        rows, expected = [flatten(model) for model in models], structure_of(self.model)
        differs = list(self.differs)
        for leaves, form in rows:
            if form != expected or any(
                np.shape(x) != np.shape(y) for x, y in zip(leaves, self.leaves, strict=True)
            ):
                raise SeveralLayoutsError
            for k, (x, y) in enumerate(zip(leaves, self.leaves, strict=True)):
                # numbers may act on what they did not seem to act on
                differs[k] = differs[k] or not (x is y or np.array_equal(x, y, equal_nan=_gaps(x)))
        for k, of_grid in enumerate(self.of_grids):
            if of_grid and all(leaves[k] == self.leaves[k] for leaves, _ in rows):
                differs[k] = False
        return [leaves for leaves, _ in rows], differs


def _gaps(x: Array) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def _varied(maker: CaseMaker, example: BatchCase, leaves: list[Tree]) -> list[bool]:
    """Which arrays of the model depend on the numbers of a case: those that change with them."""
    if not example.values:
        return [False] * len(leaves)
    try:
        adjacent = tuple((path, _adjacent(value)) for path, value in example.values)
        other = leaves_of(maker.numbers(BatchCase(None, adjacent)).stepped)
    except (SwelltreeError, TypeError, ValueError):  # there are no numbers near by
        return [True] * len(leaves)
    if len(other) != len(leaves):
        return [True] * len(leaves)
    return [
        np.shape(x) != np.shape(y) or not np.array_equal(x, y, equal_nan=_gaps(x))
        for x, y in zip(leaves, other, strict=True)
    ]


def _adjacent(value: object) -> Tree:
    value = np.asarray(value, dtype=float)
    return np.where(value == 0.0, 2.0**-10, value * ASIDE)
