"""A traced program in two: what its last argument does not touch, and expressions of the rest.

The first part runs in numpy, once for given numbers. Zeros and ones among its results are built
into the expressions of the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.engine.backend import jax
from swelltree.engine.in_numpy import InNumpy, in_numpy
from swelltree.engine.numpy_writer import NotKnownError, inner_program
from swelltree.engine.scalar_graph import GIVEN, MOVING, Graph, TooLargeError
from swelltree.engine.scalar_rules import applied, placed

FIXED, ALONG, UNKNOWN = 0, 1, 2  # the same for the whole batch; differs along it; with unknowns
OWN_SLOPES = {"custom_jvp_call", "custom_vjp_call"}
MOST_CONSTANTS = 4096  # numbers of one array that become expressions


@dataclass(frozen=True)
class Step:
    """One equation, its values by number."""

    eqn: Any
    ins: list[int]
    outs: list[int]


class Split:
    """A program of (leaves..., t, w), t and w along a batch."""

    def __init__(self, closed: Any) -> None:
        self.steps: list[Step] = []
        self.constants: dict[int, Any] = {}
        self.count = 0
        self.level: dict[int, int] = {}
        inputs = [self._new(FIXED) for _ in closed.jaxpr.invars]
        self.leaves, self.time, self.unknown = inputs[:-2], inputs[-2], inputs[-1]
        self.level |= {self.time: ALONG, self.unknown: UNKNOWN}
        self.outs = self._flat(closed.jaxpr, closed.consts, inputs)
        self.size = int(closed.jaxpr.invars[-1].aval.shape[0])
        self._alive()
        self.program: InNumpy = in_numpy(
            jax.vmap(
                self._before,
                in_axes=(None, 0),
                out_axes=[None if self.level[x] == FIXED else 0 for x in self.kept],
            ),
            fixed=1,
        )

    def _new(self, level: int) -> int:
        self.count += 1
        self.level[self.count] = level
        return self.count

    def _constant(self, value: Any) -> int:
        number = self._new(FIXED)
        self.constants[number] = np.asarray(value)
        return number

    def _flat(self, jaxpr: Any, consts: Any, inputs: list[int]) -> list[int]:
        """Equations without calls; numbers of the results."""
        env = dict(zip(jaxpr.invars, inputs, strict=True))
        env |= {v: self._constant(c) for v, c in zip(jaxpr.constvars, consts, strict=True)}

        def read(var: Any) -> int:
            return self._constant(var.val) if hasattr(var, "val") else env[var]

        for eqn in jaxpr.eqns:
            ins = [read(var) for var in eqn.invars]
            level = max((self.level[x] for x in ins), default=FIXED)
            inner = inner_program(eqn)
            # a derivative of its own would be lost with the call
            if inner is not None and not (level == UNKNOWN and eqn.primitive.name in OWN_SLOPES):
                outs = self._flat(inner.jaxpr, inner.consts, ins)
            else:
                outs = [self._new(level) for _ in eqn.outvars]
                self.steps.append(Step(eqn, ins, outs))
            env |= dict(zip(eqn.outvars, outs, strict=True))
        return [read(var) for var in jaxpr.outvars]

    def _alive(self) -> None:
        """Steps that are needed, and the values that go from the first part to the second."""
        wanted, self.after, self.first = set(self.outs), [], []
        for step in reversed(self.steps):
            if wanted.isdisjoint(step.outs):
                continue
            if step.eqn.effects:
                raise NotKnownError(step.eqn.primitive.name)
            wanted.update(step.ins)
            later = self.level[step.outs[0]] == UNKNOWN
            (self.after if later else self.first).append(step)
        self.after.reverse()
        self.first.reverse()
        used = [x for step in self.after for x in step.ins] + self.outs
        kept = [x for x in used if self.level[x] != UNKNOWN and x not in self.constants]
        self.kept = list(dict.fromkeys(kept))

    def _before(self, leaves: Any, t: Any) -> list[Any]:
        """The first part."""
        env: dict[int, Any] = dict(self.constants)
        env |= dict(zip(self.leaves, leaves, strict=True))
        env[self.time] = t
        for step in self.first:
            outs = step.eqn.primitive.bind(*(env[x] for x in step.ins), **step.eqn.params)
            outs = outs if step.eqn.primitive.multiple_results else [outs]
            env |= dict(zip(step.outs, outs, strict=True))
        return [env[x] for x in self.kept]

    def given(self, leaves: list[Any], t: np.ndarray) -> list[np.ndarray]:
        """Results of the first part; the batch, where there is one, last."""
        values = self.program(leaves, t)
        return [
            np.asarray(x) if self.level[k] == FIXED else np.moveaxis(np.asarray(x), 0, -1)
            for k, x in zip(self.kept, values, strict=True)
        ]

    def pattern(self, given: list[np.ndarray]) -> tuple[bytes, ...]:
        """What the expressions depend on: zeros, ones, and places."""
        out, plain = [], [np.zeros(0)]
        for k, x in zip(self.kept, given, strict=True):
            if self.level[k] == ALONG:
                out.append((x != 0).any(axis=-1).tobytes())
            elif x.dtype.kind == "f":
                plain.append(x.reshape(-1))
            else:
                out.append(x.tobytes())
        flat = np.concatenate(plain)
        special = np.where((flat == 0.0) | (np.abs(flat) == 1.0), flat, 2.0)
        return (*out, special.astype("i1").tobytes())

    def expressions(self, graph: Graph, given: list[np.ndarray]) -> tuple[list[int], list[Any]]:
        """Unknowns and results as places in a graph; inputs are named by value and place."""
        env: dict[int, np.ndarray] = {}
        for k, value in self.constants.items():
            if value.size <= MOST_CONSTANTS:
                env[k] = placed(graph, value)
        for i, (k, x) in enumerate(zip(self.kept, given, strict=True)):
            env[k] = self._inputs(graph, i, x, self.level[k] == ALONG)
        unknown = [graph.input(f"w{j}", MOVING) for j in range(self.size)]
        env[self.unknown] = np.array(unknown, dtype=int)
        for step in self.after:
            if any(x not in env for x in step.ins):
                raise TooLargeError(f"a table of more than {MOST_CONSTANTS} numbers")
            outs = applied(graph, step.eqn, [env[x] for x in step.ins])
            env |= dict(zip(step.outs, outs, strict=True))
        if any(x not in env for x in self.outs):
            raise TooLargeError(f"a table of more than {MOST_CONSTANTS} numbers")
        return unknown, [env[x] for x in self.outs]

    @staticmethod
    def _inputs(graph: Graph, i: int, x: np.ndarray, along: bool) -> np.ndarray:
        shape = x.shape[:-1] if along else x.shape
        rows = x.reshape(*((-1, x.shape[-1]) if along else (-1,)))
        if x.dtype.kind != "f" and not along:
            return placed(graph, x)
        if x.dtype.kind == "c":
            raise NotKnownError("complex numbers")
        out = []
        for j, row in enumerate(rows):
            if along:
                plain = x.dtype.kind == "f" and not row.any()
                out.append(graph.zero if plain else graph.input(f"g{i}_{j}", GIVEN))
            elif row in (0.0, 1.0, -1.0):
                out.append(graph.constant(float(row)))
            else:
                out.append(graph.input(f"g{i}_{j}", GIVEN))
        return np.array(out, dtype=int).reshape(shape)
