"""Runs by the two-step scheme in machine code against the same runs by XLA."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import swelltree as sw
from line_systems import ROPE, SEA, dropped, lowered, moored, pipe, two_bodies
from swelltree.jit import XLA_REQUESTED
from swelltree.studies.engines import engine_of


def hull_on_lines():
    """A float on its actual wetted hull, on two dynamic lines."""
    body = sw.Body("box", hull=sw.Box(8.0, 5.0, 4.0, 2.0, panel_size=1.2), com=(0.0, 0.0, -0.4))
    lines = [
        sw.Line("east", (37.0, 3.0, -25.0), body.at(3.5, 0.2, -1.0), 42.0, ROPE, segments=6),
        sw.Line("west", (-30.0, 20.0, -25.0), body.at(-3.5, 1.0, -1.0), 46.0, ROPE, segments=6),
    ]
    system = sw.System(
        "hull",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        lines=lines,
        water=sw.Water(depth=25.0),
    )
    return sw.compile(system, nonlinear=True)


def swinging_wire():
    """A load on a wire of bodies and joints, pushed across."""
    load = sw.Body("load", 300.0, (30.0, 40.0, 50.0), position=(3.0, 0.0, -8.0))
    kind = sw.LineType("wire", 0.04, 8.0, EA=2e5, BA=4e3)
    return sw.System(
        "pendulum",
        [load],
        [],
        [sw.AppliedForce("push", load, (0.0, 900.0, 0.0))],
        lines=[sw.Line("wire", (0, 0, 0), load, 8.5, kind, "multibody", segments=3)],
        water=sw.Water(rho=1e-9),
    )


slow = pytest.mark.slow
CASES = {
    "dropped": (dropped, None, {"duration": 2.0}),
    "moored": (lambda: moored(8), SEA, {"step": 0.04}),
    "winch": (lowered, None, {"duration": 3.0, "step": 0.02}),
    "rigid bed": (lambda: moored(12, sw.Seabed(friction=0.5), "inextensible"), SEA, {}),
    "interior point": (
        lambda: moored(7, sw.Seabed(), "inextensible"),
        SEA,
        {"solver": "interior_point", "duration": 0.8},
    ),
    "few segments": (lambda: moored(2), SEA, {}),
    "two bodies": (two_bodies, SEA, {"start": "described"}),
    "two bodies, tree": (
        two_bodies,
        SEA,
        {"start": "described", "formulation": "path_matrix"},
    ),
    "pipe": (pipe, None, {"duration": 2.5, "step": 0.01}),
    "hull": (hull_on_lines, SEA, {"step": 0.04, "duration": 0.8}),
    "wire": (swinging_wire, None, {"solver": "two_step", "step": 0.01, "duration": 0.5}),
    "wire, tree": (
        swinging_wire,
        None,
        {"solver": "two_step", "step": 0.01, "duration": 0.5, "formulation": "path_matrix"},
    ),
}
USUAL = ("dropped",)


def compiled(make):
    system = make()
    return sw.compile(system) if isinstance(system, sw.System) else system


def both(monkeypatch, name):
    make, sea, how = CASES[name]
    model = compiled(make)
    how = {"duration": 1.6, "output_step": 0.08, **how}
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    found = sw.simulate(model, sea, **how)
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    return found, sw.simulate(model, sea, **how)


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("name", [x if x in USUAL else pytest.param(x, marks=slow) for x in CASES])
def test_run_by_llvm_is_that_by_xla(monkeypatch, name):
    found, right = both(monkeypatch, name)
    assert found.attrs["engine"] == "LLVM"
    assert right.attrs["engine"] == f"XLA: {XLA_REQUESTED}"
    assert found.attrs["iterations_per_step"] == pytest.approx(
        right.attrs["iterations_per_step"], rel=0.02
    )
    energy = max(
        float(np.abs(right[x].values).max(initial=0.0))
        for x in ("kinetic_energy", "potential_energy")
    )
    for channel, x in right.data_vars.items():
        if x.dtype.kind != "f" or not x.size or channel in ("residual", "complementarity"):
            continue
        size = max(float(np.nanmax(np.abs(x))), 1.0)
        size = max(energy, 1.0) if channel == "energy_residual" else size
        np.testing.assert_allclose(
            found[channel], x, rtol=1e-9, atol=1e-9 * size, err_msg=str(channel)
        )


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_resumed_run_by_llvm_is_the_same_to_the_bit(monkeypatch):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    model = compiled(lambda: moored(8))
    how = {"output_step": 0.08, "step": 0.04}
    full = sw.simulate(model, SEA, duration=1.6, **how)
    first = sw.simulate(model, SEA, duration=0.8, **how)
    rest = sw.simulate(model, SEA, duration=0.8, start=first, **how)
    assert rest.attrs["engine"] == "LLVM"
    count = rest.sizes["time"]
    assert count > 5
    for name in ("position", "line_position", "line_tension"):
        later = full[name].values[-count:]
        np.testing.assert_array_equal(rest[name].values[1:], later[1:], err_msg=name)


EXAMPLES = {
    "moorings of the benchmark": lambda: moored(20),
    "network": lambda: _example("mooring_network").network(),
}


def _example(name):
    path = Path(__file__).parents[3] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_with_dynamic_lines_are_machine_code(monkeypatch, name):
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    model = sw.compile(EXAMPLES[name]())
    run = sw.SimulateStudy("run", duration=5.0, output_step=0.5, sea=SEA)
    assert engine_of(model, run) == "LLVM"
