"""Small functions written by hand for cases in SIMD lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from swelltree.jit.ensemble.kernels import Body, Register, Term


class LaneBody(Body):
    """Lines of a function of several cases, one in each lane.

    Args:
        builder: of LLVM's language.
        rows: memory, by name.
        sizes: whole numbers, by name.
        width: lanes.
    """

    def __init__(
        self, builder: Any, rows: Mapping[str, Register], sizes: Mapping[str, Register], width: int
    ) -> None:
        super().__init__(builder, rows, sizes, None, width)
        self.width, self.one = width, self.double
        self.double = self.ir.VectorType(self.one, width)

    def real(self, value: Term) -> Register:
        """A float in all lanes."""
        if isinstance(value, int | float):
            return self.ir.Constant(self.double, [float(value)] * self.width)
        return value

    def address(self, row: str, at: Term) -> Register:
        """Of the first lane of a number."""
        place = self.times(at, self.width)
        return self.b.gep(self.rows[row], [place], source_etype=self.one)

    def load(self, row: str, at: Term) -> Register:
        """A float of each lane from memory."""
        return self.b.load(self.address(row, at), align=8, typ=self.double)

    def store(self, row: str, at: Term, value: Term) -> None:
        """A float of each lane into memory."""
        self.b.store(self.real(value), self.address(row, at), align=8)

    def shared(self, row: str, at: Term) -> Register:
        """A float that all lanes share, from memory."""
        place = self.b.gep(self.rows[row], [self.full(at)], source_etype=self.one)
        number = self.b.load(place, typ=self.one)
        empty, order = self.ir.Constant(self.double, self.ir.Undefined), self.ir.IntType(32)
        first = self.b.insert_element(empty, number, order(0))
        zeros = self.ir.Constant(self.ir.VectorType(order, self.width), [0] * self.width)
        return self.b.shuffle_vector(first, empty, zeros)

    def group_and_lane(self) -> tuple[Register, Register | None]:
        """The number of the register; all lanes are meant."""
        assert self.thread is not None
        return self.thread, None

    def place_of_case(self, at: Term, lane: Register | None) -> Register:
        """A number of all lanes."""
        return self.full(at)

    def intrinsic(self, name: str, *args: Register) -> Register:
        """One of LLVM's functions, lane by lane."""
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
        """Values that go through a loop, each time made anew by some lines.

        Args:
            count: of times.
            values: before the first.
            lines: function of the number of the time and the values so far.
        """
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


def lane_kernel_text(
    rows: tuple[str, ...],
    sizes: tuple[str, ...],
    write: Callable[[LaneBody], None],
    width: int,
    threads: bool = False,
) -> str:
    """Text in LLVM's language of a function of rows of memory, and of whole numbers pointed at.

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
    body = LaneBody(b, dict(zip(rows, run.args, strict=False)), numbers, width)
    if threads:
        with body.loop(numbers["threads"]) as thread:
            body.thread = thread
            write(body)
    else:
        write(body)
    b.ret_void()
    module.triple = ""
    return str(module)
