"""Programs of several cases side by side against the same cases by XLA, one by one."""

import numpy as np
import pytest

from made_programs import ARRAYS, ELEMENTWISE, UNTIL
from swelltree.engine.backend import jax
from swelltree.engine.machine.many import ManyProgram

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
    x, shared = cases(7), np.array([0.3, -0.2, 0.9, 0.1])
    function = ALL[name]

    def both(s, x):
        return function(x), function(s), function(x * s + 0.05)

    program = ManyProgram(both, fixed=0, width=4)
    assert program.refusal((shared, x), [False, True]) == ""
    ours = program.run((shared, x), [False, True], 7)
    one = jax.jit(both)
    theirs = [one(shared, row) for row in x]
    equal(ours, jax.tree.map(lambda *rows: np.stack(rows), *theirs))
