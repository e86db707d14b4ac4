"""Mechanisms from URDF and MJCF: closed forms, the figures of MuJoCo, and damaged files."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import swelltree as sw
from swelltree.describe.errors import SwelltreeError

PENDULUM = """<?xml version="1.0"?>
<robot name="double pendulum">
  <link name="world"/>
  <link name="upper arm"><inertial>
    <origin xyz="0 0 -0.4" rpy="0.3 -0.2 0.5"/><mass value="2.0"/>
    <inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-9"/></inertial>
    <visual><origin xyz="0 0 0.1"/><geometry><mesh filename="arm.stl" scale="1e-3 1e-3 1e-3"/>
    </geometry></visual></link>
  <link name="lower.arm"><inertial>
    <origin xyz="0.3 0 0"/><mass value="1.5"/>
    <inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-9"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="world"/><child link="upper arm"/>
    <origin xyz="0 0 2" rpy="0 0 0.7"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper arm"/><child link="lower.arm"/>
    <origin xyz="0 0 -0.8" rpy="0 1.5707963267948966 0"/><axis xyz="0 2 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="2"/>
    <dynamics damping="0.0" friction="0.0"/></joint>
  <transmission name="drive"/>
</robot>
"""


def double_pendulum(times, first, second):
    """Two point masses on massless rods, angles from the vertical."""
    m1, m2, l1, c1, c2, g = 2.0, 1.5, 0.8, 0.4, 0.3, 9.81

    def rate(t, y):
        a, b, u, v = y
        M = np.array(
            [
                [m1 * c1**2 + m2 * l1**2, m2 * l1 * c2 * np.cos(a - b)],
                [m2 * l1 * c2 * np.cos(a - b), m2 * c2**2],
            ]
        )
        spin = m2 * l1 * c2 * np.sin(a - b)
        f = [
            -spin * v**2 - (m1 * c1 + m2 * l1) * g * np.sin(a),
            spin * u**2 - m2 * c2 * g * np.sin(b),
        ]
        return [u, v, *np.linalg.solve(M, f)]

    start = [first, first + second, 0.0, 0.0]
    return solve_ivp(rate, (0, times[-1]), start, t_eval=times, rtol=1e-11, atol=1e-12).y


def coordinate(run, joint):
    labels = [re.split(r"__|\.", str(x))[0] for x in run.joint_coordinate.coordinate.values]
    return run.joint_coordinate.values[:, labels.index(joint)]


def written(tmp_path, text, name="robot.urdf"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_double_pendulum_of_a_urdf_file(tmp_path):
    path = written(tmp_path, PENDULUM)
    found = sw.read_urdf(path, positions={"shoulder": 0.9, "elbow": -0.5})
    assert [body.name for body in found.bodies] == ["upper arm", "lower_arm"]
    assert found.meshes["upper arm"][0].path == "arm.stl"
    assert found.meshes["upper arm"][0].scale == (1e-3,) * 3
    notes = "\n".join(found.notes)
    for words in ("'lower.arm' is called 'lower_arm'", "<transmission> 'drive'", "effort 10"):
        assert words in notes
    assert "limits -3 to 3 of joint 'elbow' left out: give stop_stiffness" in notes
    times = np.linspace(0.0, 2.0, 21)
    run = sw.simulate(sw.compile(found.system()), times=times, rtol=1e-9, atol=1e-10)
    first, both = double_pendulum(times, 0.9, -0.5)[:2]
    np.testing.assert_allclose(coordinate(run, "shoulder"), first, atol=1e-6)
    np.testing.assert_allclose(coordinate(run, "elbow"), both - first, atol=1e-6)


def test_limits_mimics_and_bases_of_urdf(tmp_path):
    text = """<robot name="gripper">
      <link name="palm"><inertial><mass value="3"/>
        <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
      <link name="left"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
        <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
      <link name="right"><inertial><origin xyz="-0.1 0 0"/><mass value="1"/>
        <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
      <link name="tip"/>
      <joint name="open" type="prismatic"><parent link="palm"/><child link="left"/>
        <origin xyz="0.2 0 0"/><limit lower="-0.05" upper="0.1"/><dynamics damping="4"/></joint>
      <joint name="other" type="prismatic"><parent link="palm"/><child link="right"/>
        <origin xyz="-0.2 0 0"/><mimic joint="open" multiplier="-2" offset="0.02"/></joint>
      <joint name="glued" type="fixed"><parent link="left"/><child link="tip"/>
        <origin xyz="0.1 0 0.3" rpy="0.1 0.2 0.3"/></joint>
    </robot>"""
    path = written(tmp_path, text)
    found = sw.read_urdf(path, base="free", stop_stiffness=1e4, positions={"other": 0.02})
    force = next(f for f in found.forces if f.name == "open_force")
    assert (force.damping, force.lower, force.upper) == (4.0, -0.05, 0.1)
    system = found.system(water=sw.Water(g=0.0))
    push = sw.AppliedForce("push", system.body("left").at(0, 0, 0), force=(3.0, 0.0, 0.0))
    run = sw.simulate(sw.compile(system.replace(forces=(*system.forces, push))), duration=0.2)
    one, other = (coordinate(run, name) for name in ("open", "other"))
    assert one[-1] > 1e-3
    np.testing.assert_allclose(other, -2.0 * one + 0.02, atol=1e-9)
    with pytest.raises(SwelltreeError, match=r"begins at 0\.02. Give positions"):
        sw.read_urdf(path)


# An arm in general position: classes, euler angles, two joints in one body, capsules and boxes.
# Figures of MuJoCo 3 (RK4, timestep 1e-4 s, contacts off): coordinates and rates after 0.5 s.
ARM = """<mujoco model="arm">
  <compiler angle="degree" eulerseq="XYZ"/>
  <option gravity="0 0 -9.81" timestep="0.0001" integrator="RK4">
    <flag contact="disable" limit="disable"/></option>
  <default><geom density="800"/><joint damping="0.1"/>
    <default class="stiff"><joint stiffness="3" springref="20" damping="0.3"/></default></default>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="base" pos="0.1 0.2 1.5" euler="10 20 30">
      <joint name="turn" type="hinge" axis="0.2 0.1 1" pos="0.05 0 0"/>
      <joint name="tilt" type="hinge" axis="0 1 0.3" class="stiff"/>
      <geom type="capsule" fromto="0 0 0 0.3 0.1 0.2" size="0.04"/>
      <geom type="box" size="0.05 0.1 0.02" pos="0 0.1 0" quat="0.9 0.1 0.3 0.2"/>
      <body name="boom" pos="0.3 0.1 0.2" axisangle="1 1 0 40" childclass="stiff">
        <joint name="extend" type="slide" axis="1 0 0.2" range="-0.2 0.4" springref="0.1"/>
        <geom type="cylinder" size="0.03 0.2" pos="0.2 0 0" zaxis="1 0.2 0"/>
        <body name="tool" pos="0.4 0 0" xyaxes="0 1 0.1 -1 0.1 0">
          <joint name="wrist" type="ball" pos="0 0 0.02" class="main" damping="0"/>
          <inertial pos="0.02 0.05 0.03" mass="0.7"
            fullinertia="0.01 0.02 0.015 0.001 0.002 0.003"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="turn"/></actuator>
</mujoco>
"""
MUJOCO = {"turn": -0.4588358445322936, "tilt": 0.882223909592234, "extend": 0.8812853662702046}
MUJOCO_RATES = (-1.6842673442480687, 1.3142572586838275, 4.681759954917732)
MUJOCO_FIRST = (-14.70634351123432, 20.17173243264571, -2.296553977520484)  # accelerations at 0 s
MUJOCO_TOOL = (0.4060914313123697, 0.6164813450068142, 0.09106890174558013)  # centre of mass
MUJOCO_MASSES = (2.35907577, 0.90477868, 0.7)


def test_an_arm_of_a_mujoco_file_moves_as_in_mujoco(tmp_path):
    path = written(tmp_path, ARM, "arm.xml")
    found = sw.read_mjcf(path, positions={"turn": 0.4, "tilt": -0.3, "extend": 0.1})
    masses = [body.mass for body in found.bodies if body.mass]
    np.testing.assert_allclose(masses, MUJOCO_MASSES, rtol=1e-8)
    notes = "\n".join(found.notes)
    assert "<motor> 'drive' left out" in notes
    assert "limits -0.2 to 0.4 of joint 'extend' left out" in notes
    times = np.linspace(0.0, 0.5, 2501)
    run = sw.simulate(sw.compile(found.system()), times=times, rtol=1e-10, atol=1e-11)
    for name, value in MUJOCO.items():
        assert coordinate(run, name)[-1] == pytest.approx(value, abs=1e-6)
    rows = np.stack([coordinate(run, name) for name in MUJOCO])
    h = times[1]
    rates = (25 * rows[:, -1] - 48 * rows[:, -2] + 36 * rows[:, -3] - 16 * rows[:, -4]) / (12 * h)
    rates += 3 * rows[:, -5] / (12 * h)
    np.testing.assert_allclose(rates, MUJOCO_RATES, atol=1e-5)
    first = 2.0 * (rows[:, 1] - rows[:, 0]) / h**2
    np.testing.assert_allclose(first, MUJOCO_FIRST, rtol=3e-3, atol=0.02)
    place = run.position.sel(body="tool").values[-1, :3]
    np.testing.assert_allclose(place, MUJOCO_TOOL, atol=1e-6)


def test_gravity_free_bodies_and_references_of_mjcf(tmp_path):
    text = """<mujoco><compiler angle="radian"/><option gravity="0 0 -1.62"/><worldbody>
      <body name="ship" pos="0 0 3" quat="1 0 0 1"><freejoint/>
        <geom type="ellipsoid" size="1 2 3" mass="10"/>
        <body pos="0 0 1"><joint type="hinge" axis="0 1 0" ref="0.5" range="0.2 0.9"
          stiffness="2" springref="0.7" armature="0.3"/>
          <geom type="sphere" size="0.1" pos="0 0 1"/></body></body>
    </worldbody></mujoco>"""
    found = sw.read_mjcf(written(tmp_path, text, "ship.xml"), stop_stiffness=100.0)
    assert found.g == 1.62
    force = found.forces[0]
    assert force.rest_position == pytest.approx(0.2)
    assert (force.lower, force.upper) == (pytest.approx(-0.3), pytest.approx(0.4))
    assert "armature 0.3" in "\n".join(found.notes)
    ship = found.bodies[0]
    np.testing.assert_allclose(ship.inertia[:3], (26.0, 20.0, 10.0))
    run = sw.simulate(sw.compile(found.system()), duration=1.0)
    fall = run.position.sel(body="ship").values[:, 2]
    assert 3.0 - fall[-1] == pytest.approx(0.81, abs=0.2)
    assert abs(run.energy_residual).max() < 1e-4


# --- Damaged and hostile files

LAUGHS = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>
<robot name="&b;"/>"""
LINK = "<link name='a'/>"


@pytest.mark.parametrize("read", [sw.read_urdf, sw.read_mjcf])
def test_hostile_xml_is_refused(tmp_path, read):
    for text, words in (
        (LAUGHS, "declares a document type"),
        ("<robot>" * 5000, "more than 100 deep|not sound XML"),
        ("<a>" + "<b/>" * 200_000 + "</a>", "more than 100000 elements"),
        ("", "not sound XML"),
        ("\0\0", "not sound XML"),
        ("<html/>", "the root is <html>"),
    ):
        with pytest.raises(SwelltreeError, match=words):
            read(written(tmp_path, text, "bad.xml"))
    with pytest.raises(SwelltreeError, match=r"cannot be read: No such file"):
        read(tmp_path / "gone.xml")


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("", "0 links have no parent"),
        (LINK + "<link name='b'/>", "2 links have no parent"),
        ("<link/>", "<link> has no name"),
        (LINK + "<joint name='j' type='wheel'/>", "joint 'j' has the type 'wheel'"),
        (LINK + "<joint name='j' type='fixed'/>", "has the parent '', which is not a link"),
        (
            LINK
            + "<link name='b'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
            "<axis xyz='0 0 0'/></joint>",
            "axis of joint 'j' is zero",
        ),
        ("<link name='a'><inertial><mass value='1'/></inertial></link>", "no mass or inertia"),
        (
            "<link name='a'><inertial><origin xyz='0 0 nan'/><mass value='1'/><inertia/></inertial>"
            "</link>",
            "not 3 finite numbers",
        ),
    ],
)
def test_damaged_urdf_is_refused_with_its_line(tmp_path, inside, words):
    with pytest.raises(SwelltreeError, match=rf"(?s)line \d+.*{words}"):
        sw.read_urdf(written(tmp_path, f"<robot name='r'>{inside}</robot>"))


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("", "no <worldbody>"),
        ("<include file='/etc/passwd'/>", "<include> is not read"),
        ("<worldbody><body><joint class='x'/></body></worldbody>", "no default class 'x'"),
        ("<worldbody><body><joint type='screw'/></body></worldbody>", "has the type 'screw'"),
        ("<worldbody><body><joint axis='0 0 0'/></body></worldbody>", "axis of joint .* is zero"),
        ("<worldbody><body quat='0 0 0 0'/></worldbody>", "quat is zero"),
        ("<worldbody><body><geom type='mesh' mesh='m'/></body></worldbody>", "no mesh 'm'"),
        ("<worldbody><body><geom type='sdf'/></body></worldbody>", "geom of type 'sdf'"),
        ("<option gravity='1 0 0'/><worldbody/>", "not along -z"),
    ],
)
def test_damaged_mjcf_is_refused_with_its_line(tmp_path, inside, words):
    with pytest.raises(SwelltreeError, match=rf"(?s)line \d+.*{words}"):
        sw.read_mjcf(written(tmp_path, f"<mujoco>{inside}</mujoco>", "bad.xml"))


def test_wrong_options_are_refused(tmp_path):
    path = written(tmp_path, PENDULUM)
    with pytest.raises(SwelltreeError, match="base 'flying' is not 'fixed' or 'free'"):
        sw.read_urdf(path, base="flying")
    with pytest.raises(SwelltreeError, match=r"positions names 'elbo'.*Did you mean 'elbow'"):
        sw.read_urdf(path, positions={"elbo": 0.1})
