"""Arrays whose rows are computed in loops, against XLA."""

import numpy as np
import pytest

import swelltree.jit.program as program_room
from swelltree.jit.backend import jax, jnp
from swelltree.jit.lowering import ROW_RULES, RULES
from swelltree.jit.native import lane_width
from swelltree.jit.program import Program
from swelltree.jit.rows.wide import text_of


def axes_of(lines, n, more=()):
    """First axes of arrays over nodes and segments of lines."""
    named = {(m, k): n + 1 for m in {1, 2, lines} for k in (n - 1, n, n + 1)}
    flat = [lines * n, lines * (n + 1), 3 * lines * (n + 1), *more]
    return named | {(k,): k for k in flat} | {(1, k): k for k in flat}


def shifted(a, q, m, k):
    """Differences of nodes at segments, and their sums at nodes."""
    d = q[:, 1:] - q[:, :-1]
    zero = jnp.zeros_like(d[:, :1])
    t = jnp.concatenate([zero, d], 1) + jnp.concatenate([d, zero], 1)
    size = jnp.sqrt((t**2).sum(-1) + 1e-3)
    return {"d": d, "t": t, "size": size, "unit": t / size[..., None], "pull": m[..., None] * d}


def masked(a, q, m, k):
    """Nodes that are in use, by whole numbers; sums, extremes and truths over them."""
    node = jnp.arange(q.shape[1])
    inner = (node > k[:, None]) & (node < q.shape[1] - 1)
    x = jnp.where(inner[:, :, None], jnp.sin(q) * a, 0.0)
    return {
        "x": x,
        "of_lines": x.sum((1, 2)),
        "largest": jnp.abs(x).max((1, 2)),
        "least": x.min(0),
        "product": (1.0 + 0.01 * x).prod(1),
        "all": inner.all(1),
        "any": inner.any(),
        "count": inner.astype(int).sum(1),
        "first": jnp.argmax(x[..., 0], 1),
    }


def moved(a, q, m, k):
    """Numbers that only move, then are used."""
    two = jnp.stack([q[..., 0], q[..., 2]], -1)
    rows = q[np.array([q.shape[0] - 1, 0])]
    return {
        "turned": jnp.transpose(q, (1, 0, 2)) * 2.0,
        "back": q[:, ::-1] + 1.0,
        "flat": (q.reshape(-1, 3) * a).sum(1),
        "padded": jnp.pad(m, ((0, 0), (1, 0))) * 3.0,
        "two": two * a,
        "rows": rows + 1.0,
        "set": q.at[np.array([0])].set(2.0 * rows[:1]),
        "repeated": jnp.tile(m, (1, 1)) * jnp.ones_like(m),
        "ends": jnp.concatenate([q[:, :1] * a, q[:, 1:-1] * 3.0, q[:, -1:]], 1),
        "above": jnp.stack([m, 2.0 * m], 0).sum(0),
    }


def swept(a, q, m, k):
    """A sweep along the nodes of all lines at once, forwards and backwards."""
    outer = q[:, :, :, None] * q[:, :, None, :] + jnp.eye(3) * a

    def one(carry, x):
        carry = 0.5 * carry + jnp.sum(x, -1)
        return carry, (carry * x[..., 0], x[..., 1])

    rows = jnp.swapaxes(outer, 0, 1)[1:-1]
    last, (u, v) = jax.lax.scan(one, jnp.zeros((q.shape[0], 3)), rows)
    w, _ = jax.lax.scan(one, last, rows, reverse=True)
    return {"u": jnp.swapaxes(u, 0, 1) * 2.0, "v": v, "w": w}


def carried_on(a, q, m, k):
    """Arrays that trade places in a loop, a table of rows, and a log."""

    def more(state):
        return (state[0] < 7) & (jnp.abs(state[1]).max() < 1e9)

    def body(state):
        i, now, last, table, log = state
        new = 1.5 * now - 0.5 * last + 0.01 * jnp.cos(now)
        row = jnp.where(i % 2 == 0, now.reshape(-1), table[i % 5])
        table = jax.lax.dynamic_update_index_in_dim(table, row, i % 5, 0)
        for _ in range(2):
            entry = jnp.stack([1.0 * i, now[0, 0, 0], a, log[i, 0]])
            log = jax.lax.dynamic_update_index_in_dim(log, entry, 3 * i, 0)
        log = jnp.where(i < 5, log, 2.0 * log)
        new = jax.lax.cond(i == 3, lambda x: 2.0 * x, lambda x: x, new)
        return i + 1, new, now, table, log

    table, log = jnp.zeros((5, q.size)), jnp.zeros((40, 4))
    return jax.lax.while_loop(more, body, (0, q, 0.9 * q, table, log))


@pytest.mark.parametrize("sizes", [(3, 20), (1, 9), (4, 7), (2, 33)])
@pytest.mark.parametrize("function", [shifted, masked, moved, swept, carried_on])
def test_rows_in_loops_are_those_of_jax(monkeypatch, function, sizes):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    lines, n = sizes
    rng = np.random.default_rng(n)
    args = (
        np.array(1.3),
        rng.normal(size=(lines, n + 1, 3)),
        rng.normal(size=(lines, n)),
        rng.integers(0, 4, lines),
    )
    program = Program(function, rows=lambda *_: axes_of(lines, n, more=(40,)))
    engine, found = program.run(*args)
    assert engine == "LLVM"
    right = jax.jit(function)(*args)
    assert jax.tree.structure(found) == jax.tree.structure(right)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def sweep_and_back(a, q, m, k):
    """A sweep that carries matrices, vectors and numbers of all lines, and one back over it."""
    outer = q[:, :, :, None] * q[:, :, None, :] + jnp.eye(3) * a
    first = jnp.swapaxes(outer, 0, 1)[:-1], jnp.swapaxes(m, 0, 1), jnp.arange(m.shape[1])

    def ahead(carry, x):
        Z, v, s = carry
        K, mu, i = x
        used = i > k
        new = jnp.sum(Z[:, :, :, None] * K[:, None], 2) / (1.0 + s * s)[:, None, None] + K
        turned = jnp.cross(v, new[:, 0]) + jnp.sin(mu)[:, None]
        s = jnp.where(used, jnp.sqrt(1.0 + jnp.sum(turned**2, -1)), a)
        new = jnp.where(used[:, None, None], new / s[:, None, None], 0.1 * jnp.eye(3))
        return (new, turned / s[:, None], s), (v, new, s * mu)

    def back(carry, x):
        v, new, s = x
        carry = 0.5 * carry + jnp.sum(new * v[:, None], -1) * s[:, None]
        return carry, carry * s[:, None]

    start = jnp.zeros((*q.shape[:1], 3, 3)) + 0.1, q[:, 0], jnp.ones(q.shape[0])
    (Z, v, s), stored = jax.lax.scan(ahead, start, first)
    last, ways = jax.lax.scan(back, v, stored, reverse=True)
    rows = jnp.swapaxes(ways, 0, 1) * m[:, :, None] + jnp.swapaxes(stored[0], 0, 1)
    return {"Z": Z, "s": s, "last": last, "rows": rows, "kept": stored[1], "sum": rows.sum((0, 1))}


@pytest.mark.parametrize("lines", [2, 3, 5, 8, 9])
def test_sweeps_of_several_lines_are_those_of_jax(monkeypatch, lines):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    texts, n = [], 11
    monkeypatch.setattr(
        program_room, "text_of", lambda graph: texts.append(text_of(graph)) or texts[-1]
    )
    monkeypatch.setattr(program_room, "entry_of", lambda *_: None)
    rng = np.random.default_rng(lines)
    args = (
        np.array(1.3),
        rng.normal(size=(lines, n + 1, 3)),
        rng.normal(size=(lines, n)),
        rng.integers(0, 4, lines),
    )
    program = Program(sweep_and_back, rows=lambda *_: axes_of(lines, n))
    engine, found = program.run(*args)
    assert engine == "LLVM"
    for name, right in jax.jit(sweep_and_back)(*args).items():
        np.testing.assert_allclose(found[name], right, rtol=1e-11, atol=1e-12, err_msg=name)
    lanes = {2: 2, 3: 4, 5: 8, 8: 8}.get(lines)  # nine go one by one
    if lanes is not None and lanes < lane_width():
        assert f"fdiv contract <{lanes} x double>" in texts[0]


def test_every_rule_of_rows_has_one_of_numbers():
    assert set(ROW_RULES) <= set(RULES)


def test_a_program_serves_numbers_that_are_zero_where_it_took_nothing_for_granted(monkeypatch):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    program = Program(lambda p, x: p["a"] * x + p["b"])
    x = np.arange(3.0)
    for a, b in ((2.5, 0.0), (0.0, 0.0), (1.0, 0.0)):
        p = {"a": np.array(a), "b": np.array(b)}
        np.testing.assert_array_equal(program(p, x), a * x + b)
    assert len({id(found) for found in program.programs.values()}) == 1
    p = {"a": np.array(2.5), "b": np.array(0.7)}
    np.testing.assert_allclose(program(p, x), 2.5 * x + 0.7)
    assert len({id(found) for found in program.programs.values()}) == 2
