"""What `compile` closes, moves, reports and refuses."""

import numpy as np
import pytest

import swelltree as sw
from formulations.examples import bar, four_bar, spatial_loop
from swelltree.model.kinematics import forward


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


def test_velocities_that_do_not_fit_a_loop_are_changed_and_reported():
    system = four_bar()
    spun = system.replace(
        joints=tuple(
            j.replace(velocity=1.0) if j.name in ("a", "b", "c") else j for j in system.joints
        )
    )
    report = sw.compile(spun).report
    assert any("initial velocity of Pitch was changed from 1 to" in text for text in report)


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
    with pytest.raises(sw.SwelltreeError, match="contradict the loops and prescribed motions"):
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
