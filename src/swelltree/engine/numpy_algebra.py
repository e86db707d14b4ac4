"""Rules for factorisations and linear equations."""

from __future__ import annotations

from typing import Any

from swelltree.engine.numpy_rules import Found, many, out_of, rule
from swelltree.engine.numpy_writer import NotKnownError, Ref, Writer, written


@rule("cholesky")
def _cholesky(w: Writer, eqn: Any, x: Ref) -> Found:
    shape, dtype = out_of(eqn)
    return w.emit("h.cholesky({0}.T).T", (w.full(x),), shape, shape, dtype)


@rule("triangular_solve")
def _triangular(w: Writer, eqn: Any, a: Ref, b: Ref) -> Found:
    p, (shape, dtype) = eqn.params, out_of(eqn)
    if not p["left_side"] or p["conjugate_a"]:
        raise NotKnownError("triangular_solve")
    how = f"{bool(p['lower'])}, {bool(p['transpose_a'])}, {bool(p['unit_diagonal'])}"
    refs = (w.full(a), w.full(b))
    return w.emit(f"h.triangular({{0}}.T, {{1}}.T, {how}).T", refs, shape, shape, dtype)


@rule("qr")
def _qr(w: Writer, eqn: Any, x: Ref) -> Found:
    if eqn.params["pivoting"]:
        raise NotKnownError("qr")
    mode = "complete" if eqn.params["full_matrices"] else "reduced"
    return many(w, eqn, f"np.linalg.qr({{0}}.T, '{mode}')", (w.full(x),))


@rule("custom_linear_solve")
def _linear_solve(w: Writer, eqn: Any, *refs: Ref) -> Found:
    sizes, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    first = sizes.matvec + sizes.vecmat
    consts = refs[first : first + sizes.solve]
    b = refs[first + sizes.solve + sizes.transpose_solve :]
    return written(solve.jaxpr, solve.consts, [*consts, *b], w)
