"""Products of matrices that all cases share with numbers of their own."""

import re

import numpy as np
import pytest

from device_here import as_ptx
from swelltree.jit import text
from swelltree.jit.cuda import ptx_of
from swelltree.jit.ensemble.gpu_runs import GpuProgram
from swelltree.jit.ensemble.lane_runs import LaneProgram
from swelltree.jit.ensemble.programs import Cases, columns_read, multiple
from swelltree.jit.graph import Graph
from threads_here import ThreadsHere

RNG = np.random.default_rng(5)
SIZES = {"many sums": (110, 36), "many weights": (20, 200), "short": (12, 14)}


def matrix(rows, columns, kind):
    """All numbers, those of two halves that do not know each other, or a column of zeros too."""
    M = RNG.uniform(-1.0, 1.0, (rows, columns))
    if kind != "full":
        M[::2, ::2] = M[1::2, 1::2] = 0.0
    if kind == "empty row":
        M[3] = 0.0
    return M


def doubled(fixed, shared, x, times):
    """Two products with one matrix, the second of sums; and their results once more."""
    y = fixed @ x
    z = fixed @ (2.0 * x - 0.3 * times[0])
    return 0.5 * x, ((y - shared * z)[None], (y * z).sum()[None])


def right(M, x, times):
    y = x @ M.T
    z = (2.0 * x - 0.3 * times[0]) @ M.T
    return 0.5 * x, ((y - 0.7 * z)[:, None], (y * z).sum(1)[:, None])


@pytest.mark.parametrize("kind", ["full", "halves", "empty row"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("program", [LaneProgram, ThreadsHere])
def test_products_are_those_of_numpy(program, size, kind):
    M, times = matrix(*SIZES[size], kind), np.array([0.4])
    x = RNG.normal(size=(5, M.shape[1]))
    state, (series, sums) = program(doubled).run(Cases(M, np.array(0.7), x, 5), [times])
    after, (all_series, all_sums) = right(M, x, times)
    for found, value in ((state, after), (series, all_series), (sums, all_sums)):
        np.testing.assert_allclose(found, value, rtol=0, atol=1e-13 * np.abs(value).max())


@pytest.mark.parametrize("program", [LaneProgram, ThreadsHere])
def test_a_matrix_may_multiply_a_vector_of_each_case_and_then_a_shared_one(program):
    M, shared, x = matrix(20, 14, "full"), RNG.normal(size=14), RNG.normal(size=(5, 14))

    def both(fixed, u, x, times):
        own, same = fixed @ x, fixed @ u
        return x, (times[0] * own + same)[None]

    _, found = program(both).run(Cases(M, shared, x, 5), [np.array([0.3])])
    np.testing.assert_allclose(found[:, 0], 0.3 * x @ M.T + M @ shared, rtol=0, atol=1e-13)


@pytest.mark.parametrize("short", [False, True])
def test_long_products_are_loops_over_numbers_that_a_block_shares(short):
    M = matrix(110, 36, "halves")
    cases = Cases(M, np.array(0.7), RNG.normal(size=(5, 36)), 5)
    written = GpuProgram(doubled, short=short).needed(cases, np.array([0.4]))
    assert len(written.layout.constants["near"]) == 2 * np.count_nonzero(M)
    assert set(written.layout.constants["near"]) <= set(range(M.size * 2))
    ptx = as_ptx(written.text)
    assert ".shared .align 16" in ptx
    assert "bar.sync" in ptx or "barrier.sync" in ptx
    # where floats have four bytes, what times alone are in has eight, and nothing else
    long = len(re.findall(r"(fma|mul|add)\.(rn\.)?f64", ptx))
    assert long <= 4 if short else long > 36


def test_what_has_no_room_in_a_block_is_read_from_afar():
    M = matrix(110, 80, "full")
    cases = Cases(M, np.array(0.7), RNG.normal(size=(5, 80)), 5)
    written = GpuProgram(doubled).needed(cases, np.array([0.4]))
    assert len(written.layout.constants["far"]) >= M.size
    assert ".entry run(" in as_ptx(written.text)


def test_columns_that_are_read_follow_from_places_and_steps():
    graph = Graph()
    index = graph.row_number(graph.root)
    twelve = graph.op("mul", index, graph.constant(12, "i8"))
    both = graph.op("add", twelve, graph.constant(24, "i8"))
    assert [multiple(graph, a) for a in (index, twelve, both)] == [1, 12, 12]
    read = frozenset({(40, 2, 12), (40, 20, 24), (40, 3, 0), (90, 5, 12)})
    assert columns_read(read, 40, 12) == (2, 3, 8)
    # where a step is not one of rows, all of them may be meant
    assert columns_read(read | {(40, 0, 1)}, 40, 12) == tuple(range(12))


@pytest.mark.parametrize("lines", range(20, 60, 3))
def test_loops_are_whole_wherever_the_text_is_parted(monkeypatch, lines):
    """Long texts go on in new blocks after so many lines, none of which ends within a loop's."""
    monkeypatch.setattr(text, "PART", lines)
    M = matrix(110, 36, "halves")
    cases = Cases(M, np.array(0.7), RNG.normal(size=(5, 36)), 5)
    written = GpuProgram(doubled, short=True).needed(cases, np.array([0.4]))
    assert ".entry run(" in ptx_of(written.text)
