"""Lines never create energy: shock in vacuum, chain on the floor."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from made_lines import led_lines, line_form, placed, stepped, straight

G = 9.81
TABLE = [[0, 0], [0.01, 1e5], [0.03, 1e6], [0.1, 1e7]]


def energy(run, mass, h):
    """Of lines and one junction, between the first step and the last [J]."""
    x = run.junctions[:, 0]
    v = np.diff(x, axis=0) / h
    own = 0.5 * mass * np.sum(v**2, -1) + mass * G * 0.5 * (x[1:, 2] + x[:-1, 2])
    reported = run.report
    lines = np.sum(reported.kinetic + reported.stored + reported.potential, 1)
    return 0.5 * (own[1:] + own[:-1]) + lines[1:]


@pytest.mark.parametrize(
    "law",
    [
        {"EA": 1e9},
        pytest.param({}, id="inextensible", marks=pytest.mark.slow),
        pytest.param({"stretch": TABLE}, id="table", marks=pytest.mark.slow),
        pytest.param({"EA": 1e9, "EI": 1e5}, id="bending", marks=pytest.mark.slow),
    ],
)
def test_kicked_mass_on_two_lines_in_vacuum_gains_no_energy(law):
    """A hard shock, segments going slack and taut: rises below 1e-11 of the kick's energy."""
    mass, kick = 2e4, np.array([3.0, 2.0, 4.0])
    axial = "elastic" if law else "inextensible"
    kind = sw.LineType("rope", 1e-3, 50.0, BA=0.0, **(law or {"EA": 1e9}))
    knot = sw.Junction("knot", (0, 0, -44), mass=mass)
    anchors = [(-90.0, 0, 0), (90.0, 0, 0)]
    lines = [
        sw.Line(f"line{k}", A, knot, 101.0, kind, segments=8, axial=axial)
        for k, A in enumerate(anchors)
    ]
    model = led_lines(lines, junctions=[knot])
    form = line_form(model, tolerance=5e-14)
    q = np.stack([straight(A, knot.position, 8) for A in anchors])
    start = placed(model, form, q, [knot.position])
    E0 = 0.5 * mass * np.sum(kick**2)
    for h in (0.05, 0.02):
        y_last = start.lines.y - h * kick
        q_last = q.copy()
        q_last[:, -1] = y_last
        state = replace(start, lines=replace(start.lines, y_last=y_last, q_last=q_last))
        run = stepped(model, h, 300, state, form)
        assert run.samples.solved.all()
        E = energy(run, mass, h)
        assert np.max(np.diff(E)) < 1e-11 * E0
        if law:
            assert np.ptp(E) < 1e-9 * E0  # undamped: nothing is lost either
            assert run.report.slack.any() or "EI" in law
        else:
            assert E[-1] < E[0] - 0.05 * E0  # plastic


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.4, 0.0])
def test_chain_swung_on_to_the_floor_gains_no_energy_and_stays_above(friction):
    mass, floor = 5.0, -20.0
    knot = sw.Junction("knot", (8, 0, floor + 4), mass=mass)
    kind = sw.LineType("chain", 1e-3, 10.0, EA=1e9)
    A = (0, 0, floor + 4)
    line = sw.Line("chain", A, knot, 8.0, kind, segments=8, axial="inextensible")
    seabed = sw.Seabed(friction=friction)
    water = sw.Water(rho=1e-9, depth=-floor)
    model = led_lines([line], junctions=[knot], seabed=seabed, water=water)
    start = placed(model, line_form(model), straight(A, knot.position, 8)[None], [knot.position])
    for h in (0.05, 0.01):
        run = stepped(model, h, 200, start, line_form(model, tolerance=1e-12))
        assert run.samples.solved.all()
        E = energy(run, mass, h)
        assert np.max(np.diff(E)) < 1e-6
        assert E[-1] < E[0] - 1000.0
        assert np.max(run.report.penetration) < 1e-8
        assert np.min(run.junctions[..., 2]) > floor - 1e-8
        assert np.max(run.report.length_violation) < 1e-8
        assert np.max(run.report.complementarity) < 1e-7 * 90 * G * 8
        assert run.report.grounded[-1].sum() >= 2
        assert (np.sum(run.report.friction_loss) > 100.0) == (friction > 0)
