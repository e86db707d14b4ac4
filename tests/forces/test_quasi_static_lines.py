"""Quasi-static lines in a system."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import jax, jnp
from swelltree.model.capabilities import AT_REST
from swelltree.model.effect import Instant
from swelltree.mooring.catenary.equilibrium_shapes import static_network, static_shape
from swelltree.mooring.catenary.lines import QuasiStaticLines
from swelltree.mooring.network import line_network
from swelltree.multibody.build_layout import all_joints, build_layout
from swelltree.multibody.kinematics import Motion, Pose, joint_frames

CHAIN, WIRE = sw.chain(0.06), sw.wire_rope(0.05)
WAY = {"model": "quasi_static"}


def moored(*lines, junctions=(), **more):
    body = sw.Body("buoy", mass=1e5, inertia=(1e6, 1e6, 1e6))
    specified = {"water": sw.Water(depth=50.0)} | more
    joints = [sw.Weld("held", sw.WORLD, body)]
    return sw.System("moored", [body], joints, lines=lines, junctions=junctions, **specified)


def bow(**changes):
    specified = {"A": (-200, 0, -50), "B": sw.Point("buoy", (0, 0, 0)), "rest_length": 215.0} | WAY
    return sw.Line("bow", **(specified | {"type": CHAIN} | changes))


def loads(system, place=(0.0, 0.0, 0.0), v=None):
    model = sw.compile(system)
    pose = Pose(np.array([place], dtype=float), np.eye(3)[None])
    v = np.zeros((1, 6)) if v is None else np.array([v])
    motion = Motion(pose, v, joint_frames(model, pose), np.zeros(0), np.zeros(0))
    group = model.effect(QuasiStaticLines)
    return group.loads(model, Instant(np.zeros(()), motion, AT_REST))


def test_line_reports_its_tensions_and_touchdown():
    found = loads(moored(bow()))
    tension = found.channels["fairlead_tension"][0]
    assert tension == pytest.approx(np.linalg.norm(found.wrench[0, :3]), rel=1e-12)
    w = CHAIN.weight_per_length(1025.0, 9.81)
    lying = found.channels["touchdown"][0]
    assert -found.wrench[0, 2] == pytest.approx(w * (215.0 - lying), rel=1e-9)
    assert found.channels["anchor_uplift"][0] == 0.0
    # without friction the anchor feels the horizontal pull
    assert found.channels["anchor_tension"][0] == pytest.approx(-found.wrench[0, 0], rel=1e-12)
    position = found.channels["line_position"][0]
    assert position[0] == pytest.approx([-200, 0, -50])
    assert position[-1] == pytest.approx([0, 0, 0], abs=1e-9)
    assert position[:, 2].min() == pytest.approx(-50.0, abs=1e-9)


def test_line_described_from_the_fairlead_is_the_same_line():
    parts = [sw.Section(CHAIN, 150.0), sw.Section(WIRE, 60.0)]
    up = loads(moored(bow(type=None, rest_length=None, sections=parts)))
    ends = {"A": sw.Point("buoy", (0, 0, 0)), "B": (-200, 0, -50)}
    down = loads(moored(bow(type=None, rest_length=None, sections=parts[::-1], **ends)))
    assert down.wrench == pytest.approx(up.wrench, rel=1e-12)
    assert down.potential == pytest.approx(up.potential, rel=1e-12)
    assert down.channels["fairlead_tension"] == pytest.approx(up.channels["anchor_tension"])
    assert 210.0 - down.channels["touchdown"] == pytest.approx(up.channels["touchdown"])
    assert down.channels["line_position"][0] == pytest.approx(
        up.channels["line_position"][0, ::-1], abs=1e-9
    )


def test_line_cut_by_a_junction_is_the_same_line():
    knot = sw.Junction("knot", (-60, 5, -30))
    low = bow(rest_length=150.0, B=knot)
    high = sw.Line("high", knot, sw.Point("buoy", (0, 0, 0)), 65.0, CHAIN, **WAY)
    full, cut = loads(moored(bow())), loads(moored(low, high, junctions=[knot]))
    assert cut.wrench == pytest.approx(full.wrench, rel=1e-8)
    assert cut.potential.sum() == pytest.approx(full.potential.sum(), rel=1e-9)
    tension = full.channels["fairlead_tension"][0]
    assert cut.channels["fairlead_tension"][1] == pytest.approx(tension, rel=1e-8)


def test_clump_weight_on_the_bed_stays_on_it():
    knot = sw.Junction("clump", (-90, 0, -45), mass=20e3, volume=2.5)
    low = bow(rest_length=112.0, B=knot)
    high = sw.Line("high", knot, sw.Point("buoy", (0, 0, 0)), 104.0, CHAIN, **WAY)
    found = loads(moored(low, high, junctions=[knot]))
    assert found.channels["junction_position"][0, 2] == pytest.approx(-50.0, abs=1e-9)


@pytest.mark.slow
def test_junction_follows_its_equations_under_differentiation():
    knot = sw.Junction("knot", (-60, 5, -30), mass=300.0)
    low, side = bow(rest_length=150.0, B=knot), bow(rest_length=160.0, B=knot, A=(-190, 90, -50))
    side = side.replace(name="side")
    high = sw.Line("high", knot, sw.Point("buoy", (0, 0, 0)), 64.0, WIRE, **WAY)
    model = sw.compile(moored(low, side, high, junctions=[knot]))
    group = model.effect(QuasiStaticLines)

    def pull(p):
        pose = Pose(p[None], jnp.eye(3)[None])
        motion = Motion(pose, jnp.zeros((1, 6)), joint_frames(model, pose), p[:0], p[:0])
        return group.loads(model, Instant(jnp.zeros(()), motion, AT_REST)).wrench[0, :3]

    K = np.asarray(jax.jit(jax.jacfwd(pull))(jnp.zeros(3)))
    h, differences = 1e-4, []
    for step in np.eye(3) * h:
        high_end, low_end = (
            loads(moored(low, side, high, junctions=[knot]), s) for s in (step, -step)
        )
        differences.append((high_end.wrench[0, :3] - low_end.wrench[0, :3]) / (2 * h))
    assert pytest.approx(np.array(differences).T, rel=1e-5, abs=1e-3) == K
    # a conservative force has a symmetric stiffness
    assert pytest.approx(K.T, rel=1e-8, abs=1e-6) == K


def test_friction_books_the_work_of_the_line():
    found = loads(moored(bow(), seabed=sw.Seabed(friction=0.5)), v=[0.3, 0.1, -0.2, 0, 0, 0])
    assert found.potential == pytest.approx([0.0])
    assert found.power[0] == pytest.approx(found.wrench[0, :3] @ [0.3, 0.1, -0.2], rel=1e-12)


def shapes(system, model="quasi_static"):
    return line_network(system, build_layout(system, all_joints(system)), model)


def test_static_shape_has_nodes_at_rest_lengths():
    system = moored(bow(model="dynamic", segments=43))
    (piece,) = shapes(system, "dynamic").pieces
    shape = static_shape(system, piece, np.array([-200.0, 0, -50]), np.zeros(3))
    steps = np.linalg.norm(np.diff(shape.position, axis=0), axis=1)
    assert shape.position.shape == (44, 3)
    assert shape.tension.shape == (43,)
    # chords are a little shorter than arcs
    stretched = 5.0 * (1.0 + shape.tension / CHAIN.EA)
    assert (steps <= stretched + 1e-9).all()
    assert steps == pytest.approx(stretched, rel=2e-3)
    assert shape.tension[-1] < np.linalg.norm(shape.force_B)


def test_static_shape_of_a_nonlinear_rope_follows_its_table():
    table = [(0.0, 0.0), (0.01, 1e4), (0.03, 9e4)]
    rope = sw.LineType(
        "rope", diameter=0.05, mass_per_length=1025 * np.pi / 4 * 0.05**2, stretch=table
    )
    system = moored(bow(type=rope, rest_length=100.0, model="dynamic"))
    (piece,) = shapes(system, "dynamic").pieces
    shape = static_shape(system, piece, np.array([-102.0, 0, -10.0]), np.array([0, 0, -10.0]))
    # two percent of strain: half way along the second row
    assert shape.force_A == pytest.approx([5e4, 0.0, 0.0], rel=1e-6, abs=1e-3)


def test_static_network_finds_its_junction():
    knot = sw.Junction("knot", (-60, 5, -30))
    low = bow(rest_length=150.0, B=knot, model="dynamic")
    high = sw.Line("high", knot, sw.Point("buoy", (0, 0, 0)), 65.0, CHAIN)
    system = moored(low, high, junctions=[knot])
    found = shapes(system, "dynamic")
    a = np.array([[-200.0, 0, -50], [0, 0, 0]])
    rest = static_network(system, found, a, np.zeros((2, 3)))
    assert rest.shapes[0].position[-1] == pytest.approx(rest.junctions[0])
    assert rest.shapes[0].force_B == pytest.approx(-rest.shapes[1].force_A, abs=1e-5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: moored(bow(A=(-200, 0, -60))),
            "line 'bow': its end A at z = -60 m lies below the seabed, which is at -50 m there.",
        ),
        (
            lambda: moored(bow(release_time=10.0)),
            "line 'bow': a quasi-static line is not released. Give model='dynamic'.",
        ),
        (
            lambda: moored(
                bow(),
                seabed=sw.Seabed(grid=sw.DepthGrid((0, 1), (0, 1), ((50, 50), (50, 50)))),
            ),
            "line 'bow': a quasi-static line takes a plane seabed, not a grid.",
        ),
    ],
)
def test_what_a_catenary_cannot_be_is_refused(make, sentence):
    with pytest.raises(sw.SwelltreeError) as raised:
        sw.compile(make())
    assert sentence in str(raised.value)


@pytest.mark.slow
def test_a_line_between_bodies_over_a_bed_has_derivatives_where_it_is_traced_once():
    """A program that is traced first and differentiated afterwards, as linear studies do."""
    from swelltree.jit import Points

    one = sw.Body("one", mass=1e4, inertia=(1e4,) * 3, displaced_volume=20.0)
    two = sw.Body("two", mass=1e4, inertia=(1e4,) * 3, displaced_volume=20.0, position=(60, 0, 0))
    line = sw.Line("sag", one.at(0, 0, 0), two.at(0, 0, 0), 150.0, WIRE, **WAY)
    joints = [sw.Free("j1", sw.WORLD, one), sw.Free("j2", sw.WORLD, two)]
    model = sw.compile(sw.System("s", [one, two], joints, lines=[line], water=sw.Water(depth=50.0)))
    group = model.effect(QuasiStaticLines)

    def pull(group, p):
        pose = Pose(p.reshape(2, 3), jnp.stack([jnp.eye(3)] * 2))
        motion = Motion(pose, jnp.zeros((2, 6)), joint_frames(model, pose), p[:0], p[:0])
        return group.loads(model, Instant(jnp.zeros(()), motion, AT_REST)).wrench

    p = np.array([0.0, 0.0, -1.0, 61.0, 2.0, -3.0])
    points = Points(pull)
    found = points.jacobians(group, p)[1]
    assert points.engine == "LLVM"
    exact = jax.jacfwd(lambda p: pull(group, p))(p)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-9)
    assert np.abs(exact).max() > 1.0
