"""Lines cut into pieces between fixed points, bodies and junctions."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from swelltree.mooring.dynamic.lines import required_lines
from swelltree.mooring.network import line_network
from swelltree.multibody.build_layout import all_joints, build_layout

CHAIN, WIRE = sw.chain(0.1), sw.wire_rope(0.08)


def network(*lines, junctions=()):
    body = sw.Body("float", mass=1e5, inertia=(1e6, 1e6, 1e6))
    system = sw.System(
        "moored",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=50.0),
        lines=lines,
        junctions=junctions,
    )
    return line_network(system, build_layout(system, all_joints(system)), "dynamic")


def two_sections(name="bow"):
    sections = [sw.Section(CHAIN, 150.0), sw.Section(WIRE, 80.0)]
    return sw.Line(name, (-200, 0, -50), sw.Point("float", (4, 0, 0)), sections=sections)


def test_line_with_one_other_on_it_is_two_pieces_and_a_junction():
    side = sw.Line("side", (0, 200, -50), sw.OnLine("bow", 100.0), 260.0, CHAIN)
    found = network(two_sections(), side)
    assert [piece.name for piece in found.pieces] == ["bow [1]", "bow [2]", "side"]
    assert [knot.name for knot in found.junctions] == ["bow at 100 m"]
    low, high, other = found.pieces
    assert (low.A.kind, low.B.kind, high.A.kind, high.B.kind) == (
        *("fixed", "junction", "junction", "body"),
    )
    assert (other.A.kind, other.B.kind, other.B.index) == ("fixed", "junction", 0)
    assert low.is_first
    assert not low.is_last
    assert high.is_last
    assert found.of_line("bow") == (0, 1)
    # 13 segments of chain and 7 of wire as described
    shares = [
        [(part.type.name, part.length, part.segments) for part in p.parts] for p in (low, high)
    ]
    assert shares == [[(CHAIN.name, 100.0, 9)], [(CHAIN.name, 50.0, 4), (WIRE.name, 80.0, 7)]]


def test_lines_that_end_at_one_place_share_the_junction():
    sides = [
        sw.Line(n, (0, y, -50), sw.OnLine("bow", 100.0), 260.0, CHAIN)
        for n, y in (("p", 200), ("s", -200))
    ]
    found = network(two_sections(), *sides)
    assert len(found.junctions) == 1
    assert [piece.B.index for piece in found.pieces[2:]] == [0, 0]


def test_described_junction_keeps_its_weight():
    clump = sw.Junction("clump", (-100, 0, -45), mass=3000.0, volume=0.4)
    lines = [
        sw.Line("low", (-200, 0, -50), clump, 110.0, CHAIN),
        sw.Line("high", clump, sw.Point("float", (0, 0, 0)), 120.0, WIRE),
    ]
    found = network(*lines, junctions=[clump])
    assert (found.junctions[0].mass, found.junctions[0].volume) == (3000.0, 0.4)
    assert found.lines == ("low", "high")


def test_lines_of_two_models_at_a_junction_without_mass_are_refused():
    clump = sw.Junction("clump", (-100, 0, -45))
    lines = [
        sw.Line("low", (-200, 0, -50), clump, 110.0, CHAIN),
        sw.Line("high", clump, sw.Point("float", (0, 0, 0)), 120.0, WIRE, model="quasi_static"),
    ]
    body = sw.Body("float", mass=1e5, inertia=(1e6, 1e6, 1e6))
    free = sw.Free("free", sw.WORLD, body)
    system = sw.System("moored", [body], [free], lines=lines, junctions=[clump])
    with pytest.raises(sw.SwelltreeError, match=r"junction 'clump'.*it has no mass"):
        sw.compile(system)


@pytest.mark.parametrize("what", ["position", "tension"])
def test_a_line_without_a_shape_at_rest_is_told_and_not_started_slack(monkeypatch, what):
    from swelltree.mooring.dynamic import build as dynamic_lines

    body = sw.Body("float", 1e5, (1e6,) * 3)
    rope = sw.LineType("rope", mass_per_length=20.0, diameter=0.1, EA=1e7)
    line = sw.Line(
        "bow",
        type=rope,
        A=sw.WORLD.at(-80, 9, -60),
        B=body.at(-3, 1, 0),
        rest_length=104.0,
        segments=4,
        model="dynamic",
    )
    system = sw.System(
        "s", [body], [sw.Free("f", sw.WORLD, body)], lines=[line], water=sw.Water(depth=60.0)
    )
    solved = dynamic_lines.static_network

    def broken(*args):
        found = solved(*args)
        values = np.full_like(getattr(found.shapes[0], what), np.nan)
        return replace(found, shapes=(replace(found.shapes[0], **{what: values}),))

    assert required_lines(sw.compile(system)).tension.min() > 0
    monkeypatch.setattr(dynamic_lines, "static_network", broken)
    with pytest.raises(sw.SwelltreeError, match=r"line 'bow': no equilibrium shape .* 104 m betw"):
        sw.compile(system)


def test_junctions_of_floats_begin_where_they_are_described():
    """Catenaries keep their weight in water: a network on a thick float would begin in the air."""
    float_ = sw.LineType("float", 0.82, 133.0, EA=2e6)
    rope = sw.LineType("rope", 0.02, 0.4, EA=4e5)
    top, knot = sw.Junction("top", (-0.4, 1.5, 0.2)), sw.Junction("knot", (-0.8, 1.5, -0.4))
    lines = [sw.Line("float", knot, top, 0.63, float_, segments=3)]
    for k, angle in enumerate((0.4, 2.5, 4.6)):
        anchor = (14.0 * np.cos(angle), 14.0 * np.sin(angle), -16.0)
        lines.append(sw.Line(f"leg{k}", anchor, knot, 22.0, rope, segments=6))
    system = sw.System("s", lines=lines, junctions=[top, knot], water=sw.Water(depth=16.0))
    built = required_lines(sw.compile(system))
    assert built.junction_position == pytest.approx(np.array([top.position, knot.position]))
