"""What `compile` closes, moves, reports and refuses."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from multibody.formulations.examples import bar, four_bar, spatial_loop
from swelltree.describe.errors import SwelltreeError
from swelltree.integrate.complementarity.start import start_motion
from swelltree.multibody.kinematics import forward
from swelltree.spatial.rotations import about_axis, euler_rates, euler_to_matrix


def test_a_redundant_four_bar_names_the_joint():
    model = sw.compile(four_bar())
    assert model.redundant
    assert len(model.cut_rows) == 2
    assert any(
        "joint 'd' repeats 3 of its 5 constraints, already held by" in text
        and "its reaction is not unique" in text
        for text in model.report
    )


def test_a_second_hinge_on_the_same_axis_adds_nothing():
    door = bar("door")
    joints = [
        sw.Hinge("lower", sw.WORLD, door, "z"),
        sw.Hinge("upper", sw.WORLD.at(0, 0, 1), door.at(0, 0, 1), "z"),
    ]
    model = sw.compile(sw.System("door", [door], joints))
    sentence = (
        "joint 'upper' adds nothing that 'lower' do not: its reaction is not unique "
        "(least-norm reactions are reported)."
    )
    assert sentence in model.report


def test_a_loop_is_cut_where_the_user_says():
    system = four_bar()
    cut = system.replace(
        joints=tuple(j.replace(cut=True) if j.name == "b" else j for j in system.joints)
    )
    model = sw.compile(cut)
    assert model.layout.joints[-1] == "b"
    assert "joint 'b' closes a loop through 'a', 'd', 'c' and was cut." in model.report


def test_a_loop_without_redundancy_keeps_all_its_equations():
    system, added_mass = spatial_loop()
    model = sw.compile(system, added_mass=added_mass)
    assert not model.redundant
    assert model.cut_rows == model.layout.cut_rows
    assert model.layout.n_tree - len(model.cut_rows) == 1


def test_assembly_keeps_the_given_angle_and_reports_what_it_moved():
    system = four_bar()
    turned = system.replace(
        joints=tuple(
            j.replace(position=0.2, velocity=0.0) if j.name == "a" else j for j in system.joints
        )
    )
    model = sw.compile(turned)
    labels = list(model.layout.dof_labels)
    assert model.start.q[labels.index("a__Pitch")] == 0.2
    moved = [text for text in model.report if "to close the loops" in text]
    assert len(moved) == 2
    assert any(text.startswith("joint 'b': Pitch was moved from 0 to ") for text in moved)
    # the coupler is as long as before
    pose = forward(model, model.start.q)
    i = model.layout.bodies.index("coupler")
    ends = [pose.p[i] + pose.R[i] @ np.array(e) for e in ((-1, 0, -0.25), (1, 0, 0.25))]
    pin = np.array([np.sin(0.2), 0.0, np.cos(0.2)])
    assert np.abs(ends[0] - pin).max() < 1e-12
    assert np.linalg.norm(ends[1] - [2, 0, 0]) == pytest.approx(1.5, abs=1e-12)


def with_values(system, **values):
    """The system with initial values of joints, by name."""
    joints = tuple(
        j.replace(velocity=(), position=()).replace(**values.get(j.name, {})) for j in system.joints
    )
    return system.replace(joints=joints)


def test_velocities_that_do_not_fit_a_loop_are_refused_with_the_names_of_the_joints():
    spun = with_values(four_bar(), a={"velocity": 1.0}, b={"velocity": 1.0})
    with pytest.raises(
        sw.SwelltreeError,
        match=r"initial velocities of joints .*'a' \(Pitch 1\).*'b' \(Pitch 1\).* are incompatible",
    ):
        sw.compile(spun)


def test_positions_that_do_not_fit_a_loop_are_refused_with_the_names_of_the_joints():
    turned = with_values(four_bar(), a={"position": 0.3}, d={"position": 0.5})
    with pytest.raises(
        sw.SwelltreeError,
        match=r"initial positions of joints .*'d' \(Pitch 0.5\).*'a' \(Pitch 0.3\).* incompatible",
    ):
        sw.compile(turned)


@pytest.mark.parametrize("cut", ["a", "b", "c", "d"])
@pytest.mark.parametrize("specified", ["a", "b", "c", "d"])
def test_given_values_are_honoured_wherever_the_loop_is_cut(specified, cut):
    system = with_values(four_bar(), **{specified: {"position": 0.2, "velocity": 0.7}})
    joints = tuple(j.replace(cut=j.name == cut) for j in system.joints)
    model = sw.compile(system.replace(joints=joints))
    assert model.layout.joints[-1] == cut
    motion = start_motion(model)
    k = list(model.layout.dof_labels).index(f"{specified}__Pitch")
    assert motion.coordinate[k] == pytest.approx(0.2, abs=1e-11)
    assert motion.rate[k] == pytest.approx(0.7, abs=1e-9)


def test_the_slider_of_a_slider_crank_starts_with_its_given_velocity():
    crank = sw.Body("crank", 2.0, (0.01, 0.2, 0.2), position=(0.4, 0, 0.3))
    rod = sw.Body("rod", 3.0, (0.01, 1.0, 1.0), position=(1.8, 0, 0.4))
    slide = sw.Body("slide", 5.0, (0.1, 0.1, 0.1), position=(2.8, 0, 0.2))
    joints = [
        sw.Hinge("shaft", sw.WORLD, crank.at(-0.4, 0, -0.3)),
        sw.Hinge("pin", crank.at(0.4, 0, 0.3), rod.at(-1.0, 0, 0.2)),
        sw.Hinge("wrist", rod.at(1.0, 0, -0.2), slide),
        sw.Slider("guide", sw.WORLD.at(2.8, 0, 0.2), slide, axis="x", velocity=1.0),
    ]
    model = sw.compile(sw.System("engine", [crank, rod, slide], joints))
    motion = start_motion(model)
    assert motion.v[model.layout.bodies.index("slide"), 0] == pytest.approx(1.0, abs=1e-9)


def two_floats_on_a_cut_ball(**values):
    one, two = bar("one"), bar("two", 1.0)
    joints = [
        sw.Free("float", sw.WORLD, one),
        sw.Free("other", sw.WORLD, two),
        sw.Ball("ball", one.at(0.5), two.at(-0.5), cut=True, **values),
    ]
    return sw.compile(sw.System("s", [one, two], joints))


def test_a_cut_ball_starts_with_its_given_attitude_and_rates():
    model = two_floats_on_a_cut_ball(
        position={"Roll": 0.1, "Pitch": 0.2, "Yaw": 0.3},
        velocity={"Roll": 0.4, "Pitch": -0.5, "Yaw": 0.6},
    )
    assert model.layout.joints[-1] == "ball"
    motion = start_motion(model)
    R = motion.frames.base_R[-1].T @ motion.frames.follower_R[-1]
    euler = np.array([0.1, 0.2, 0.3])
    assert np.abs(R - euler_to_matrix(euler)).max() < 1e-9
    assert np.abs(euler_rates(euler, np.asarray(motion.rate[-3:])) - [0.4, -0.5, 0.6]).max() < 1e-9


def test_some_rates_of_a_cut_ball_that_is_turned_are_refused():
    with pytest.raises(SwelltreeError, match=r"joint 'ball': the rates of some .* Give all three"):
        two_floats_on_a_cut_ball(position={"Pitch": 0.2}, velocity={"Yaw": 0.6})


def test_a_carrier_whose_velocity_is_left_out_stays_at_rest():
    # a four-bar on a barge: its loop asks nothing of the barge
    system = with_values(four_bar(), b={"velocity": 0.8})
    barge = sw.Body("barge", 50.0, (9.0, 9.0, 9.0))
    joints = [sw.Free("float", sw.WORLD, barge)]
    for j in system.joints:
        base = barge.at(*j.base.position) if j.base.body == "world" else j.base
        joints.append(j.replace(base=base))
    model = sw.compile(sw.System("s", [barge, *system.bodies], joints))
    motion = start_motion(model)
    assert np.abs(motion.v[model.layout.bodies.index("barge")]).max() < 1e-12
    k = list(model.layout.dof_labels).index("b__Pitch")
    assert motion.rate[k] == pytest.approx(0.8, abs=1e-9)


def test_a_rod_of_given_length_between_points_at_one_place_is_refused():
    bob = bar("bob")
    rod = sw.Distance("rod", sw.WORLD, bob, length=1.0)
    with pytest.raises(
        sw.SwelltreeError,
        match=r"joint 'rod': its points are described at one place, so a length of 1 m has no "
        "direction",
    ):
        sw.compile(sw.System("s", [bob], [rod]))


@pytest.mark.parametrize(
    ("kind", "axis", "turn"),
    [
        (sw.Weld, "x", np.pi),
        (sw.Weld, (1, 1, 1), -2.0 * np.pi / 3.0),
        (sw.Slider, "y", np.pi),
        (sw.Hinge, "x", np.pi),
    ],
)
def test_a_cut_joint_refuses_a_follower_that_is_turned_over(kind, axis, turn):
    along = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis) / np.sqrt(3)
    over = about_axis(along, np.array(turn))
    base, door = bar("base", 1.0), bar("door")
    joints = [
        sw.Weld("foot", sw.WORLD.at(1.0), base),
        sw.Weld("hold", sw.WORLD, door),
        kind("second", base.at(-1.0), door.at(rotation=over), cut=True),
    ]
    with pytest.raises(
        sw.SwelltreeError, match=r"joint 'second': its follower is turned over by \d+ degrees"
    ):
        sw.compile(sw.System("s", [base, door], joints))


def test_a_joint_whose_points_are_described_apart_warns():
    """The body would move by 3.7 m, with a line in the report only."""
    frame = sw.Body("frame", 1.0, (1.0, 1.0, 1.0), position=(1.0, 2.0, -3.0))
    with pytest.warns(sw.SwelltreeWarning, match="joint 'w': its points are described 3.74166 m"):
        sw.compile(sw.System("s", [frame], [sw.Weld("w", sw.WORLD, frame)]))


def test_a_screw_described_apart_along_its_axis_says_that_it_moves_its_body():
    nut = bar("nut", 0.0, 0.0, 0.5)
    joints = [sw.Screw("thread", sw.WORLD, nut, lead=0.1)]
    (sentence,) = sw.compile(sw.System("s", [nut], joints)).report
    assert sentence.startswith("joint 'thread': its points are described 0.5 m apart")


def test_a_cut_screw_described_apart_tells_what_it_moved():
    # a thread that is cut takes the nearest whole turn: 0.03 m are left of 0.53
    nut = bar("nut", 0.0, 0.0, 0.53)
    joints = [
        sw.Cylindrical("guide", sw.WORLD, nut, axis="z"),
        sw.Screw("thread", sw.WORLD, nut, axis="z", lead=0.1, cut=True),
    ]
    report = sw.compile(sw.System("s", [nut], joints)).report
    assert any(text.startswith("joint 'guide': Heave was moved from 0.53 to") for text in report)
    assert any(text.startswith("joint 'guide': Yaw was moved from 0 to") for text in report)


def test_a_cut_screw_described_apart_by_whole_turns_says_how_many():
    axis = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])

    def report(advance):
        nut = bar("nut", *(advance * axis))
        joints = [
            sw.Cylindrical("guide", sw.WORLD, nut, axis=tuple(axis)),
            sw.Screw("thread", sw.WORLD, nut, axis=tuple(axis), lead=0.1, cut=True),
        ]
        texts = sw.compile(sw.System("s", [nut], joints)).report
        return [text for text in texts if text.startswith("joint 'thread': its points are")]

    assert report(0.0) == []
    (sentence,) = report(-0.4)
    assert "-0.4 m apart along its axis, -4 whole turns from where its angle of" in sentence


def test_a_body_welded_to_the_world_twice_stands_still():
    block = bar("block")
    joints = [sw.Weld(f"w{x}", sw.WORLD.at(x), block.at(x)) for x in (0, 1)]
    model = sw.compile(sw.System("s", [block], joints))
    assert model.dofs == 0
    assert any("joint 'w1' adds nothing that 'w0' do not" in text for text in model.report)
    run = sw.simulate(model, duration=1.0, output_step=0.5)
    assert run.attrs["result"] == "success"
    assert float(abs(run["velocity"]).max()) == 0.0


def test_a_loop_that_cannot_close_is_refused():
    a, b = bar("a", 0.5), bar("b", 1.5)
    joints = [
        sw.Hinge("one", sw.WORLD, a.at(-0.5)),
        sw.Hinge("two", a.at(0.5), b.at(-0.5)),
        sw.Hinge("far", sw.WORLD.at(5.0), b.at(0.5)),
    ]
    with pytest.raises(sw.SwelltreeError, match=r"joint 'far': its loop cannot close: .* remain"):
        sw.compile(sw.System("s", [a, b], joints))


def test_contradicting_prescribed_motions_are_refused():
    system = four_bar(motion=sw.Polynomial((0.0, 1.0)))
    joints = tuple(
        j.replace(velocity=(), motion=sw.Polynomial((0.0, 3.0))) if j.name == "a" else j
        for j in system.joints
    )
    with pytest.raises(
        sw.SwelltreeError,
        match=r"joints .*'a' \(prescribed\).*'d' \(prescribed\).* are incompatible",
    ):
        sw.compile(system.replace(joints=joints))


def test_a_motion_that_moves_no_mass_is_refused():
    rod = sw.Body("rod")
    system = sw.System("s", [rod], [sw.Hinge("h", sw.WORLD, rod)])
    with pytest.raises(
        sw.SwelltreeError,
        match=r"joint 'h': Pitch moves no mass, so its acceleration is undetermined\. "
        r"Give body 'rod' mass or inertia, or hold that motion\.",
    ):
        sw.compile(system)


def test_a_massless_link_that_is_held_is_accepted():
    rod, bob = sw.Body("rod", position=(1.0, 0.0, 0.0)), bar("bob", 1.0)
    joints = [sw.Hinge("h", sw.WORLD, rod.at(-1.0)), sw.Weld("w", rod, bob)]
    assert sw.compile(sw.System("s", [rod, bob], joints)).report == ()


def test_a_rod_alone_gives_its_body_a_free_joint_and_says_so():
    bob = bar("bob", 1.0)
    model = sw.compile(sw.System("s", [bob], [sw.Distance("rod", sw.WORLD, bob)]))
    assert "body 'bob' got the free joint 'bob_free': only constraints hold it." in model.report


@pytest.mark.parametrize("kind", [sw.Ball, sw.Free])
def test_a_spring_on_a_freely_turning_joint_is_refused(kind):
    bob = bar("bob")
    joint = kind("j", sw.WORLD, bob)
    spring = sw.JointForce("s", joint, "Pitch", stiffness=1.0)
    with pytest.raises(
        sw.SwelltreeError,
        match="'s': joint 'j' turns freely, so Pitch has no angle for a spring or stop",
    ):
        sw.compile(sw.System("s", [bob], [joint], [spring]))
    brake = sw.JointForce("s", joint, "Pitch", damping=1.0)
    sw.compile(sw.System("s", [bob], [joint], [brake]))


@pytest.mark.parametrize(
    ("added_mass", "message"),
    [
        (
            np.eye(5),
            r"added_mass has shape \(5, 5\). Give 6 x 6: six rows for each",
        ),
        (np.full((6, 6), np.nan), "added_mass holds values that are not finite"),
        (np.triu(np.ones((6, 6))), "added_mass is not symmetric. Give a matrix equal to its"),
    ],
)
def test_a_wrong_added_mass_is_refused(added_mass, message):
    bob = bar("bob")
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.compile(sw.System("s", [bob], [sw.Free("f", sw.WORLD, bob)]), added_mass=added_mass)


def test_added_mass_follows_the_described_order_of_the_bodies():
    # the tree starts at the body described last
    far, near = bar("far", 2.0), bar("near", 1.0)
    joints = [sw.Hinge("b", near, far), sw.Hinge("a", sw.WORLD, near)]
    A = np.diag(np.arange(1.0, 13.0))
    model = sw.compile(sw.System("s", [far, near], joints), added_mass=A)
    assert model.layout.bodies == ("near", "far")
    assert list(np.diag(model.added_mass)) == [7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6]


def test_attitude_given_as_zero_is_kept_even_if_described_otherwise():
    turned = sw.Body("b", 1.0, (1, 1, 1), rotation_deg=(0, 0, 30))
    level = sw.Free("f", sw.WORLD, turned.at(rotation=np.eye(3)), position={"Yaw": 0.0})
    model = sw.compile(sw.System("s", [turned], [level]))
    assert np.abs(forward(model, model.start.q).R[0] - np.eye(3)).max() < 1e-14


def test_a_joint_whose_points_are_described_apart_says_that_it_moves_the_body():
    one, two = bar("one"), bar("two", 0.3, 0.4, 5.0)
    joints = [sw.Free("f", sw.WORLD, one), sw.Slider("s", one, two, "z")]
    report = sw.compile(sw.System("s", [one, two], joints)).report
    sentence = "joint 's': its points are described 0.5 m apart; body 'two' was moved to bring "
    assert report == (sentence + "them together.",)


def test_a_body_placed_away_from_its_joint_is_warned_of():
    """It was moved by 3.7 m with a line in the report alone."""

    def arm(position):
        heeled = about_axis(np.array([0.6, 0.0, 0.8]), np.array(0.4))
        body = sw.Body("arm", mass=1.0, inertia=(1, 1, 1), position=position, rotation=heeled)
        return sw.System("arm", [body], [sw.Hinge("pivot", sw.WORLD, body.at(0.5, 0, 0))])

    with pytest.warns(sw.SwelltreeWarning, match=r"joint 'pivot': its points .* m apart; body"):
        sw.compile(arm((3.0, 2.0, -1.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.compile(arm((0.0, 0.0, 0.0)))  # given no place, it goes where its joint is
