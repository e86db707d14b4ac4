"""A result is labelled: names, units, frames, order of the bodies."""

import importlib.metadata

import numpy as np
import pytest

import swelltree as sw


@pytest.fixture(scope="module")
def run():
    # described against the direction of the tree, so that the order of the bodies matters
    tip = sw.Body("tip", 10.0, (1, 1, 1), position=(2, 0, -1), reference_point=(0.1, 0, 0))
    arm = sw.Body("arm", 5.0, (1, 2, 2), position=(1, 0, -1))
    system = sw.System(
        "crane",
        [tip, arm],
        [
            sw.Hinge("elbow", arm.at(0.5), tip.at(-0.5)),
            sw.Slider("lift", sw.WORLD.at(0.5, 0, -1), arm.at(-0.5), motion=sw.Harmonic(0.1, 2.0)),
        ],
        forces=[
            sw.SpringDamper("rope", sw.WORLD.at(2, 0, 3), tip.at(), 100.0, 5.0),
            sw.JointForce("brake", "elbow", stiffness=10.0, damping=1.0),
            sw.AppliedForce("wind", tip, force=(1, 0, 0)),
        ],
        sensors=[sw.PointSensor("hook", tip.at(1)), sw.DistanceSensor("gap", tip.at(), arm.at())],
    )
    return sw.simulate(sw.compile(system), duration=1.0, output_step=0.1, rtol=1e-9)


def test_bodies_stand_in_the_order_of_the_description(run):
    assert list(run["body"].values) == ["tip", "arm"]
    assert run["position"].sel(body="arm", dof="Surge").values == pytest.approx(1.0)
    first = run["position"].sel(body="tip").isel(time=0)
    assert first.values[:3] == pytest.approx([2.1, 0.0, -0.9])


def test_every_variable_has_dimensions_units_and_a_long_name(run):
    for name, variable in run.data_vars.items():
        assert variable.dims[0] == "time", name
        assert variable.attrs["units"], name
        assert variable.attrs["long_name"], name
        for dim in variable.dims:
            assert dim in run.coords, name


def test_dimensions_of_the_main_variables(run):
    assert run["position"].dims == ("time", "body", "dof")
    assert run["rotation"].dims == ("time", "body", "axis", "body_axis")
    assert run["quaternion"].dims == ("time", "body", "component")
    assert run["reaction"].dims == ("time", "joint", "dof")
    assert run["joint_coordinate"].sel(coordinate="lift__Heave").isel(time=0) == pytest.approx(0.1)
    assert list(run["element"].values) == [
        "gravity", "buoyancy", "rope", "brake", "wind", "lift__Heave drive",
    ]  # fmt: skip
    assert run["work"].dims == run["potential_energy"].dims == ("time", "element")
    assert run["joint_force"].sel(joint_element="brake").dims == ("time",)


def test_reactions_say_on_which_body_and_in_which_axes(run):
    assert run["reaction"].attrs["on_body"] == "follower of the joint, by the base"
    assert run["reaction"].attrs["frame"].startswith("world axes")
    assert run["reaction_joint_axes"].attrs["frame"].startswith("joint axes")
    assert str(run["follower"].sel(joint="elbow").item()) == "tip"
    assert str(run["base"].sel(joint="lift").item()) == "world"


def test_reference_points_are_told(run):
    assert run["reference_point"].sel(body="tip").values == pytest.approx([0.1, 0, 0])
    assert "tip (0.1, 0, 0)" in run["body"].attrs["reference_point"]


def test_attitude_is_the_same_as_matrix_quaternion_and_euler_angles(run):
    w, x, y, z = np.moveaxis(run["quaternion"].sel(body="tip").values, -1, 0)
    pitch = run["joint_coordinate"].sel(coordinate="elbow__Pitch").values
    assert 2 * np.arctan2(y, w) == pytest.approx(pitch, abs=1e-12)
    euler = run["position"].sel(body="tip", dof="Pitch").values  # stays within a quarter turn
    assert np.sin(euler) == pytest.approx(np.sin(pitch), abs=1e-12)
    assert x == pytest.approx(0, abs=1e-12)
    assert z == pytest.approx(0, abs=1e-12)
    R = run["rotation"].sel(body="tip").values
    assert R[:, 0, 2] == pytest.approx(np.sin(pitch), abs=1e-12)


def test_energy_gained_is_the_work_done(run):
    gained = run["kinetic_energy"].sum("body") + run["potential_energy"].sum("element")
    residual = gained - gained[0] - run["work"].sum("element")
    assert run["energy_residual"].values == pytest.approx(residual.values, abs=1e-12)
    assert abs(run["energy_residual"].values).max() < 1e-6


def test_provenance_tells_versions_water_and_settings(run):
    for key in ("swelltree_version", "created", "python_version", "jax_version", "conventions"):
        assert run.attrs[key], key
    assert run.attrs["rho"] == 1025.0
    assert run.attrs["g"] == 9.81
    assert run.attrs["formulation"] == "path_matrix"


def test_sensors_are_channels(run):
    assert run["point_position"].sel(point="hook").dims == ("time", "axis")
    assert run["distance"].sel(pair="gap").isel(time=0) == pytest.approx(1.0)


def test_a_result_survives_its_file(run, tmp_path):
    path = sw.save(run, tmp_path / "run.nc")
    assert sw.load_result(path).identical(run)
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_summary_names_every_body_and_the_work_of_every_element(run):
    from rich.console import Console

    from swelltree.results.summary import summary

    console = Console(width=110, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(summary(run, "crane"))
    text = console.export_text()
    for word in ("tip", "arm", "rope", "brake", "wind", "lift__Heave drive", "residual", "deg"):
        assert word in text, word


def test_the_package_knows_its_version():
    assert sw.__version__ == importlib.metadata.version("swelltree")
