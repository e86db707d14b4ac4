"""A function of JAX for one case: native code by LLVM, or XLA where it cannot be lowered."""

from __future__ import annotations

import functools
import math
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import NEW_PROGRAMS, is_tracer, jax
from swelltree.jit.engine import BY_LLVM, note
from swelltree.jit.entries import Layout, Place, entry_of, known_or_lowered
from swelltree.jit.graph import MAX_EXPRESSIONS, Buffer, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lazy_import import is_imported
from swelltree.jit.lowering import NONE, Lowering, count_numbers
from swelltree.jit.native import Native, object_code, object_name
from swelltree.jit.rows.loops import Axes
from swelltree.jit.rows.wide import text_of
from swelltree.jit.statements import Stores
from swelltree.jit.traced_types import DType, Shaped
from swelltree.jit.trees import TreeDef, flatten, in_words_of_jax, structure_of
from swelltree.jit.values import Stored, Value, stored, stores

CACHE_SIZE = 24  # programs of one function, for as many shapes and patterns
MAX_NUMBERS = (
    200_000  # numbers of a program before it is simplified; `graph.MOST` are left, at most
)
LONG_TEXT = 4000  # lines: LLVM takes longer to improve such code than its few evaluations
READ_MARGIN = 16  # places behind working memory that registers may read
LARGE = 10_000_000  # bytes of fixed numbers that are let go after a run
PATTERNED = 20_000  # numbers of one array whose zeros and ones shape the program


INSIDE = "inside another program"

_with_large: weakref.WeakSet[FixedDriver] = weakref.WeakSet()


class Loaded:
    """A program of this processor that is ready to run."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.native = layout, Native(layout.native)
        self.tree = structure_of(layout.results)
        self.last: tuple[np.ndarray | None, np.ndarray] = (None, np.zeros(0))
        # fixed scalars, points, and results that are the same at all of these, by their index
        self.shared: tuple[object, int, dict[int, np.ndarray]] = (None, 0, {})

    def fixed(self, scalars: np.ndarray) -> np.ndarray:
        """Fixed arguments as the program takes them; those of the last call are kept."""
        before, found = self.last
        if before is not scalars:
            found = with_tables(scalars, [self.layout.tables], self.layout.transposed)
            self.last = scalars, found
        return found


NOWHERE = Buffer("nowhere", 0, 0, "f8")  # of arguments that no code uses


class Key:
    """What shapes a program of its fixed arguments; its hash is found once."""

    def __init__(self, *parts: Any) -> None:
        self.parts, self.hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Key) and self.parts == other.parts)


class Fixed(NamedTuple):
    """The first arguments of a program, taken apart once."""

    args: tuple[Tree, ...]
    leaves: list[Array]
    tree: TreeDef
    key: Key
    numbers: np.ndarray


P = TypeVar("P")


class Driver(Generic[P]):
    """A function and its programs, by what shapes them: in memory, on disk, or lowered now.

    Args:
        function: as for `jax.jit`; arguments and results are trees of arrays.
        rows: gives, for some arguments, lengths of the first axes of arrays whose rows are computed
            in loops; see `rows.loops`.
        most: expressions that a program may have; XLA compiles larger ones.
        options: of XLA's compiler.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        rows: Callable[..., Axes] | None = None,
        most: int = MAX_EXPRESSIONS,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.function, self.rows, self.most, self.options = function, rows, most, options
        self.programs: dict[Any, P | str] = {}

    @functools.cached_property
    def by_xla(self) -> Any:
        """The function by XLA, which also traces it."""
        return jax.jit(self.function, compiler_options=dict(self.options or {}) or None)

    def found(
        self,
        key: Hashable,
        about: tuple[tuple[Tree, ...], bytes, object],
        lower: Callable[[], Layout],
        load: Callable[[Layout], P],
    ) -> P | str:
        """The program of a key, or why there is none; `about` are arguments of `entry_of`."""
        if key not in self.programs:
            while len(self.programs) >= CACHE_SIZE:
                self.programs.pop(next(iter(self.programs)))
            layout = known_or_lowered(entry_of((self.function, self.rows), *about), lower)
            self.programs[key] = layout if isinstance(layout, str) else load(layout)
        return self.programs[key]

    def built(
        self, args: tuple[Tree, ...], places: Iterable[tuple[str, Array, bool]], width: int = 0
    ) -> tuple[KernelBuilder, list[Place], TreeDef]:
        """The program before it is compiled, places and structure of its results.

        Args:
            args: of the function.
            places: where each of their arrays lies, and whether its values shape the program.
            width: rows in a register; those of this processor if zero.
        """
        traced = self.by_xla.trace(*args)  # XLA goes on with the same where it is refused
        closed = traced.jaxpr
        axes = NONE if self.rows is None else self.rows(*args)
        check_size(count_numbers(closed.jaxpr, axes), max(MAX_NUMBERS, 3 * self.most // 2))
        builder = KernelBuilder(self.most)
        inputs = [builder.argument(*place) for place in places]
        lowering = Lowering(builder.graph, builder.table, axes)
        lowering.rows.width = width or lowering.rows.width
        outs = lowering.run(closed.jaxpr, closed.consts, inputs)
        where = builder.results(outs, [var.aval for var in closed.jaxpr.outvars])
        return builder, where, structure_of(traced.out_info)


class FixedDriver(Driver[Loaded], ABC):
    """Programs whose first arguments rarely change.

    Args:
        fixed: so many first arguments shape the program: zeros and ones in them are built in. They
            must not be changed in place, nor their arrays: the same objects are the same numbers.
        shaped: False where floats of the fixed arguments will change: none of them is built in, and
            one program serves all of their values.
        refused: a reason to run by XLA in any case.
        more: as of `Driver`.
    """

    def __init__(
        self,
        function: Callable[..., Tree],
        fixed: int,
        shaped: bool = True,
        refused: str = "",
        **more: Any,
    ) -> None:
        super().__init__(function, **more)
        self.fixed, self.shaped, self.refused = fixed, shaped, refused
        self.last: Fixed | None = None
        self.with_jax = is_imported("jax")

    @abstractmethod
    def lowered(self, how: str, args: tuple[Tree, ...], leaves: list[Array]) -> Layout:
        """Trace and lower; `how` is the kind of results, `leaves` are not fixed."""

    def kinds(self, leaves: list[Array]) -> tuple[Kind, ...]:
        """Shapes and types of arrays, as far as they shape a program."""
        return kinds_of(leaves)

    def find(
        self, args: tuple[Tree, ...], how: str = ""
    ) -> tuple[Loaded | str, np.ndarray, list[Array]]:
        """Program, numbers of the fixed arguments, and the other arguments as a flat list."""
        leaves, tree = flatten(args[self.fixed :])
        refused = self.refused or switched_off()
        if refused:
            return refused, np.zeros(0), leaves
        if is_imported("jax") and not self.with_jax:
            self._rekey()
        try:
            fixed = self.fixed_of(args[: self.fixed])
            if fixed is None or any(map(is_tracer, leaves)):
                return INSIDE, np.zeros(0), leaves
            key, kinds = fixed.key, self.kinds(leaves)
            whole = key, how, tree, kinds
            program = self.programs.get(whole) or self._more_general(whole)
            if program is None:
                check_kinds(leaves)
        except UnsupportedOperationError as error:
            return str(error), np.zeros(0), leaves
        if program is None:
            about = args, b"".join(key.parts[2:]), (how, key.parts[1], kinds)
            program = self.found(whole, about, lambda: self.lowered(how, args, leaves), Loaded)
        elif len(self.programs) > CACHE_SIZE // 2:
            # what is used stays longest
            self.programs[whole] = self.programs.pop(whole)
        return program, fixed.numbers, leaves

    def _rekey(self) -> None:
        """Find programs again that were made before JAX came, whose structures have other words."""
        known, self.programs, self.with_jax, self.last = self.programs, {}, True, None
        for (key, how, tree, kinds), program in known.items():
            first, *parts = key.parts
            renamed = Key(in_words_of_jax(first), *parts)
            self.programs[renamed, how, in_words_of_jax(tree), kinds] = program

    def _more_general(self, whole: tuple[Key, Hashable, TreeDef, Hashable]) -> Loaded | None:
        """A program that was made for other numbers, but takes nothing for granted but what holds.

        So the one of a run serves its start too, where the water is still.
        """
        key, *like = whole
        for (other, *rest), program in self.programs.items():
            if isinstance(program, str) or rest != like:
                continue
            if other.parts[:3] == key.parts[:3] and holds(other.parts[3], key.parts[3]):
                self.programs[whole] = program
                return program
        return None

    def fixed_of(self, args: tuple[Tree, ...]) -> Fixed | None:
        """What is known of the fixed arguments; None while JAX traces them."""
        last = self.last
        if last is not None and same_objects(last.args, args):
            return last
        leaves, tree = flatten(args)
        if any(map(is_tracer, leaves)):
            return None
        if last is None or last.tree != tree or not same_objects(last.leaves, leaves):
            arrays = [np.asarray(x) for x in leaves if has_kind(x)]
            key = Key(tree, kinds_of(leaves), *patterns_of(arrays, self.shaped))
            self.last = Fixed(args, leaves, tree, key, packed(arrays))
            if self.last.numbers.nbytes > LARGE:
                _with_large.add(self)
        else:
            self.last = last._replace(args=args)
        return self.last


class Bound:
    """A native program with memory of its own, for many short calls.

    Arguments and results are rows of 8 bytes per number: `inputs` has the arguments that are not
    fixed, `output` the results, both in the order of their leaves. Floats stand as they are, all
    other numbers as 64-bit integers, so that results can be copied to arguments of the same types.

    Args:
        program: compiled for these arguments.
        fixed: numbers of the fixed arguments.
        leaves: of the others; they can be changed in `inputs`.
    """

    def __init__(self, program: Loaded, fixed: np.ndarray, leaves: list[Array]) -> None:
        _, n_out, n_work = program.layout.sizes
        self.inputs, self.output = packed(leaves), np.empty(n_out)
        rows = program.fixed(fixed), self.inputs, self.output, np.empty(n_work)
        self._rows, self._outs, self._tree = rows, program.layout.outs, program.tree
        self._call, self._pointers = program.native.call, [row.ctypes.data for row in rows]

    def __call__(self) -> np.ndarray:
        self._call(*self._pointers)
        return self.output

    def places(self) -> Tree:
        """The place of each array of the results: first number, shape, type."""
        return self._tree.unflatten(self._outs)


class Portable(NamedTuple):
    """A program for an object file of its own, to run without Python.

    It is called as ``run(fixed, inputs, out, work)`` with rows of 8 bytes per number, as `Bound`
    has them.

    Args:
        text: LLVM IR of the function ``run``.
        fixed: numbers of the fixed arguments, with constants of the program behind them.
        inputs: numbers of the other arguments, one after another in the order of their leaves.
        places: of the results: for each the first number, shape and type.
        sizes: numbers of the results, and of working memory.
    """

    text: str
    fixed: np.ndarray
    inputs: np.ndarray
    places: Tree
    sizes: tuple[int, int]


class Program(FixedDriver):
    """A function whose first arguments rarely change, for one case."""

    def __init__(self, function: Callable[..., Tree], fixed: int = 1, **more: Any) -> None:
        super().__init__(function, fixed, **more)

    def engine(self, *args: Tree) -> str:
        """What runs arguments like these, and why it is not LLVM where it is not."""
        return _engine(self.find(args)[0])

    def __call__(self, *args: Tree) -> Tree:
        return self.run(*args)[1]

    def run(self, *args: Tree) -> tuple[str, Tree]:
        """What ran, as of `engine`, and the results."""
        program, scalars, leaves = self.find(args)
        note(_engine(program))
        if isinstance(program, str):
            return _engine(program), self.by_xla(*args)
        _, n_out, n_work = program.layout.sizes
        out, work = np.empty(n_out), np.empty(n_work)
        program.native(program.fixed(scalars), packed(leaves), out, work)
        results = [taken(out[None], place) for place in program.layout.outs]
        return _engine(program), program.tree.unflatten(results)

    def bound(self, *args: Tree) -> Bound | None:
        """The program with memory for arguments like these; None where XLA runs it."""
        program, scalars, leaves = self.find(args)
        return None if isinstance(program, str) else Bound(program, scalars, leaves)

    def portable(self, *args: Tree) -> Portable:
        """The program for an object file; `UnsupportedOperationError` where it is not lowered."""
        leaves, _ = flatten(args[self.fixed :])
        fixed = self.fixed_of(args[: self.fixed])
        if fixed is None or any(map(is_tracer, leaves)):
            raise UnsupportedOperationError(INSIDE)
        check_kinds(leaves)
        builder, outs, tree = self.built(args, self._places(args, leaves))
        transposed, text = builder.transposed(), text_of(builder.graph)
        numbers = with_tables(fixed.numbers, [builder.all_tables()], transposed)
        sizes = builder.numbers["out"], builder.graph.work + READ_MARGIN
        return Portable(text, numbers, packed(leaves), tree.unflatten(outs), sizes)

    def _places(
        self, args: tuple[Tree, ...], leaves: list[Array]
    ) -> Iterator[tuple[str, Array, bool]]:
        for x in flatten(args[: self.fixed])[0]:
            yield "fixed", x, self.shaped or np.asarray(x).dtype.kind != "f"
        yield from (("in", x, False) for x in leaves)

    def lowered(self, how: str, args: tuple[Tree, ...], leaves: list[Array]) -> Layout:
        NEW_PROGRAMS.append("program")
        builder, places, tree = self.built(args, self._places(args, leaves))
        return builder.layout(places, builder.numbers["out"], numbered(tree))


def numbered(tree: TreeDef, first: int = 0) -> Tree:
    """A tree with the index of each array in its place."""
    return tree.unflatten(range(first, first + tree.num_leaves))


def check_size(count: int, most: int = MAX_NUMBERS) -> None:
    """Refuse a program of too many scalars, before it is lowered."""
    if count > most:
        raise UnsupportedOperationError(f"{count} numbers, more than {most}")


def dtype_of(x: Array) -> DType:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def check_kinds(arrays: list[Array]) -> None:
    """Refuse numbers of kinds that programs do not know."""
    for x in arrays:
        kind_of(dtype_of(x))


def has_kind(x: Array) -> bool:
    """Do programs know numbers of this kind? Fixed arguments may have others that no code uses."""
    try:
        return bool(kind_of(dtype_of(x)))
    except UnsupportedOperationError:
        return False


class KernelBuilder:
    """The graph of one program with the memory of its arguments and results."""

    def __init__(self, most: int = MAX_EXPRESSIONS) -> None:
        self.graph = Graph(most)
        self.numbers = {"fixed": 0, "in": 0, "lanes": 0, "out": 0}
        self.tables: list[np.ndarray] = []

    def _row(self, where: str, size: int, kind: str) -> Buffer:
        buffer = Buffer(where, self.numbers[where], size, kind)
        self.numbers[where] += size
        return buffer

    def argument(self, where: str, x: Array, shapes_program: bool) -> Stored:
        if not has_kind(x):
            return stored(NOWHERE, 0, np.shape(x), self.graph.root)
        x = np.asarray(x)
        kind = kind_of(x.dtype)
        buffer = self._row(where, x.size, kind)
        special = None
        if shapes_program:
            pattern = pattern_of(x)
            if pattern.size:
                unknown = pattern == UNKNOWN
                floats = np.where(unknown, np.nan, pattern.astype(float))
                special = floats if kind == "f8" else x.reshape(-1).copy()
        return stored(buffer, 0, x.shape, self.graph.root, special)

    def table(self, value: np.ndarray) -> Stored:
        """A large constant, which travels with the fixed arguments."""
        buffer = self._row("fixed", value.size, kind_of(value.dtype))
        self.tables.append(packed([value]))
        return stored(buffer, 0, value.shape, self.graph.root)

    def transposed(self) -> list[tuple[int, tuple[int, ...]]]:
        """Matrices that are needed transposed, whose places follow all others."""
        for (_, shape), buffer in self.graph.transposes.items():
            buffer.start = self._row("fixed", int(np.prod(shape)), buffer.kind).start
        return list(self.graph.transposes)

    def layout(
        self,
        outs: list[Place],
        size: int,
        results: Tree,
        steady: list[bool] | None = None,
        quick: bool = False,
    ) -> Layout:
        """Compile what was built for one case; `quick`: LLVM does not optimise long programs."""
        transposed, text = self.transposed(), text_of(self.graph)
        optimise = 0 if quick and text.count("\n") > LONG_TEXT else 2
        native, name = object_code(text, optimise), object_name(text, optimise)
        sizes = 0, size, self.graph.work + READ_MARGIN
        tables, steady = self.all_tables(), steady or []
        return Layout(name, b"", tables, transposed, outs, sizes, results, steady, native=native)

    def all_tables(self) -> np.ndarray:
        """Large constants, one after the other."""
        return np.concatenate([np.zeros(0), *self.tables])

    def results(self, values: list[Value], avals: list[Shaped]) -> list[Place]:
        last, out = Stores(), []
        for x, aval in zip(values, avals, strict=True):
            buffer = self._row("out", int(np.prod(aval.shape, dtype=int)), kind_of(aval.dtype))
            stores(self.graph, buffer, x, last)
            out.append((buffer.start, tuple(aval.shape), np.dtype(aval.dtype)))
        self.graph.state(last)
        return out


def _engine(program: Loaded | str) -> str:
    return f"XLA: {program}" if isinstance(program, str) else BY_LLVM


Kind = tuple[tuple[int, ...], Hashable]  # shape and type of an array


def kinds_of(leaves: list[Array]) -> tuple[Kind, ...]:
    # numbers of Python by the type they have as arrays
    return tuple((np.shape(x), dtype_of(x)) for x in leaves)


def same_objects(a: Sequence[object], b: Sequence[object]) -> bool:
    """Are the items pairwise identical, not only equal?"""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


UNKNOWN = 2


def pattern_of(x: np.ndarray, shaped: bool = True) -> np.ndarray:
    """What shapes a program of a fixed argument: zeros and ones of floats, all of other kinds.

    Args:
        x: the argument.
        shaped: False: floats do not.
    """
    if x.size > PATTERNED:
        return np.zeros(0, "i1")
    flat = x.reshape(-1)
    if x.dtype.kind == "f" and not shaped:
        return np.full(flat.shape, UNKNOWN, "i1")
    if x.dtype.kind == "f":
        return np.where((flat == 0.0) | (np.abs(flat) == 1.0), flat, UNKNOWN).astype("i1")
    return flat.astype("i8")


def patterns_of(arrays: list[np.ndarray], shaped: bool = True) -> tuple[bytes, bytes]:
    """`pattern_of` of arrays one after another: of those that are no floats, and of floats."""
    small = [x.reshape(-1) for x in arrays if x.size <= PATTERNED]
    others = b"".join(pattern_of(x).tobytes() for x in small if x.dtype.kind != "f")
    floats = np.concatenate([np.zeros(0), *(x for x in small if x.dtype.kind == "f")])
    pieces = (floats[at : at + PATTERNED] for at in range(0, len(floats), PATTERNED))
    return others, b"".join(pattern_of(x, shaped).tobytes() for x in pieces)


def holds(assumed: bytes, pattern: bytes) -> bool:
    """Are floats of a pattern such as another assumes?"""
    a, b = np.frombuffer(assumed, "i1"), np.frombuffer(pattern, "i1")
    return bool(((a == b) | (a == UNKNOWN)).all())


def let_go_of_large() -> None:
    """Forget fixed numbers that take much room: wave loads of a long run, which no other has."""
    for program in list(_with_large):
        program.last = None
        for one in program.programs.values():
            if isinstance(one, Loaded):
                one.last = (None, np.zeros(0))
    _with_large.clear()


def with_tables(
    fixed: np.ndarray, tables: list[np.ndarray], transposed: list[tuple[int, tuple[int, ...]]]
) -> np.ndarray:
    """Fixed numbers with large constants of the program and transposed matrices behind them."""
    # a table of wave loads over a long run is large: no copy where nothing follows
    whole = np.concatenate([fixed, *tables]) if any(x.size for x in tables) else fixed
    turned = [
        whole[at : at + int(np.prod(shape))].reshape(shape).T.reshape(-1)
        for at, shape in transposed
    ]
    return np.concatenate([whole, *turned]) if turned else whole


def packed(arrays: list[Array]) -> np.ndarray:
    """Numbers of arrays, one after another, eight bytes each."""
    plain = [np.asarray(x) for x in arrays]
    out, at = np.empty(sum(x.size for x in plain)), 0
    for x in plain:
        # in place: arrays of long runs are large, and parts of others
        here = out[at : at + x.size]
        here = here if x.dtype == np.float64 else here.view(np.int64)
        here.reshape(x.shape)[...] = x
        at += x.size
    return out


def taken(out: np.ndarray, place: Place, many: bool = False) -> np.ndarray:
    """An array of the results from their memory (point, offset)."""
    start, shape, dtype = place
    part = out[:, start : start + math.prod(shape)]
    if dtype != np.float64:
        part = np.ascontiguousarray(part).view(np.int64).astype(dtype)
    return part.reshape((len(out), *shape) if many else shape)


XLA_REQUESTED = "SWELLTREE_ENGINE=xla asks for it"


def switched_off() -> str:
    """Why no program runs by LLVM; empty where all may."""
    chosen = os.environ.get("SWELLTREE_ENGINE", "").strip().lower()
    if chosen in ("", "llvm"):
        return ""
    return XLA_REQUESTED if chosen == "xla" else "SWELLTREE_ENGINE is neither 'llvm' nor 'xla'"
