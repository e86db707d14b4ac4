"""Traced programs written out as lines of numpy, by rules for each primitive of JAX.

Files of rules put these into one table, `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from swelltree.engine import numpy_helpers

CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "remat": "jaxpr"}
CALLS |= {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "core_call": "jaxpr"}
RULES: dict[str, Any] = {}


class NotKnownError(Exception):
    """A primitive that has no rule."""


@dataclass(frozen=True)
class Ref:
    """A value of the program.

    Its array has the axes in reverse order, and may have ones where the shape has more.
    """

    number: int  # of the line that computes it; constants and arguments count as well
    shape: tuple[int, ...]  # as JAX sees it
    actual: tuple[int, ...]  # of the array, in the order of JAX; () for a number that fills it
    dtype: Any
    value: Any = None  # the array, where it is known beforehand

    def known(self) -> np.ndarray:
        """The whole value as JAX sees it."""
        return np.broadcast_to(self.value.T, self.shape)


class Writer:
    """Lines of numpy for one program."""

    def __init__(self) -> None:
        self.lines: list[tuple[Ref, str, tuple[Ref, ...]]] = []
        self.names: dict[str, Any] = {"np": np, "h": numpy_helpers}
        # values that are sums of products of two, by number: sign and factors of each
        self.products: dict[int, tuple[tuple[str, Ref, Ref], ...]] = {}
        self.count = 0

    def new(self, shape: Any, actual: Any, dtype: Any, value: Any = None) -> Ref:
        """The next value."""
        self.count += 1
        return Ref(self.count, tuple(shape), tuple(actual), np.dtype(dtype), value)

    def constant(self, value: Any, shape: Any = None) -> Ref:
        """A value known beforehand, its axes in the order of JAX."""
        value = np.ascontiguousarray(np.asarray(value).T) if np.ndim(value) else np.asarray(value)
        shape = value.shape[::-1] if shape is None else shape
        ref = self.new(shape, value.shape[::-1], value.dtype, value)
        self.names[f"c{ref.number}"] = value if value.ndim else value[()]
        return ref

    def keep(self, thing: Any) -> str:
        """Name of something that a line refers to."""
        self.count += 1
        name = f"k{self.count}"
        self.names[name] = thing
        return name

    def emit(self, text: str, refs: tuple[Ref, ...], shape: Any, actual: Any, dtype: Any) -> Ref:
        """One line; `{0}`, `{1}`, ... stand for the values it takes."""
        if all(ref.value is not None for ref in refs):
            names = [f"c{ref.number}" for ref in refs]
            with np.errstate(all="ignore"):
                value = eval(text.format(*names), self.names)
            return self.constant(np.asarray(value, dtype=dtype).T, tuple(shape))
        ref = self.new(shape, actual, dtype)
        self.lines.append((ref, text, refs))
        return ref

    def full(self, ref: Ref, actual: Any = None) -> Ref:
        """The value with all of its shape, or so much of it, there."""
        wanted = ref.shape if actual is None else tuple(actual)
        if ref.actual == wanted:
            return ref
        text = f"np.broadcast_to({{0}}, {wanted[::-1]})"
        return self.emit(text, (ref,), ref.shape, wanted, ref.dtype)

    def programs(
        self, arguments: list[Ref], results: list[Ref], fixed: int
    ) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """What depends on the first arguments alone, and the rest that takes its results."""
        lines = self.alive(results)
        moving = {ref.number for ref in arguments[fixed:]}
        before, after = [], []
        for line in lines:
            if any(ref.number in moving for ref in line[2]):
                moving.add(line[0].number)
                after.append(line)
            else:
                before.append(line)
        first = {ref.number: ref for ref in arguments[:fixed]} | {x[0].number: x[0] for x in before}
        wanted = [ref for _, _, refs in after for ref in refs] + results
        kept = list(
            {ref.number: first[ref.number] for ref in wanted if ref.number in first}.values()
        )
        return (
            self.function(before, arguments[:fixed], kept, turned=(True, False)),
            self.function(after, [*kept, *arguments[fixed:]], results, bare=len(kept)),
        )

    def function(
        self,
        lines: list[tuple[Ref, str, tuple[Ref, ...]]],
        arguments: list[Ref],
        results: list[Ref],
        turned: tuple[bool, bool] = (True, True),
        bare: int = 0,
    ) -> Callable[..., Any]:
        """Lines as a function of arrays as JAX sees them.

        Args:
            lines: in order.
            arguments: of the function.
            results: what it returns.
            turned: are arguments and results as JAX sees them?
            bare: so many first arguments are not.
        """
        last: dict[int, int] = {}
        for at, (_, _, refs) in enumerate(lines):
            for ref in refs:
                last[ref.number] = at
        for ref in results:
            last[ref.number] = len(lines)
        names = {ref.number: f"a{i}" for i, ref in enumerate(arguments)}
        used = [i for i, ref in enumerate(arguments) if ref.number in last]
        text = [f"def run({', '.join(names.values())}):"]
        text += [f" a{i} = h.turned(a{i})" for i in used if turned[0] and i >= bare]
        unused: list[str] = []

        def name(ref: Ref) -> str:
            return f"c{ref.number}" if ref.value is not None else names[ref.number]

        # a name is used again as soon as its value is no longer needed, which frees memory
        for at, (ref, line, refs) in enumerate(lines):
            own = [name(x) for x in refs]
            for number in {x.number for x in refs if x.value is None}:
                if last[number] == at and names[number][0] == "v":
                    unused.append(names[number])
            target = unused.pop() if unused else f"v{at}"
            names[ref.number] = target
            text.append(f" {target} = {line.format(*own)}")
        end = ".T, " if turned[1] else ", "
        text.append(f" return ({''.join(name(ref) + end for ref in results)})")
        space = dict(self.names)
        exec(compile("\n".join(text), "<numpy>", "exec"), space)
        return space["run"]

    def alive(self, results: list[Ref]) -> list[tuple[Ref, str, tuple[Ref, ...]]]:
        """Lines on which a result depends."""
        wanted = {ref.number for ref in results}
        kept = []
        for line in reversed(self.lines):
            if line[0].number in wanted:
                kept.append(line)
                wanted.update(ref.number for ref in line[2])
        return kept[::-1]


class Closed:
    """A program without constants of its own."""

    def __init__(self, jaxpr: Any) -> None:
        self.jaxpr, self.consts = jaxpr, ()


def inner_program(eqn: Any) -> Any:
    """The program that an equation only calls."""
    key = CALLS.get(eqn.primitive.name)
    program = None if key is None else eqn.params.get(key)
    return Closed(program) if program is not None and not hasattr(program, "consts") else program


def written(jaxpr: Any, consts: Any, arguments: list[Ref], writer: Writer) -> list[Ref]:
    """Write a traced program; its results."""
    env: dict[Any, Ref] = dict(zip(jaxpr.invars, arguments, strict=True))
    for var, value in zip(jaxpr.constvars, consts, strict=True):
        env[var] = value if isinstance(value, Ref) else writer.constant(value)

    def read(var: Any) -> Ref:
        return writer.constant(var.val) if hasattr(var, "val") else env[var]

    for eqn in needed(jaxpr):
        refs = [read(var) for var in eqn.invars]
        name = eqn.primitive.name
        inner = inner_program(eqn)
        if inner is not None:
            outs = written(inner.jaxpr, inner.consts, refs, writer)
        elif name in RULES:
            try:
                outs = RULES[name](writer, eqn, *refs)
            except KeyError as error:  # another version of JAX describes it by other words
                raise NotKnownError(f"{name} without {error}") from error
            outs = outs if isinstance(outs, list) else [outs]
        else:
            raise NotKnownError(name)
        env |= dict(zip(eqn.outvars, outs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def needed(jaxpr: Any) -> list[Any]:
    """Equations on which a result depends."""
    wanted = {var for var in jaxpr.outvars if not hasattr(var, "val")}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects:
            raise NotKnownError(eqn.primitive.name)
        if not wanted.isdisjoint(eqn.outvars):
            kept.append(eqn)
            wanted.update(var for var in eqn.invars if not hasattr(var, "val"))
    return kept[::-1]


def run_of(closed: Any, fixed: int = 0) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A traced program as two functions of numpy arrays.

    Args:
        closed: the program.
        fixed: number of first arguments on which the first function alone depends; its results
            are the first arguments of the second.
    """
    writer = Writer()
    arguments = [
        writer.new(var.aval.shape, var.aval.shape, var.aval.dtype) for var in closed.jaxpr.invars
    ]
    results = written(closed.jaxpr, closed.consts, arguments, writer)
    return writer.programs(arguments, [writer.full(ref) for ref in results], fixed)
