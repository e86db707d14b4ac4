"""Bodies at the surface, described: round trip, schema, sentences."""

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.compiler.compile import compile as compile_system
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.splash_zone.build import immersion_table

DEPTH = (0.0, 0.5, 1.0)
VOLUME = (0.0, 2.0, 3.0)


def body(**more) -> sw.Body:
    return sw.Body("load", mass=5e3, inertia=(1e3,) * 3, **more)


def system(*forces: sw.Force, load: sw.Body | None = None) -> sw.System:
    load = body() if load is None else load
    return sw.System("lift", [load], [sw.Free("free", sw.WORLD, load)], forces)


def test_table_round_trip():
    wet = sw.Immersion(
        "wet",
        body().at(0, 0, -0.5),
        depth=np.array(DEPTH),
        volume=VOLUME,
        center=[(0, 0, -0.5), (0, 0.1, -0.2), (0, 0.1, 0.0)],
        added_mass=[0.0, 1e3, 2e3],
        drag_area=[(0, 0, 0), (1, 1, 4), (1, 1, 4)],
        exit="returned",
    )
    case = sw.Case(system(wet), (sw.SimulateStudy("run", duration=1.0),))
    again = sw.loads(case.to_toml()).system
    assert again.forces[0] == wet


def test_schema_knows_it():
    text = str(sw.case_schema())
    assert "immersion" in text
    assert "drag_area" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"depth": (0.0, 0.5, 0.5)}, "depth goes from 0.5 to 0.5 m"),
        ({"depth": (0.0,), "volume": (0.0,)}, "depth has one row"),
        ({"depth": ()}, "volume is given without depth"),
        ({"volume": (0.0, 1.0)}, "volume has 2 rows for 3 depths"),
        ({"volume": (0.0, 3.0, 2.0)}, "volume falls from 3 to 2 m^3"),
        ({"volume": (0.0, -1.0, 2.0)}, "volume -1 m^3 is negative"),
        ({"volume": (1.0, 2.0, 3.0)}, "volume begins with 1 m^3 at depth 0 m"),
        ({"added_mass": (5.0, 6.0, 7.0)}, "added_mass begins with 5 kg"),
        ({"drag_area": ((0, 0, 0), (0, 0, -1), (0, 0, 0))}, "drag_area -1 m^2 is negative"),
        ({"center": ((0, 0, 0),)}, "center has 1 rows of numbers for 3 depths"),
        ({"Ca": 0.5}, "Ca and Cd are for volumes from the hull"),
        ({"exit": "lost"}, "is not a way of leaving the water"),
        ({"point": sw.WORLD}, "is on the world"),
    ],
)
def test_bad_tables_are_told_in_a_sentence(changes, words):
    good = {"point": body(), "depth": DEPTH, "volume": VOLUME}
    with pytest.raises(SwelltreeError, match=r"force 'wet'") as reported:
        sw.Immersion("wet", **(good | changes))
    assert words in str(reported.value)


@pytest.mark.parametrize(
    ("load", "changes", "words"),
    [
        ({"displaced_volume": 2.0}, {}, "has displaced_volume"),
        ({"added_mass": {"Heave": 10.0}}, {}, "has added_mass"),
        ({}, {"depth": (), "volume": ()}, "has no hull"),
        (
            {"hull": sw.Sphere(1.0)},
            {"depth": (0.5, 1.0, 2.0), "volume": ()},
            "does not reach from above the hull's lowest point",
        ),
    ],
)
def test_what_does_not_fit_the_body_is_told_in_a_sentence(load, changes, words):
    load = body(**load)
    wet = sw.Immersion("wet", load, **({"depth": DEPTH, "volume": VOLUME} | changes))
    with pytest.raises(SwelltreeError, match=words):
        compile_system(system(wet, load=load))


def test_table_of_a_hull_is_that_of_the_solid():
    radius, point = 1.5, (0.2, 0.0, -0.4)
    load = body(hull=sw.Sphere(radius), position=(0, 0, 3.0))
    wet = sw.Immersion("wet", load.at(*point), Ca=(0.2, 0.3, 0.5), Cd=1.0)
    depth, table = immersion_table(system(wet, load=load), wet)
    # the hull floats half under water as described, 3 m below the body's origin
    low = -3.0 - radius - point[2]
    assert depth[[0, -1]] == pytest.approx([low, low + 2 * radius], abs=1e-3)
    h = depth - low
    assert table[:, 0] == pytest.approx(np.pi * h**2 * (3 * radius - h) / 3, abs=1e-2)
    assert table[-1, 1:4] == pytest.approx([0.0, 0.0, -3.0], abs=1e-3)
    assert table[-1, 4:7] == pytest.approx(1025 * table[-1, 0] * np.array([0.2, 0.3, 0.5]))
    assert table[-1, 7:] == pytest.approx(np.pi * radius**2 * np.ones(3), rel=2e-2)


def test_center_that_is_not_given_belongs_to_the_volumes():
    load = body()
    wet = sw.Immersion("wet", load.at(0, 0, -1.0), depth=DEPTH, volume=(0.0, 2.0, 4.0))
    _, table = immersion_table(system(wet, load=load), wet)
    assert table[:, 3] == pytest.approx([-1.0, -0.75, -0.5])
