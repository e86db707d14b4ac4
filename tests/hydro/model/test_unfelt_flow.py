"""A current or a wind that nothing feels is said; one that acts is not."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from swelltree.compiler.functions_of_time import start_motion
from swelltree.model.capabilities import internal_at_rest
from swelltree.model.effect import Instant
from swelltree.model.solved import total_loads

BODY = sw.Body("b", mass=1e3, inertia=(1e3,) * 3, position=(0, 0, -5.0))
ELEMENTS = {
    "nothing": (),
    "ground": (sw.QuadraticDrag("d", "b", {"Surge": 10.0}, relative_to="ground"),),
    "current": (sw.QuadraticDrag("d", "b", {"Surge": 10.0}),),
    "body drag": (sw.BodyDrag("d", "b", area=(1, 1, 1), Cd=(1, 1, 1)),),
    "member": (sw.MorisonMember("m", BODY.at(0, 0, -1), BODY.at(0, 0, 1), diameter=0.5, Cd=1.0),),
}


def compiled(forces, body=BODY, **flow):
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], list(forces), **flow)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = sw.compile(system)
    return model, [str(one.message) for one in heard if "it acts on no element" in str(one.message)]


def wrench(model):
    now = Instant(np.zeros(()), start_motion(model), internal_at_rest(model))
    return np.asarray(total_loads(model, now.t, now.motion, now.internal).wrench)


@pytest.mark.parametrize("forces", ELEMENTS.values(), ids=ELEMENTS)
def test_a_current_is_called_unfelt_where_it_changes_no_force(forces):
    still, none = compiled(forces)
    flowing, said = compiled(forces, current=sw.UniformCurrent(1.3, beta=0.4))
    assert not none
    unchanged = np.abs(wrench(flowing) - wrench(still)).max() < 1e-9
    assert bool(said) == unchanged
    assert any("has a current" in note for note in flowing.report) == unchanged


def test_added_mass_given_by_numbers_feels_a_current():
    """Munk's moment of a body that lies across it."""
    body = BODY.replace(added_mass=np.diag([1e2, 9e2, 9e2, 1.0, 2.0, 3.0]), displaced_volume=1.0)
    still, _ = compiled((), body)
    flowing, said = compiled((), body, current=sw.UniformCurrent(1.3, beta=0.4))
    assert not said
    assert abs((wrench(flowing) - wrench(still))[0, 5]) > 100.0


def test_a_wind_without_a_sail_is_unfelt():
    _, said = compiled((), wind=sw.Wind(12.0))
    assert "WindDrag or a Rotor" in said[0]
    sail = sw.WindDrag("w", BODY.at(0, 0, 10.0), (0, 180), (-10.0, 10.0))
    assert not compiled((sail,), wind=sw.Wind(12.0))[1]
    assert not compiled((), wind=sw.Wind(0.0))[1]
