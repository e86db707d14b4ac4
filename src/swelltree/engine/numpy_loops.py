"""Rules for loops and branches."""

from __future__ import annotations

from typing import Any

from swelltree.engine.numpy_rules import Found, many, rule
from swelltree.engine.numpy_writer import Ref, Writer, run_of


def _listed(first: int, last: int) -> str:
    return "(" + "".join(f"{{{i}}}.T, " for i in range(first, last)) + ")"


@rule("while")
def _while(w: Writer, eqn: Any, *refs: Ref) -> Found:
    p = eqn.params
    a, b = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    full = tuple(w.full(x) for x in refs)
    test, body = w.keep(run_of(p["cond_jaxpr"])[1]), w.keep(run_of(p["body_jaxpr"])[1])
    parts = f"{_listed(0, a)}, {_listed(a, b)}, {_listed(b, len(refs))}"
    return many(w, eqn, f"h.looped({test}, {body}, {parts})", full)


@rule("scan")
def _scan(w: Writer, eqn: Any, *refs: Ref) -> Found:
    p = eqn.params
    if "ft_in" in p:  # JAX 0.11 and later: constants, carried values and rows, as trees
        constants, carried, _ = (len(part) for part in p["ft_in"].unpack())
    else:
        constants, carried = p["num_consts"], p["num_carry"]
    a, b = constants, constants + carried
    full = tuple(w.full(x) for x in refs)
    body = w.keep(run_of(p["jaxpr"])[1])
    parts = f"{_listed(0, a)}, {_listed(a, b)}, {_listed(b, len(refs))}"
    text = f"h.scanned({body}, {p['length']}, {bool(p['reverse'])}, {parts})"
    return many(w, eqn, text, full)


@rule("cond")
def _cond(w: Writer, eqn: Any, index: Ref, *refs: Ref) -> Found:
    full = tuple(w.full(x) for x in refs)
    branches = w.keep(tuple(run_of(branch)[1] for branch in eqn.params["branches"]))
    text = f"h.chosen({branches}, {{0}}, {_listed(1, 1 + len(refs))})"
    return many(w, eqn, text, (index, *full))
