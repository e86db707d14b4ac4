"""Loads of seas that a graphics processor makes by itself, against their sums in numpy."""

import numpy as np
import pytest

from device_here import DeviceHere, as_ptx
from swelltree.jit.ensemble import rows as rows_of_cases
from swelltree.jit.ensemble.rows import of_first_half
from swelltree.studies.batch.gpu_wave_sums import (
    GROUP,
    HarmonicSums,
    Waves,
    forces_text,
    refined_text,
    refining_weights,
    sums_text,
)

CASES, COUNT, N, HIGHEST, POINTS = 35, 17, 12, 2.4, 90


def built(short=False, columns=None):
    """Waves of general kind, loads on the fine grid and what they should be."""
    rng = np.random.default_rng(3)
    omega = rng.uniform(0.2, HIGHEST, (CASES, COUNT))
    grid = np.linspace(-0.01, HIGHEST + 0.01, 2000)
    table = np.empty((len(grid), N, 2))
    size, delay = rng.uniform(1.0, 5.0, N), rng.uniform(-4.0, 4.0, N)

    def transfer(w):
        return size * np.exp(1j * w[..., None] * delay) / (1.0 + w[..., None] ** 2)

    table[..., 0], table[..., 1] = transfer(grid).real, transfer(grid).imag
    amplitude = rng.normal(size=omega.shape) + 1j * rng.normal(size=omega.shape)
    ramp = np.where(np.arange(CASES) % 3 == 0, 0.0, 310.0)
    place = (omega - grid[0]) / (grid[1] - grid[0])
    device, step = DeviceHere(), 2.0 * np.pi / HIGHEST / 20.0
    waves = Waves(omega, place, amplitude, ramp)
    groups = -(-CASES // GROUP)
    table = table.reshape(len(grid), -1)
    sums = HarmonicSums(device, waves, table, step, POINTS, groups, short, columns)
    own, force, rate = 2 * POINTS * N + 7, 5, 5 + POINTS * N
    lanes = device.room(groups * own * GROUP)
    begin = 300.0
    sums.fill(begin, lanes, own, [force, rate])
    rows = lanes.numbers.reshape(groups, own, GROUP)
    rows = of_first_half(rows) if short else rows
    rows = rows.transpose(0, 2, 1).reshape(-1, own)[:CASES]
    found = [rows[:, k : k + POINTS * N].reshape(CASES, POINTS, N) for k in (force, rate)]
    t = begin + step * np.arange(POINTS)
    F = (transfer(omega) * amplitude[..., None])[:, None]
    turned = np.exp(-1j * omega[:, None, :, None] * t[:, None, None])
    value = (F * turned).sum(2).real
    change = (-1j * omega[:, None, :, None] * F * turned).sum(2).real
    length = np.where(ramp > 0, ramp, 1.0)[:, None]
    grows = (ramp[:, None] > 0) & (t < ramp[:, None])
    r = np.where(grows, 0.5 - 0.5 * np.cos(np.pi * t / length), 1.0)[..., None]
    r_rate = np.where(grows, 0.5 * np.pi / length * np.sin(np.pi * t / length), 0.0)[..., None]
    return found, (r * value, r * change + r_rate * value)


@pytest.mark.parametrize(("short", "near"), [(False, 1e-6), (True, 1e-6)])
def test_loads_and_rates_are_the_sums_of_the_waves(short, near):
    found, right = built(short)
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=near * np.abs(other).max())


@pytest.mark.parametrize("columns", [(1,), (0, 3), (0, 2, 3, 4, 7, 8, 11)])
def test_loads_that_are_not_read_are_not_made(columns):
    """One, few, and more than a thread has."""
    found, right = built(columns=columns)
    rest = [d for d in range(N) if d not in columns]
    for one, other in zip(found, right, strict=True):
        near = 1e-6 * np.abs(other).max()
        np.testing.assert_allclose(one[..., columns], other[..., columns], rtol=0, atol=near)
        assert np.isnan(one[..., rest]).all()


def test_weights_keep_every_frequency_of_the_band():
    weights, at = refining_weights(), np.arange(14) - 6
    w = np.linspace(0.0, 2 * np.pi / 5, 50)[:, None]
    for r in range(4):
        value, rate = (np.exp(1j * w * at) @ weights[r]).T
        right = np.exp(1j * w[:, 0] * r / 4)
        assert np.abs(value - right).max() < 1e-6
        assert np.abs(rate - 1j * w[:, 0] * right).max() < 2e-6


def test_the_kernels_are_ptx_without_memory_of_their_own():
    for text in (forces_text(N), sums_text(N), refined_text(tuple(range(N)), N, True)):
        ptx = as_ptx(text)
        assert ".visible .entry run(" in ptx
        assert ".local" not in ptx


@pytest.mark.parametrize("at_once", [1, 300, 10**6])
@pytest.mark.parametrize(("cases", "groups"), [(1, 1), (64, 2), (33, 4), (97, 8)])
def test_cases_lie_side_by_side_and_the_last_fills_groups_up(monkeypatch, at_once, cases, groups):
    monkeypatch.setattr(rows_of_cases, "AT_ONCE", at_once)
    rows = np.random.default_rng(3).normal(size=(cases, 5))
    found = rows_of_cases.grouped(rows, groups).reshape(groups, 5, GROUP)
    for case in range(groups * GROUP):
        group, lane = divmod(case, GROUP)
        np.testing.assert_array_equal(found[group, :, lane], rows[min(case, cases - 1)])
