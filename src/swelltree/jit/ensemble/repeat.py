"""Native calls in a loop: functions whose pointers advance, and copies of what they have stored.

An ensemble goes through its calls without returning to Python between them, so that the threads
of many cores do not wait for the interpreter.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from swelltree.jit.native import Native, object_code


class Call(NamedTuple):
    """A native function and its pointers, each with the bytes by which it advances per call."""

    function: Native
    pointers: list[tuple[np.ndarray, int]]


class Copy(NamedTuple):
    """Memory that is copied after each round; `stride` bytes further in `target` each time."""

    source: np.ndarray
    target: np.ndarray
    stride: int


def loop_text(pointers: tuple[int, ...]) -> str:
    """LLVM IR of ``run(ptr table)`` for functions with so many pointers each.

    The table holds integers: the number of rounds and of copies; for each function its address and
    a pair (address, bytes further) per pointer; then (from, to, bytes, bytes further) per copy.
    """
    lines, calls, at = [], [], 2
    for k, count in enumerate(pointers):
        lines.append(f"  %f{k} = load ptr, ptr {_slot(lines, at)}")
        args, at = [], at + 1
        for j in range(count):
            name = f"{k}.{j}"
            lines.append(f"  %p{name} = load ptr, ptr {_slot(lines, at)}")
            lines.append(f"  %d{name} = load i64, ptr {_slot(lines, at + 1)}")
            calls.append(f"  %o{name} = mul i64 %round, %d{name}")
            calls.append(f"  %a{name} = getelementptr i8, ptr %p{name}, i64 %o{name}")
            args.append(f"ptr %a{name}")
            at += 2
        calls.append(f"  call void %f{k}({', '.join(args)})")
    first = _slot(lines, at)
    body = "\n".join(calls)
    head = "\n".join(lines)
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @run(ptr %table) nounwind {{
entry:
{head}
  %rounds = load i64, ptr %table
  %second = getelementptr i64, ptr %table, i64 1
  %copies = load i64, ptr %second
  br label %next
next:
  %round = phi i64 [ 0, %entry ], [ %more, %done ]
  %on = icmp slt i64 %round, %rounds
  br i1 %on, label %call, label %end
call:
{body}
  br label %copy
copy:
  %k = phi i64 [ 0, %call ], [ %following, %one ]
  %left = icmp slt i64 %k, %copies
  br i1 %left, label %one, label %done
one:
  %row = getelementptr [4 x i64], ptr {first}, i64 %k
  %c1 = getelementptr i64, ptr %row, i64 1
  %c2 = getelementptr i64, ptr %row, i64 2
  %c3 = getelementptr i64, ptr %row, i64 3
  %source = load ptr, ptr %row
  %target = load ptr, ptr %c1
  %bytes = load i64, ptr %c2
  %stride = load i64, ptr %c3
  %offset = mul i64 %round, %stride
  %into = getelementptr i8, ptr %target, i64 %offset
  call void @llvm.memcpy.p0.p0.i64(ptr %into, ptr %source, i64 %bytes, i1 false)
  %following = add i64 %k, 1
  br label %copy
done:
  %more = add i64 %round, 1
  br label %next
end:
  ret void
}}
"""


def _slot(lines: list[str], at: int) -> str:
    lines.append(f"  %s{len(lines)} = getelementptr i64, ptr %table, i64 {at}")
    return f"%s{len(lines) - 1}"


@functools.lru_cache(maxsize=8)
def _loop(pointers: tuple[int, ...]) -> Native:
    return Native(object_code(loop_text(pointers)), pointers=1)


def repeat(rounds: int, calls: list[Call], copies: list[Copy]) -> None:
    """Call functions one after the other and copy, several times."""
    table = [rounds, len(copies)]
    for call in calls:
        table.append(call.function.address)
        table += [x for a, stride in call.pointers for x in (a.ctypes.data, stride)]
    for copy in copies:
        addresses = copy.source.ctypes.data, copy.target.ctypes.data
        table += [*addresses, copy.source.nbytes, copy.stride]
    _loop(tuple(len(call.pointers) for call in calls))(np.array(table, np.int64))
