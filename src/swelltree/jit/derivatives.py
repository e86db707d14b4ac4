"""Forward-mode derivatives during lowering: sparse partials of each scalar expression.

Partials that are zero never become expressions. Sums, products and selections have rules here. All
other scalar functions are differentiated by `jax.jvp` once per function; loops, factorisations and
functions with custom derivatives by `jax.jvp` as a whole, along as few directions as serve. So ties
of maxima, branches of a `where` and `stop_gradient` have the derivatives that they have in JAX.

`jax.jacfwd` before lowering gives programs of the same size and speed, but makes first results of
several bodies 25 to 160 % slower (tracing and folding zeros), so it is not used for Jacobians.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

from swelltree.jit.arrays import Array, Tree
from swelltree.jit.backend import jax, traced
from swelltree.jit.graph import FLOAT, TRUTH, Graph, UnsupportedOperationError, kind_of
from swelltree.jit.lowering import INLINED, UNEXPECTED, Lowering
from swelltree.jit.rules.sums import row_pairs
from swelltree.jit.statements import arguments
from swelltree.jit.traced_types import ClosedProgram, DType, Equation, Variable, is_known
from swelltree.jit.values import Stored, Value, value_ids

Partials = dict[int, int]  # number of an unknown -> expression of the derivative, where it is not 0
OWN = {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}  # derivatives of their own
MOVED = {"broadcast_in_dim", "reshape", "slice", "squeeze", "transpose", "concatenate", "split"}
MOVED |= {"copy", "copy_p", "optimization_barrier", "rev", "pad", "gather", "dynamic_slice"}
MOVED |= {"dynamic_update_slice", "scatter", "expand_dims", "unstack", "reduce_precision"}
MOVED |= {"stack", "tile"}
SINGLE = {"max", "min", "abs", "sign", "rem", "atan2", "sqrt", "rsqrt", "cbrt", "sin", "cos"}
SINGLE |= {"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
SINGLE |= {"exp", "exp2", "log", "log2", "log1p", "expm1", "floor", "ceil", "round", "pow"}
SINGLE |= {"integer_pow", "square", "logistic", "clamp", "one_minus_square", "nextafter", "div"}
LINEAR = {"add": (1.0, 1.0), "add_any": (1.0, 1.0), "sub": (1.0, -1.0), "neg": (-1.0,)}


class Differentiating(Lowering):
    """Lowers jaxprs with their derivatives in some expressions, the unknowns."""

    def __init__(
        self, graph: Graph, table: Callable[[np.ndarray], Value] | None, unknown: Iterable[int]
    ) -> None:
        super().__init__(graph, table)
        self.plain = Lowering(graph, table)
        self.partials: dict[int, Partials] = {a: {j: graph.one} for j, a in enumerate(unknown)}
        # derivatives of functions of single numbers, traced, and their values
        self.rules: dict[Hashable, ClosedProgram] = {}
        self.partial: dict[Hashable, int] = {}
        self.has_custom = False  # has a function with derivatives of its own been met?
        self.apart = 0  # expressions made that equal others but for their derivatives

    def of(self, a: int) -> Partials:
        return self.partials.get(a, {})

    def one(self, eqn: Equation, values: list[Value]) -> list[Value]:
        name = str(eqn.primitive.name)
        if name in INLINED and name not in OWN:
            return self._inner(eqn, values)
        moving = [k for k, x in enumerate(values) if self._moves(x)]
        if not moving or not any(_is_float(var) for var in eqn.outvars):
            return super().one(eqn, values)
        if name == "stop_gradient":
            return [self._still(x) for x in values]
        self.has_custom = self.has_custom or name in OWN
        if name in MOVED:
            outs = super().one(eqn, values)
            return outs if self._are_specified(outs, values) else self._by_jax(eqn, values)
        rule = RULES.get(name)
        if rule is not None:
            outs = super().one(eqn, values)
            rule(self, eqn, values, outs)
            return outs
        if name in SINGLE:
            outs = super().one(eqn, values)
            self._of_single(eqn, values, outs[0])
            return outs
        return self._by_jax(eqn, values)

    # --- which numbers move ---------------------------------------------------------------
    def _moves(self, x: Value) -> bool:
        if isinstance(x, Stored) and x.buffer.where != "work":
            return False
        return not self.partials.keys().isdisjoint(value_ids(self.graph, x).reshape(-1).tolist())

    def _are_specified(self, outs: list[Value], values: list[Value]) -> bool:
        """Are all numbers those that were given, or loaded from where nothing moves?

        A number chosen among them is another one, known from before or not.
        """
        graph = self.graph
        still = [isinstance(x, Stored) and x.buffer.where != "work" for x in values]
        specified = {
            a
            for x, fixed in zip(values, still, strict=True)
            if not fixed
            for a in value_ids(graph, x).reshape(-1).tolist()
        }
        for x in outs:
            if isinstance(x, Stored) and x.buffer.where != "work":
                continue
            for a in value_ids(graph, x).reshape(-1).tolist():
                op = graph.ops[a]
                if a in specified or op[0] == "is" or (op[0] == "load" and op[1].where != "work"):
                    continue
                return False
        return True

    def _still(self, x: Value) -> Value:
        x = value_ids(self.graph, x)
        out = [self._apart(a) if self.of(a) else a for a in x.reshape(-1).tolist()]
        return np.array(out, dtype=int).reshape(x.shape)

    def _apart(self, a: int, tag: int = 0) -> int:
        graph = self.graph
        return graph._put(("same", a, tag), ("same", a), FLOAT, graph.home[a])

    # --- sums -----------------------------------------------------------------------------
    def combined(self, terms: Iterable[tuple[int, Partials]]) -> Partials:
        graph, out = self.graph, {}
        op, one, zero = graph.op, graph.one, graph.zero
        for factor, partials in terms:
            for j, slope in partials.items():
                part = slope if factor == one else op("mul", factor, slope)
                out[j] = op("add", out[j], part) if j in out else part
        return {j: a for j, a in out.items() if a != zero}

    def put(self, a: int, partials: Partials) -> None:
        """Record the partials of a new expression."""
        if partials and a not in self.partials and self.graph.value(a) is None:
            self.partials[a] = partials

    # --- functions of single numbers --------------------------------------------------------
    def _of_single(self, eqn: Equation, values: list[Value], out: Value) -> None:
        graph, shape = self.graph, eqn.outvars[0].aval.shape
        variables = [values[k] for k in _variables(eqn).values()]
        rows = [np.broadcast_to(value_ids(graph, x), shape).reshape(-1).tolist() for x in variables]
        kinds = tuple(str(var.aval.dtype) for var in eqn.invars)
        which = tuple(eqn.invars.index(var) for var in _variables(eqn))
        known = tuple(repr(var.val) if is_known(var) else "" for var in eqn.invars)
        rule = (eqn.primitive.name, str(eqn.params), kinds, known, which)
        for a, *args in zip(value_ids(graph, out).reshape(-1).tolist(), *rows, strict=True):
            if a in self.partials or graph.value(a) is not None:
                continue
            moving = [k for k, x in enumerate(args) if self.of(x)]
            terms = [(self._derivative(eqn, rule, k, args), self.of(args[k])) for k in moving]
            self.put(a, self.combined(terms))

    def _derivative(self, eqn: Equation, rule: Hashable, k: int, args: list[int]) -> int:
        key = (rule, k, *args)
        if key not in self.partial:
            if (rule, k) not in self.rules:
                function, types = _alone(eqn), [var.aval.dtype for var in _variables(eqn)]
                self.rules[rule, k] = _guarded(
                    eqn, lambda: traced_derivative(lambda *x: function(*x)[0], k, types)
                )
            inputs: list[Value] = [np.array(a) for a in args]
            (d,) = self.plain.closed(self.rules[rule, k], inputs)
            self.partial[key] = int(value_ids(self.graph, d))
        return self.partial[key]

    # --- everything else ----------------------------------------------------------------------
    def _by_jax(self, eqn: Equation, values: list[Value]) -> list[Value]:
        graph, variables = self.graph, _variables(eqn)
        values = [values[k] for k in variables.values()]
        moving = [k for k, x in enumerate(values) if self._moves(x)]
        arrays = [value_ids(graph, values[k]) for k in moving]
        all_places = [a for x in arrays for a in x.reshape(-1).tolist()]
        sources = list(dict.fromkeys(a for a in all_places if self.of(a)))
        unknown = sorted({j for a in sources for j in self.of(a)})
        by_source = len(sources) <= len(unknown)
        directions = sources if by_source else unknown

        def along(x: np.ndarray, d: int) -> np.ndarray:
            flat = x.reshape(-1).tolist()
            if by_source:
                row = [graph.one if a == d else graph.zero for a in flat]
            else:
                row = [self.of(a).get(d, graph.zero) for a in flat]
            return np.array(row, dtype=int).reshape(x.shape)

        tangents = [np.stack([along(x, d) for d in directions]) for x in arrays]
        closed = _guarded(eqn, lambda: _traced_directions(eqn, moving, len(directions)))
        found = self.plain.closed(closed, [*values, *tangents])
        outs, changes = found[: len(eqn.outvars)], iter(found[len(eqn.outvars) :])
        for i, var in enumerate(eqn.outvars):
            if not _is_float(var):
                continue
            change = value_ids(graph, next(changes)).reshape(len(directions), -1)
            outs[i] = self._with_partials(value_ids(graph, outs[i]), change, directions, by_source)
        return outs

    def _with_partials(
        self, x: np.ndarray, change: np.ndarray, directions: list[int], by_source: bool
    ) -> np.ndarray:
        graph, out = self.graph, []
        for a, row in zip(x.reshape(-1).tolist(), change.T.tolist(), strict=True):
            pairs = [(d, c) for d, c in zip(directions, row, strict=True) if c != graph.zero]
            if by_source:
                partials = self.combined((c, self.of(d)) for d, c in pairs)
            else:
                partials = dict(pairs)
            loaded = graph.ops[a][0] == "load" and a not in self.partials
            if not loaded and (partials or graph.value(a) is None):
                # the same value may stand elsewhere, with other derivatives
                self.apart += 1
                a = self._apart(a, self.apart)
            self.put(a, partials)
            out.append(a)
        return np.array(out, dtype=int).reshape(x.shape)


def _is_float(var: Variable) -> bool:
    return kind_of(var.aval.dtype) == FLOAT


def _guarded(eqn: Equation, trace: Callable[[], Tree]) -> Tree:
    """Trace by JAX; the error for a function without derivatives names the operation."""
    try:
        return trace()
    except (*UNEXPECTED, NotImplementedError) as error:
        what = f"{type(error).__name__}: {error}"
        name = eqn.primitive.name
        raise UnsupportedOperationError(
            f"derivatives of the operation '{name}' ({what})"
        ) from error


def _variables(eqn: Equation) -> dict[Variable, int]:
    """Operands that are not literals, each once, with the position where it is first used."""
    found: dict[Variable, int] = {}
    for k, var in enumerate(eqn.invars):
        if not hasattr(var, "val"):
            found.setdefault(var, k)
    return found


def _alone(eqn: Equation) -> Callable[..., list[Array]]:
    order = {var: k for k, var in enumerate(_variables(eqn))}
    built = eqn.primitive.get_bind_params(eqn.params)
    inner, params = built if isinstance(built, tuple) else ((), built)

    def function(*x: Array) -> list[Array]:
        args = [var.val if is_known(var) else x[order[var]] for var in eqn.invars]
        out = eqn.primitive.bind(*inner, *args, **params)
        return list(out) if eqn.primitive.multiple_results else [out]

    return function


def traced_derivative(
    function: Callable[..., Array], k: int, types: Sequence[DType]
) -> ClosedProgram:
    """Program of the derivative of a function of scalars in its argument k."""

    def derivative(*x: Array) -> Array:
        def alone(y: Array) -> Array:
            return function(*(y if i == k else a for i, a in enumerate(x)))

        return jax.jvp(alone, (x[k],), (np.ones(()),))[1]

    return traced(derivative, *(jax.ShapeDtypeStruct((), dtype) for dtype in types))


def _traced_directions(eqn: Equation, moving: list[int], count: int) -> ClosedProgram:
    """Jaxpr of an equation and of its derivatives along directions of some operands."""
    function, variables = _alone(eqn), list(_variables(eqn))
    n = len(variables)
    floats = [_is_float(var) for var in eqn.outvars]

    def both(*x: Array) -> Tree:
        def values(*y: Array) -> Tree:
            args = list(x[:n])
            for k, a in zip(moving, y, strict=True):
                args[k] = a
            outs = function(*args)
            chosen = [a for a, f in zip(outs, floats, strict=True) if f]
            return chosen, [a for a, f in zip(outs, floats, strict=True) if not f]

        def change(*t: Array) -> Tree:
            return jax.jvp(values, tuple(x[k] for k in moving), t, has_aux=True)

        axes = (None, 0, None)
        outs, changes, others = jax.vmap(change, out_axes=axes)(*x[n:])
        first, second = iter(outs), iter(others)
        return [next(first) if f else next(second) for f in floats] + list(changes)

    like = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in variables]
    like += [
        jax.ShapeDtypeStruct((count, *variables[k].aval.shape), variables[k].aval.dtype)
        for k in moving
    ]
    return traced(both, *like)


# --- rules -------------------------------------------------------------------------------------
def _rows(flat: Differentiating, out: Value, *values: Value) -> Value:
    graph = flat.graph
    shape = out.shape
    lists = [np.broadcast_to(value_ids(graph, x), shape).reshape(-1).tolist() for x in values]
    return zip(value_ids(graph, out).reshape(-1).tolist(), *lists, strict=True)


def _linear(flat: Differentiating, eqn: Equation, values: list[Value], outs: list[Value]) -> None:
    factors = [flat.graph.constant(x) for x in LINEAR[eqn.primitive.name]]
    for a, *x in _rows(flat, outs[0], *values):
        flat.put(a, flat.combined(zip(factors, map(flat.of, x), strict=True)))


def _product(flat: Differentiating, eqn: Equation, values: list[Value], outs: list[Value]) -> None:
    for a, x, y in _rows(flat, outs[0], *values):
        if a not in flat.partials:
            flat.put(a, flat.combined([(y, flat.of(x)), (x, flat.of(y))]))


def _chosen(flat: Differentiating, eqn: Equation, values: list[Value], outs: list[Value]) -> None:
    """Derivatives are selected, not multiplied: that of the other branch may be infinite."""
    graph = flat.graph
    kind = kind_of(eqn.invars[0].aval.dtype)
    last = len(values) - 2
    for a, which, *cases in _rows(flat, outs[0], *values):
        if a in flat.partials or graph.value(a) is not None:
            continue
        partials = [flat.of(x) for x in cases]
        found = {}
        for j in sorted({j for s in partials for j in s}):
            row = [s.get(j, graph.zero) for s in partials]
            if kind == TRUTH:
                total = graph.op("where", which, row[1], row[0])
            else:
                total = row[-1]
                for k in reversed(range(last)):
                    hit = graph.op("le", which, graph.constant(k, kind))
                    total = graph.op("where", hit, row[k], total)
            if total != graph.zero:
                found[j] = total
        flat.put(a, found)


def _unchanged(*_: object) -> None:
    """Floats stay what they are; other kinds have no derivatives."""


def _total(flat: Differentiating, eqn: Equation, values: list[Value], outs: list[Value]) -> None:
    graph, x = flat.graph, value_ids(flat.graph, values[0])
    axes = [int(d) for d in eqn.params["axes"]]
    stored = [d for d in range(x.ndim) if d not in axes]
    out = value_ids(graph, outs[0]).reshape(-1).tolist()
    rows = x.transpose([*stored, *axes]).reshape(len(out), -1).tolist()
    for a, row in zip(out, rows, strict=True):
        flat.put(a, flat.combined((graph.one, flat.of(b)) for b in row))


def _dot(flat: Differentiating, eqn: Equation, values: list[Value], outs: list[Value]) -> None:
    graph = flat.graph
    x, y = value_ids(graph, values[0]), value_ids(graph, values[1])
    out = value_ids(graph, outs[0]).reshape(-1).tolist()
    for a, (p, q) in zip(out, row_pairs(eqn, x, y), strict=True):
        if a in flat.partials or graph.value(a) is not None:
            continue
        terms = []
        for u, v in zip(p, q, strict=True):
            terms += [(v, flat.of(u)), (u, flat.of(v))]
        flat.put(a, flat.combined(terms))


RULES: dict[str, Callable[..., None]] = {
    **dict.fromkeys(LINEAR, _linear),
    "mul": _product,
    "select_n": _chosen,
    "convert_element_type": _unchanged,
    "reduce_sum": _total,
    "dot_general": _dot,
}


# --- second derivatives: the partials, differentiated once more in the graph ---
FLAT = {"sign", "floor", "ceil", "round_even", "round_away", "same", "convert"}
SMOOTH_FUNCTIONS = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp"}
SMOOTH_FUNCTIONS |= {"exp2", "log", "log1p", "expm1", "sqrt", "cbrt", "abs", "max", "min", "pow"}
SMOOTH_FUNCTIONS |= {"atan2"}


class NotHereError(UnsupportedOperationError):
    """Second derivatives that are left to JAX."""


class Twice:
    """Derivatives of expressions of a graph in the unknowns of its program."""

    def __init__(self, flat: Differentiating) -> None:
        if flat.has_custom:
            raise NotHereError("functions with derivatives of their own")
        self.flat, self.graph = flat, flat.graph
        self.partials: dict[int, Partials] = dict(flat.partials)
        self.rules: dict[Hashable, ClosedProgram] = {}

    def of(self, requested: list[int]) -> list[Partials]:
        for a in self._beneath(requested):
            partials = self._one(a)
            if partials:
                self.partials[a] = partials
        return [self.partials.get(a, {}) for a in requested]

    def _beneath(self, requested: list[int]) -> list[int]:
        """Operands, recursively, whose derivatives are not known yet, in order."""
        found: set[int] = set()
        todo = list(requested)
        while todo:
            a = todo.pop()
            if a in found or a in self.partials or self.graph.kinds[a] != FLOAT:
                continue
            found.add(a)
            todo.extend(arguments(self.graph.ops[a]))
        return sorted(found)

    def _one(self, a: int) -> Partials:
        graph, flat = self.graph, self.flat
        name, *x = graph.ops[a]
        if name == "load" or name == "load_at":
            if x[0].where == "work":
                raise NotHereError("derivatives that lie in memory")
            return {}
        if name == "is" or name in FLAT:
            return {}
        s = [self.partials.get(b, {}) for b in x]
        if not any(s):
            return {}
        one, minus = graph.one, graph.constant(-1.0)
        if name in ("add", "sub"):
            return flat.combined([(one, s[0]), (one if name == "add" else minus, s[1])])
        if name == "neg":
            return flat.combined([(minus, s[0])])
        if name == "mul":
            return flat.combined([(x[1], s[0]), (x[0], s[1])])
        if name == "div":
            by = graph.op("div", one, x[1])
            return flat.combined([(by, s[0]), (graph.op("neg", graph.op("mul", a, by)), s[1])])
        if name == "where":
            zero = graph.zero
            chosen = {
                j: graph.op("where", x[0], s[1].get(j, zero), s[2].get(j, zero))
                for j in sorted(s[1].keys() | s[2].keys())
            }
            return {j: b for j, b in chosen.items() if b != zero}
        if name not in SMOOTH_FUNCTIONS:
            raise NotHereError(f"derivatives of '{name}'")
        return flat.combined([(self._partial(name, k, x), s[k]) for k in range(len(x)) if s[k]])

    def _partial(self, name: str, k: int, x: list[int]) -> int:
        if (name, k) not in self.rules:
            types = [np.dtype(float)] * len(x)
            self.rules[name, k] = traced_derivative(getattr(jax.lax, name), k, types)
        inputs: list[Value] = [np.array(b) for b in x]
        (d,) = self.flat.plain.closed(self.rules[name, k], inputs)
        return int(value_ids(self.graph, d))


def second_derivatives(
    flat: Differentiating, outs: list[np.ndarray], weights: list[np.ndarray], size: int
) -> np.ndarray:
    """Expressions (n, n) of the second derivatives of the weighted sum of results."""
    graph = flat.graph
    pairs = [
        pair
        for x, q in zip(outs, weights, strict=True)
        for pair in zip(q.reshape(-1).tolist(), x.reshape(-1).tolist(), strict=True)
    ]
    total = flat.combined((q, flat.of(a)) for q, a in pairs)
    rows = np.full((size, size), graph.zero)
    first = sorted(total)
    for j, partials in zip(first, Twice(flat).of([total[j] for j in first]), strict=True):
        for k, a in partials.items():
            rows[j, k] = a
    return rows
