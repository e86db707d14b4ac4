"""A graph as a function in LLVM's language.

``void run(ptr fixed, ptr in, ptr out, ptr work)``: four rows of numbers of eight bytes each. A
number that is used in a deeper region than its own lies in working memory meanwhile: registers are
few. Nothing in the text comes from outside: names are made of numbers.
"""

from __future__ import annotations

from typing import Any

from swelltree.engine.machine.functions import WRITERS, literal, written
from swelltree.engine.machine.graph import (
    FLOAT,
    LONG,
    SHORT,
    TRUTH,
    UNSIGNED,
    Buffer,
    Graph,
    NotFlattenedError,
    Region,
)
from swelltree.engine.machine.statements import Choice, Combination, Leave, Loop, Stores

TYPES = {FLOAT: "double", SHORT: "i32", LONG: "i64", UNSIGNED: "i32", TRUTH: "i1"}
NOT_NEGATIVE = {UNSIGNED, TRUTH}
SHIFTS = {"shift_left": "shl", "shift_right_arithmetic": "ashr", "shift_right_logical": "lshr"}
FLAGS = "contract"
WIDTHS = (8, 4, 2, 1)  # numbers in one register
PART = 300  # lines of one block
CHAINS = 4  # partial sums side by side
ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul"}
ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
SIGNED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "abs": "fabs"}
INTRINSICS |= {"round_even": "roundeven", "round_away": "round", "max": "maximum", "min": "minimum"}
HEAD = """
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.round.f64(double)
declare double @llvm.roundeven.f64(double)
declare double @llvm.maximum.f64(double, double)
declare double @llvm.minimum.f64(double, double)
declare double @llvm.copysign.f64(double, double)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i32 @llvm.fptoui.sat.i32.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def uses(op: tuple[Any, ...]) -> tuple[int, ...]:
    """Expressions that an expression is made of."""
    if op[0] in ("is", "load"):
        return ()
    return (op[3],) if op[0] == "load_at" else op[1:]


class Writer:
    """Lines of one function."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.functions: set[str] = set()
        self.count = 0
        self.kept: dict[int, Buffer] = {}  # working memory of numbers used in deeper regions
        self.live: set[int] = set()
        self.part = PART  # lines after which a new block begins
        self.end = ""  # label behind the loop that is being written
        self._mark(graph.root)

    # --- which are needed, and where ----------------------------------------------------------
    def _mark(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, int):
                continue
            for a in item.numbers():  # type: ignore[attr-defined]
                self._need(a)
                self._used(a, region)
            for inner in _regions(item):
                self._mark(inner)

    def _need(self, a: int) -> None:
        todo = [a]
        while todo:
            a = todo.pop()
            if a in self.live:
                continue
            self.live.add(a)
            for b in uses(self.graph.ops[a]):
                self._used(b, self.graph.home[a])
                todo.append(b)

    def _used(self, a: int, region: Region) -> None:
        graph = self.graph
        if graph.ops[a][0] in ("is", "load") or graph.home[a] is region or a in self.kept:
            return
        self.kept[a] = graph.room(1, graph.kinds[a])

    # --- lines ------------------------------------------------------------------------------
    def line(self, text: str) -> str:
        """A line whose result has a new name."""
        if len(self.lines) >= self.part:
            self._parted()
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _parted(self) -> None:
        """Another block: LLVM's time grows with the square of the length of one.

        The branch is always taken, which LLVM must not know, or it would join the blocks again.
        """
        self.part = len(self.lines) + PART
        there = self.line("icmp ne ptr %out, null")
        more = self._label()
        self.lines += [f"  br i1 {there}, label %{more}, label %never", f"{more}:"]

    def function(self) -> str:
        """The whole text."""
        self._region(self.graph.root, {})
        body = "\n".join(self.lines)
        return (
            f"{HEAD}{written(self.functions)}\n"
            "define void @run(ptr noalias %fixed, ptr noalias %in, ptr noalias %out, "
            f"ptr noalias %work) nounwind {{\nentry:\n{body}\n  ret void\nnever:\n  ret void\n}}\n"
        )

    def _region(self, region: Region, names: dict[int, str]) -> None:
        for item in region.items:
            if isinstance(item, int):
                if item in self.live:
                    self._expression(item, names)
            elif isinstance(item, Stores):
                self._stores(item, names)
            elif isinstance(item, Leave):
                self.leave(self._name(item.condition, names))
            elif isinstance(item, Loop):
                self._loop(item)
            elif isinstance(item, Combination):
                self._combination(item, names)
            else:
                assert isinstance(item, Choice)
                self._choice(item, names)

    def _label(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def _loop(self, loop: Loop) -> None:
        head, end = self._label(), self._label()
        outer, self.end = self.end, end
        self.lines += [f"  br label %{head}", f"{head}:"]
        self._region(loop.body, {})
        self.lines += [f"  br label %{head}", f"{end}:"]
        self.end = outer

    def leave(self, condition: str) -> None:
        """On with the loop only where a condition holds."""
        more = self._label()
        self.lines += [f"  br i1 {condition}, label %{more}, label %{self.end}", f"{more}:"]

    def _choice(self, choice: Choice, names: dict[int, str]) -> None:
        which = self._name(choice.which, names)
        labels = [self._label() for _ in choice.branches]
        end = self._label()
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels[:-1]))
        self.lines.append(f"  switch i64 {which}, label %{labels[-1]} [{cases}]")
        for label, branch in zip(labels, choice.branches, strict=True):
            self.lines.append(f"{label}:")
            self._region(branch, {})
            self.lines.append(f"  br label %{end}")
        self.lines.append(f"{end}:")

    # --- memory -----------------------------------------------------------------------------
    def _address(self, buffer: Buffer, at: int, index: str | None = None) -> str:
        place = buffer.start + at
        base = self.line(f"getelementptr double, ptr %{buffer.where}, i64 {place}")
        return (
            base if index is None else self.line(f"getelementptr double, ptr {base}, i64 {index}")
        )

    def _load(self, kind: str, address: str) -> str:
        if kind == FLOAT:
            return self.line(f"load double, ptr {address}")
        whole = self.line(f"load i64, ptr {address}")
        if kind == LONG:
            return whole
        return self.line(f"trunc i64 {whole} to {TYPES[kind]}")

    def _store(self, kind: str, name: str, address: str) -> None:
        if kind == FLOAT:
            self.lines.append(f"  store double {name}, ptr {address}")
            return
        if kind != LONG:
            how = "zext" if kind in NOT_NEGATIVE else "sext"
            name = self.line(f"{how} {TYPES[kind]} {name} to i64")
        self.lines.append(f"  store i64 {name}, ptr {address}")

    def _stores(self, stores: Stores, names: dict[int, str]) -> None:
        kinds = self.graph.kinds
        singles = [(b, at, a, self._name(a, names)) for b, at, a in stores.single]
        moving = [
            (b, at, self._name(i, names), a, self._name(a, names)) for b, at, i, a in stores.moving
        ]
        for buffer, at, origin, start, count in stores.rows:
            if not count:
                continue
            to, source = self._address(buffer, at), self._address(origin, start)
            self.lines.append(
                f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {8 * count}, "
                "i1 false)"
            )
        for buffer, at, a, name in singles:
            self._store(kinds[a], name, self._address(buffer, at))
        for buffer, at, index, a, name in moving:
            self._store(kinds[a], name, self._address(buffer, at, index))

    def _combination(self, item: Combination, names: dict[int, str]) -> None:
        """Some numbers of the sum at once, in several partial sums that do not wait for another."""
        weights = [self._name(a, names) for a in item.weights]
        at = 0
        while at < item.count:
            width = next(w for w in WIDTHS if w <= item.count - at)
            vector = f"<{width} x double>" if width > 1 else "double"
            sums: list[str] = []
            for k, ((buffer, start), weight) in enumerate(zip(item.rows, weights, strict=True)):
                row = self.line(f"load {vector}, ptr {self._address(buffer, start + at)}, align 8")
                both = self._splat(width, weight), row
                part = self.line(f"fmul {FLAGS} {vector} {both[0]}, {both[1]}")
                if k < CHAINS:
                    sums.append(part)
                else:
                    last = sums[k % CHAINS]
                    sums[k % CHAINS] = self.line(f"fadd {FLAGS} {vector} {last}, {part}")
            total = sums[0]
            for other in sums[1:]:
                total = self.line(f"fadd {FLAGS} {vector} {total}, {other}")
            address = self._address(item.out, at)
            self.lines.append(f"  store {vector} {total}, ptr {address}, align 8")
            at += width

    def _splat(self, width: int, name: str) -> str:
        """A number in all lanes."""
        if width == 1:
            return name
        vector = f"<{width} x double>"
        one = self.line(f"insertelement {vector} poison, double {name}, i32 0")
        zeros = f"<{width} x i32> zeroinitializer"
        return self.line(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    # --- expressions ------------------------------------------------------------------------
    def _name(self, a: int, names: dict[int, str]) -> str:
        """Name of a number in this region; it is loaded where it comes from outside."""
        if a in names:
            return names[a]
        graph, op = self.graph, self.graph.ops[a]
        if op[0] == "is":
            return _constant(op[1], graph.kinds[a])
        if op[0] == "load":
            name = self._load(graph.kinds[a], self._address(op[1], op[2]))
        else:
            name = self._load(graph.kinds[a], self._address(self.kept[a], 0))
        names[a] = name
        return name

    def _expression(self, a: int, names: dict[int, str]) -> None:
        op, kind = self.graph.ops[a], self.graph.kinds[a]
        if op[0] in ("is", "load"):  # where they are used
            return
        if op[0] == "load_at":
            index = self._name(op[3], names)
            names[a] = self._load(kind, self._address(op[1], op[2], index))
        else:
            args = [self._name(b, names) for b in op[1:]]
            names[a] = self._operation(op[0], kind, self.graph.kinds[op[1]], args)
        if a in self.kept:
            self._store(kind, names[a], self._address(self.kept[a], 0))

    def _operation(self, name: str, kind: str, of: str, x: list[str]) -> str:
        if name in SIGNED:
            return self._compared(name, of, *x)
        if name == "where":
            return self.line(f"select i1 {x[0]}, {TYPES[kind]} {x[1]}, {TYPES[kind]} {x[2]}")
        if name == "convert":
            return self._converted(kind, of, x[0])
        if name == "finite":
            size = self.line(f"call double @llvm.fabs.f64(double {x[0]})")
            return self.line(f"fcmp olt double {size}, {literal(float('inf'))}")
        return self._of_float(name, x) if kind == FLOAT else self._of_whole(name, kind, x)

    def _compared(self, name: str, of: str, x: str, y: str) -> str:
        if of == FLOAT:
            return self.line(f"fcmp {ORDERED[name]} double {x}, {y}")
        how = SIGNED[name].replace("s", "u") if of in NOT_NEGATIVE else SIGNED[name]
        return self.line(f"icmp {how} {TYPES[of]} {x}, {y}")

    def _of_float(self, name: str, x: list[str]) -> str:
        if name in ARITHMETIC or name == "div":
            return self.line(f"f{name} {FLAGS} double {x[0]}, {x[1]}")
        if name == "neg":
            return self.line(f"fneg double {x[0]}")
        if name == "sign":
            below = self.line(f"fcmp olt double {x[0]}, 0.0")
            above = self.line(f"fcmp ogt double {x[0]}, 0.0")
            low = self.line(f"select i1 {below}, double -1.0, double {x[0]}")
            return self.line(f"select i1 {above}, double 1.0, double {low}")
        args = ", ".join(f"double {a}" for a in x)
        if name in INTRINSICS:
            return self.line(f"call double @llvm.{INTRINSICS[name]}.f64({args})")
        if name not in WRITERS:
            raise NotFlattenedError(f"the function '{name}'")
        self.functions.add(name)
        return self.line(f"call double @st_{name}({args})")

    def _of_whole(self, name: str, kind: str, x: list[str]) -> str:
        T = TYPES[kind]
        if name in ARITHMETIC or name in ("and", "or", "xor"):
            return self.line(f"{name} {T} {x[0]}, {x[1]}")
        if name == "neg":
            return self.line(f"sub {T} 0, {x[0]}")
        if name == "not":
            return self.line(f"xor {T} {x[0]}, {'true' if kind == TRUTH else '-1'}")
        if name in ("max", "min"):
            if kind == TRUTH:
                return self.line(f"{'or' if name == 'max' else 'and'} i1 {x[0]}, {x[1]}")
            first = self._compared("gt" if name == "max" else "lt", kind, x[0], x[1])
            return self.line(f"select i1 {first}, {T} {x[0]}, {T} {x[1]}")
        if name in SHIFTS:
            return self._shifted(name, T, *x)
        below = self._compared("lt", kind, x[0], "0")
        if name == "abs":
            other = self.line(f"sub {T} 0, {x[0]}")
            return self.line(f"select i1 {below}, {T} {other}, {T} {x[0]}")
        if name == "sign":
            above = self._compared("gt", kind, x[0], "0")
            low = self.line(f"select i1 {below}, {T} -1, {T} 0")
            return self.line(f"select i1 {above}, {T} 1, {T} {low}")
        if name not in ("div", "rem"):
            raise NotFlattenedError(f"the function '{name}' of whole numbers")
        if kind == UNSIGNED:
            return self._divided_unsigned(name, T, *x)
        return self._divided(name, T, *x)

    def _shifted(self, name: str, T: str, x: str, y: str) -> str:
        """As XLA has it: by as many as there are bits, or more, all of them are shifted out."""
        last = int(T[1:]) - 1
        near = self.line(f"icmp ule {T} {y}, {last}")
        bounded = self.line(f"select i1 {near}, {T} {y}, {T} {last}")
        value = self.line(f"{SHIFTS[name]} {T} {x}, {bounded}")
        if name == "shift_right_arithmetic":
            return value
        return self.line(f"select i1 {near}, {T} {value}, {T} 0")

    def _divided_unsigned(self, name: str, T: str, x: str, y: str) -> str:
        none = self.line(f"icmp eq {T} {y}, 0")
        safe = self.line(f"select i1 {none}, {T} 1, {T} {y}")
        value = self.line(f"u{name} {T} {x}, {safe}")
        return self.line(f"select i1 {none}, {T} {'-1' if name == 'div' else x}, {T} {value}")

    def _divided(self, name: str, T: str, x: str, y: str) -> str:
        """As XLA has it: x / 0 is -1 and x % 0 is x; nothing overflows for -1."""
        none = self.line(f"icmp eq {T} {y}, 0")
        turned = self.line(f"icmp eq {T} {y}, -1")
        odd = self.line(f"or i1 {none}, {turned}")
        safe = self.line(f"select i1 {odd}, {T} 1, {T} {y}")
        value = self.line(f"s{name} {T} {x}, {safe}")
        other = self.line(f"sub {T} 0, {x}") if name == "div" else "0"
        value = self.line(f"select i1 {turned}, {T} {other}, {T} {value}")
        return self.line(f"select i1 {none}, {T} {'-1' if name == 'div' else x}, {T} {value}")

    def _converted(self, kind: str, of: str, x: str) -> str:
        new, old = TYPES[kind], TYPES[of]
        if kind == FLOAT:
            how = "uitofp" if of in NOT_NEGATIVE else "sitofp"
            return self.line(f"{how} {old} {x} to double")
        if kind == TRUTH:
            if of == FLOAT:
                return self.line(f"fcmp une double {x}, 0.0")
            return self.line(f"icmp ne {old} {x}, 0")
        if of == FLOAT:
            how = "ui" if kind == UNSIGNED else "si"
            return self.line(f"call {new} @llvm.fpto{how}.sat.{new}.f64(double {x})")
        if old == new:  # the same bits
            return self.line(f"add {new} {x}, 0")
        if of in NOT_NEGATIVE:
            return self.line(f"zext {old} {x} to {new}")
        return self.line(f"{'sext' if kind == LONG else 'trunc'} {old} {x} to {new}")


def _constant(value: Any, kind: str) -> str:
    if kind == FLOAT:
        return literal(value)
    return ("true" if value else "false") if kind == TRUTH else str(value)


def _regions(item: Any) -> list[Region]:
    if isinstance(item, Loop):
        return [item.body]
    return item.branches if isinstance(item, Choice) else []
