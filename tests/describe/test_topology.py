"""Trees, loops and the order of bodies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swelltree.describe as sw


def bodies(names):
    return [sw.Body(name, 1.0, position=(1 + k, 0, 0)) for k, name in enumerate(names)]


def topology(names, joints):
    return sw.System("s", bodies(names), joints).topology


@st.composite
def trees(draw):
    """A parent for each body among those before it (-1 is the world), then shuffled names."""
    n = draw(st.integers(1, 12))
    parents = [draw(st.integers(-1, k - 1)) for k in range(n)]
    names = draw(st.permutations([f"b{k}" for k in range(n)]))
    flipped = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    return parents, names, flipped, order


@settings(max_examples=50, deadline=None)
@given(trees())
def test_path_matrix_of_a_random_tree_holds_the_ancestors(tree):
    parents, names, flipped, order = tree
    joints = []
    for k, parent in enumerate(parents):
        ends = ["world" if parent < 0 else names[parent], names[k]]
        joints.append(sw.Hinge(f"j{k}", *(reversed(ends) if flipped[k] else ends)))
    found = topology(sorted(names), [joints[k] for k in order])
    path = found.path_matrix()

    assert np.array_equal(path, np.tril(path))
    assert np.all(np.diag(path) == 1)
    for k, name in enumerate(names):
        ancestors, j = {name}, parents[k]
        while j >= 0:
            ancestors.add(names[j])
            j = parents[j]
        row = path[found.index(name)]
        assert {found.body_names[i] for i in np.flatnonzero(row)} == ancestors
        assert found.tree_joint[found.index(name)] == f"j{k}"
    assert set(found.reversed_joints) == {f"j{k}" for k in range(len(names)) if flipped[k]}
    assert found.cut_joints == found.implicit_free == found.loops == ()


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 8), st.data())
def test_cut_joints_leave_a_tree_of_all_bodies(n, data):
    names = [f"b{k}" for k in range(n)]
    kinds = [sw.Weld, sw.Hinge, sw.Ball, sw.Free, sw.Planar, sw.Distance, sw.RevoluteSpherical]
    places = ["world", *names]
    # each body is joined to one before it, then some loops are added
    ends = [(data.draw(st.integers(0, k)), k + 1) for k in range(n)]
    ends += data.draw(st.lists(st.permutations(range(n + 1)).map(lambda p: p[:2]), max_size=n))
    joints = [
        data.draw(st.sampled_from(kinds))(f"j{k}", places[a], places[b])
        for k, (a, b) in enumerate(data.draw(st.permutations(ends)))
    ]
    found = topology(names, joints)
    assert sorted(found.body_names) == names
    assert all(parent < k for k, parent in enumerate(found.parent))
    # every joint is either in the tree or cut; the tree has one joint per body
    in_tree = set(found.tree_joint) - {f"{body}_free" for body in found.implicit_free}
    assert in_tree | set(found.cut_joints) == {joint.name for joint in joints}
    assert not in_tree & set(found.cut_joints)
    assert len(found.tree_joint) == n
    # a cut joint never has fewer freedoms than a tree joint of its loop
    dofs = {joint.name: joint.layout().n_dof for joint in joints}
    for cut, loop in found.loops:
        if not any(joint.name == cut and joint.layout().rows_only for joint in joints):
            assert all(dofs[name] <= dofs[cut] for name in loop)


def test_bodies_are_numbered_depth_first_as_described():
    joints = [
        sw.Hinge("wb", "world", "b"),
        sw.Hinge("ba", "b", "a"),
        sw.Hinge("bc", "b", "c"),
        sw.Hinge("cd", "c", "d"),
        sw.Hinge("we", "world", "e"),
    ]
    found = topology("abcde", joints)
    assert found.body_names == ("b", "a", "c", "d", "e")
    assert found.parent == (-1, 0, 0, 2, -1)
    assert found.tree_joint == ("wb", "ba", "bc", "cd", "we")


FOUR_BAR = [
    sw.Hinge("p", "world", "a"),
    sw.Hinge("q", "a", "b"),
    sw.Ball("r", "b", "c"),
    sw.Hinge("s", "c", "world"),
]


def test_loop_is_cut_at_the_joint_with_most_freedom():
    found = topology("abc", FOUR_BAR)
    assert found.cut_joints == ("r",)
    assert found.loops == (("r", ("q", "p", "s")),)
    assert found.reversed_joints == ("s",)


def test_loop_is_cut_where_the_user_says():
    joints = [FOUR_BAR[0], FOUR_BAR[1].replace(cut=True), *FOUR_BAR[2:]]
    found = topology("abc", joints)
    assert found.cut_joints == ("q",)
    assert found.loops == (("q", ("p", "s", "r")),)
    assert found.reversed_joints == ("s", "r")


def test_joint_that_closes_no_loop_cannot_be_cut():
    with pytest.raises(sw.SwelltreeError, match="cut is set, but the joint closes no loop"):
        topology("ab", [sw.Hinge("p", "world", "a"), sw.Hinge("q", "a", "b", cut=True)])


def test_body_on_rods_alone_gets_a_free_joint():
    joints = [
        sw.Hinge("p", "world", "a"),
        sw.Distance("rod", sw.Point("a", (0, 0, 1)), "b"),
        sw.Hinge("q", "c", "b"),
    ]
    found = topology("abc", joints)
    assert found.implicit_free == ("b",)
    assert found.tree_joint == ("p", "b_free", "q")
    assert found.body_names == ("a", "b", "c")
    assert found.parent == (-1, -1, 1)
    assert found.cut_joints == ("rod",)
    assert found.loops == (("rod", ("p", "b_free")),)


def test_cut_joint_that_alone_carries_a_body_beside_a_rod_leaves_it_free():
    joints = [sw.Hinge("p", "world", "a", cut=True), sw.Distance("rod", sw.WORLD.at(0, 0, 9), "a")]
    found = topology("a", joints)
    assert found.implicit_free == ("a",)
    assert found.cut_joints == ("p", "rod")


def test_chain_of_two_thousand_bodies_meets_no_recursion_limit():
    names = [f"b{k}" for k in range(2000)]
    joints = [
        sw.Hinge(f"j{k}", before, after)
        for k, (before, after) in enumerate(zip(["world", *names], names, strict=False))
    ]
    assert topology(names, joints).parent[-1] == 1998


def test_topology_is_hashable_and_equal_by_value():
    assert topology("abc", FOUR_BAR) == topology("abc", FOUR_BAR)
    assert hash(topology("abc", FOUR_BAR)) == hash(topology("abc", FOUR_BAR))
