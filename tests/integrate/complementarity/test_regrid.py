"""Segments of a line on a winch: splits and merges keep mass, momentum, stretch and balance."""

from dataclasses import replace

import numpy as np
import pytest

from swelltree.integrate.complementarity.lines.regrid import Grid, regridded, sums
from swelltree.jit import jax
from swelltree.mooring.dynamic.arrays import stack_lines

L, RHO, EA, g, LOAD, H = 2.0, 5.0, 1e6, 9.81, 4e3, 0.01
SEGMENTS, IDLE = 3, 4


def hanging(first_rest, speed=0.5, EA=EA):
    """A rope at rest under a load, one step after the winch began to run."""
    line = {"segments": SEGMENTS, "rest_length": L, "EA": EA, "mass_per_length": RHO}
    arrays = stack_lines([line], SEGMENTS + IDLE)
    n = arrays.n

    def nodes(rest):
        lengths = np.array([rest, *[L] * (SEGMENTS - 1)])
        # each segment carries the load, half of itself and all that is below
        below = np.concatenate([np.cumsum(lengths[::-1])[::-1][1:], [0.0]])
        pull = g * (LOAD + RHO * (below + 0.5 * lengths))
        z = -np.cumsum(lengths * (1.0 + pull / EA))
        q = np.zeros((1, n + 1, 3))
        q[0, IDLE + 1 :, 2] = z
        return q, pull

    (q, pull), (q_last, _) = nodes(first_rest), nodes(first_rest - H * speed)
    mu = np.zeros((1, n))
    mu[0, IDLE:] = pull
    grid = Grid(
        first=np.array([IDLE], np.int32),
        rest_last=np.array([first_rest - H * speed]),
        rest=np.array([first_rest]),
        q_last=q_last,
        q=q,
        mu=mu,
        nu=np.zeros((1, n + 1)),
    )
    return arrays, grid


@jax.jit
def changed(arrays, grid):
    down = np.array([[0.0, 0.0, -RHO * g]])
    one = np.array([L])
    new, kind = regridded(arrays, grid, one, 1.5 * one, 0.5 * one, down)
    speed = np.array([0.5])
    weight = np.array([g])
    return new, kind, sums(arrays, grid, speed, weight, H), sums(arrays, new, speed, weight, H)


def tensions(grid, EA=EA):
    k = int(grid.first[0])
    rest = np.array([float(grid.rest[0]), *[L] * (grid.mu.shape[1] - k - 1)])
    length = np.linalg.norm(np.diff(np.asarray(grid.q)[0, k:], axis=0), axis=1)
    return EA * (length - rest) / rest


def test_split_puts_the_node_where_it_hangs_in_balance():
    arrays, grid = hanging(3.01)
    new, kind, before, after = changed(arrays, grid)
    assert (float(kind[0]), int(new.first[0])) == (1.0, IDLE - 1)
    assert float(new.rest[0]) == pytest.approx(1.01)
    _, there = hanging(3.01)
    # exact tensions of a rope with one node more
    lengths = np.array([1.01, *[L] * SEGMENTS])
    below = np.concatenate([np.cumsum(lengths[::-1])[::-1][1:], [0.0]])
    exact = g * (LOAD + RHO * (below + 0.5 * lengths))
    assert tensions(new) == pytest.approx(exact, rel=1e-7)
    assert np.asarray(new.mu)[0, IDLE - 1 :] == pytest.approx(exact, rel=1e-7)
    # all but the new node stays
    stored = np.arange(arrays.n + 1) != IDLE
    assert np.array_equal(np.asarray(new.q)[0, stored], there.q[0, stored])
    assert np.asarray(after.momentum) == pytest.approx(np.asarray(before.momentum), rel=1e-2)


def test_split_keeps_weight_and_stretch():
    _, _, before, after = changed(*hanging(3.01, speed=0.0))
    assert float(after.energy[0]) == pytest.approx(float(before.energy[0]), rel=1e-6)


def test_merge_takes_back_what_a_split_did():
    arrays, grid = hanging(3.01)
    split, _, _, complete = changed(arrays, grid)
    # the winch turns round: the first segment becomes short
    short = replace(
        split,
        rest=split.rest - 0.02,
        rest_last=split.rest_last - 0.02,
    )
    new, kind, before, after = changed(arrays, short)
    assert (float(kind[0]), int(new.first[0])) == (-1.0, IDLE)
    assert float(new.rest[0]) == pytest.approx(2.99)
    assert np.asarray(new.q) == pytest.approx(grid.q, abs=1e-12)
    assert np.asarray(after.momentum) == pytest.approx(np.asarray(before.momentum), rel=0.02)
    assert float(complete.energy[0]) != 0.0


def test_nothing_happens_in_between_nor_without_room():
    arrays, grid = hanging(2.9)
    new, kind, _, _ = changed(arrays, grid)
    assert float(kind[0]) == 0.0
    assert np.array_equal(np.asarray(new.q), grid.q)
    full = replace(grid, first=np.array([0], np.int32), rest=np.array([9.0]))
    new, kind, _, _ = changed(arrays, full)
    assert float(kind[0]) == 0.0
    last = replace(grid, first=np.array([arrays.n - 1], np.int32), rest=np.array([0.5]))
    new, kind, _, _ = changed(arrays, last)
    assert float(kind[0]) == 0.0


def test_inextensible_segments_split_by_length():
    arrays, grid = hanging(3.01, EA=np.inf)
    new, _, _, _ = changed(arrays, grid)
    length = np.linalg.norm(np.diff(np.asarray(new.q)[0, IDLE - 1 :], axis=0), axis=1)
    assert length == pytest.approx([1.01, L, L, L], abs=1e-12)
