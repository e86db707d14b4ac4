"""The description behind a model: kept for pictures, no part of the mechanics."""

import json
import pickle

import swelltree as sw
from swelltree.model.model import Described


def model(side, signal=0.0):
    body = sw.Body("b", 1.0, (1.0, 1.0, 1.0), hull=sw.Box(side, 1.0, 1.0, 0.5))
    push = sw.AppliedForce("push", body, force=(signal, 0.0, 0.0))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], forces=[push])
    return sw.compile(system)


def test_models_that_look_different_share_their_programs():
    from swelltree.jit import jax

    small, large = model(1.0), model(2.0)
    assert small.described.drawing != large.described.drawing
    assert jax.tree.structure(small) == jax.tree.structure(large)
    assert Described() != "something else"


def test_the_drawing_travels_and_the_description_stays():
    built = model(1.0, lambda t: t).described
    again = pickle.loads(pickle.dumps(built))
    assert again.drawing == built.drawing
    assert again.system is None
    assert json.loads(again.drawing)["bodies"][0]["name"] == "b"
    assert Described().drawing == ""
