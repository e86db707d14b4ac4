"""Hand-written kernels: a small builder of LLVM IR for GPU threads, SIMD lanes or a CPU loop.

A kernel takes pointers and integers, of which the last is the number of threads. Loops use stack
variables, which LLVM promotes to registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from swelltree.jit.arrays import Array

TRIPLE = "nvptx64-nvidia-cuda"
CONTRACT = ("contract",)


@runtime_checkable
class Register(Protocol):
    @property
    def type(self) -> object: ...


@runtime_checkable
class Slot(Register, Protocol):
    """A stack variable in LLVM IR."""

    @property
    def allocated_type(self) -> object: ...


Term = Register | float | int  # a number in the text, or one that is known now


class KernelBody:
    """Emits the function of one thread.

    Args:
        builder: of LLVM's language.
        rows: memory, by name.
        sizes: whole numbers, by name.
        thread: number of the thread.
        side: cases whose numbers are contiguous in memory.
    """

    def __init__(
        self,
        builder: Any,
        rows: Mapping[str, Register],
        sizes: Mapping[str, Register],
        thread: Register | None,
        side: int = 1,
    ) -> None:
        from llvmlite import ir

        self.ir, self.b, self.side = ir, builder, side
        self.rows, self.sizes, self.thread = rows, sizes, thread
        self.long, self.double, self.single = ir.IntType(64), ir.DoubleType(), ir.FloatType()

    # --- numbers ----------------------------------------------------------------------------
    def full(self, value: Term) -> Register:
        if isinstance(value, int | float):
            return self.ir.Constant(self.long, int(value))
        return value

    def real(self, value: Term) -> Register:
        if isinstance(value, int | float):
            return self.ir.Constant(self.double, float(value))
        return value

    def add(self, x: Array, y: Array) -> Register:
        return self.b.fadd(self.real(x), self.real(y), flags=CONTRACT)

    def sub(self, x: Array, y: Array) -> Register:
        return self.b.fsub(self.real(x), self.real(y), flags=CONTRACT)

    def mul(self, x: Array, y: Array) -> Register:
        return self.b.fmul(self.real(x), self.real(y), flags=CONTRACT)

    def div(self, x: Array, y: Array) -> Register:
        return self.b.fdiv(self.real(x), self.real(y))

    def intrinsic(self, name: str, *args: Register) -> Register:
        kinds = [self.double] * len(args)
        function = self.b.module.declare_intrinsic(
            f"llvm.{name}", [self.double], self.ir.FunctionType(self.double, kinds)
        )
        return self.b.call(function, [self.real(x) for x in args])

    def plus(self, *terms: Term) -> Register:
        total = self.full(terms[0])
        for term in terms[1:]:
            total = self.b.add(total, self.full(term))
        return total

    def times(self, x: Array, y: Array) -> Register:
        return self.b.mul(self.full(x), self.full(y))

    def split(self, x: Array, by: Term) -> tuple[Register, Register]:
        """Quotient and remainder of integers that are not negative."""
        by = self.full(by)
        return self.b.udiv(x, by), self.b.urem(x, by)

    def floor(self, x: Array) -> Register:
        return self.b.fptosi(self.intrinsic("floor", x), self.long)

    def as_real(self, x: Array) -> Register:
        return self.b.sitofp(self.full(x), self.double)

    def greater(self, x: Array, y: Array) -> Register:
        return self.b.fcmp_ordered(">", self.real(x), self.real(y))

    def choose(self, condition: Term, x: Array, y: Array) -> Register:
        return self.b.select(condition, self.real(x), self.real(y))

    # --- memory and variables ---------------------------------------------------------------
    def address(self, row: str, at: Term) -> Register:
        return self.b.gep(self.rows[row], [self.full(at)], source_etype=self.double)

    def load(self, row: str, at: Term) -> Register:
        return self.b.load(self.address(row, at), typ=self.double)

    def store(self, row: str, at: Term, value: Term) -> None:
        self.b.store(self.real(value), self.address(row, at))

    def half_address(self, row: str, at: Term, lane: Term) -> Register:
        """Address of a float32 in the first half of the slots of a place."""
        place = self.plus(self.times(at, 2 * self.side), lane)
        return self.b.gep(self.rows[row], [place], source_etype=self.single)

    def load_of_case(
        self, row: str, at: Term, lane: Register | None, short: bool = False
    ) -> Register:
        """A float of the case from a place, float32 or float64."""
        if not short:
            return self.load(row, self.place_of_case(at, lane))
        assert lane is not None
        one = self.b.load(self.half_address(row, at, lane), typ=self.single)
        return self.b.fpext(one, self.double)

    def store_of_case(
        self, row: str, at: Term, lane: Register | None, value: Term, short: bool = False
    ) -> None:
        if not short:
            self.store(row, self.place_of_case(at, lane), value)
            return
        assert lane is not None
        one = self.b.fptrunc(self.real(value), self.single)
        self.b.store(one, self.half_address(row, at, lane))

    def shared(self, row: str, at: Term) -> Register:
        return self.load(row, at)

    def group_and_lane(self) -> tuple[Register, Register | None]:
        """Index of the group of cases, and the index within it."""
        assert self.thread is not None
        return self.split(self.thread, self.side)

    def place_of_case(self, at: Term, lane: Register | None) -> Register:
        """Slot of a scalar of the case; those of neighbours are adjacent."""
        assert lane is not None
        return self.plus(self.times(at, self.side), lane)

    def variable(self, value: Term) -> Slot:
        value = self.real(value)
        with self.b.goto_entry_block():
            place = self.b.alloca(value.type)
        self.b.store(value, place)
        return place

    def get(self, place: Slot) -> Register:
        return self.b.load(place, typ=place.allocated_type)

    def set(self, place: Slot, value: Term) -> None:
        self.b.store(self.real(value), place)

    @contextmanager
    def loop(self, count: Term, first: Term = 0) -> Iterator[Register]:
        """A loop from the first integer up to a count."""
        with self.b.goto_entry_block():
            place = self.b.alloca(self.long)
        self.b.store(self.full(first), place)
        head, body, end = (self.b.append_basic_block() for _ in range(3))
        self.b.branch(head)
        self.b.position_at_end(head)
        now = self.b.load(place, typ=self.long)
        self.b.cbranch(self.b.icmp_signed("<", now, self.full(count)), body, end)
        self.b.position_at_end(body)
        yield now
        self.b.store(self.b.add(now, self.full(1)), place)
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextmanager
    def again(self) -> Iterator[Callable[[Register], None]]:
        """A loop until a condition holds that is passed to the function it yields."""
        head, end = self.b.append_basic_block(), self.b.append_basic_block()
        self.b.branch(head)
        self.b.position_at_end(head)

        def leave(condition: Term) -> None:
            on = self.b.append_basic_block()
            self.b.cbranch(condition, end, on)
            self.b.position_at_end(on)

        yield leave
        self.b.branch(head)
        self.b.position_at_end(end)

    # --- angles -----------------------------------------------------------------------------
    def circular(self, turns: Term) -> tuple[Register, Register]:
        """Cosine and sine of an angle in turns: series of an eighth of it, doubled three times."""
        part = self.sub(turns, self.intrinsic("floor", self.add(turns, 0.5)))
        x = self.mul(part, 2.0 * 3.141592653589793 / 8.0)
        xx = self.mul(x, x)
        # 1 - cos and sin, to x^14: x is at most pi / 8
        versed, sine = self.real(0.0), self.real(0.0)
        for k in range(6, -1, -1):
            sine = self.sub(1.0, self.mul(self.mul(xx, 1.0 / ((2 * k + 2) * (2 * k + 3))), sine))
            versed = self.sub(
                1.0, self.mul(self.mul(xx, 1.0 / ((2 * k + 3) * (2 * k + 4))), versed)
            )
        sine, versed = self.mul(x, sine), self.mul(self.mul(xx, 0.5), versed)
        for _ in range(3):
            cosine = self.sub(1.0, versed)
            sine, versed = (
                self.mul(self.mul(2.0, sine), cosine),
                self.mul(self.mul(2.0, sine), sine),
            )
        return self.sub(1.0, versed), sine


class LaneKernelBody(KernelBody):
    """Emits a function of several cases, one in each SIMD lane."""

    def __init__(
        self, builder: Any, rows: Mapping[str, Register], sizes: Mapping[str, Register], width: int
    ) -> None:
        super().__init__(builder, rows, sizes, None, width)
        self.width, self.one = width, self.double
        self.double = self.ir.VectorType(self.one, width)

    def real(self, value: Term) -> Register:
        if isinstance(value, int | float):
            return self.ir.Constant(self.double, [float(value)] * self.width)
        return value

    def address(self, row: str, at: Term) -> Register:
        place = self.times(at, self.width)
        return self.b.gep(self.rows[row], [place], source_etype=self.one)

    def load(self, row: str, at: Term) -> Register:
        return self.b.load(self.address(row, at), align=8, typ=self.double)

    def store(self, row: str, at: Term, value: Term) -> None:
        self.b.store(self.real(value), self.address(row, at), align=8)

    def shared(self, row: str, at: Term) -> Register:
        place = self.b.gep(self.rows[row], [self.full(at)], source_etype=self.one)
        number = self.b.load(place, typ=self.one)
        empty, order = self.ir.Constant(self.double, self.ir.Undefined), self.ir.IntType(32)
        first = self.b.insert_element(empty, number, order(0))
        zeros = self.ir.Constant(self.ir.VectorType(order, self.width), [0] * self.width)
        return self.b.shuffle_vector(first, empty, zeros)

    def group_and_lane(self) -> tuple[Register, Register | None]:
        assert self.thread is not None
        return self.thread, None

    def place_of_case(self, at: Term, lane: Register | None) -> Register:
        return self.full(at)

    def intrinsic(self, name: str, *args: Register) -> Register:
        full = f"llvm.{name}.v{self.width}f64"
        known = self.b.module.globals.get(full)
        if known is None:
            kinds = [self.double] * len(args)
            known = self.ir.Function(self.b.module, self.ir.FunctionType(self.double, kinds), full)
        return self.b.call(known, [self.real(x) for x in args])

    def carried(
        self,
        count: Term,
        values: Sequence[Term],
        lines: Callable[[Term, list[Term]], Sequence[Term]],
    ) -> list[Register]:
        """A loop that carries values in registers."""
        before = self.b.block
        head, body, end = (self.b.append_basic_block() for _ in range(3))
        self.b.branch(head)
        self.b.position_at_end(head)
        number = self.b.phi(self.long)
        number.add_incoming(self.full(0), before)
        places = []
        for value in map(self.real, values):
            place = self.b.phi(value.type)
            place.add_incoming(value, before)
            places.append(place)
        self.b.cbranch(self.b.icmp_signed("<", number, self.full(count)), body, end)
        self.b.position_at_end(body)
        found = lines(number, list(places))
        after = self.b.add(number, self.full(1))
        for place, value in zip(places, found, strict=True):
            place.add_incoming(self.real(value), self.b.block)
        number.add_incoming(after, self.b.block)
        self.b.branch(head)
        self.b.position_at_end(end)
        return places


def entry_text(
    rows: Sequence[str],
    sizes: Sequence[str],
    lines: Sequence[str],
    on_cpu: bool,
    first: Sequence[str] | None = None,
) -> str:
    """LLVM IR of the function ``run``: what each thread does, in terms of its number %thread.

    Args:
        rows: names of its memory.
        sizes: names of its integers.
        lines: of a thread.
        on_cpu: threads one after the other on this processor: the integers are pointed at, and
            the last of them is the number of threads.
        first: what each thread of a GPU does before; given, no two rows share memory.
    """
    if not on_cpu:
        kind = "ptr" if first is None else "ptr noalias"
        parameters = [*(f"{kind} %{name}" for name in rows), *(f"i64 %{x}" for x in sizes)]
        text = [
            f"define ptx_kernel void @run({', '.join(parameters)}) {{",
            "entry:",
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()",
            *(first or ()),
            "  %first = mul i32 %b, %d",
            "  %number = add i32 %first, %t",
            "  %thread = zext i32 %number to i64",
            *lines,
        ]
    else:
        text = [
            f"define void @run({', '.join(f'ptr %{name}' for name in (*rows, 'sizes'))}) {{",
            "entry:",
        ]
        for k, name in enumerate(sizes):
            text += [
                f"  %s{k} = getelementptr i64, ptr %sizes, i64 {k}",
                f"  %{name} = load i64, ptr %s{k}",
            ]
        text += [
            "  br label %loop",
            "loop:",
            "  %thread = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *lines,
            "  %next = add i64 %thread, 1",
            f"  %more = icmp slt i64 %next, %{sizes[-1]}",
            "  br i1 %more, label %loop, label %end",
            "end:",
        ]
    return "\n".join([*text, "  ret void", "}"]) + "\n"


def kernel_text(
    rows: tuple[str, ...],
    sizes: tuple[str, ...],
    write: Callable[[KernelBody], None],
    on_cpu: bool = False,
    side: int = 1,
) -> str:
    """LLVM IR of a kernel.

    Args:
        rows: names of its memory.
        sizes: names of its whole numbers, behind which is the number of threads.
        write: lines of one thread.
        on_cpu: as of `entry_text`.
        side: cases whose numbers are contiguous.
    """
    from llvmlite import ir

    module, long, pointer = ir.Module(), ir.IntType(64), ir.PointerType()
    names = (*sizes, "threads")
    kinds = [long, *[pointer] * len(rows), *[long] * len(names)]
    one = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "one")
    one.linkage = "internal"
    one.attributes.add("alwaysinline")
    for argument in one.args[1 : 1 + len(rows)]:
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(one.append_basic_block("entry"))
    held = dict(zip(rows, one.args[1:], strict=False))
    numbers = dict(zip(names, one.args[1 + len(rows) :], strict=True))
    write(KernelBody(builder, held, numbers, one.args[0], side))
    builder.ret_void()
    module.triple = "" if on_cpu else TRIPLE
    passed = [*(f"ptr %p.{name}" for name in rows), *(f"i64 %n.{name}" for name in names)]
    lines = [f"  call void @one(i64 %thread, {', '.join(passed)})"]
    if not on_cpu:  # blocks are whole
        there = ["  %on = icmp slt i64 %thread, %n.threads", "  br i1 %on, label %do, label %done"]
        lines = [*there, "do:", *lines, "  br label %done", "done:"]
    memory, integers = [f"p.{name}" for name in rows], [f"n.{name}" for name in names]
    return f"{module}\n{entry_text(memory, integers, lines, on_cpu)}"


def lane_kernel_text(
    rows: tuple[str, ...],
    sizes: tuple[str, ...],
    write: Callable[[LaneKernelBody], None],
    width: int,
    threads: bool = False,
) -> str:
    """LLVM IR of a function of memory and of integers behind a pointer.

    Args:
        rows: names of its memory.
        sizes: names of its whole numbers.
        write: its lines.
        width: lanes.
        threads: the lines are those of a thread of `kernel_text`, in all lanes; behind the whole
            numbers is how many there are.
    """
    from llvmlite import ir

    module, long, pointer = ir.Module(), ir.IntType(64), ir.PointerType()
    kinds = [pointer] * (len(rows) + 1)
    run = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "run")
    for argument in run.args:
        argument.add_attribute("noalias")
    b = ir.IRBuilder(run.append_basic_block("entry"))
    numbers = {
        name: b.load(b.gep(run.args[-1], [long(j)], source_etype=long), typ=long)
        for j, name in enumerate((*sizes, "threads") if threads else sizes)
    }
    body = LaneKernelBody(b, dict(zip(rows, run.args, strict=False)), numbers, width)
    if threads:
        with body.loop(numbers["threads"]) as thread:
            body.thread = thread
            write(body)
    else:
        write(body)
    b.ret_void()
    module.triple = ""
    return str(module)
