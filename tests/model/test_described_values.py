"""Numbers of the description by their path in the case file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rich_systems
import swelltree as sw
from direct_numbers import check_direct_numbers
from made_hydro import vessel
from swelltree.describe.paths import number_at, number_paths, with_numbers

SYSTEM = rich_systems.floating()
PATHS = list(number_paths(SYSTEM))


def moved(path):
    """Another value of a number, one to four percent away."""
    old = np.asarray(number_at(SYSTEM, path))
    part = np.random.default_rng(len(path)).uniform(0.01, 0.04, old.shape)
    return np.where(old == 0.0, part, old * (1 - part))


def same(a, b, rtol=1e-12):
    ours, theirs = jax.tree.leaves(a), jax.tree.leaves(b)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-12)


@pytest.fixture(scope="module")
def model():
    return sw.compile(SYSTEM)


def test_every_kind_of_number_has_a_path():
    for path in (
        "bodies.float.mass", "joints.hinge.base.position", "joints.hinge.position.Pitch",
        "ptos.pto.damping", "moorings.soft.stiffness.Surge", "lines.bow.rest_length",
        "line_types.rope.EA", "forces.drag.damping.Heave", "water.depth", "current.speed",
        "wind.beta",
    ):  # fmt: skip
        assert path in PATHS


# values that the description does not allow, or that begin or end something at zero
NOT_ALLOWED = {
    "forces.drag.body.position": "acts at the body's reference point",
    "moorings.soft.body.position": "acts at the body's reference point",
    "forces.windage.angle_deg": "Give 0 to 180",
    "ptos.pto.stop_damping": "given without a stop",
    "seabed.damping": "given without stiffness",
    "water.depth": "lies below the seabed",
}
OTHER_LAYOUT = (
    "forces.leg.end_Cd",
    "forces.leg.end_Ca",
    "seabed.slope",
    "seabed.friction",
    "lines.bow.A.position",  # comes off the ground
)


@pytest.mark.parametrize("path", PATHS)
def test_every_number_of_the_description_is_as_if_compiled_anew(model, path):
    """What changes more than numbers is refused by a sentence."""
    value = moved(path)
    unsupported_reason = NOT_ALLOWED.get(path) or (
        "changes the layout" if path in OTHER_LAYOUT else ""
    )
    if unsupported_reason:
        with pytest.raises(sw.SwelltreeError, match=unsupported_reason):
            model.with_values({path: value})
        return
    expected = sw.compile(with_numbers(SYSTEM, {path: tuple_of(value)}))
    same(model.with_values({path: value}), expected)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_every_number_may_be_traced(model, path):
    """It gives the same model, and the same leaves move."""
    if path in NOT_ALLOWED or path in OTHER_LAYOUT:
        return
    value = moved(path)
    changed = jax.jit(lambda x: model.with_values({path: x}))(value)
    same(changed, sw.compile(with_numbers(SYSTEM, {path: tuple_of(value)})))


def test_some_numbers_traced_are_as_if_compiled_anew(model):
    paths = ("forces.leg.diameter", "bodies.arm.rotation_deg", "lines.bow.rest_length")
    values = {path: moved(path) for path in paths}
    changed = jax.jit(lambda values: model.with_values(values))(values)
    described = {path: tuple_of(value) for path, value in values.items()}
    same(changed, sw.compile(with_numbers(SYSTEM, described)))


def tuple_of(value):
    return tuple(value.tolist()) if value.ndim == 1 else value.tolist()


def test_numbers_that_feed_one_another_are_changed_together(model):
    values = {"water.rho": 990.0, "line_types.rope.diameter": 0.1, "bodies.float.mass": 4.3e4}
    expected = sw.compile(with_numbers(SYSTEM, values))
    same(model.with_values(values), expected)
    one_by_one = model
    for path, value in values.items():
        one_by_one = one_by_one.with_values({path: value})
    same(one_by_one, expected)

    def traced(rho, diameter):
        first = model.with_values({"water.rho": rho, "bodies.float.mass": 4.3e4})
        return first.with_values({"line_types.rope.diameter": diameter})

    same(jax.jit(traced)(990.0, 0.1), expected)


def test_derivatives_by_path_are_those_of_the_compiled_numbers(model):
    def outcome(x):
        changed = model.with_values(
            {"bodies.float.mass": x[0], "joints.hinge.base.position": x[1:]}
        )
        return changed.bodies.mass[0] ** 2 + jnp.sum(changed.joints.base_point**3)

    x = np.array([4.1e4, 2.1, 0.3, 0.7])
    slopes = jax.grad(outcome)(x)
    point = x[1:] - np.asarray(model.reference[model.layout.bodies.index("float")])
    assert slopes[0] == pytest.approx(2 * x[0], rel=1e-9)
    np.testing.assert_allclose(slopes[1:], 3 * point**2, rtol=1e-8)
    many = jax.vmap(lambda m: model.with_values({"bodies.float.mass": m}).bodies.mass[0])
    np.testing.assert_allclose(many(jnp.array([4e4, 5e4])), [4e4, 5e4])


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("bodies.flaot.mass", 1.0, "there is no 'flaot' in the description. Did you mean 'float'"),
        ("bodies.float.masss", 1.0, "there is no 'masss'"),
        ("bodies.float.mass", [1.0, 2.0], r"has shape \(2,\). Give one number"),
        ("bodies.float.name", 1.0, "is not a number"),
        ("water.rho", -5.0, "rho -5.0 kg/m\\^3 is not positive"),
        ("forces.leg.strips", 9.0, "is a count"),
        ("bodies.float.reference_point", [0.0, 0.0, 1.0], "is not given in the description"),
    ],
)
def test_what_is_no_number_of_the_description_is_refused(model, path, value, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        model.with_values({path: value})


def test_numbers_of_a_hull_and_of_the_layout_are_refused():
    body = sw.Body("buoy", hull=sw.Cylinder(radius=2.0, draft=3.0, height=5.0))
    system = sw.System("hull", [body], [sw.Free("free", sw.WORLD, body)])
    model = sw.compile(system)
    with pytest.raises(sw.SwelltreeError, match="shapes the hull, from which panels"):
        model.with_values({"bodies.buoy.hull.radius": 2.1})
    with pytest.raises(sw.SwelltreeError, match="changes the layout of the model"):
        model.with_values({"water.depth": 40.0})


# --- A number has one name


@pytest.mark.parametrize("kind", ["floating", "hanging", "lifting"])
def test_direct_numbers_feed_one_entry_and_nothing_else(kind):
    assert len(check_direct_numbers(sw.compile(getattr(rich_systems, kind)()))) > 5


def test_numbers_that_feed_more_follow_by_item_and_quantity(model):
    """A hydraulic PTO's gas volume sets its oil, the centre of mass the reference point."""
    lifting = sw.compile(rich_systems.lifting())
    same(
        lifting.with_values({"ram.gas_volume": 0.31}),
        lifting.with_values({"ptos.ram.gas_volume": 0.31}),
        rtol=0,
    )
    com = np.array([0.12, 0.2, -0.31])
    by_name, by_path = (model.with_values({x: com}) for x in ("float.com", "bodies.float.com"))
    same(by_name, by_path, rtol=0)
    np.testing.assert_array_equal(by_name.value("float.com"), com)


def test_a_mass_that_stands_for_the_displacement_is_a_number_too():
    """The inertia of an even body follows its mass."""

    def described(mass):
        hull = sw.Cylinder(radius=2.0, draft=3.0, height=5.0)
        body = sw.Body("buoy", mass=mass, inertia="homogeneous", com="homogeneous", hull=hull)
        return sw.compile(sw.System("hull", [body], [sw.Free("free", sw.WORLD, body)]))

    model = described("displacement")
    for name in ("buoy.mass", "bodies.buoy.mass"):
        same(model.with_values({name: 4e4}), described(4e4))


def test_mass_moves_the_buoyancy_where_the_data_give_no_displacement():
    device = sw.gallery.sphere()
    hydro = device.hydro.drop_vars("displaced_volume")
    model = sw.compile(device.system, hydro)
    assert "sphere.mass" not in model.described.direct
    heavier = model.with_values({"sphere.mass": 2.7e5})
    assert not np.array_equal(heavier.hydro.buoyancy, model.hydro.buoyancy)
    same(heavier, model.with_values({"bodies.sphere.mass": 2.7e5}), rtol=0)


def test_one_number_by_two_names_is_refused(model):
    with pytest.raises(sw.SwelltreeError, match=r"'float\.mass' is also given by its other name"):
        model.with_values({"bodies.float.mass": 4e4, "float.mass": 4e4})


# --- The fit of the radiation


@pytest.fixture(scope="module")
def flap():
    """Its fit is judged by its motions, which a PTO changes."""
    return sw.gallery.oswec().model()


@pytest.mark.parametrize("name", ["pto.damping", "ptos.pto.damping", "flap.mass", "flap.com"])
def test_parameters_do_not_fit_the_radiation_anew(flap, name):
    value = np.asarray(flap.value(name)) * (1 + 1e-4)
    changed = flap.with_values({name: value})
    same(changed.hydro.memory, flap.hydro.memory, rtol=0)
    memory = lambda x: jax.tree.leaves(flap.with_values({name: x}).hydro.memory)  # noqa: E731
    slopes = jax.jvp(memory, (value,), (np.ones_like(value),))[1]
    assert all(not np.any(x) for x in slopes)
    added = changed.added_mass if name != "flap.com" else flap.added_mass
    same(added, flap.added_mass, rtol=0)


def test_turned_data_are_fitted_anew_and_have_no_derivative():
    data = vessel()
    data["body_axes"] = ("body", "xyz", "axis"), np.eye(3)[None]
    mass = data.displaced_volume.item() * float(data.rho)

    def described(yaw):
        body = sw.Body("vessel", mass, (1e7, 1e8, 1e8), rotation_deg=(0.0, 0.0, yaw))
        water = sw.Water(rho=float(data.rho))
        return sw.System("turned", [body], [sw.Free("free", sw.WORLD, body)], water=water)

    model, path = sw.compile(described(10.0), data), "bodies.vessel.rotation_deg"
    turned = np.array([0.0, 0.0, 20.0])
    same(model.with_values({path: turned}), sw.compile(described(20.0), data))
    with pytest.raises(Exception, match="changes the radiation data, and their fit has no"):
        jax.jvp(lambda x: model.with_values({path: x}).datum.R, (turned,), (turned,))
