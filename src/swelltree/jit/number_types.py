"""LLVM types of scalars and SIMD vectors."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from swelltree.jit.graph import FLOAT, LONG, SHORT, TRUTH, UNSIGNED

INTEGER_TYPES = {SHORT: "i32", LONG: "i64", UNSIGNED: "i32", TRUTH: "i1"}
NOT_NEGATIVE = {UNSIGNED, TRUTH}


def literal(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def shorter(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


@dataclass(frozen=True)
class Types:
    """Names of LLVM types and constants."""

    width: int = 1
    float: str = "double"

    def of(self, kind: str) -> str:
        return self.several(self.float if kind == FLOAT else INTEGER_TYPES[kind])

    def several(self, one: str) -> str:
        return one if self.width == 1 else f"<{self.width} x {one}>"

    @property
    def suffix(self) -> str:
        """Suffix of LLVM's intrinsics of floats."""
        return self.suffix_of("f64" if self.float == "double" else "f32")

    def suffix_of(self, one: str) -> str:
        return one if self.width == 1 else f"v{self.width}{one}"

    def constant(self, value: float, kind: str = FLOAT) -> str:
        if kind == FLOAT:
            value = float(value)
            one, text = self.float, literal(value if self.float == "double" else shorter(value))
        else:
            one = INTEGER_TYPES[kind]
            text = ("true" if value else "false") if kind == TRUTH else str(int(value))
        return text if self.width == 1 else f"splat ({one} {text})"


SINGLE = Types()
