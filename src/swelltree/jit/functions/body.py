"""A builder of straight-line LLVM IR, and constants in extended precision."""

from __future__ import annotations

import struct
from fractions import Fraction

from swelltree.jit.graph import FLOAT, LONG, TRUTH
from swelltree.jit.number_types import Types

ALIGNED = 3.0 * 2.0**51  # floats about this are one apart
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
LOG2 = Fraction(
    "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471"
)


def in_parts(value: Fraction, count: int) -> list[float]:
    """A number as a sum of floats, the largest first."""
    out = []
    for _ in range(count):
        out.append(float(value))
        value -= Fraction(out[-1])
    return out


def shortened(value: Fraction, bits: int) -> tuple[float, float]:
    """A number as a float with few bits, and the remainder."""
    scale = 2**bits
    high = Fraction(int(value * scale), scale)
    return float(high), float(value - high)


def function_name(name: str, types: Types) -> str:
    if types.float == "float":
        return f"st_short_{name}"
    return f"st_{name}" if types.width == 1 else f"st{types.width}_{name}"


class Body:
    """Emits one function; every method gives the name of its result."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.F, self.I, self.B = types.of(FLOAT), types.of(LONG), types.of(TRUTH)
        self.lines: list[str] = []
        self.uses: set[str] = set()

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def name(self, x: str | float) -> str:
        return self.types.constant(x) if isinstance(x, int | float) else x

    def two(self, op: str, x: str | float, y: str | float) -> str:
        return self.line(f"{op} {self.F} {self.name(x)}, {self.name(y)}")

    def add(self, x: str | float, y: str | float) -> str:
        return self.two("fadd", x, y)

    def sub(self, x: str | float, y: str | float) -> str:
        return self.two("fsub", x, y)

    def mul(self, x: str | float, y: str | float) -> str:
        return self.two("fmul", x, y)

    def div(self, x: str | float, y: str | float) -> str:
        return self.two("fdiv", x, y)

    def neg(self, x: str) -> str:
        return self.line(f"fneg {self.F} {x}")

    def fma(self, x: str | float, y: str | float, z: str | float) -> str:
        return self.call("llvm.fma", x, y, z)

    def call(self, name: str, *args: str | float) -> str:
        """Call another function of this package or an intrinsic of LLVM."""
        if name.startswith("llvm."):
            name = f"{name}.{self.types.suffix}"
        else:
            self.uses.add(name)
            name = function_name(name, self.types)
        return self.line(
            f"call {self.F} @{name}({', '.join(f'{self.F} {self.name(a)}' for a in args)})"
        )

    def abs(self, x: str) -> str:
        return self.call("llvm.fabs", x)

    def test(self, how: str, x: str | float, y: str | float) -> str:
        return self.line(f"fcmp {how} {self.F} {self.name(x)}, {self.name(y)}")

    def pick(self, flag: str, x: str | float, y: str | float) -> str:
        both = f"{self.F} {self.name(x)}, {self.F} {self.name(y)}"
        return self.line(f"select {self.B} {flag}, {both}")

    def bits(self, x: str) -> str:
        return self.line(f"bitcast {self.F} {x} to {self.I}")

    def number(self, bits: str) -> str:
        return self.line(f"bitcast {self.I} {bits} to {self.F}")

    def full(self, x: str) -> str:
        """A float that is an integer of less than 2^51, as one; of others, some integer.

        Beside 3 * 2^51 it is what the last bits say: registers of floats have no such conversion on
        many processors, where it would go number by number. Those of four bytes stand alone.
        """
        if self.types.float == "float":
            return self.line(f"call i64 @llvm.fptosi.sat.i64.f32(float {x})")
        bits = struct.unpack("<q", struct.pack("<d", ALIGNED))[0]
        return self.integer("sub", self.bits(self.add(x, ALIGNED)), bits)

    def int_name(self, x: str | int) -> str:
        return self.types.constant(x, LONG) if isinstance(x, int) else x

    def integer(self, op: str, x: str, y: str | int) -> str:
        return self.line(f"{op} {self.I} {x}, {self.int_name(y)}")

    def pick_integer(self, flag: str, x: str | int, y: str | int) -> str:
        both = f"{self.I} {self.int_name(x)}, {self.I} {self.int_name(y)}"
        return self.line(f"select {self.B} {flag}, {both}")

    def both(self, x: str, y: str) -> str:
        return self.line(f"and {self.B} {x}, {y}")

    def negated(self, x: str) -> str:
        return self.line(f"xor {self.B} {x}, {self.types.constant(True, TRUTH)}")

    def series(self, z: str, coefficients: list[float]) -> str:
        total: str | float = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            total = self.fma(total, z, c)
        return self.name(total)

    def power_of_two(self, k: str) -> str:
        return self.number(self.integer("shl", self.integer("add", k, 1023), 52))
