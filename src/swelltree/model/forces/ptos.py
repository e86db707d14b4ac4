r"""Power take-offs: machines that act on a stroke, with spring, end stops and limits.

.. math:: F = F_{machine}(t, x, v, z, u) - k x + F_{stop}

Every machine is a law with inner states z (`laws`). The group finds stroke and rate of each, asks
the laws, and books the energy: what is taken from the motion, -F v, is stored, delivered or lost.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from swelltree.model.forces.controllers import pto_actuation
from swelltree.model.forces.laws.base import Answer, Law, Seen
from swelltree.model.forces.loads import ForceGroup, Loads, Now
from swelltree.model.forces.stops import Stops, stop_forces
from swelltree.model.forces.strokes import Strokes, pair_wrench, stroke
from swelltree.model.model import Model
from swelltree.spatial.arrays import Array, namespace, pytree

SHOWN = ("pressure", "oil_volume", "oil_total", "flywheel_speed", "copper_loss", "mode")


@pytree("names", "counts", "turns", "watches_hold")
class Ptos(ForceGroup):
    """All machines of a system (e of them), those of one law together."""

    strokes: Strokes
    stiffness: Array  # (e,) N/m
    stops: Stops
    force_limit: Array  # (e,) N
    power_limit: Array  # (e,) W
    signals: tuple[Any, ...]
    laws: tuple[Law, ...]
    counts: tuple[int, ...]  # machines of each law
    names: tuple[str, ...]
    turns: tuple[bool, ...]  # the stroke is an angle
    watches_hold: bool  # an event depends on the force in a latch

    kind: ClassVar[str] = "pto"

    def slices(self) -> list[slice]:
        """Machines of each law."""
        ends = [int(k) for k in np.cumsum((0, *self.counts))]
        return [slice(a, b) for a, b in pairwise(ends)]

    def states(self, now: Now) -> list[Array]:
        """Inner states by law, (states, e) each; the start where a study knows none."""
        if self.kind not in now.inner.elements:
            return [law.start() for law in self.laws]
        flat, out, first = now.inner.elements[self.kind], [], 0
        for law, count in zip(self.laws, self.counts, strict=True):
            last = first + law.states * count
            out.append(flat[first:last].reshape(law.states, count))
            first = last
        return out

    def seen(self, model: Model, now: Now) -> list[Seen]:
        """What every law sees."""
        x, v = stroke(self.strokes, now.motion)
        xp = namespace(x)
        u = pto_actuation(model, now, self.signals)
        bound = xp.minimum(self.force_limit, self.power_limit / xp.maximum(xp.abs(v), 1e-9))
        hold = now.hold
        return [
            Seen(now.t, x[s], v[s], z, u[s], bound[s], None if hold is None else hold[s])
            for s, z in zip(self.slices(), self.states(now), strict=True)
        ]

    def answers(self, model: Model, now: Now) -> list[Answer]:
        """What every law answers."""
        return [
            law.answer(seen) for law, seen in zip(self.laws, self.seen(model, now), strict=True)
        ]

    def loads(self, model: Model, now: Now) -> Loads:
        answers = self.answers(model, now)
        x, v = stroke(self.strokes, now.motion)
        xp = namespace(x)

        def joined(name: str) -> Array:
            return xp.concatenate([getattr(answer, name) for answer in answers])

        machine, delivered = joined("force"), joined("delivered")
        push, elastic, squeezed = stop_forces(self.stops, x, v)
        force = machine - self.stiffness * x + push
        stored = joined("stored") + 0.5 * self.stiffness * x**2 + squeezed
        lost = joined("lost") - (push - elastic) * v
        channels = {
            "force": force,
            "stroke": x,
            "rate": v,
            "delivered": delivered,
            "stored": stored,
            "lost": lost,
            "stop_force": push,
            "limited": joined("limited"),
        }
        wrench = pair_wrench(model, self.strokes, now.motion, force)
        return Loads(wrench, stored, -delivered - lost, channels | self.shown(answers))

    def shown(self, answers: list[Answer]) -> dict[str, Array]:
        """Channels of single laws, NaN for the machines of others."""
        out = {}
        for name in SHOWN:
            if any(name in answer.shown for answer in answers):
                xp = namespace(answers[0].force)
                parts = [a.shown.get(name, np.nan + 0.0 * a.force) for a in answers]
                out[name] = xp.concatenate(parts)
        return out

    # --- inner states and events ------------------------------------------------------
    def inner_start(self) -> Array | None:
        if not any(law.states for law in self.laws):
            return None
        xp = namespace(self.stiffness, *(law.start() for law in self.laws))
        return xp.concatenate([law.start().reshape(-1) for law in self.laws])

    def inner_rate(self, model: Model, now: Now) -> Array:
        answers = self.answers(model, now)
        xp = namespace(answers[0].force)
        return xp.concatenate([answer.rate.reshape(-1) for answer in answers])

    @property
    def event_count(self) -> int:
        return sum(law.events * n for law, n in zip(self.laws, self.counts, strict=True))

    def event_values(self, model: Model, now: Now) -> Array:
        values = [
            law.event_values(seen).reshape(-1)
            for law, seen in zip(self.laws, self.seen(model, now), strict=True)
            if law.events
        ]
        return namespace(values[0]).concatenate(values)

    def switched(self, model: Model, now: Now, hit: Array) -> Array:
        out, first = [], 0
        for law, seen, count in zip(self.laws, self.seen(model, now), self.counts, strict=True):
            last = first + law.events * count
            own = hit[first:last].reshape(law.events, count)
            out.append((law.switched(seen, own) if law.events else seen.z).reshape(-1))
            first = last
        return namespace(out[0]).concatenate(out)

    # --- strokes that can be locked ---------------------------------------------------
    @property
    def holds(self) -> bool:
        return any(law.holds for law in self.laws)

    def held(self, now: Now) -> Array:
        """One for every stroke that is locked, (e,)."""
        states = self.states(now)
        parts = [
            z[0] if law.holds else np.zeros(count)
            for law, z, count in zip(self.laws, states, self.counts, strict=True)
        ]
        return namespace(*parts).concatenate(parts)

    def can_hold(self) -> np.ndarray:
        """Numbers of the machines with a latch."""
        own = [law.holds for law, n in zip(self.laws, self.counts, strict=True) for _ in range(n)]
        return np.flatnonzero(own)
