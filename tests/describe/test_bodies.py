"""Bodies, points and water."""

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.describe.values import euler_matrix


def test_inertia_may_be_given_in_three_ways():
    matrix = np.array([[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]])
    six = sw.Body("b", 1.0, (2, 3, 4, 0.1, -0.2, 0.3))
    full = sw.Body("b", 1.0, matrix)
    assert np.array_equal(six.inertia_matrix, matrix)
    assert np.array_equal(full.inertia_matrix, matrix)
    assert np.array_equal(sw.Body("b", 1.0, (2, 3, 4)).inertia_matrix, np.diag([2, 3, 4]))


def test_attitude_may_be_given_in_three_ways():
    R = euler_matrix(0.0, 0.0, np.pi / 2)
    quaternion = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    for body in (
        sw.Body("b", rotation_deg=(0, 0, 90)),
        sw.Body("b", rotation=R),
        sw.Body("b", rotation=quaternion),
    ):
        assert np.allclose(body.rotation_matrix, R, atol=1e-15)


def test_rotation_typed_with_few_digits_becomes_a_true_rotation():
    body = sw.Body("b", rotation=np.round(euler_matrix(0.1, 0.2, 0.3), 7))
    R = body.rotation_matrix
    assert np.allclose(R.T @ R, np.eye(3), atol=1e-15)


def test_reference_point_is_the_centre_of_mass_unless_given():
    body = sw.Body("b", 1.0, com=(0, 0, -1))
    assert body.reference == (0, 0, -1)
    assert body.replace(reference_point=(1, 0, 0)).reference == (1, 0, 0)


def test_point_mass_and_flat_plate_are_allowed():
    sw.Body("point", 1.0)
    sw.Body("plate", 1.0, (1, 1, 2))


def test_moved_body_keeps_what_is_not_given():
    body = sw.Body("b", 1.0, position=(1, 2, 3), rotation_deg=(0, 0, 90))
    moved = body.moved(position=(0, 0, 1))
    assert moved.position == (0, 0, 1)
    assert moved.rotation_deg == (0, 0, 90)
    turned = body.moved(rotation=np.eye(3))
    assert turned.rotation_deg is None
    assert turned.position == body.position
    assert body.position == (1, 2, 3)


def test_points_may_be_given_in_four_ways():
    body = sw.Body("b")
    for specified in (body, "b", sw.Point("b"), {"body": "b"}):
        assert sw.PointSensor("p", specified).point == body.at()
    assert sw.PointSensor("p", sw.WORLD).point == sw.Point("world", (0, 0, 0))


def test_point_of_a_turned_body_lies_in_the_world_where_it_should():
    body = sw.Body("b", 1.0, position=(1, 0, 0), rotation_deg=(0, 90, 0))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
    assert np.allclose(system.world_point(body.at(2, 0, 0)), (1, 0, -2))


def test_bodies_are_equal_by_value_and_cannot_be_changed():
    assert sw.Body("b", 1, (1, 1, 1)) == sw.Body("b", 1.0, [1.0, 1.0, 1.0])
    assert len({sw.Body("b"), sw.Body("b"), sw.Body("c")}) == 2
    with pytest.raises(AttributeError):
        sw.Body("b").mass = 3.0


def test_scalar_arrays_are_numbers():
    assert sw.Body("b", np.float32(2.0)).mass == 2.0
    assert sw.Body("b", np.array(2)).mass == 2.0


def test_signatures_of_descriptions_are_short_and_plain():
    """What a notebook shows: names, plain types, defaults; no machinery of checks."""
    import inspect

    import swelltree.describe as described

    for name in dir(described):
        what = getattr(described, name)
        if inspect.isclass(what) and hasattr(what, "__dataclass_fields__"):
            text = str(inspect.signature(what))
            assert "Annotated" not in text, name
            assert "Validator" not in text, name
            # [hydro] takes every option of read_hydro, run_bem and compile
            assert len(text) < (1000 if name == "HydroSpec" else 700), name
    words = str(inspect.signature(described.Body))
    assert words.startswith("(name: str, mass=None, inertia=None, com=None, position: tuple[float")
