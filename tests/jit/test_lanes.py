"""Programs of several cases side by side against the same cases by XLA, one by one."""

import numpy as np
import pytest

from made_programs import ARRAYS, ELEMENTWISE, UNTIL
from swelltree.jit.backend import jax, jnp
from swelltree.jit.cuda import ptx_of
from swelltree.jit.ensemble.gpu_runs import GpuProgram
from swelltree.jit.ensemble.lane_runs import LaneProgram
from swelltree.jit.ensemble.programs import Cases, PerCase
from threads_here import ThreadsHere

ALL = ELEMENTWISE | ARRAYS | UNTIL
# its zeros have signs of their own: a product with a known zero has none
ALL.pop("order of sorting")


def cases(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.4, 1.4, (count, 4))


def equal(ours, theirs):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        b = np.asarray(b)
        size = np.max(np.abs(np.where(np.isfinite(b), b, 0.0)), initial=1.0)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("name", ALL)
def test_lanes_have_the_values_of_single_cases(name):
    """Seven cases: two registers, one of them not full; a shared number beside."""
    x, shared, own = cases(7), np.array([0.3, -0.2, 0.9, 0.1]), cases(7, 1)
    function = ALL[name]

    def both(fixed, s, x, t):
        shared, own = fixed
        first = function(x + 0.0), function(shared), function(x * s + own * t[0])
        return 0.9 * x, jax.tree.map(lambda a: a[None], first)

    program = LaneProgram(both, width=4)
    specified = Cases((shared, PerCase(list(own))), np.array(0.7), x, 7)
    times = [np.array([0.1]), np.array([0.4])]
    assert program.unsupported_reason(specified, times[0]) == ""
    state, ours = program.run(specified, times)
    rows = []  # not compiled: XLA 0.10.2 reads a window that it has overwritten ("new window")
    for k in range(7):
        y, found = jnp.asarray(x[k]), []
        for t in times:
            y, out = both((jnp.asarray(shared), jnp.asarray(own[k])), np.array(0.7), y, t)
            found.append(out)
        rows.append((y, jax.tree.map(lambda *a: np.concatenate(a), *found)))
    equal((state, ours), jax.tree.map(lambda *rows: np.stack(rows), *rows))


@pytest.mark.parametrize("name", ALL)
def test_threads_have_the_values_of_single_cases(name):
    """The text for graphics processors: run here, and translated to PTX."""
    x, shared, own = cases(5), np.array([0.3, -0.2, 0.9, 0.1]), cases(5, 1)
    function = ALL[name]

    def both(fixed, s, x, t):
        shared, own = fixed
        first = function(x + 0.0), function(shared), function(x * s + own * t[0])
        return 0.9 * x, jax.tree.map(lambda a: a[None], first)

    specified, times = Cases((shared, PerCase(list(own))), np.array(0.7), x, 5), np.array([0.1])
    ours = ThreadsHere(both).run(specified, [times])
    rows = [
        both((jnp.asarray(shared), jnp.asarray(own[k])), 0.7, jnp.asarray(x[k]), times)
        for k in range(5)
    ]
    equal(ours, jax.tree.map(lambda *rows: np.stack(rows), *rows))
    ptx = ptx_of(GpuProgram(both).needed(specified, times).text)
    assert ".visible .entry run(" in ptx


def test_one_program_serves_any_number_of_cases_and_any_numbers():
    traced = []

    def step(k, s, x, t):
        traced.append(1)
        return x * k + s, (x * t)[None]

    program = LaneProgram(step, width=4)
    for count in (1, 4, 9):
        specified = Cases(np.array(1.5 + count), np.array(0.2), cases(count), count)
        state, _ = program.run(specified, [np.array(0.1)])
        np.testing.assert_allclose(state, cases(count) * (1.5 + count) + 0.2, rtol=1e-14)
    assert len(traced) == 1
