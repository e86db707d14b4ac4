"""Python and TOML say the same thing."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.describe.casefile.case import LISTS, STUDY_TYPES

sys.path.insert(0, str(Path(__file__).parent))  # a case file finds its functions beside it
import laws


def everything() -> sw.System:
    """A system that holds every joint, force, controller, sensor, signal and hull."""
    hulls = [sw.Box(2, 1, 1, 0.5), sw.Cylinder(1, 2, 3), sw.Sphere(1), sw.Sphere(1, draft=0.4)]
    bodies = [
        sw.Body(
            f"b{k}",
            mass=1.0 + k,
            inertia=[(1, 2, 2.5), (1, 2, 2.5, 0.1, -0.2, 0.3), 2 * np.eye(3)][k % 3],
            com=(0, 0, -0.1 * k),
            position=(1.5 * k, 0.1, -1e-7),
            rotation_deg=(0, 90, 0.3) if k == 3 else None,
            rotation=(0.8, 0, 0.6, 0) if k == 4 else None,
            reference_point=(0, 0, 0) if k == 5 else None,
            hull=hulls[k] if k < 4 else None,
            displaced_volume=1 / 3 if k == 6 else None,
            center_of_buoyancy=(0, 0, -1) if k == 6 else None,
        )
        for k in range(11)
    ]
    b = bodies
    harmonic = sw.Harmonic(0.1, 2.0, phase=0.5, offset=1.0)
    table = sw.Table(np.linspace(0, 1, 5), np.arange(5) / 3)
    joints = [
        sw.Free("j0", sw.WORLD.at(0, 0, -3), b[0], position={"Heave": 1, "Yaw": 0.1}),
        sw.Weld("j1", b[0], b[1].at(1, 2, 3), orientation_deg=(0, 10, 0)),
        sw.Hinge("j2", b[1].at(1, 0, 0), b[2], axis=(1, 1, 0), position=0.3, velocity=-0.1),
        sw.Slider("j3", b[2], b[3], axis="x", motion=harmonic),
        sw.Cylindrical("j4", b[3], b[4], motion={"Yaw": "laws:push", "Heave": table}),
        sw.Screw("j5", b[4], b[5], lead=0.01),
        sw.Universal("j6", b[5], b[6], axes=("z", "x"), orientation=(0.8, 0.6, 0, 0)),
        sw.Ball("j7", b[6].at(0, 0, 1, rotation=np.eye(3)), b[7], velocity={"Roll": 1}),
        sw.Planar("j8", b[7], b[8], motion={"Surge": sw.Polynomial([1, 2])}),
        sw.SubsetJoint("j9", b[8], b[9], ("Yaw", "Surge")),
        sw.Distance("j10", b[9], b[10], length=2.5),
        sw.RevoluteSpherical("j11", b[10], sw.WORLD, axis="y"),
        sw.Ball("j12", b[2], b[4].at(0, 1, 0), cut=True),
    ]
    forces = [
        sw.SpringDamper("ram", b[0], b[3], 1e5, 3.5e4, rest_length=1, tension_only=True),
        sw.SpringDamper("push", b[0], b[4], force="laws:push"),
        sw.JointForce("brake", joints[2], friction=3.0, lower=-1, upper=1, stop_stiffness=1e6),
        sw.JointForce("tug", "j0", "Surge", stiffness=2, rest_position=0.1, force=table),
        sw.AppliedForce("wind", b[1].at(0, 0, 9), force=(1, harmonic, "laws:push"), axes="body"),
        sw.AppliedForce("drag", b[1], function="laws:drag"),
    ]
    measures = ["j2.Roll", "j0.Heave.rate", "ram.length", "ram.length.rate", "b1.Yaw.rate"]
    return sw.System(
        'everything "and more"',
        bodies,
        joints,
        forces,
        [sw.Controller("hold", measures, ["ram", "brake"], "laws:hold")],
        [sw.PointSensor("tip", b[3].at(0, 0, 1)), sw.DistanceSensor("gap", b[1], sw.WORLD)],
        sw.Water(rho=1000, depth=50),
        ptos=[
            sw.LinearPto("pto", b[1].at(1, 0, 0), b[2], damping=3.0),
            sw.LinearPto("turn", joint="j2", stiffness=1.0, rest=0.2, force=harmonic),
        ],
        moorings=[
            sw.LinearMooring("chain", b[1], {"Surge": 1e3, "Yaw": 2e4}, pretension={"Heave": -5.0}),
            sw.LinearDamping(
                "loss", b[2], damping=[[float(i == j) for i in range(6)] for j in range(6)]
            ),
        ],
        lines=[
            sw.Line("bow", (-200, 0, -50), b[1].at(-3, 0, 0), 220.0, sw.chain(0.1), segments=30),
            sw.Line(
                "branch",
                sw.OnLine("bow", 100.0),
                sw.Junction("knot", (0, 0, -5)),
                sections=[sw.Section(sw.chain(0.05), 50), sw.Section("rope", 20, segments=4)],
                release_time=30.0,
            ),
            sw.Line("hoist", b[3].at(0, 0, 9), sw.OnJunction("hook"), 30.0, "rope"),
        ],
        junctions=[sw.Junction("knot", (0, 0, -5), mass=3), sw.Junction("hook", (0, 0, -9), 50)],
        line_types=[sw.nylon(0.1, "rope")],
        seabed=sw.Seabed(slope=(0.01, 0), friction=0.3, stiffness=1e5),
        contacts=[sw.SeabedContact("feet", b[2], at=[(0, 0, -1), (1, 0, -1)])],
        rods=[
            sw.Rod("spar", (0, 9, -20), (0, 9, 2), diameter=1, mass_per_length=500, Cat=0.1),
            sw.Rod("arm", b[2].at(0, 0, 1), b[2].at(2, 0, 1), 0.1, 9.0, attachment="pinned"),
        ],
        winches=[
            sw.Winch(
                "drum",
                "hoist",
                speed=harmonic,
                control=sw.HeaveCompensation(gain=0.9, stroke=4, at=b[1].at(0, 0, 3)),
                drum=90.0,
            )
        ],
        couplings=[sw.Coupling("gear", {"j2": 1.0, "j4.Heave": -0.3}, constant=0.1)],
        operations=[
            sw.Operation(
                "lift",
                [
                    sw.Stage("pay_out", "drum", length=20, speed=0.5, ramp=2),
                    sw.Stage("couple", "hoist", to=b[2].at(0, 0, 1), reach=2),
                    sw.Stage("brake", "drum", duration=9),
                    sw.Stage("release", "hoist", start=60),
                ],
            )
        ],
    )


STUDIES = (
    sw.SimulateStudy("decay", 60, output_step=0.1, formulation="lagrange", solver="rk4", step=0.01),
    sw.EquilibriumStudy("rest"),
    sw.ModesStudy("modes", at_equilibrium=False),
)


def test_system_with_everything_round_trips_through_toml(tmp_path):
    system = everything()
    text = system.to_toml(tmp_path / "case.toml")
    case = sw.load(tmp_path / "case.toml")
    assert case.system == system
    assert hash(case.system) == hash(system)
    assert case.system.to_toml() == text == case.text
    assert [file.name for file in tmp_path.iterdir()] == ["case.toml"]


def test_case_with_studies_round_trips_through_toml():
    case = sw.Case(everything(), STUDIES)
    again = sw.loads(case.to_toml())
    assert again.studies == STUDIES
    assert again.system == case.system


def test_functions_are_written_by_name_and_imported_only_on_request():
    body = sw.Body("float", 1.0)
    law = laws.Family.law
    system = sw.System(
        "buoy",
        [body],
        [sw.Slider("heave", sw.WORLD, body)],
        [sw.JointForce("ram", "heave", force=None), sw.JointForce("u", "heave", force=laws.push)],
        [sw.Controller("c", ["heave.Heave"], ["ram"], law)],
    )
    again = sw.loads(system.to_toml()).system
    assert again.force("u").force == "laws:push"
    assert sw.resolve(again.force("u").force) is laws.push
    assert sw.resolve(again.controller("c").law) is law
    assert sw.resolve(3.0) == 3.0


def test_example_of_the_architecture_reads_as_in_python():
    case = sw.loads("""
        [system]
        name = "hinge_barge"
        bodies = [
          { name = "barge1", mass = 272, hull = { shape = "box", length = 1.1, width = 0.67, height = 0.57, draft = 0.37 } },
          { name = "barge2", mass = 128, position = [2.26, 0, 0] },
        ]
        joints = [
          { name = "float", type = "planar", base = "world", follower = "barge1" },
          { name = "hinge", type = "hinge", axis = "y", base = { body = "barge1", position = [0.78, 0, 0] }, follower = { body = "barge2", position = [-1.48, 0, 0] } },
        ]
    """)  # noqa: E501
    barge1 = sw.Body("barge1", 272, hull=sw.Box(length=1.1, width=0.67, height=0.57, draft=0.37))
    barge2 = sw.Body("barge2", 128, position=(2.26, 0, 0))
    assert case.system == sw.System(
        "hinge_barge",
        bodies=[barge1, barge2],
        joints=[
            sw.Planar("float", sw.WORLD, barge1),
            sw.Hinge("hinge", barge1.at(0.78, 0, 0), barge2.at(-1.48, 0, 0), axis="y"),
        ],
    )


def choices(rows: dict) -> list[dict]:
    return rows["items"].get("oneOf", [rows["items"]])


def test_schema_names_every_type():
    schema = sw.case_schema()
    json.dumps(schema, allow_nan=False)
    properties = schema["properties"]["system"]["properties"]
    for key, (_, classes) in LISTS.items():
        if isinstance(classes, dict):
            rows = choices(properties[key])
            # linear couplings are written without a type
            types = [row["properties"].get("type", {"const": ""})["const"] for row in rows]
            assert types == list(classes)
            named = [row for row, name in zip(rows, classes, strict=True) if name]
            assert all("type" in row["required"] for row in named)
    studies = choices(schema["properties"]["studies"])
    assert [choice["properties"]["type"]["const"] for choice in studies] == list(STUDY_TYPES)


def test_schema_knows_every_key_that_is_written():
    schema = sw.case_schema()
    written = tomllib.loads(sw.Case(everything(), STUDIES).to_toml())
    properties = schema["properties"]["system"]["properties"]
    lists = {key: (properties[key], written["system"][key]) for key in LISTS}
    lists["studies"] = (schema["properties"]["studies"], written["studies"])
    for rows, items in lists.values():
        of_type = {c["properties"].get("type", {}).get("const"): c for c in choices(rows)}
        for item in items:
            choice = of_type[item.get("type") if None not in of_type else None]
            assert set(item) <= set(choice["properties"])
            assert set(choice["required"]) <= set(item)
            assert choice["additionalProperties"] is False
    assert set(written["system"]["water"]) <= set(properties["water"]["properties"])


def test_schema_has_no_null_and_no_dangling_reference():
    text = json.dumps(sw.case_schema())
    assert '"null"' not in text
    assert "$ref" not in text


@pytest.mark.parametrize("module", ["swelltree.describe", "swelltree"])
def test_describing_needs_no_jax(module):
    code = f"import {module}, sys; from swelltree import Body; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_describing_imports_nothing_slow():
    """What would take the import beyond half a second (`make bench` measures it)."""
    slow = ("jax", "scipy", "xarray", "matplotlib", "capytaine", "equinox", "rich", "pandas")
    code = f"import swelltree.describe, sys; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_public_names_of_the_package_exist():
    import swelltree

    for name in swelltree.__all__:
        assert getattr(swelltree, name) is not None
    assert swelltree.Hinge is sw.Hinge
    assert "simulate" in dir(swelltree)
    with pytest.raises(AttributeError, match="no attribute 'hinge'"):
        _ = swelltree.hinge


def test_studies_of_the_frequency_domain_and_of_periods_are_read():
    text = """
        [system]
        name = "one"
        bodies = [{ name = "b", mass = 1.0, inertia = [1, 1, 1] }]
        joints = [{ name = "j", type = "free", base = "world", follower = "b" }]
        [[studies]]
        name = "linear"
        type = "rao"
        omega = { from = 0.5, to = 1.5, count = 3 }
        wave_direction_deg = [180.0]
        [[studies]]
        name = "sea"
        type = "response"
        sea = { type = "irregular", spectrum = { type = "jonswap", Hs = 2.0, Tp = 8.0 } }
        [[studies]]
        name = "swell"
        type = "steady_state"
        harmonics = 5
        sea = { type = "regular", amplitude = 1.0, period = 9.0 }
    """
    case = sw.loads(text)
    linear, sea, swell = (study.arguments() for study in case.studies)
    assert linear["omega"] == (0.5, 1.0, 1.5)
    assert linear["wave_direction"] == [pytest.approx(3.141592653589793)]
    assert linear["sea"] is None
    assert sea["sea"].spectrum.Hs == 2.0
    assert (swell["harmonics"], swell["sea"].amplitude) == (5, 1.0)
    assert "name" not in swell
    assert sw.loads(case.to_toml()).studies == case.studies
