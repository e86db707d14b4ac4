r"""Forces on strokes: springs, dampers, joint forces and PTOs.

.. math:: F = F_{machine}(t, x, v, z, u) - k (x - x_0) + F_{stop}

A spring between two points, a force on a joint coordinate and a power take-off are the same
thing: a law with internal states z (`laws`), a spring, end stops and limits on a stroke. The
effect evaluates stroke, rate and law of each, and accounts for the energy: what is taken from the
motion, -F v, is stored, delivered or lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from swelltree.jit import Array, Tree, namespace, pytree
from swelltree.model.capabilities import (
    CommandsStrokes,
    HasEvents,
    HasFirstStates,
    HasLinearForm,
    HasNonlinearity,
    HasParameters,
    Reports,
    StoresElastically,
    having,
)
from swelltree.model.effect import Coordinate, Instant, LinearForm, Loads
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.multibody.layout import Place
from swelltree.pto.actuators.actuators import (
    Ends,
    Stops,
    Strokes,
    pair_wrench,
    stop_forces,
    stroke,
    stroke_channels,
)
from swelltree.pto.laws.base import Law, LawInputs, LawOutputs

if TYPE_CHECKING:
    from swelltree.multibody.layout import Layout

LIMITLESS = 1e30  # a limit that is not there; finite, for the sake of derivatives
WORDS = {"spring": "spring", "joint_force": "joint force", "pto": "pto"}


@pytree(
    "names",
    "roles",
    "ptos",
    "turns",
    "tension_only",
    "counts",
    "limited",
    "stopped",
    "watches_hold",
)
class StrokeForces(
    HasEvents,
    HasFirstStates,
    StoresElastically,
    HasNonlinearity,
    HasLinearForm,
    HasParameters,
    Reports,
):
    """All force elements on strokes (e of them), grouped by law."""

    strokes: Strokes
    stiffness: Array  # (e,) N/m, N m/rad
    neutral: Array  # (e,) m, rad: stroke at which the spring is slack
    stops: Stops
    force_limit: Array  # (e,) N, N m
    power_limit: Array  # (e,) W
    signals: tuple[Callable[[Array], Array] | None, ...]  # u(t) of each, or None
    laws: tuple[Law, ...]
    counts: tuple[int, ...]  # elements of each law
    names: tuple[str, ...]
    roles: tuple[str, ...]  # as what each was described: spring, joint_force or pto
    ptos: tuple[int, ...]  # numbers of the power take-offs in the order of their description
    turns: tuple[bool, ...]  # the stroke is an angle
    tension_only: tuple[bool, ...]  # it never pushes
    limited: bool  # one has a limit of force or power
    stopped: bool  # one has an end stop
    watches_hold: bool  # an event depends on the force in a latch

    kind: ClassVar[str] = "stroke"
    direct: ClassVar[tuple[str, ...]] = ("stiffness", "neutral", "force_limit", "power_limit")

    @property
    def word(self) -> str:
        return "pto"

    @property
    def prefix(self) -> str:
        return ""  # channels are named after what was described

    def slices(self) -> list[slice]:
        ends = [int(k) for k in np.cumsum((0, *self.counts))]
        return [slice(a, b) for a, b in pairwise(ends)]

    def with_role(self, role: str) -> list[int]:
        """Numbers of the elements with a role."""
        return [i for i, specified in enumerate(self.roles) if specified == role]

    def words(self, i: int) -> str:
        """Role and name of an element, for messages."""
        return f"{WORDS[self.roles[i]]} '{self.names[i]}'"

    def law_of(self, i: int) -> tuple[Tree, int]:
        """Law of an element, and its index there."""
        parts = zip(self.laws, self.slices(), strict=True)
        return next((law, i - rows.start) for law, rows in parts if rows.start <= i < rows.stop)

    def is_plain(self, i: int) -> bool:
        """Whether an element is not a PTO, or a PTO without losses, limits or stops."""
        law, k = self.law_of(i)
        if self.roles[i] != "pto":
            return True
        limit = min(float(self.force_limit[i]), float(self.power_limit[i]))
        ends = float(self.stops.lower[i]), float(self.stops.upper[i])
        lossless = law.is_lossless(k)
        return lossless and limit >= LIMITLESS and not np.isfinite(ends).any()

    def states(self, now: Instant) -> list[Array]:
        """Internal states by law, (states, e) each; initial ones if the study has none."""
        if self.kind not in now.internal.elements:
            return [law.start() for law in self.laws]
        flat, out, first = now.internal.elements[self.kind], [], 0
        for law, count in zip(self.laws, self.counts, strict=True):
            last = first + law.states * count
            out.append(flat[first:last].reshape(law.states, count))
            first = last
        return out

    def control(self, model: Model, now: Instant) -> Array:
        """u of every element: signals plus controller commands, (e,)."""
        xp = namespace(now.motion.pose.p)
        total = [
            xp.zeros(()) if f is None else xp.asarray(f(now.t), dtype=float) for f in self.signals
        ]
        for effect in having(model, CommandsStrokes):
            for i, u in effect.commands(model, now):
                total[i] = total[i] + u
        return namespace(*total).stack(total)

    def inputs(self, model: Model, now: Instant) -> list[LawInputs]:
        x, v = stroke(self.strokes, now.motion)
        xp = namespace(v)
        u = self.control(model, now)
        bound, spring = None, None
        if self.limited:
            spring = -self.stiffness * (x - self.neutral)
            bound = xp.minimum(self.force_limit, self.power_limit / xp.maximum(xp.abs(v), 1e-9))

        def part(values: Array | None, s: slice) -> Array | None:
            return None if values is None else values[s]

        springs = [0.0 if spring is None else spring[s] for s in self.slices()]
        return [
            LawInputs(now.t, x[s], v[s], z, u[s], part(bound, s), part(now.hold, s), pull)
            for s, z, pull in zip(self.slices(), self.states(now), springs, strict=True)
        ]

    def outputs(self, inputs: list[LawInputs]) -> list[LawOutputs]:
        return [law.outputs(part) for law, part in zip(self.laws, inputs, strict=True)]

    def evaluated(self, inputs: list[LawInputs], outputs: list[LawOutputs]) -> dict[str, Array]:
        """Force, stroke, energies and powers of every element, (e,) each."""

        def joined(name: str, parts: list[LawInputs] | list[LawOutputs]) -> Array:
            rows = [getattr(part, name) for part in parts]
            return rows[0] if len(rows) == 1 else namespace(*rows).concatenate(rows)

        x, v, u = (joined(name, inputs) for name in ("x", "v", "u"))
        stretch = x - self.neutral
        force = joined("force", outputs) - self.stiffness * stretch
        stored = joined("stored", outputs) + 0.5 * self.stiffness * stretch**2
        delivered, lost = joined("delivered", outputs), joined("lost", outputs)
        xp = namespace(force, stretch)
        values = {"limited": joined("limited", outputs)} if self.limited else {}
        if self.stopped:
            push, elastic, squeezed = stop_forces(self.stops, x, v)
            force, stored = force + push, stored + squeezed
            lost = lost - (push - elastic) * v
            values["stop_force"] = push
        if any(self.tension_only):
            pulls, slack = np.array(self.tension_only), stretch < 0.0
            force = xp.where(pulls & (slack | (force > 0.0)), 0.0, force)
            stored = xp.where(pulls & slack, 0.0, stored)
            taut = xp.where(slack, 0.0, self.stiffness * stretch)
            delivered = xp.where(pulls, -(force + taut) * v, delivered)
        values |= {"force": force, "stroke": x, "rate": v, "control": u}
        return values | {"delivered": delivered, "stored": stored, "lost": lost}

    def force(self, model: Model, now: Instant) -> Array:
        """Forces, positive if they extend the strokes, (e,)."""
        inputs = self.inputs(model, now)
        return self.evaluated(inputs, self.outputs(inputs))["force"]

    def loads(self, model: Model, now: Instant) -> Loads:
        inputs = self.inputs(model, now)
        outputs = self.outputs(inputs)
        values = self.evaluated(inputs, outputs)
        wrench = pair_wrench(model, self.strokes, now.motion, values["force"])
        power = -values["delivered"] - values["lost"]
        return Loads(wrench, values["stored"], power, stroke_channels(self, values, outputs))

    # --- internal states and events ------------------------------------------------------
    def internal_start(self) -> Array:
        if not any(law.states for law in self.laws):
            return np.zeros(0)
        xp = namespace(self.stiffness, *(law.start() for law in self.laws))
        return xp.concatenate([law.start().reshape(-1) for law in self.laws])

    def first_states(self, model: Model, now: Callable[[], Instant]) -> Array | None:
        if all(type(law).begun is Law.begun for law in self.laws):
            return None
        parts = zip(self.laws, self.inputs(model, now()), strict=True)
        states = [law.begun(inputs).reshape(-1) for law, inputs in parts]
        return namespace(*states).concatenate(states)

    def internal_rate(self, model: Model, now: Instant) -> Array:
        outputs = self.outputs(self.inputs(model, now))
        xp = namespace(outputs[0].force)
        return xp.concatenate([outputs.rate.reshape(-1) for outputs in outputs])

    @property
    def event_count(self) -> int:
        return sum(law.events * n for law, n in zip(self.laws, self.counts, strict=True))

    def event_values(self, model: Model, now: Instant) -> Array:
        values = [
            law.event_values(inputs).reshape(-1)
            for law, inputs in zip(self.laws, self.inputs(model, now), strict=True)
            if law.events
        ]
        return namespace(values[0]).concatenate(values)

    def switched(self, model: Model, now: Instant, hit: Array) -> Array:
        out, first = [], 0
        for law, inputs, count in zip(self.laws, self.inputs(model, now), self.counts, strict=True):
            last = first + law.events * count
            hits = hit[first:last].reshape(law.events, count)
            out.append((law.switched(inputs, hits) if law.events else inputs.z).reshape(-1))
            first = last
        return namespace(out[0]).concatenate(out)

    def switching(self) -> str:
        for law, rows in zip(self.laws, self.slices(), strict=True):
            if law.events or law.holds:
                return self.words(rows.start)
        return ""

    def exact_events(self) -> str:
        # what sticks by friction does so between steps
        waits = all(law.sticks for law in self.laws if law.events or law.holds)
        return "" if waits else self.switching()

    # --- strokes that can be locked ---------------------------------------------------
    @property
    def holds(self) -> bool:
        """Whether it can lock strokes as constraints (static)."""
        return any(law.holds for law in self.laws)

    def latched(self, now: Instant) -> Array:
        """One for every locked stroke, (e,)."""
        states = self.states(now)
        parts = [
            z[0] if law.holds else np.zeros(count)
            for law, z, count in zip(self.laws, states, self.counts, strict=True)
        ]
        return namespace(*parts).concatenate(parts)

    def can_hold(self) -> np.ndarray:
        holds = [law.holds for law, n in zip(self.laws, self.counts, strict=True) for _ in range(n)]
        return np.flatnonzero(holds)

    @property
    def sticks(self) -> bool:
        """Whether strokes can stick by friction, as decided by `resolved` (static)."""
        return any(law.sticks for law in self.laws)

    def can_stick(self) -> np.ndarray:
        """One for every element whose hold is friction, and so part of its force, (e,)."""
        return np.repeat([float(law.sticks) for law in self.laws], self.counts)

    def resolved(self, model: Model, now: Instant) -> Array:
        """States after one round of the stick decision."""
        parts = list(zip(self.laws, self.inputs(model, now), strict=True))
        worst = [law.overload(inputs) for law, inputs in parts]
        xp = namespace(*worst)
        largest = xp.concatenate(worst).max()
        out = [law.resolved(inputs, largest).reshape(-1) for law, inputs in parts]
        return xp.concatenate(out)

    # --- what is known of it -----------------------------------------------------------
    def linear_form(self, model: Model, now: Instant) -> LinearForm:
        from swelltree.pto.actuators.actuators import linear_elements, notes_of  # needs JAX

        return LinearForm(elements=linear_elements(self, model, now), notes=notes_of(self))

    def nonlinearity(self, off_stops: frozenset[str] = frozenset()) -> str:
        for law, rows in zip(self.laws, self.slices(), strict=True):
            for i in range(rows.start, rows.stop):
                what = self.words(i)
                stops = np.isfinite([self.stops.lower[i], self.stops.upper[i]]).any()
                if stops and self.names[i] not in off_stops:
                    return f"{what} has end stops"
                if self.tension_only[i]:
                    return f"{what} carries tension only"
                if not law.is_damper:
                    return f"{what} has a law of its own"
                if min(float(self.force_limit[i]), float(self.power_limit[i])) < LIMITLESS:
                    return f"{what} has a limit"
                if not isinstance(self.signals[i], Constant | None):
                    return f"{what} changes with time"
        return ""

    def parameters(self) -> dict[str, list[Place]]:
        out: dict[str, list[Place]] = {}
        for number, rows in enumerate(self.slices()):
            for i in range(rows.start, rows.stop):
                rest = {"spring": "rest_length", "joint_force": "rest_position", "pto": "rest"}
                law = dict(self.laws[number].described)
                places: list[Place] = [(("laws", number), i - rows.start, law)]
                hidden = {} if self.limited else {"force_limit": "", "power_limit": ""}
                if self.roles[i] == "joint_force":
                    places.append(((), i, hidden | {"neutral": "rest_position"}))
                else:
                    places.append(((), i, hidden | {"neutral": ""}))
                    places.append((("strokes",), i, {"rest": rest[self.roles[i]]}))
                if self.stopped:
                    places.append((("stops",), i, {"tip": ""}))
                if self.strokes.dof_of(i) is None:
                    places.append((("strokes", "ends"), self.strokes.place[i], {}))
                out[self.names[i]] = places
        return out

    def coordinates(self, layout: Layout) -> dict[str, Coordinate]:
        springs, joints = self.with_role("spring"), self.with_role("joint_force")
        dofs = [dof for i in joints if (dof := self.strokes.dof_of(i)) is not None]
        joint_turns = [layout.dofs[k].turns for k in dofs]
        pto_turns = [self.turns[i] for i in self.ptos]
        moment = ["N m" if turns else "N" for turns in joint_turns]
        unit = ["rad" if turns else "m" for turns in pto_turns]

        def names(rows: Iterable[int]) -> list[str]:
            return [self.names[i] for i in rows]

        return {
            "spring": ("spring", names(springs), "spring-damper"),
            # a dimension cannot be called like the variable `joint_force`
            "joint_element": ("joint_element", names(joints), "force on a joint coordinate"),
            "joint_element_coordinate": (
                "joint_element",
                [layout.dof_labels[k] for k in dofs],
                "joint coordinate the force acts on",
            ),
            "joint_element_unit": ("joint_element", moment, "unit of the force"),
            "joint_element_turns": ("joint_element", joint_turns, "the coordinate is an angle"),
            "pto": ("pto", names(self.ptos), "power take-off"),
            "pto_unit": ("pto", unit, "unit of the stroke"),
            "pto_turns": ("pto", pto_turns, "the stroke is an angle"),
        }


NO_ENDS = Ends(np.zeros((0, 3)), np.zeros((0, 3)), (), ())
NONE = np.zeros(0)
NO_STROKES = StrokeForces(
    strokes=Strokes(NO_ENDS, NONE, (), ()),
    stiffness=NONE,
    neutral=NONE,
    stops=Stops(NONE, NONE, NONE, NONE, NONE),
    force_limit=NONE,
    power_limit=NONE,
    signals=(),
    laws=(),
    counts=(),
    names=(),
    roles=(),
    ptos=(),
    turns=(),
    tension_only=(),
    limited=False,
    stopped=False,
    watches_hold=False,
)


def stroke_forces(model: Model) -> StrokeForces:
    """Force elements of a model that act on strokes."""
    return model.effect(StrokeForces) or NO_STROKES


def latching_forces(model: Model) -> StrokeForces | None:
    """Stroke forces if they can lock strokes, else None."""
    forces = stroke_forces(model)
    return forces if forces.holds else None


def element_forces(model: Model, now: Instant) -> Array:
    """Forces of all elements, positive if they extend their strokes, (e,)."""
    forces = stroke_forces(model)
    return forces.force(model, now) if forces.names else namespace(now.motion.pose.p).zeros(0)


def with_control(model: Model, signals: dict[int, Callable[[Array], Array]]) -> Model:
    """The model with compiled signals for the actuators of some elements, by number."""
    forces = stroke_forces(model)
    chosen = tuple(signals.get(i, signal) for i, signal in enumerate(forces.signals))
    return model.with_effect(replace(forces, signals=chosen))
