"""Which functions there are, and their text with all they use."""

from __future__ import annotations

import math
from collections.abc import Callable

from swelltree.engine.machine.functions.body import Body, function_name
from swelltree.engine.machine.functions.circular import (
    arc_cosine,
    arc_sine,
    arc_tangent,
    arc_tangent_of_two,
    cosine,
    short_cosine,
    short_sine,
    sine,
    tangent,
)
from swelltree.engine.machine.functions.exponentials import exp, exp2, expm1
from swelltree.engine.machine.functions.far_angles import FAR, far_angle, far_rest
from swelltree.engine.machine.functions.hyperbolic import (
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
)
from swelltree.engine.machine.functions.logarithms import cube_root, log, log1p, power
from swelltree.engine.machine.graph import FLOAT
from swelltree.engine.machine.number_types import SINGLE, Types


def _nextafter(f: Body) -> str:
    bits = f.bits("%x")
    up = f.test("olt", "%x", "%y")
    positive = f.test("ogt", "%x", 0.0)
    away = f.line(f"icmp eq {f.B} {up}, {positive}")
    step = f.pick_integer(away, 1, -1)
    value = f.number(f.integer("add", bits, step))
    tiny = f.call("llvm.copysign", 5e-324, "%y")
    value = f.pick(f.test("oeq", "%x", 0.0), tiny, value)
    value = f.pick(f.test("oeq", "%x", "%y"), "%y", value)
    return f.pick(f.test("uno", "%x", "%y"), math.nan, value)


def _rem(f: Body) -> str:
    return f.line(f"frem {f.F} %x, %y")


WRITERS: dict[str, Callable[[Body], str]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "pow": power,
    "cbrt": cube_root,
    "sin": sine,
    "cos": cosine,
    "tan": tangent,
    "atan": arc_tangent,
    "atan2": arc_tangent_of_two,
    "asin": arc_sine,
    "acos": arc_cosine,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tanh": hyperbolic_tangent,
    "nextafter": _nextafter,
    "rem": _rem,
}
SHORT: dict[str, Callable[[Body], str]] = {"sin": short_sine, "cos": short_cosine}
OF_TWO = {"pow", "atan2", "nextafter", "rem"}
FAR_SHORT = 2.0**16  # angle from which on that of four bytes is found in eight
REDUCED = {"sin": sine, "cos": cosine, "tan": tangent}  # angles of many turns go another way


def written(names: set[str], types: Types = SINGLE) -> str:
    """The functions of some names and all they use; vector forms use the scalar ones.

    Args:
        names: of functions.
        types: of their numbers, of eight bytes each.
    """
    done: dict[str, str] = {}
    todo = sorted(names)
    while todo:
        name = todo.pop()
        if name in done:
            continue
        f = Body(types)
        done[name] = _defined(name, f, WRITERS[name](f))
        todo += sorted(f.uses)
    far = sorted(done.keys() & REDUCED.keys()) if types.width == 1 else []
    parts = [far_angle(), *map(_far, far)] if far else []
    return "\n".join([*parts, *(done[name] for name in sorted(done))])


def written_short(names: set[str]) -> str:
    """float32 functions, of those in `SHORT`, beside those of eight bytes.

    What is far is never put where it is called: a program calls them a thousand times.
    """
    types, found = Types(1, "float"), []
    for name in sorted(names):
        long, short = function_name(name, SINGLE), function_name(name, types)
        found += [
            f"define internal float @{short}_far(float %x) noinline nounwind {{",
            "  %long = fpext float %x to double",
            f"  %there = call double @{long}(double %long)",
            "  %short = fptrunc double %there to float",
            "  ret float %short",
            "}",
        ]
        f = Body(types)
        near = f.test("ult", f.abs("%x"), FAR_SHORT)
        test = [*f.lines, f"  br i1 {near}, label %own, label %far"]
        there = [f"  %there = call float @{short}_far(float %x)", "  ret float %there"]
        begun = len(f.lines)
        result = SHORT[name](f)
        own = [*f.lines[begun:], f"  ret float {result}", "}"]
        head = f"define internal float @{short}(float %x) alwaysinline nounwind {{"
        found += [head, *test, "far:", *there, "own:", *own]
    return "\n".join(found)


def _defined(name: str, f: Body, result: str) -> str:
    arguments = f"{f.F} %x, {f.F} %y" if name in OF_TWO else f"{f.F} %x"
    head = f"define internal {f.F} @{function_name(name, f.types)}({arguments}) nounwind {{"
    body = [*f.lines, f"  ret {f.F} {result}", "}"]
    if name not in REDUCED:
        return "\n".join([head, *body])
    size = f"  %size = call {f.F} @llvm.fabs.{f.types.suffix}({f.F} %x)"
    close = f"fcmp ult {f.F} %size, {f.types.constant(FAR)}"
    if f.types.width == 1:
        test = [f"  %near = {close}"]
        there = [f"  %there = call double @st_far_{name}(double %x)", "  ret double %there"]
    else:
        test = [
            f"  %close = {close}",
            f"  %near = call i1 @llvm.vector.reduce.and.{f.types.suffix_of('i1')}({f.B} %close)",
        ]
        there = _one_by_one(name, f.types)
    branch = "  br i1 %near, label %own, label %far"
    return "\n".join([head, size, *test, branch, "far:", *there, "own:", *body])


def _far(name: str) -> str:
    """The same function of an angle of many turns."""
    f = Body(SINGLE)
    result = REDUCED[name](f, far_rest)
    head = f"define internal double @st_far_{name}(double %x) noinline nounwind {{"
    return "\n".join([head, *f.lines, f"  ret double {result}", "}"])


def _one_by_one(name: str, types: Types) -> list[str]:
    """Each place by the function of one number."""
    T, lines, last = types.of(FLOAT), [], "poison"
    for k in range(types.width):
        lines += [
            f"  %x{k} = extractelement {T} %x, i32 {k}",
            f"  %y{k} = call double @st_{name}(double %x{k})",
            f"  %z{k} = insertelement {T} {last}, double %y{k}, i32 {k}",
        ]
        last = f"%z{k}"
    return [*lines, f"  ret {T} {last}"]
