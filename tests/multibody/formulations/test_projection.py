"""How every formulation moves bodies and projects forces."""

import numpy as np
import pytest

import swelltree as sw
from agreement.compare import NAMES, QUICK, first_instant
from multibody.formulations.examples import bar, chain, floating_tree, spatial_loop
from swelltree.jit import jax, jnp
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.equations import solve_motion
from swelltree.multibody.inertia import dense_inertia

JOINT_COORDINATES = ("path_matrix", "partial_velocity", "composite_body")
LOOP, LOOP_ADDED_MASS = spatial_loop()


@pytest.fixture(scope="module")
def seen():
    """Equations of the floating tree (with added mass) and of the loop in every formulation."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(30, 30))
    models = {
        "tree": sw.compile(floating_tree(), added_mass=B @ B.T / 30 + 0.2 * np.eye(30)),
        "loop": sw.compile(LOOP, added_mass=LOOP_ADDED_MASS),
    }
    wrench = {key: rng.normal(size=(m.layout.n_bodies, 6)) for key, m in models.items()}

    def look(model, wrench, how):
        state = how.start(model)
        kin, _, acceleration = solve_motion(model, how, jnp.zeros(()), state)
        return {
            "P": kin.P,
            "v": kin.motion.v,
            "s": state.s,
            "bias_acceleration": kin.bias_acceleration,
            "mass": how.mass(model, kin),
            "bias": how.bias(model, kin),
            "tau": how.project(model, kin, wrench),
            "M": dense_inertia(model, kin.inertia),
            "acceleration": acceleration.v_dot,
        }

    out = {}
    for key, model in models.items():
        for name in NAMES:
            how = formulation(name)
            run = jax.jit(lambda m, w, how=how: look(m, w, how), compiler_options=QUICK)
            found = run(model, wrench[key])
            out[key, name] = {k: np.asarray(x) for k, x in found.items()} | {"wrench": wrench[key]}
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["tree", "loop"])
def test_mass_matrix_is_P_M_P_symmetric_and_positive_definite(seen, key, name):
    x = seen[key, name]
    mass, size = x["mass"], np.abs(x["mass"]).max()
    # rounding of sums of some thirty products
    assert np.abs(mass - mass.T).max() < 1e-13 * size
    assert np.abs(mass - x["P"].T @ x["M"] @ x["P"]).max() < 1e-12 * size
    assert np.linalg.eigvalsh(mass).min() > 0.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["tree", "loop"])
def test_power_of_wrenches_is_power_of_projected_forces(seen, key, name):
    x = seen[key, name]
    # no prescribed motion, so v = P s
    assert np.abs(x["P"] @ x["s"] - x["v"].ravel()).max() < 1e-13
    assert x["tau"] @ x["s"] == pytest.approx((x["wrench"] * x["v"]).sum(), rel=1e-12)


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("key", ["tree", "loop"])
def test_all_formulations_move_the_bodies_alike(seen, key, name):
    one, other = seen[key, "path_matrix"], seen[key, name]
    # rounding, times the largest condition number here, about a hundred
    assert np.abs(one["v"] - other["v"]).max() < 1e-12
    size = np.abs(one["acceleration"]).max()
    assert np.abs(one["acceleration"] - other["acceleration"]).max() < 1e-11 * size


@pytest.mark.parametrize("name", JOINT_COORDINATES[1:])
@pytest.mark.parametrize("key", ["tree", "loop"])
def test_joint_coordinate_formulations_give_the_same_P_mass_and_bias(seen, key, name):
    one, other = seen[key, "path_matrix"], seen[key, name]
    for quantity in ("P", "bias_acceleration", "mass", "bias"):
        gap = np.abs(one[quantity] - other[quantity]).max()
        assert gap < 1e-12 * max(1.0, np.abs(one[quantity]).max()), quantity


def test_partition_gives_the_P_of_path_matrix_after_a_change_of_basis(seen):
    tree, split = seen["tree", "path_matrix"]["P"], seen["tree", "partition"]["P"]
    basis = np.linalg.lstsq(split, tree, rcond=None)[0]
    assert np.abs(split @ basis - tree).max() < 1e-12


def projected_loads(model):
    """Generalised force of all loads at the start."""
    how = formulation("path_matrix")

    def project(model):
        kin, loads, _ = solve_motion(model, how, jnp.zeros(()), how.start(model))
        return how.project(model, kin, loads.wrench)

    return np.asarray(jax.jit(project, compiler_options=QUICK)(model))


@pytest.mark.parametrize(
    "label", ["elbow__Pitch", "piston__Heave", "knuckle__Yaw", "knuckle__Roll"]
)
def test_a_joint_force_projects_onto_exactly_its_coordinate(label):
    joint, dof = label.split("__")
    system = floating_tree(velocity=False).replace(
        forces=(sw.JointForce("motor", joint, dof, force=3.0),)
    )
    model = sw.compile(system)
    expected = 3.0 * (np.array(model.layout.dof_labels) == label)
    assert np.abs(projected_loads(model) - expected).max() < 1e-13


def test_a_joint_force_on_a_screw_does_work_on_its_angle_alone():
    nut = bar("nut")
    screw = sw.Screw("thread", sw.WORLD, nut, (1.0, 0.3, -0.4), lead=0.2, velocity=1.0)
    model = sw.compile(sw.System("s", [nut], [screw], [sw.JointForce("motor", screw, force=2.0)]))
    weight = -9.81 * 2.0 * (-0.4 / np.sqrt(1.25)) * 0.2 / (2 * np.pi)
    assert projected_loads(model) == pytest.approx([2.0 + weight], rel=1e-12)


@pytest.mark.slow
def test_a_chain_of_100_bodies_accelerates_alike_in_every_formulation():
    model = sw.compile(chain(100))
    reference = first_instant(model, "path_matrix")
    size = np.abs(reference["acceleration"]).max()
    for name in NAMES[1:]:
        other = first_instant(model, name)
        # the mass matrix of a long chain has a condition number of some 1e7
        assert np.abs(other["acceleration"] - reference["acceleration"]).max() < 1e-8 * size, name
