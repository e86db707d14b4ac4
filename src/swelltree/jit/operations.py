"""Emits arithmetic on scalars or vectors as LLVM IR, with XLA's semantics of integers."""

from __future__ import annotations

from collections.abc import Callable

from swelltree.jit.functions.body import function_name
from swelltree.jit.functions.library import SHORT, WRITERS
from swelltree.jit.graph import FLOAT, LONG, TRUTH, UNSIGNED, UnsupportedOperationError
from swelltree.jit.number_types import NOT_NEGATIVE, SINGLE, Types

FLAGS = "contract"
CHAINS = 4  # partial results of a reduction
SHIFTS = {"shift_left": "shl", "shift_right_arithmetic": "ashr", "shift_right_logical": "lshr"}
ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul"}
ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
SIGNED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "abs": "fabs"}
INTRINSICS |= {"round_even": "roundeven", "round_away": "round", "max": "maximum", "min": "minimum"}


class Operations:
    """Emits operations."""

    def __init__(self, line: Callable[[str], str], types: Types = SINGLE) -> None:
        self.line, self.types = line, types
        self.functions: set[str] = set()
        self.short_functions: set[str] = set()  # of four bytes
        self.F, self.B = types.of(FLOAT), types.of(TRUTH)

    def write(self, name: str, kind: str, of: str, x: list[str]) -> str:
        """Emit an operation of a kind on operands of another; gives the name of its result."""
        if name in SIGNED:
            return self.compared(name, of, *x)
        if name == "where":
            return self.chosen(x[0], self.types.of(kind), x[1], x[2])
        if name == "convert":
            return self._converted(kind, of, x[0])
        if name == "finite":
            size = self._call("llvm.fabs", x)
            return self.line(f"fcmp olt {self.F} {size}, {self._is(float('inf'))}")
        return self._of_float(name, x) if kind == FLOAT else self._of_integer(name, kind, x)

    def joined(self, name: str, values: list[str]) -> str:
        """Reduce floats to one, in `CHAINS` independent chains."""
        parts = values[:CHAINS]
        for k, value in enumerate(values[CHAINS:]):
            parts[k % CHAINS] = self.write(name, FLOAT, FLOAT, [parts[k % CHAINS], value])
        total = parts[0]
        for part in parts[1:]:
            total = self.write(name, FLOAT, FLOAT, [total, part])
        return total

    def compared(self, name: str, of: str, x: str, y: str) -> str:
        if of == FLOAT:
            return self.line(f"fcmp {ORDERED[name]} {self.F} {x}, {y}")
        how = SIGNED[name].replace("s", "u") if of in NOT_NEGATIVE else SIGNED[name]
        return self.line(f"icmp {how} {self.types.of(of)} {x}, {y}")

    def _of_float(self, name: str, x: list[str]) -> str:
        if name == "same":  # an expression apart, by its derivatives
            return x[0]
        if name in ARITHMETIC or name == "div":
            return self.line(f"f{name} {FLAGS} {self.F} {x[0]}, {x[1]}")
        if name == "neg":
            return self.line(f"fneg {self.F} {x[0]}")
        if name == "sign":
            below = self.line(f"fcmp olt {self.F} {x[0]}, {self._is(0.0)}")
            above = self.line(f"fcmp ogt {self.F} {x[0]}, {self._is(0.0)}")
            low = self.chosen(below, self.F, self._is(-1.0), x[0])
            return self.chosen(above, self.F, self._is(1.0), low)
        if name in INTRINSICS:
            return self._call(f"llvm.{INTRINSICS[name]}", x)
        if name not in WRITERS:
            raise UnsupportedOperationError(f"the function '{name}'")
        return self._function(name, x)

    def _call(self, name: str, x: list[str]) -> str:
        args = ", ".join(f"{self.F} {a}" for a in x)
        return self.line(f"call {self.F} @{name}.{self.types.suffix}({args})")

    def _function(self, name: str, x: list[str]) -> str:
        """Call a function of this package; in float64 where there is no float32 version."""
        short = self.types.float == "float" and name in SHORT
        (self.short_functions if short else self.functions).add(name)
        wide = self.types if short else Types(self.types.width)
        called, long = function_name(name, wide), wide.of(FLOAT)
        if long == self.F:
            args = ", ".join(f"{self.F} {a}" for a in x)
            return self.line(f"call {self.F} @{called}({args})")
        args = ", ".join(f"{long} {self.line(f'fpext {self.F} {a} to {long}')}" for a in x)
        value = self.line(f"call {long} @{called}({args})")
        return self.line(f"fptrunc {long} {value} to {self.F}")

    def _is(self, value: float, kind: str = FLOAT) -> str:
        return self.types.constant(value, kind)

    def chosen(self, flag: str, T: str, x: str, y: str) -> str:
        return self.line(f"select {self.B} {flag}, {T} {x}, {T} {y}")

    def _of_integer(self, name: str, kind: str, x: list[str]) -> str:
        T = self.types.of(kind)
        if name in ARITHMETIC or name in ("and", "or", "xor"):
            return self.line(f"{name} {T} {x[0]}, {x[1]}")
        if name == "neg":
            return self.line(f"sub {T} {self._is(0, kind)}, {x[0]}")
        if name == "not":
            return self.line(f"xor {T} {x[0]}, {self._is(True if kind == TRUTH else -1, kind)}")
        if name in ("max", "min"):
            if kind == TRUTH:
                return self.line(f"{'or' if name == 'max' else 'and'} {T} {x[0]}, {x[1]}")
            first = self.compared("gt" if name == "max" else "lt", kind, x[0], x[1])
            return self.chosen(first, T, x[0], x[1])
        if name in SHIFTS:
            return self._shifted(name, kind, *x)
        below = self.compared("lt", kind, x[0], self._is(0, kind))
        if name == "abs":
            other = self.line(f"sub {T} {self._is(0, kind)}, {x[0]}")
            return self.chosen(below, T, other, x[0])
        if name == "sign":
            above = self.compared("gt", kind, x[0], self._is(0, kind))
            low = self.chosen(below, T, self._is(-1, kind), self._is(0, kind))
            return self.chosen(above, T, self._is(1, kind), low)
        if name not in ("div", "rem"):
            raise UnsupportedOperationError(f"the function '{name}' of whole numbers")
        if kind == UNSIGNED:
            return self._divided_unsigned(name, *x)
        return self._divided(name, kind, *x)

    def _shifted(self, name: str, kind: str, x: str, y: str) -> str:
        """XLA's shifts: by the number of bits or more, all bits are shifted out."""
        T = self.types.of(kind)
        last = self._is(63 if kind == LONG else 31, kind)
        near = self.line(f"icmp ule {T} {y}, {last}")
        bounded = self.chosen(near, T, y, last)
        value = self.line(f"{SHIFTS[name]} {T} {x}, {bounded}")
        if name == "shift_right_arithmetic":
            return value
        return self.chosen(near, T, value, self._is(0, kind))

    def _divided_unsigned(self, name: str, x: str, y: str) -> str:
        T = self.types.of(UNSIGNED)
        none = self.line(f"icmp eq {T} {y}, {self._is(0, UNSIGNED)}")
        safe = self.chosen(none, T, self._is(1, UNSIGNED), y)
        value = self.line(f"u{name} {T} {x}, {safe}")
        return self.chosen(none, T, self._is(-1, UNSIGNED) if name == "div" else x, value)

    def _divided(self, name: str, kind: str, x: str, y: str) -> str:
        """XLA's division: x / 0 is -1, x % 0 is x, and division by -1 does not overflow."""
        T, minus = self.types.of(kind), self._is(-1, kind)
        none = self.line(f"icmp eq {T} {y}, {self._is(0, kind)}")
        turned = self.line(f"icmp eq {T} {y}, {minus}")
        odd = self.line(f"or {self.B} {none}, {turned}")
        safe = self.chosen(odd, T, self._is(1, kind), y)
        value = self.line(f"s{name} {T} {x}, {safe}")
        zero = self._is(0, kind)
        other = self.line(f"sub {T} {zero}, {x}") if name == "div" else zero
        value = self.chosen(turned, T, other, value)
        return self.chosen(none, T, minus if name == "div" else x, value)

    def _converted(self, kind: str, of: str, x: str) -> str:
        new, old = self.types.of(kind), self.types.of(of)
        if kind == FLOAT:
            how = "uitofp" if of in NOT_NEGATIVE else "sitofp"
            return self.line(f"{how} {old} {x} to {new}")
        if kind == TRUTH:
            if of == FLOAT:
                return self.line(f"fcmp une {old} {x}, {self._is(0.0)}")
            return self.line(f"icmp ne {old} {x}, {self._is(0, of)}")
        if of == FLOAT:
            how = "ui" if kind == UNSIGNED else "si"
            into = self.types.suffix_of("i64" if kind == LONG else "i32")
            name = f"llvm.fpto{how}.sat.{into}.{self.types.suffix}"
            return self.line(f"call {new} @{name}({old} {x})")
        if old == new:  # the same bits
            return self.line(f"add {new} {x}, {self._is(0, kind)}")
        if of in NOT_NEGATIVE:
            return self.line(f"zext {old} {x} to {new}")
        return self.line(f"{'sext' if kind == LONG else 'trunc'} {old} {x} to {new}")
