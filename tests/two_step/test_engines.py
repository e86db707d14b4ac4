"""Runs by the two-step scheme in machine code against the same runs by XLA."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import swelltree as sw
from swelltree.engine.machine.program import ASKED
from swelltree.studies.time.engines import engine_of
from swelltree.validation.moorings.winches import hoist

SEA = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=7.0), beta=0.7, components=12, seed=4, ramp=1.0)
ROPE = sw.LineType("rope", 0.1, 12.0, EA=2e7, BA=2e5, Cdn=1.2, Cdt=0.1, Can=1.0)


def box(**more):
    return sw.Body("box", mass=2e3, inertia=(1.5e3, 2e3, 2.5e3), position=(0.3, -0.2, -4.0), **more)


def dropped():
    """A box that falls on a hard, sloping way onto its corners."""
    body = box(displaced_volume=0.8)
    corners = [(x, y, -0.5) for x in (-1.0, 1.0) for y in (-0.8, 0.8)]
    return sw.System(
        "dropped",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        contacts=[sw.SeabedContact("feet", body, corners)],
        water=sw.Water(depth=5.2),
        seabed=sw.Seabed(friction=0.3),
    )


def moored(segments, seabed=None, axial="elastic", kind=ROPE):
    """A box on three lines in general directions, partly on the ground, in a current."""
    body = box()
    held = sw.LinearMooring(
        "water", body, {"Heave": 2e4, "Roll": 5e4, "Pitch": 5e4}, pretension={"Heave": 2e3 * 9.81}
    )
    ends = [((28.0, 3.0, -20.0), (1, 0.1, -0.3)), ((-17.0, 24.0, -20.0), (-0.5, 0.8, -0.4))]
    ends.append(((-13.0, -26.0, -20.0), (-0.4, -0.9, -0.2)))
    lines = [
        sw.Line(f"l{k}", foot, body.at(*end), 36.0 + k, kind, segments=segments, axial=axial)
        for k, (foot, end) in enumerate(ends)
    ]
    return sw.System(
        "moored",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        moorings=[held],
        lines=lines,
        water=sw.Water(depth=20.0),
        current=sw.UniformCurrent(0.4, beta=0.5),
        seabed=seabed or sw.Seabed(stiffness=2e5, damping=2e4, friction=0.4),
    )


def two_bodies():
    """Two hinged bodies with a damper, a junction, and lines between all of them."""
    a = sw.Body("a", mass=2e3, inertia=(1e3, 2e3, 2e3), position=(0.2, 0.1, -3.0))
    b = sw.Body("b", mass=1e3, inertia=(5e2, 9e2, 9e2), position=(2.4, 0.1, -3.0))
    hinge = sw.Hinge("hinge", a.at(1.1, 0, 0), b.at(-1.1, 0, 0), axis=(0.1, 1.0, 0.2))
    held = [
        sw.LinearMooring(
            f"w{x.name}",
            x,
            {"Heave": 4e4, "Roll": 8e4, "Pitch": 8e4},
            damping={"Heave": 3e3, "Pitch": 5e3},
            pretension={"Heave": x.mass * 9.81},
        )
        for x in (a, b)
    ]
    clump = sw.Junction("clump", (1.0, 6.0, -9.0), mass=400.0, volume=0.1, drag_area=0.3)
    lines = [
        sw.Line("one", (14.0, 9.0, -20.0), clump, 18.0, ROPE, segments=5),
        sw.Line("two", clump, a.at(0, 0.5, -0.2), 8.5, ROPE, segments=6),
        sw.Line("three", (-19.0, -9.0, -20.0), b.at(0.2, -0.5, 0), 33.0, ROPE, segments=6),
    ]
    return sw.System(
        "two bodies",
        [a, b],
        [sw.Free("free", sw.WORLD, a), hinge],
        [sw.JointForce("damper", "hinge", damping=3e3)],
        moorings=held,
        lines=lines,
        junctions=[clump],
        water=sw.Water(depth=20.0),
        seabed=sw.Seabed(friction=0.2),
    )


def pipe():
    """A pipe that bends, paid out from a reel with a weight at its end, in a current."""
    kind = sw.LineType("pipe", 0.1, 10.0, EA=1e7, EI=1e5, BA=1e4, Cdn=1.2)
    end = sw.Junction("end", (3.0, 0.4, -10.0), mass=50.0)
    line = sw.Line("pipe", (0, 0, -10.0), end, 3.0, kind, segments=6, clamp_A=(1, 0, 0))
    stage = sw.Stage("pay_out", "reel", length=0.8, speed=0.6, ramp=0.3)
    return sw.System(
        "pipe",
        lines=[line],
        junctions=[end],
        winches=[sw.Winch("reel", line)],
        operations=[sw.Operation("lay", [stage])],
        current=sw.UniformCurrent(0.6, beta=1.1),
    )


def lowered():
    """A load on a winch that pays out and stops."""
    stages = [sw.Stage("pay_out", "winch", length=6.0, speed=2.5, ramp=0.4)]
    return hoist(stages, tip=sw.Harmonic(0.4, 2.0))


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
    assert right.attrs["engine"] == f"XLA: {ASKED}"
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
    whole = sw.simulate(model, SEA, duration=1.6, **how)
    first = sw.simulate(model, SEA, duration=0.8, **how)
    rest = sw.simulate(model, SEA, duration=0.8, start=first, **how)
    assert rest.attrs["engine"] == "LLVM"
    count = rest.sizes["time"]
    assert count > 5
    for name in ("position", "line_position", "line_tension"):
        later = whole[name].values[-count:]
        np.testing.assert_array_equal(rest[name].values[1:], later[1:], err_msg=name)


EXAMPLES = {
    "moorings of the benchmark": lambda: moored(20),
    "network": lambda: _example("mooring_network").network(),
}


def _example(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
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
