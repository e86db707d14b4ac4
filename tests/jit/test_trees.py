"""Trees taken apart without JAX as JAX does it."""

from typing import NamedTuple

import numpy as np
import pytest

from swelltree.jit import trees
from swelltree.jit.arrays import pytree
from swelltree.jit.backend import jax


class Pair(NamedTuple):
    left: object
    right: object


@pytree("name")
class Named:
    name: str
    value: object
    more: object = None


def tree(scale=1.0):
    return {
        "z": (scale * np.arange(3.0), None, [scale * 2.0]),
        "a": Pair(Named("n", scale * np.ones(2), {"b": scale, "a": -scale}), ()),
    }


@pytest.fixture
def alone(monkeypatch):
    """As in a process that has not imported JAX."""
    monkeypatch.setattr(trees, "is_imported", lambda name: False)


def same(a, b):
    theirs, ours = jax.tree.flatten(a), jax.tree.flatten(b)
    return theirs[1] == ours[1] and all(map(np.array_equal, theirs[0], ours[0]))


def test_leaves_come_in_the_order_of_jax_and_make_the_same_tree(alone):
    leaves, structure = trees.flatten(tree())
    assert all(map(np.array_equal, leaves, jax.tree.leaves(tree())))
    assert structure.num_leaves == len(leaves) == 5
    assert same(structure.unflatten([2.0 * x for x in leaves]), tree(2.0))
    with pytest.raises(ValueError, match="4 arrays for a tree of 5"):
        structure.unflatten(leaves[1:])


def test_structures_differ_by_static_fields_and_keys(alone):
    one = trees.structure_of(Named("n", 1.0))
    assert one == trees.structure_of(Named("n", 3.0))
    assert {one: 1}[trees.structure_of(Named("n", 3.0))] == 1
    assert one != trees.structure_of(Named("m", 1.0))
    assert trees.structure_of({"a": 1.0}) != trees.structure_of({"b": 1.0})
    assert trees.structure_of((1.0, None)) != trees.structure_of((1.0,))


def test_functions_go_over_all_arrays_of_several_trees(alone):
    assert same(trees.mapped(lambda a, b: a + b, tree(), tree(2.0)), tree(3.0))
    with pytest.raises(ValueError, match="different structure"):
        trees.mapped(lambda a, b: a, {"a": 1.0}, {"b": 1.0})


def test_whole_nodes_may_count_as_leaves(alone):
    def is_leaf(x):
        return isinstance(x, Named)

    ours, theirs = trees.leaves_of(tree(), is_leaf), jax.tree.leaves(tree(), is_leaf=is_leaf)
    assert [type(x) for x in ours] == [type(x) for x in theirs]
    assert Named in map(type, ours)
    twice = trees.mapped(lambda x: "node" if is_leaf(x) else 2.0 * x, tree(), is_leaf=is_leaf)
    assert "node" in trees.leaves_of(twice)


def test_structures_are_those_of_jax_once_it_is_there(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(trees, "is_imported", lambda name: False)
        before = trees.structure_of(tree())
    assert isinstance(before, trees.Structure)
    assert trees.in_words_of_jax(before) == trees.structure_of(tree())
    assert trees.in_words_of_jax(trees.structure_of(tree())) == trees.structure_of(tree())


def test_where_jax_is_imported_it_does_the_work():
    leaves, structure = trees.flatten(tree())
    assert structure == jax.tree.structure(tree())
    assert same(structure.unflatten(leaves), tree())
    assert same(trees.mapped(lambda x: 2.0 * x, tree()), tree(2.0))
