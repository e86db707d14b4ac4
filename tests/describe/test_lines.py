"""Descriptions of lines, junctions and the seabed."""

import numpy as np
import pytest

import swelltree as sw

CHAIN = sw.chain(0.1)


def moored(*lines, junctions=(), **more):
    body = sw.Body("float", mass=1e5, inertia=(1e6, 1e6, 1e6))
    return sw.System(
        "moored",
        bodies=[body],
        joints=[sw.Free("free", sw.WORLD, body)],
        water=sw.Water(depth=50.0),
        lines=lines,
        junctions=junctions,
        **more,
    )


def line(**changes):
    specified = {
        "name": "bow",
        "A": (-200, 0, -50),
        "B": sw.Point("float", (0, 0, 0)),
        "rest_length": 230.0,
        "type": CHAIN,
    }
    return sw.Line(**(specified | changes))


def test_chain_weighs_what_tables_say():
    # studless chain of 100 mm: 199 kg/m in air, 8028 kN of grade R3
    assert CHAIN.mass_per_length == pytest.approx(199.0)
    assert CHAIN.breaking_load == pytest.approx(8.028e6)
    submerged = CHAIN.weight_per_length(1025.0, 9.81)
    assert submerged == pytest.approx((199.0 - 1025 * np.pi / 4 * 0.18**2) * 9.81)


def test_segments_are_shared_out_by_length():
    parts = [sw.Section(CHAIN, 150.0), sw.Section(sw.wire_rope(0.08), 50.0)]
    assert line(type=None, rest_length=None, sections=parts, segments=20).segment_counts == (15, 5)
    parts = [sw.Section(CHAIN, 150.0, segments=4), sw.Section(sw.wire_rope(0.08), 50.0)]
    assert line(type=None, rest_length=None, sections=parts, segments=20).segment_counts == (4, 16)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: line(rest_length=-3.0), "line 'bow': rest_length -3.0 m is not positive."),
        (lambda: line(rest_length=None), "line 'bow': 'rest_length' is missing."),
        (lambda: line(type=None), "line 'bow': needs either a type or sections."),
        (lambda: line(model="static"), "line 'bow': model 'static' is not a line model."),
        (lambda: line(B=(-200, 0, -50)), "line 'bow': both ends are at the same place."),
        (lambda: line(segments=0), "line 'bow': segments 0 is too few."),
        (
            lambda: line(type=None, sections=[sw.Section(CHAIN, 10.0)], rest_length=11.0),
            "line 'bow': rest_length 11.0 m is not the 10.0 m of its sections.",
        ),
        (
            lambda: moored(line(type="rope")),
            "line 'bow': line type 'rope' is not in the system.",
        ),
        (
            lambda: moored(line(type=sw.LineType("r", 0.1, 5.0))),
            "line 'bow': line type 'r' has no EA. Give EA, or axial='inextensible'.",
        ),
        (
            lambda: moored(line(B=sw.Junction("k", (0, 0, 0)))),
            "line 'bow': end B: junction 'k' is not in the system.",
        ),
        (
            lambda: moored(line(), junctions=[sw.Junction("k", (0, 0, 0))]),
            "junction 'k': no line ends there.",
        ),
        (
            lambda: moored(line(), line(name="two", A=sw.OnLine("bow", 300.0))),
            "line 'two': end A is at 300.0 m of line 'bow', which is 230.0 m long.",
        ),
        (
            lambda: moored(line(B=(0, 0, 0), rest_length=100.0, axial="inextensible")),
            "line 'bow': rest_length 100.0 m is not more than the 206.155 m between its fixed",
        ),
        (lambda: sw.LineType("r", 0.1, 5.0, EA=-1.0), "line type 'r': EA -1.0 N is not positive."),
        (
            lambda: sw.LineType("r", 0.1, 5.0, stretch=[(0, 0), (0.1, 5.0), (0.1, 6.0)]),
            "line type 'r': stretch does not increase.",
        ),
        (lambda: sw.Seabed(damping=1.0), "seabed: damping is given without stiffness."),
        (lambda: sw.Junction("k", (0, 0, 0), mass=-1.0), "junction 'k': mass -1.0 is negative."),
    ],
)
def test_mistakes_are_told_in_a_sentence(make, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        make()
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("grade", "load"),
    # proof of the table of IACS UR W22: a chain of 84 mm
    [("R3", 5.866e6), ("R3S", 6.550e6), ("R4", 7.208e6), ("R4S", 7.997e6), ("R5", 8.418e6)],
)
def test_breaking_load_of_chain_follows_its_grade(grade, load):
    assert sw.chain(0.084, grade=grade).breaking_load == pytest.approx(load, rel=1e-3)
    assert sw.chain(0.084, grade=grade).EA == sw.chain(0.084).EA


def test_unknown_grade_of_chain_is_named():
    with pytest.raises(sw.SwelltreeError, match="chain: grade 'R6' is not known"):
        sw.chain(0.084, grade="R6")


def test_polypropylene_floats_and_fibre_cores_are_weaker():
    assert sw.polypropylene(0.1).weight_per_length(1025.0, 9.81) < 0
    assert sw.wire_rope(0.05, fibre_core=True).breaking_load < sw.wire_rope(0.05).breaking_load
