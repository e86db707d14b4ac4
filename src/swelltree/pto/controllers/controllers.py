"""Controllers: u(t, measured channels) drives the actuators of forces on strokes.

Control laws that give no number on the way: which, where and when.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.jit import Array, Numbers, jax, jnp, namespace, pytree
from swelltree.model.capabilities import (
    ChecksStep,
    CommandsStrokes,
    HasLinearForm,
    HasNonlinearity,
    InternalState,
    PreparedForSea,
    Reports,
)
from swelltree.model.effect import Coordinate, Instant, LinearForm, Loads, where_of
from swelltree.model.model import Model, Pose
from swelltree.multibody.kinematics import Motion, displacement, heading_axes
from swelltree.pto.actuators.actuators import stroke
from swelltree.pto.actuators.forces import stroke_forces
from swelltree.pto.controllers.law_checks import LawQuery, plain_values

if TYPE_CHECKING:
    from swelltree.model.effect import Instant
    from swelltree.model.model import Model
    from swelltree.multibody.layout import Layout
    from swelltree.pto.controllers.law_checks import ExpectedSea
    from swelltree.waves.sea import RealisedSea


STEP = 1e-6  # of the size of the argument, at least of one
ROUNDING = 1e-6  # of the time between samples: a sample so near is the one that is taken


def called_back(
    function: Callable[[Array, Array], np.ndarray], count: int, t: Array, y: Array
) -> Array:
    """Values (count,) of a plain function of a number and a vector, derivatives by differences."""
    shape = jax.ShapeDtypeStruct((count,), float)
    jacobian = jax.ShapeDtypeStruct((count, 1 + y.shape[0]), float)

    def differences(t: Array, y: Array) -> np.ndarray:
        x = np.concatenate([np.reshape(t, 1), y])
        columns = []
        for i, size in enumerate(np.maximum(np.abs(x), 1.0)):
            step = np.zeros_like(x)
            step[i] = STEP * size
            high, low = x + step, x - step
            rise = function(high[0], high[1:]) - function(low[0], low[1:])
            columns.append(rise / (2.0 * STEP * size))
        return np.stack(columns, axis=1)

    @jax.custom_jvp
    def call(t: Array, y: Array) -> Array:
        return jax.pure_callback(function, shape, t, y, vmap_method="sequential")

    @call.defjvp
    def slope(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
        t, y = primals
        J = jax.pure_callback(differences, jacobian, t, y, vmap_method="sequential")
        return call(t, y), J @ jnp.concatenate([jnp.reshape(tangents[0], 1), tangents[1]])

    return call(jnp.asarray(t, float), y)


@pytree(
    *("law", "measures", "drives", "name", "states", "hidden", "surfaces", "n_surfaces", "ramps"),
    "preview",
)
class CompiledController:
    """A control law with what it measures and what it drives.

    measures: (quantity, index, is_rate); the quantities are coordinate (of a joint), body (index
    6 i + k; its displacement from `zero`), and length, stroke and force of the elements on strokes,
    by their number.
    drives: numbers of elements on strokes.
    """

    law: Callable[[Array, Array], Array]  # (t, asked) -> u, and what it has next, in one row
    measures: tuple[tuple[str, int, bool], ...]
    drives: tuple[int, ...]
    gains: tuple[Array, ...] = ()  # that the law takes beside what is measured
    name: str = ""
    states: tuple[str, ...] = ()
    hidden: int = 0  # number of states, the last, that results do not hold
    start: tuple[Array, ...] = ()  # of the states
    sample_time: Array | None = None  # s; None: the law acts continuously
    surfaces: Callable[[Array, Array], Array] | None = None  # where the law jumps
    n_surfaces: int = 0
    ramps: bool = False  # u goes on linearly between samples: the law gives u, its slope, states
    preview: Callable[[RealisedSea | None], np.ndarray] | None = None  # numbers of its sea
    data: Array | None = None  # those of the sea of the run
    zero: Pose | None = None  # of all bodies as described, where one is measured

    @property
    def reported(self) -> tuple[str, ...]:
        """States that results hold."""
        return self.states[: len(self.states) - self.hidden]

    @property
    def held(self) -> int:
        """Number of held values: u, and its slope where it ramps."""
        return 0 if self.sample_time is None else len(self.drives) * (2 if self.ramps else 1)

    @property
    def size(self) -> int:
        """Internal states: those of the law; if sampled, what is held and the next sample time."""
        return len(self.states) + (0 if self.sample_time is None else self.held + 1)

    @property
    def event_count(self) -> int:
        """Number of events: the next sample, or both sides of every surface."""
        return 2 * self.n_surfaces if self.sample_time is None else 1


@dataclass(frozen=True)
class LawOfGains:
    """A law that takes gains by name; they come behind what is measured."""

    function: Callable[..., Array]
    names: tuple[str, ...]

    def __call__(self, t: Array, y: Array) -> Array:
        count = len(self.names)
        gains = {name: y[len(y) - count + k] for k, name in enumerate(self.names)}
        return self.function(t, y[: len(y) - count], **gains)


@dataclass(frozen=True)
class LawOfStates:
    """A law (or its surfaces) that sees states: behind what is measured come gains, then states.

    It gives u and the next states (or rates) in one row.
    """

    function: Callable[..., tuple[Array, Array]]
    gains: tuple[str, ...]
    states: tuple[str, ...]
    drives: int
    name: str
    is_surface: bool = False

    def __call__(self, t: Array, requested: Array) -> Array:
        n = len(requested) - len(self.states)
        m = n - len(self.gains)
        gains = {name: requested[m + k] for k, name in enumerate(self.gains)}
        value = self.function(t, requested[:m], requested[n:], **gains)
        xp = namespace(requested)
        if self.is_surface:
            return value
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise SwelltreeError(
                f"controller '{self.name}': {where_of(self.function)} has states and gives "
                f"{type(value).__name__}. Return a pair (u, next states)."
            )
        rows = [xp.reshape(xp.asarray(part, dtype=float), (-1,)) for part in value]
        for row, count, what in zip(
            rows, (self.drives, len(self.states)), ("driven elements", "states"), strict=True
        ):
            if row.shape[0] != count:
                raise SwelltreeError(
                    f"controller '{self.name}': {where_of(self.function)} gives {row.shape[0]} "
                    f"values for {count} {what}. Return (u, next states) with one value for each."
                )
        return xp.concatenate(rows)


LAW_QUERIES: WeakValueDictionary[tuple[object, int, str], LawQuery] = WeakValueDictionary()


@dataclass(frozen=True)
class PlainLaw:
    """A control law in plain Python, called back from the compiled program.

    Its derivative is taken by differences, so that linear studies and gradients see it.
    """

    function: Callable[[float, np.ndarray], Numbers]
    count: int
    name: str
    requested: LawQuery = field(
        init=False, compare=False
    )  # by programs, for all laws equal to this one

    opaque: ClassVar[bool] = False  # without derivatives, and asked at samples only

    def __post_init__(self) -> None:
        # a compiled program may go on calling an equal law of another compilation
        key = self.function, self.count, self.name
        object.__setattr__(self, "requested", LAW_QUERIES.setdefault(key, LawQuery()))

    def values(self, t: Array, y: Array) -> np.ndarray:
        """The law itself, its answer checked."""
        value = plain_values(self.name, self.function, self.count, t, y)
        self.requested.keep(float(t), np.array(y), value)
        return value

    def check_memory(self) -> None:
        """Reject a law that answers a question of the run otherwise than it did then."""
        self.requested.check(self.name, self.function, self.count)

    def rehearsed(self, measures: int, rest: Sequence[float] = ()) -> PlainLaw:
        """This law, rejected if it has a memory, before any study uses it.

        It is asked about motions of one centimetre to ten metres. What it cannot answer is left to
        the runs, whose motions are real.

        Args:
            measures: number of measured channels.
            rest: gains and states, which follow them.
        """
        draw = np.random.default_rng(0)
        with np.errstate(all="ignore"):
            for k, t in enumerate(np.linspace(0.0, 10.0, 2 * LawQuery.MANY)):
                y = 10.0 ** (k % 4 - 2) * draw.normal(size=measures)
                with contextlib.suppress(SwelltreeError):
                    self.values(t, np.concatenate([y, rest]))
            self.check_memory()
        return self

    def called(self, t: Array, y: Array) -> np.ndarray:
        try:
            return self.values(t, y)
        except SwelltreeError as error:
            self.requested.faults.append(str(error))
            return np.full(self.count, np.nan)

    def __call__(self, t: Array, y: Array) -> Array:
        if namespace(t, y) is np:
            return self.values(t, y)

        return called_back(self.called, self.count, t, y)


@pytree("names", "silent", "expected")
class Controllers(
    CommandsStrokes, PreparedForSea, ChecksStep, HasNonlinearity, HasLinearForm, Reports
):
    """All controllers of a system: they command and exert no force themselves."""

    controllers: tuple[CompiledController, ...]

    kind: ClassVar[str] = "controller"
    names: tuple[str, ...] = ()
    silent: tuple[int, ...] = ()  # controllers that command nothing
    expected: tuple[ExpectedSea, ...] = ()  # seas that laws or forces were made for

    def loads(self, model: Model, now: Instant) -> Loads:
        xp = namespace(now.motion.pose.p)
        channels = {}
        parts = [
            x[: len(controller.reported)]
            for controller, x in zip(self.controllers, self.parts(now.internal), strict=True)
            if controller.reported
        ]
        if parts:
            channels["state"] = namespace(*parts).concatenate(parts)
        return Loads(xp.zeros((model.layout.n_bodies, 6)), xp.zeros(0), xp.zeros(0), channels)

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        names = [f"{c.name}.{state}" for c in self.controllers for state in c.reported]
        return {"control_state": ("control_state", names, "state of a controller")} if names else {}

    def parts(self, internal: InternalState) -> list[Array]:
        """Internal states of each controller: of its law, held values, next sample time."""
        flat, out, first = internal.elements.get(self.kind), [], 0
        flat = self.internal_start() if flat is None else flat
        for controller in self.controllers:
            last = first + controller.size
            out.append(flat[first:last])
            first = last
        return out

    def commands(self, model: Model, now: Instant) -> Iterable[tuple[int, Array]]:
        rows = zip(self.controllers, self.parts(now.internal), strict=True)
        for number, (controller, x) in enumerate(rows):
            if number in self.silent:
                continue
            if controller.sample_time is None:
                u = commanded(model, now, controller, x)
            else:
                u = held_force(controller, now.t, x)
            yield from ((i, u[k]) for k, i in enumerate(controller.drives))

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        return "a controller acts" if self.controllers else ""

    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        notes = []
        for controller in self.controllers:
            if is_opaque(controller) and controller.measures:
                raise SwelltreeError(
                    f"controller '{controller.name}' is an FMU, whose answer to small motions a "
                    "linear study cannot know. Use simulate, or describe its linear behaviour by "
                    "a SpringDamper or PTO."
                )
            if controller.sample_time is not None:
                how = "is sampled: its force is held as before its first sample"
            elif controller.n_surfaces:
                how = "jumps at surfaces: its states are held as at the start"
            else:
                continue
            notes.append(f"Controller '{controller.name}' {how}.")
        return LinearForm(notes=tuple(notes))

    # --- the sea ----------------------------------------------------------------------------
    @property
    def feels(self) -> tuple[str, ...]:  # pyright: ignore
        previews = any(controller.preview is not None for controller in self.controllers)
        return ("waves",) if previews else ()

    def in_sea(self, model: Model, waves: RealisedSea, padded: bool = False) -> Controllers:
        for expected in self.expected:
            expected.check(waves)
        built = tuple(
            c if c.preview is None else replace(c, data=c.preview(waves)) for c in self.controllers
        )
        return replace(self, controllers=built)

    # --- states and events ------------------------------------------------------------------
    def internal_start(self) -> Array:
        if not any(controller.size for controller in self.controllers):
            return np.zeros(0)
        parts: list[Array] = []
        for controller in self.controllers:
            parts += controller.start
            parts += [np.zeros(())] * (controller.size - len(controller.states))
        return namespace(*parts).stack(parts)

    def internal_rate(self, model: Model, now: Instant) -> Array:
        out = []
        for controller, x in zip(self.controllers, self.parts(now.internal), strict=True):
            rate = 0.0 * x
            if controller.states and controller.sample_time is None and not controller.n_surfaces:
                rate = answer(model, now, controller, x)[len(controller.drives) :]
            out.append(rate)
        return namespace(*out).concatenate(out)

    @property
    def event_count(self) -> int:
        return sum(controller.event_count for controller in self.controllers)

    def next_sample(self, internal: InternalState) -> Array | None:
        times = [
            x[-1]
            for controller, x in zip(self.controllers, self.parts(internal), strict=True)
            if controller.sample_time is not None
        ]
        return namespace(*times).stack(times).min() if times else None

    def event_values(self, model: Model, now: Instant) -> Array:
        values = []
        for controller, x in zip(self.controllers, self.parts(now.internal), strict=True):
            if controller.sample_time is not None:
                values.append(x[-1:] - now.t)
            elif controller.surfaces is not None:
                requested = requested_from(model, now, controller, x)
                xp = namespace(requested)
                side = xp.asarray(controller.surfaces(now.t, requested), dtype=float).reshape(-1)
                values += [side, -side]
        return namespace(*values).concatenate(values)

    def switched(self, model: Model, now: Instant, hit: Array) -> Array:
        out, first = [], 0
        for controller, x in zip(self.controllers, self.parts(now.internal), strict=True):
            its, first = hit[first : first + controller.event_count], first + controller.event_count
            if controller.event_count and controller.size:
                x = _after_events(model, now, controller, x, its.any())
            out.append(x)
        return namespace(*out).concatenate(out)

    def first_states(self, model: Model, now: Callable[[], Instant]) -> Array | None:
        if not any(controller.event_count for controller in self.controllers):
            return None
        return self.switched(model, now(), np.ones(self.event_count, bool))

    def check_step(self, step: float) -> None:
        for controller in self.controllers:
            every = controller.sample_time
            if every is not None and abs(float(every) / step - round(float(every) / step)) > 1e-6:
                raise SwelltreeError(
                    f"controller '{controller.name}': sample_time {float(every):g} s is not a "
                    f"multiple of the step of {step:g} s, which this solver keeps. Give a step "
                    "that divides it."
                )

    def switching(self) -> str:
        return next((f"controller '{c.name}'" for c in self.controllers if c.event_count), "")

    def exact_events(self) -> str:
        """None: samples and surfaces are taken between steps."""
        return ""


def is_opaque(controller: CompiledController) -> bool:
    return isinstance(controller.law, PlainLaw) and controller.law.opaque


def control_of(model: Model) -> Controllers:
    """The effect of all controllers of a model, without any where it has none."""
    return model.effect(Controllers) or Controllers(())


def controllers_of(model: Model) -> tuple[CompiledController, ...]:
    return control_of(model).controllers


def with_controller(model: Model, controller: CompiledController) -> Model:
    effect = control_of(model)
    return model.with_effect(replace(effect, controllers=(*effect.controllers, controller)))


def with_expected_sea(model: Model, expected: ExpectedSea) -> Model:
    """The model, which warns where it runs in another sea."""
    effect = control_of(model)
    return model.with_effect(replace(effect, expected=(*effect.expected, expected)))


def raise_faults(model: Model) -> None:
    """Raise what went wrong in a plain law during a program; reject one that has a memory."""
    for controller in controllers_of(model):
        if not isinstance(controller.law, PlainLaw):
            continue
        faults = controller.law.requested.faults
        if faults:
            first = faults[0]
            faults.clear()
            raise SwelltreeError(first)
        if controller.preview is None:  # one of ours remembers nothing
            controller.law.check_memory()


def measured(model: Model, now: Instant, controller: CompiledController) -> Array:
    """Values of the measured channels, in order, and the gains of the law."""
    motion = now.motion
    xp = namespace(motion.pose.p, *controller.gains)
    forces = stroke_forces(model)
    strokes: tuple[Array, Array] | None = None
    values = []
    for quantity, index, is_rate in controller.measures:
        if quantity == "coordinate":
            values.append((motion.rate if is_rate else motion.coordinate)[index])
        elif quantity == "body":
            values.append(_of_body(controller, motion, index // 6, is_rate)[index % 6])
        elif quantity == "force":
            values.append(_forces(model, now, controller)[index])
        else:
            strokes = stroke(forces.strokes, motion) if strokes is None else strokes
            zero = forces.strokes.rest[index] if quantity == "length" and not is_rate else 0.0
            values.append(strokes[1 if is_rate else 0][index] + zero)
    values += list(controller.gains)
    return xp.stack(values) if values else xp.zeros(0)


def _of_body(controller: CompiledController, motion: Motion, i: int, is_rate: bool) -> Array:
    """Displacement of a body from where it is described, or its velocity, in heading axes (6,)."""
    assert controller.zero is not None
    one = slice(i, i + 1)
    zero = Pose(controller.zero.p[one], controller.zero.R[one])
    if not is_rate:
        return displacement(zero, motion.pose.p[one], motion.pose.R[one])[0]
    v = motion.v[i].reshape(2, 3)
    return (v @ heading_axes(zero.R)[0]).reshape(6)


def _forces(model: Model, now: Instant, controller: CompiledController) -> Array:
    """Forces that act to increase the strokes, without what the controller itself gives."""
    effect = control_of(model)
    number = next(k for k, c in enumerate(effect.controllers) if c is controller)
    bare = model.with_effect(replace(effect, silent=(*effect.silent, number)))
    return stroke_forces(bare).force(bare, now)


def requested_from(model: Model, now: Instant, controller: CompiledController, x: Array) -> Array:
    """What a law is asked with: measured channels, gains, its states, numbers of its sea."""
    y = measured(model, now, controller)
    rows = [y]
    if controller.states:
        rows.append(x[: len(controller.states)])
    if controller.data is not None:
        rows.append(controller.data)
    return y if len(rows) == 1 else namespace(*rows).concatenate(rows)


def answer(model: Model, now: Instant, controller: CompiledController, x: Array) -> Array:
    """What a law gives: u for each element it drives, then its next states or their rates."""
    requested = requested_from(model, now, controller, x)
    xp = namespace(now.motion.pose.p, requested)
    count = len(controller.drives) * (2 if controller.ramps else 1) + len(controller.states)
    return xp.asarray(controller.law(now.t, requested), dtype=float).reshape(count)


def commanded(model: Model, now: Instant, controller: CompiledController, x: Array) -> Array:
    """What a continuous controller gives to each element it drives."""
    return answer(model, now, controller, x)[: len(controller.drives)]


def held_force(controller: CompiledController, t: Array, x: Array) -> Array:
    """What a sampled controller gives between its samples; nothing before the first."""
    n, p = len(controller.states), len(controller.drives)
    u = x[n : n + p]
    if controller.ramps:
        assert controller.sample_time is not None
        u = u + x[n + p : n + 2 * p] * (t - x[-1] + controller.sample_time)
    return u


def _after_events(
    model: Model, now: Instant, controller: CompiledController, x: Array, hit: Array
) -> Array:
    """Internal states where events were hit; a plain law is asked at its own samples only."""
    if isinstance(controller.law, PlainLaw):
        if isinstance(hit, bool | np.bool_):
            return after_event(model, now, controller, x) if hit else x
        return jax.lax.cond(
            hit, lambda x: jnp.asarray(after_event(model, now, controller, x)), jnp.asarray, x
        )
    after = after_event(model, now, controller, x)
    return namespace(x, after).where(hit, after, x)


def after_event(model: Model, now: Instant, controller: CompiledController, x: Array) -> Array:
    """Internal states after a sample, or after a surface was crossed."""
    row = answer(model, now, controller, x)
    if controller.sample_time is None:
        return row[len(controller.drives) :]
    held, xp = controller.held, namespace(row, x)
    # the next multiple after now: the time between samples may have been changed since the last
    number = xp.floor(now.t / controller.sample_time + ROUNDING) + 1.0
    due = xp.reshape(controller.sample_time * number, (1,))
    return xp.concatenate([row[held:], row[:held], due])


def not_finite(model: Model, moments: Iterable[Instant]) -> str:
    """A message for the first law that has no number, and when; empty: none.

    Args:
        model: with controllers.
        moments: where to ask, `Now`, in their order; not looked at without traced laws.
    """
    effect = control_of(model)
    traced = [not isinstance(c.law, PlainLaw) for c in effect.controllers]
    for now in moments if any(traced) else ():
        for controller, x in compress(
            zip(effect.controllers, effect.parts(now.internal), strict=True), traced
        ):
            y = requested_from(model, now, controller, x)
            t = namespace(y).asarray(now.t)
            u = np.asarray(controller.law(t, y), dtype=float).reshape(-1)
            if not np.isfinite(u).all():
                where = where_of(controller.law, _first_gap(controller.law, t, y))
                return (
                    f"The {where} gives {u.tolist()} at t = {float(t):.6g} s with "
                    f"y = {np.round(np.asarray(y), 6).tolist()}."
                )
    return ""


def _first_gap(law: Callable[[Array, Array], Array], t: Array, y: Array) -> BaseException | None:
    """The error of the line that first has no number, with its traceback; None: it is not known."""
    for infinite in (False, True):
        watched = (jax.debug_nans(True), jax.debug_infs(infinite))
        quiet = contextlib.redirect_stdout(io.StringIO())  # JAX prints what it finds
        try:
            with watched[0], watched[1], quiet, np.errstate(invalid="raise"):
                law(t, y)
        except FloatingPointError as error:
            return error
    return None
