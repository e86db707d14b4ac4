"""Descriptions of power take-offs: round trip, lowering, mistakes."""

import pytest

import swelltree as sw
from validation.pto.pto_systems import bank, jackknife, machines, oscillator

RAIL = {"joint": "rail"}
OIL = {"piston_area": 0.02, "precharge": 6e6, "gas_volume": 0.3}
MAP = {"map_force": (0, 1), "map_speed": (0, 1)}


def test_every_machine_round_trips_through_toml():
    for system in (bank(machines()), jackknife(release_after=1.0)):
        text = system.to_toml()
        assert sw.loads(text).system == system


def test_schema_knows_every_machine():
    rows = sw.case_schema()["properties"]["system"]["properties"]["ptos"]["items"]["oneOf"]
    known = {row["properties"]["type"]["const"]: row for row in rows}
    assert {pto.type for pto in bank(machines()).ptos} < set(known)
    assert set(OIL) <= set(known["hydraulic"]["required"])


MISTAKES = {
    "no place": (lambda: sw.CoulombPto("p", friction=1.0), "give either two ends a and b, or a"),
    "negative limit": (
        lambda: sw.LinearPto("p", **RAIL, force_limit=-1.0),
        r"pto 'p': force_limit -1\.0 is not positive",
    ),
    "stop without stiffness": (
        lambda: sw.EndStops("p", **RAIL, upper=1.0),
        "an end stop is given without stop_stiffness",
    ),
    "no stop": (lambda: sw.EndStops("p", **RAIL), r"has no stop\. Give lower, upper or both"),
    "efficiency": (
        lambda: sw.LinearPto("p", **RAIL, efficiency=90.0),
        r"efficiency 90\.0 is not a fraction",
    ),
    "no oil": (
        lambda: sw.HydraulicPto("p", **RAIL, **OIL, start_pressure=5e6),
        r"start_pressure 5e\+06 Pa is below the precharge of 6e\+06 Pa",
    ),
    "gamma": (lambda: sw.HydraulicPto("p", **RAIL, **OIL, gamma=1.0), "gamma 1.0 is not more"),
    "small map": (
        lambda: sw.DirectDrivePto("p", **RAIL, map_force=(0, 1)),
        "the map is too small",
    ),
    "map of another shape": (
        lambda: sw.DirectDrivePto("p", **RAIL, **MAP, map_efficiency=[[1, 1, 1], [1, 1, 1]]),
        r"map_efficiency has the shape \(2, 3\)",
    ),
    "map beyond one": (
        lambda: sw.DirectDrivePto("p", **RAIL, **MAP, map_efficiency=[[1, 1], [1, 2]]),
        "map_efficiency holds values outside 0 to 1",
    ),
    "unsorted map": (
        lambda: sw.DirectDrivePto(
            "p", **RAIL, map_force=(1, 0), map_speed=(0, 1), map_efficiency=[[1, 1], [1, 1]]
        ),
        "map_force .* does not increase from zero",
    ),
    "ragged map": (
        lambda: sw.DirectDrivePto("p", **RAIL, map_efficiency=[[1, 1], [1]]),
        "map_efficiency has rows of different lengths",
    ),
    "winding": (
        lambda: sw.DirectDrivePto("p", **RAIL, resistance=0.1),
        "resistance is given without force_constant",
    ),
    "no inertia": (
        lambda: sw.MechanicalRectifierPto("p", **RAIL, ratio=1, inertia=0, generator_damping=1),
        r"inertia 0\.0 is not positive",
    ),
    "latch that never opens": (
        lambda: oscillator(sw.LatchingPto("p", **RAIL)),
        "nothing switches it back. Give release_after or release_force, or drive it",
    ),
    "unknown joint": (
        lambda: oscillator(sw.CoulombPto("p", joint="rial", friction=1.0)),
        r"joint 'rial' is not in the system\. Did you mean 'rail'",
    ),
    "driven stops": (
        lambda: oscillator(
            sw.EndStops("p", **RAIL, upper=1.0, stop_stiffness=1.0),
            controllers=[sw.Controller("c", (), ("p",), "laws:hold")],
        ),
        "drives 'p', which is not in the system",
    ),
    "ends that coincide": (
        lambda: oscillator(sw.CoulombPto("p", sw.WORLD, "mass", friction=1.0)),
        "the ends coincide as described",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_told(name):
    make, sentence = MISTAKES[name]
    with pytest.raises(sw.SwelltreeError, match=sentence):
        make()


def test_spring_on_a_free_rotation_is_told():
    body = sw.Body("b", mass=1.0, inertia=(1, 1, 1))
    pto = sw.CoulombPto("p", joint="f", dof="Pitch", friction=1.0, stiffness=2.0)
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], ptos=[pto])
    with pytest.raises(sw.SwelltreeError, match="'p': joint 'f' turns freely, so Pitch has no"):
        sw.compile(system)
