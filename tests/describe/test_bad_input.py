"""Every mistake is told in one sentence: which item, which value, what to do."""

import math
import re

import numpy as np
import pytest

import swelltree.describe as sw

nan, inf = math.nan, math.inf
FLOAT = sw.Body("float", 10.0, (1.0, 1.0, 1.0))
SPAR = sw.Body("spar", 20.0, (1.0, 1.0, 1.0), position=(0, 0, -5))
FREE = sw.Free("root", sw.WORLD, FLOAT)
HINGE = sw.Hinge("hinge", FLOAT, SPAR)
RAM = sw.SpringDamper("ram", FLOAT, SPAR, damping=5.0)


def describe(**changes):
    parts = {"bodies": [FLOAT, SPAR], "joints": [FREE, HINGE], "forces": [RAM]}
    return sw.System("buoy", **(parts | changes))


def body(**fields):
    return lambda: sw.Body("float", **fields)


def hinge(**fields):
    return lambda: sw.Hinge("hinge", FLOAT, SPAR, **fields)


def ball(**fields):
    return lambda: sw.Ball("ball", FLOAT, SPAR, **fields)


def on_hinge(**fields):
    return lambda: sw.JointForce("stop", "hinge", **fields)


def on(joint, dof):
    return lambda: describe(forces=[sw.JointForce("brake", joint, dof, damping=1.0)])


def controlled(measures=(), drives=("ram",), forces=(RAM,), law="laws:hold"):
    return lambda: describe(
        forces=forces, controllers=[sw.Controller("latch", measures, drives, law)]
    )


def system(**changes):
    return lambda: describe(**changes)


def case(joint="", body="", study="", rest=""):
    """A small case file with one mistake put in."""
    return lambda: sw.loads(
        f"""
[system]
name = "buoy"
bodies = [ {{ name = "float", mass = 1.0 {body} }} ]
joints = [ {{ name = "root", base = "world", follower = "float", {joint or 'type = "free"'} }} ]
{rest}
[[studies]]
name = "decay"
{study or 'type = "equilibrium"'}
""",
        "buoy.toml",
    )


BODIES = {
    "negative mass": (
        body(mass=-3),
        "body 'float': mass -3.0 kg is negative. Give zero (massless) or more.",
    ),
    "mass nan": (body(mass=nan), "body 'float': mass nan is not a number. Give a finite number."),
    "mass infinite": (body(mass=inf), "body 'float': mass inf is not finite."),
    "mass as text": (
        body(mass="heavy"),
        "body 'float': mass 'heavy' is text. Give a number or 'displacement'.",
    ),
    "mass as a list": (body(mass=[1.0]), "body 'float': mass [1.0] is not a number."),
    "mass beyond all bounds": (body(mass=10**400), "body 'float': mass has too many digits"),
    "mass true": (body(mass=True), "body 'float': mass True is not a number."),
    "unknown key": (body(mas=3), "body 'float': a body has no 'mas'. Did you mean 'mass'?"),
    "key of another program": (body(cog=(0, 0, 0)), "has no 'cog'. Did you mean 'com'?"),
    "no name": (lambda: sw.Body(), "body: 'name' is missing."),
    "empty name": (lambda: sw.Body(""), "name '' is empty"),
    "dotted name": (lambda: sw.Body("a.b"), "name 'a.b' holds '.', ':' or '__'"),
    "name not text": (lambda: sw.Body(3), "body: name 3 is not text"),
    "two numbers": (
        body(position=(1, 2)),
        "position [1.0, 2.0] has 2 numbers. Give three: x, y, z.",
    ),
    "text vector": (body(com="up"), "com 'up' is text. Give numbers or 'homogeneous'"),
    "text in a vector": (body(com=(0, "a", 0)), "com 'a' is text. Give a number."),
    "four moments": (body(inertia=(1, 1, 1, 1), mass=1), "has 4 numbers. Give 3 (principal), 6"),
    "asymmetric inertia": (
        body(mass=1, inertia=[[2, 0.1, 0], [0, 2, 0], [0, 0, 2]]),
        "body 'float': inertia is not symmetric.",
    ),
    "negative inertia": (
        body(mass=1, inertia=(-1, 1, 1)),
        "inertia has the negative principal moment -1 kg m^2",
    ),
    "impossible inertia": (
        body(mass=1, inertia=(1, 1, 3)),
        "inertia violates the triangle inequality: the principal moments 1 + 1 are less than 3",
    ),
    "inertia of two rows": (body(inertia=[[1, 0, 0], [0, 1, 0]]), "Give three rows of three."),
    "massless with inertia": (body(inertia=(1, 1, 1)), "mass is zero but inertia is not."),
    "matrix not orthogonal": (body(rotation=2 * np.eye(3)), "is not a rotation matrix"),
    "reflection": (body(rotation=np.diag([1, 1, -1])), "is a reflection (its determinant is -1)"),
    "zero quaternion": (body(rotation=(0, 0, 0, 0)), "is a quaternion of length zero"),
    "angles as rotation": (body(rotation=(0, 90, 0)), "go into the key that ends in '_deg'"),
    "two rotations": (
        body(rotation=np.eye(3), rotation_deg=(0, 0, 0)),
        "rotation and rotation_deg are both given",
    ),
    "hull and volume": (
        body(hull=sw.Sphere(1.0), displaced_volume=1.0),
        "hull and displaced_volume are both given",
    ),
    "negative volume": (body(displaced_volume=-1), "displaced_volume -1.0 m^3 is negative"),
    "buoyancy without volume": (body(center_of_buoyancy=(0, 0, 0)), "without displaced_volume"),
    "no hull": (body(hull="box"), "hull 'box' is not a hull"),
    "unknown hull": (
        body(hull={"shape": "bax"}),
        "shape 'bax', which does not exist. Did you mean 'box'?",
    ),
    "negative hull": (
        body(hull={"shape": "sphere", "radius": -1}),
        "body 'float': hull radius -1.0 m is not positive",
    ),
    "draft above hull": (
        lambda: sw.Box(length=1, width=1, height=1, draft=2),
        "hull 'box': draft 2.0 m is more than the height 1.0 m",
    ),
    "water without density": (lambda: sw.Water(rho=0), "water: rho 0.0 kg/m^3 is not positive"),
    "gravity upside down": (lambda: sw.Water(g=-9.81), "water: g -9.81 m/s^2 is negative. z is up"),
    "dry sea": (lambda: sw.Water(depth=0), "water: depth 0.0 m is not positive"),
    "too many values": (
        lambda: sw.Water(1025, 9.81, 10, 5),
        "water: at most 3 values can be given without a name",
    ),
}

JOINTS = {
    "zero axis": (hinge(axis=(0, 0, 0)), "joint 'hinge': axis (0, 0, 0) has no direction"),
    "unknown axis": (hinge(axis="w"), "axis 'w' is not an axis. Give 'x', 'y', 'z' or a vector."),
    "no follower": (lambda: sw.Hinge("hinge", FLOAT), "joint 'hinge': 'follower' is missing."),
    "old word": (
        lambda: sw.Hinge(name="hinge", parent=FLOAT, follower=SPAR, base=SPAR),
        "a hinge has no 'parent'. Did you mean 'base'?",
    ),
    "number as point": (lambda: sw.Weld("w", 3, SPAR), "joint 'w': base 3 is not a point."),
    "body to itself": (lambda: sw.Weld("w", FLOAT, FLOAT), "joins body 'float' to itself"),
    "world to world": (lambda: sw.Weld("w", sw.WORLD, "world"), "joins the world to itself"),
    "unknown dof in position": (
        hinge(position={"pich": 0.1}),
        "position names 'pich', which this hinge joint does not have. Did you mean 'Pitch'?",
    ),
    "foreign dof in velocity": (
        hinge(velocity={"Surge": 0.1}),
        "velocity names 'Surge', which this hinge joint does not have. It has 'Pitch'.",
    ),
    "unknown dof in motion": (hinge(motion={"Roll": 0.1}), "motion names 'Roll'"),
    "one value, three dofs": (
        ball(position=0.1),
        "position is one value, but the joint has 3 coordinates. Name them, e.g. position={'Roll'",
    ),
    "moving weld": (
        lambda: sw.Weld("w", FLOAT, SPAR, motion=0.0),
        "motion is given, but a weld joint has no coordinates",
    ),
    "prescribed ball": (
        ball(motion={"Roll": 0.1}),
        "motion of 'Roll' cannot be prescribed while all three rotations are free. Use a universal",
    ),
    "driven twice": (
        hinge(motion=0.0, position=0.1),
        "'Pitch' has both a prescribed motion and an initial position",
    ),
    "motion as words": (hinge(motion="up and down"), "'up and down' does not name a function"),
    "motion as nothing": (hinge(motion=[1, 2]), "Give a number, Table, Harmonic, Polynomial"),
    "unknown signal": (
        hinge(motion={"type": "tabel"}),
        "signal type 'tabel', which does not exist. Did you mean 'table'?",
    ),
    "broken table in a joint": (
        hinge(motion={"type": "table", "time": [0, 0], "value": [1, 2]}),
        "joint 'hinge': motion time 0.0 s follows 0.0 s",
    ),
    "frame given twice": (
        hinge(axis=(1, 1, 0), orientation_deg=(0, 0, 5)),
        "the joint frame is given by orientation_deg and by an axis vector. Give one of them.",
    ),
    "cut not a flag": (hinge(cut=1), "cut 1 is not true or false"),
    "screw without lead": (lambda: sw.Screw("s", FLOAT, SPAR), "joint 's': 'lead' is missing"),
    "screw with zero lead": (lambda: sw.Screw("s", FLOAT, SPAR, lead=0), "lead is zero."),
    "universal with one axis": (
        lambda: sw.Universal("u", FLOAT, SPAR, axes=("x", "x")),
        "axes ('x', 'x') are not two different axes",
    ),
    "no dofs": (lambda: sw.SubsetJoint("s", FLOAT, SPAR, ()), "dofs is empty"),
    "unknown dof": (
        lambda: sw.SubsetJoint("s", FLOAT, SPAR, ("Surge", "Heav")),
        "dofs 'Heav' is not a degree of freedom. Did you mean 'Heave'?",
    ),
    "dof twice": (
        lambda: sw.SubsetJoint("s", FLOAT, SPAR, ("Surge", "Surge")),
        "names a degree of freedom twice",
    ),
    "distance of zero": (
        lambda: sw.Distance("d", FLOAT, SPAR, length=0),
        "length 0.0 m is not positive. Give metres, or use a ball joint.",
    ),
    "joint of no kind": (lambda: sw.Joint("j", FLOAT, SPAR), "is not a joint type. Use Hinge"),
}

SIGNALS = {
    "times not increasing": (
        lambda: sw.Table([0, 2, 1], [0, 0, 0]),
        "table: time 1.0 s follows 2.0 s. Give increasing times.",
    ),
    "lengths differ": (lambda: sw.Table([0, 1], [0, 0, 0]), "2 times but 3 values"),
    "one row": (lambda: sw.Table([0], [0]), "1 row is too few"),
    "no coefficients": (lambda: sw.Polynomial([]), "polynomial: coefficients are empty"),
    "missing module": (
        lambda: sw.resolve("no_such_module:f"),
        "there is no module 'no_such_module'",
    ),
    "missing name": (
        lambda: sw.resolve("swelltree.describe.errors:sugest"),
        "module 'swelltree.describe.errors' has no 'sugest'. Did you mean 'suggest'?",
    ),
    "name of no function": (
        lambda: sw.resolve("swelltree.describe:DOFS"),
        "'swelltree.describe:DOFS' is a tuple, which gives no value in time",
    ),
    "form of module:name": (hinge(motion="module.name"), "Write 'module:name', e.g. 'mylaws:push'"),
    "lambda in a case file": (
        lambda: describe(joints=[FREE, HINGE.replace(motion=lambda t: t)]).to_toml(),
        "function a lambda cannot be written to a case file: nothing can import it. Define it",
    ),
}

FORCES = {
    "negative stiffness": (
        lambda: sw.SpringDamper("ram", FLOAT, SPAR, stiffness=-1),
        "force 'ram': stiffness -1.0 N/m or N m/rad is negative. Give zero or more; an active",
    ),
    "negative damping": (on_hinge(damping=-1), "force 'stop': damping -1.0 N s/m"),
    "negative rest length": (
        lambda: sw.SpringDamper("ram", FLOAT, SPAR, rest_length=-1),
        "rest_length -1.0 m is negative",
    ),
    "spring on one body": (
        lambda: sw.SpringDamper("ram", FLOAT, FLOAT.at(1, 0, 0)),
        "both ends are on 'float', where it does nothing",
    ),
    "stops reversed": (
        on_hinge(lower=1, upper=-1, stop_stiffness=1),
        "lower stop 1.0 is not below upper stop -1.0. Exchange them.",
    ),
    "stop without stiffness": (on_hinge(lower=1), "without stop_stiffness"),
    "soft stop": (on_hinge(lower=1, stop_stiffness=0), "stop_stiffness 0.0 is not positive"),
    "stiffness without stop": (on_hinge(stop_stiffness=1), "without a stop. Give lower or upper."),
    "friction velocity": (
        on_hinge(friction_velocity=0),
        "friction_velocity 0.0 m/s is not positive",
    ),
    "joint by number": (lambda: sw.JointForce("f", 3), "joint 3 is not a joint"),
    "applied nothing": (lambda: sw.AppliedForce("tug", FLOAT), "has no force, torque or function"),
    "applied to the world": (
        lambda: sw.AppliedForce("tug", sw.WORLD, force=(1, 0, 0)),
        "acts on the world, which does not move",
    ),
    "applied in two ways": (
        lambda: sw.AppliedForce("tug", FLOAT, force=(1, 0, 0), function="laws:drag"),
        "function is given together with force or torque",
    ),
    "axes of a function": (
        lambda: sw.AppliedForce("tug", FLOAT, axes="body", function="laws:drag"),
        "function answers in world axes",
    ),
    "unknown axes": (
        lambda: sw.AppliedForce("tug", FLOAT, force=(1, 0, 0), axes="wrld"),
        "axes 'wrld' is unknown. Did you mean 'world'?",
    ),
    "force with one component": (
        lambda: sw.AppliedForce("tug", FLOAT, force=3.0),
        "force 3.0 is not a vector of signals. Give three",
    ),
    "function as a number": (
        lambda: sw.AppliedForce("tug", FLOAT, function=3),
        "function 3 is not a function",
    ),
}

SYSTEMS = {
    "no bodies": (system(bodies=[]), "system 'buoy': has no bodies and no lines."),
    "not a list": (system(bodies=FLOAT), "is not a list. Give the items in brackets."),
    "joint among bodies": (system(bodies=[FLOAT, HINGE]), "which is not a body"),
    "mooring among forces": (
        system(forces=[RAM, sw.LinearMooring("chains", FLOAT, {"Surge": 1e3})]),
        "holds mooring 'chains', which would do nothing there. Put it into moorings.",
    ),
    "pto among forces": (
        system(forces=[sw.LinearPto("ram2", FLOAT, SPAR, damping=1.0)]),
        "holds pto 'ram2', which would do nothing there. Put it into ptos.",
    ),
    "spring among moorings": (
        system(moorings=[RAM]),
        "holds force 'ram', which would do nothing there. Put it into forces.",
    ),
    "applied force among ptos": (
        system(ptos=[sw.AppliedForce("tug", FLOAT, force=(1, 0, 0))]),
        "holds force 'tug', which would do nothing there. Put it into forces.",
    ),
    "duplicate names": (
        system(forces=[RAM.replace(name="hinge")]),
        "force 'hinge': the name is used already by joint 'hinge'",
    ),
    "reserved name": (
        system(bodies=[FLOAT, SPAR, sw.Body("world")]),
        "body 'world': the name 'world' is reserved",
    ),
    "unknown body": (
        system(joints=[FREE, sw.Hinge("hinge", FLOAT, "sparr")]),
        "joint 'hinge': follower body 'sparr' is not in the system. Did you mean 'spar'?",
    ),
    "unknown body of a sensor": (
        system(sensors=[sw.PointSensor("tip", "xyz")]),
        "sensor 'tip': point body 'xyz' is not in the system. The bodies are 'world', 'float'",
    ),
    "disconnected body": (
        system(joints=[FREE], forces=[]),
        "body 'spar' is not connected to the world. Add a joint, e.g. Free('spar_free', WORLD",
    ),
    "disconnected island": (
        system(joints=[HINGE]),
        "bodies 'float', 'spar' hang together but are not connected to the world",
    ),
    "cut without a loop": (
        system(joints=[FREE, HINGE.replace(cut=True)]),
        "joint 'hinge': cut is set, but the joint closes no loop",
    ),
    "name of an implicit joint": (
        system(
            joints=[FREE, sw.Distance("rod", FLOAT, SPAR)],
            sensors=[sw.PointSensor("spar_free", SPAR)],
        ),
        "sensor 'spar_free': the name is needed for the free joint that carries body 'spar'",
    ),
    "rod without length": (
        system(joints=[FREE, HINGE, sw.Distance("rod", FLOAT.at(0, 0, -5), SPAR)]),
        "joint 'rod': the ends coincide as described",
    ),
    "spring without length": (
        system(forces=[sw.SpringDamper("ram", FLOAT.at(0, 0, -5), SPAR)]),
        "force 'ram': the ends coincide as described and rest_length is not given",
    ),
    "unknown joint": (on("hing", None), "joint 'hing' is not in the system. Did you mean 'hinge'?"),
    "dof not of the joint": (on("hinge", "Heave"), "joint 'hinge' has no 'Heave'. It has 'Pitch'."),
    "dof not given": (on("root", None), "joint 'root' has 6 coordinates. Give dof: one of 'Surge'"),
    "unknown dof of a force": (
        on("root", "Heav"),
        "dof 'Heav' is not a degree of freedom. Did you mean 'Heave'?",
    ),
    "force on a weld": (
        system(joints=[FREE, sw.Weld("hinge", FLOAT, SPAR)], forces=[sw.JointForce("f", "hinge")]),
        "joint 'hinge' has no coordinates to act on",
    ),
    "water by number": (system(water=3), "water 3 is not water"),
    "unknown name asked for": (
        lambda: describe().body("flaot"),
        "body 'flaot' is not in the system. Did you mean 'float'?",
    ),
}

CONTROLLERS = {
    "drives the unknown": (
        controlled(drives=["rom"]),
        "controller 'latch': drives 'rom', which is not in the system. Did you mean 'ram'?",
    ),
    "drives an applied force": (
        controlled(drives=["tug"], forces=[sw.AppliedForce("tug", FLOAT, force=(1, 0, 0))]),
        "'tug' is an applied force and has no actuator",
    ),
    "drives a driven element": (
        controlled(forces=[RAM.replace(force=1.0)]),
        "drives 'ram', which has its own force",
    ),
    "drives nothing": (controlled(drives=[]), "drives is empty"),
    "drives twice": (controlled(drives=["ram", "ram"]), "drives names an element twice"),
    "measures an unknown item": (
        controlled(measures=["hige.Pitch"]),
        "'hige' is not a body, joint, SpringDamper or PTO. Did you mean 'hinge'?",
    ),
    "measures an unknown quantity": (
        controlled(measures=["ram.lenght"]),
        "'ram' has no 'lenght'. Did you mean 'length'?",
    ),
    "measures in another form": (
        controlled(measures=["hinge"]),
        "measure 'hinge' has not the form 'item.quantity'",
    ),
    "measures a number": (controlled(measures=[3]), "measures holds 3, which is not text"),
    "two drivers": (
        system(
            controllers=[
                sw.Controller("one", (), ["ram"], "laws:hold"),
                sw.Controller("two", (), ["ram"], "laws:hold"),
            ]
        ),
        "controller 'two': force 'ram' is driven by 'one' already",
    ),
    "law as a number": (controlled(law=3), "controller 'latch': law 3 is not a function"),
}

CASES = {
    "not TOML": (
        lambda: sw.loads("[system]\nname = \n", "buoy.toml"),
        "buoy.toml: not valid TOML: .*line 2",
    ),
    "key twice": (lambda: sw.loads("a = 1\na = 2\n", "buoy.toml"), "not valid TOML: .*line 2"),
    "no system": (lambda: sw.loads(""), r"there is no \[system\] section"),
    "unknown section": (
        lambda: sw.loads("[sytem]\n", "buoy.toml"),
        r"buoy.toml: there is no section 'sytem'. Did you mean 'system'\?",
    ),
    "joint type": (
        case(joint='type = "hindge"'),
        "joint 'root': there is no joint type 'hindge'. Did you mean 'hinge'",
    ),
    "no joint type": (
        case(joint="cut = false"),
        "joint 'root': 'type' is missing. Give one of 'weld'",
    ),
    "force type": (
        case(rest='forces = [ { name = "f", type = "spring" } ]'),
        "force 'f': there is no force type 'spring'.",
    ),
    "sensor type": (
        case(rest='sensors = [ { name = "s", type = "poin" } ]'),
        "there is no sensor type 'poin'. Did you mean 'point'",
    ),
    "unknown key": (
        case(joint='type = "hinge", axs = "x"'),
        "a hinge has no 'axs'. Did you mean 'axis'",
    ),
    "unknown key of the system": (
        case(rest="boddies = []"),
        "a system has no 'boddies'. Did you mean 'bodies'",
    ),
    "key of a point": (
        case(joint='type = "free", position = { Surge = "a" }'),
        "joint 'root': position 'a' is text",
    ),
    "mistake in a point": (
        lambda: sw.Weld("w", {"bdy": "float"}, SPAR),
        r"joint 'w': base has no 'bdy'. Did you mean 'body'\?",
    ),
    "point without body": (
        lambda: sw.Weld("w", {"position": [0, 0, 0]}, SPAR),
        "base names no body",
    ),
    "short position of a point": (
        lambda: sw.Weld("w", {"body": "float", "position": [0, 0]}, SPAR),
        r"joint 'w': base position \[0.0, 0.0\] has 2 numbers",
    ),
    "body in TOML": (
        case(body=", inertia = [1, 1, 5]"),
        "body 'float': inertia violates the triangle",
    ),
    "bodies as a table": (
        lambda: sw.loads("[system]\nbodies = 3\n"),
        "'bodies' is not a list of tables",
    ),
    "study type": (
        case(study='type = "simulat"'),
        "study 'decay': there is no study type 'simulat'. Did you mean 'simulate'",
    ),
    "no duration": (case(study='type = "simulate"'), "study 'decay': 'duration' is missing"),
    "duration": (case(study='type = "simulate"\nduration = 0'), "duration 0.0 s is not positive"),
    "output step": (
        case(study='type = "simulate"\nduration = 1\noutput_step = 2'),
        "output_step 2.0 s is longer than the duration 1.0 s",
    ),
    "solver": (
        case(study='type = "simulate"\nduration = 1\nsolver = "rk5"'),
        "solver 'rk5' is not a solver. Did you mean 'rk4'",
    ),
    "formulation": (
        case(study='type = "modes"\nformulation = "lagrang"'),
        "formulation 'lagrang' is not a formulation. Did you mean 'lagrange'",
    ),
    "study twice": (
        case(study='type = "modes"\n[[studies]]\nname = "decay"\ntype = "modes"'),
        "study 'decay': the name is used twice",
    ),
    "study asked for": (
        lambda: case()().study("decai"),
        r"study 'decai' is not in the case. Did you mean 'decay'\?",
    ),
}

LITERAL = BODIES | JOINTS | SIGNALS | FORCES | SYSTEMS | CONTROLLERS


def test_no_two_tables_share_a_title():
    tables = (BODIES, JOINTS, SIGNALS, FORCES, SYSTEMS, CONTROLLERS)
    assert len(LITERAL) == sum(len(table) for table in tables)


@pytest.mark.parametrize(("make", "message"), LITERAL.values(), ids=LITERAL)
def test_mistake_in_python_is_told(make, message):
    with pytest.raises(sw.SwelltreeError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(("make", "message"), CASES.values(), ids=CASES)
def test_mistake_in_a_case_file_is_told(make, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        make()


@pytest.mark.parametrize("make", [make for make, _ in (*LITERAL.values(), *CASES.values())])
def test_message_is_one_line_that_ends_as_a_sentence(make):
    with pytest.raises(sw.SwelltreeError) as caught:
        make()
    assert "\n" not in str(caught.value)
    assert str(caught.value)[-1] in ".?"


def test_missing_case_file_is_told_with_its_neighbour(tmp_path):
    (tmp_path / "buoy.toml").write_text("")
    with pytest.raises(sw.SwelltreeError, match=r"does not exist. Did you mean 'buoy.toml'\?"):
        sw.load(tmp_path / "buoi.toml")


def test_folder_as_case_file_is_told(tmp_path):
    with pytest.raises(sw.SwelltreeError, match="cannot be read"):
        sw.load(tmp_path)


def test_case_file_that_is_not_text_is_told(tmp_path):
    (tmp_path / "buoy.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sw.SwelltreeError, match="is not UTF-8 text"):
        sw.load(tmp_path / "buoy.toml")


def test_case_file_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"cannot write .* does not exist. Make it first"):
        describe().to_toml(tmp_path / "no" / "such" / "folder.toml")
    (tmp_path / "taken").mkdir()
    with pytest.raises(sw.SwelltreeError, match="cannot write"):
        describe().to_toml(tmp_path / "taken")
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_module_that_fails_on_import_is_told(tmp_path, monkeypatch):
    (tmp_path / "broken_law.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(sw.SwelltreeError, match="importing 'broken_law' stopped with ZeroDivision"):
        sw.resolve("broken_law:f")


def test_nested_function_is_not_written():
    def law(t, y):
        return y

    with pytest.raises(sw.SwelltreeError, match="cannot be written to a case file"):
        controlled(law=law)().to_toml()


def test_angle_beyond_a_turn_looks_like_degrees():
    with pytest.warns(
        sw.SwelltreeWarning, match=r"position of Pitch 30.0 rad .* looks like degrees"
    ):
        hinge(position=30)()
    with pytest.warns(
        sw.SwelltreeWarning, match=r"force 'stop': upper 45.0 rad .* looks like degrees"
    ):
        describe(forces=[on_hinge(upper=45, stop_stiffness=1)()])


def test_the_article_suits_the_word():
    with pytest.raises(sw.SwelltreeError, match="wave: an irregular has no 'colour'"):
        sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=8.0), colour="blue")
