"""Derivatives of moored runs, equilibrium included."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import swelltree as sw
from swelltree.mooring.dynamic.lines import lines_of


@pytest.mark.slow
def test_gradient_of_a_moored_run_is_that_of_finite_differences():
    body = sw.Body("float", mass=6e4, inertia=(2e5, 2e5, 2e5), displaced_volume=65.0)
    chain = sw.LineType("chain", 0.08, 40.0, EA=1e8, damping_ratio=0.5)
    lines = [
        sw.Line(
            f"l{k}",
            (100 * np.cos(a), 100 * np.sin(a), -40),
            body.at(2 * np.cos(a), 2 * np.sin(a), 0),
            107.0,
            chain,
            segments=4,
        )
        for k, a in enumerate((0.0, 2.1, 4.2))
    ]
    plane = {"Heave": 1e5, "Roll": 2e5, "Pitch": 2e5}
    system = sw.System(
        "moored",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=40.0),
        lines=lines,
        moorings=[sw.LinearMooring("plane", body, plane)],
    )
    model = sw.compile(system)
    wave = sw.RegularWave(amplitude=1.0, period=8.0)
    start = sw.moored_start(model)
    when = {"duration": 2.0, "output_step": 0.25, "step": 0.125}

    def stiffened(x):
        lines = lines_of(model)
        arrays = replace(lines.arrays, EA=lines.arrays.EA * x)
        return model.with_effect(replace(lines, arrays=arrays))

    # the pull of the first sample is that of the first step in traced runs
    def cost(x):
        run = sw.simulate_traced(stiffened(x), wave, start=start, **when)
        return (run["fairlead_tension"][1:] ** 2).mean() / 1e8

    def by_numbers(x):
        run = sw.simulate(stiffened(x), wave, **when)
        return float((run.fairlead_tension[1:] ** 2).mean()) / 1e8

    value, slope = jax.jit(jax.value_and_grad(cost))(1.0)
    step = 1e-4
    expected = (by_numbers(1.0 + step) - by_numbers(1.0 - step)) / (2.0 * step)
    assert float(value) == pytest.approx(by_numbers(1.0), rel=1e-6)
    assert float(slope) == pytest.approx(expected, rel=1e-4)
