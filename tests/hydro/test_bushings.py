"""Bushings: energy at large rotations, small-motion limits, other elements, messages."""

import numpy as np
import pytest

import swelltree as sw

TURNED = (0.8, 0.3, -0.4, 0.33)
RNG = np.random.default_rng(3)
ROOT = RNG.normal(size=(6, 6))
K = ROOT @ ROOT.T * 40.0
DRY = sw.Water(g=0.0)


def pair(stiffness, damping=(), **velocity) -> sw.System:
    """Two free bodies, yawed and heeled, joined by a bushing in a frame of its own."""
    one = sw.Body("one", 4.0, (0.5, 0.7, 0.9), position=(1.0, 2.0, -3.0), rotation=TURNED)
    two = sw.Body("two", 3.0, (0.6, 0.4, 0.3), position=(1.5, 2.4, -2.2))
    frame = one.at(0.2, -0.1, 0.3, rotation=(0.5, -0.1, 0.7, 0.2))
    bushing = sw.Bushing("bushing", frame, two.at(-0.1, 0.2, -0.3), stiffness, damping)
    joints = [
        sw.Free("f1", sw.WORLD, one, velocity={"Roll": 1.0, "Surge": 0.3}),
        sw.Free("f2", sw.WORLD, two, velocity=velocity),
    ]
    return sw.System("pair", [one, two], joints, forces=[bushing], water=DRY)


@pytest.fixture(scope="module")
def tumbling():
    model = sw.compile(pair(K, Roll=-3.0, Pitch=4.0, Yaw=2.0, Heave=0.5))
    return sw.simulate(model, duration=2.0, output_step=0.05, rtol=1e-10, atol=1e-12)


def test_energy_and_momentum_are_kept_at_large_rotations(tumbling):
    x = tumbling["bushing_deformation"].values[:, 0]
    assert np.linalg.norm(x[:, 3:], axis=1).max() > 0.5
    stored = tumbling["potential_energy"].sel(element="bushing").values
    assert np.allclose(stored, 0.5 * np.einsum("ti,ij,tj->t", x, K, x), atol=1e-9)
    assert stored.max() > 5.0
    assert np.abs(tumbling["energy_residual"].values).max() < 1e-7
    mass = np.array([4.0, 3.0])
    momentum = (mass[:, None] * tumbling["velocity"].values[:, :, :3]).sum(1)
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    # angular momentum about the origin of the world
    p, v = tumbling["position"].values[:, :, :3], tumbling["velocity"].values
    R = tumbling["rotation"].values
    inertia = np.array([np.diag((0.5, 0.7, 0.9)), np.diag((0.6, 0.4, 0.3))])
    spin = np.einsum("tbij,bjk,tblk,tbl->tbi", R, inertia, R, v[:, :, 3:])
    total = (spin + np.cross(p, mass[:, None] * v[:, :, :3])).sum(1)
    assert np.abs(total - total[0]).max() < 1e-7


def test_damping_takes_what_the_bodies_lose():
    C = 0.05 * K
    model = sw.compile(pair((), C, Pitch=4.0, Heave=0.5))
    run = sw.simulate(model, duration=1.0, output_step=0.1, rtol=1e-9, atol=1e-11)
    work = run["work"].sel(element="bushing").values
    assert (np.diff(work) < 0.0).all()
    assert np.abs(run["energy_residual"].values).max() < 1e-7


def test_small_motion_has_the_modes_of_the_matrices():
    """A body on a bushing to the world, in turned axes: det(K - omega^2 M) = 0."""
    body = sw.Body("body", 3.0, (0.6, 0.4, 0.3), position=(0.2, 0.1, -0.5))
    anchor = sw.WORLD.at(0.2, 0.1, -0.5, rotation=TURNED)
    system = sw.System(
        "mount",
        [body],
        [sw.Free("free", sw.WORLD, body)],
        forces=[sw.Bushing("mount", anchor, body, K)],
        water=DRY,
    )
    modes = sw.modes(sw.compile(system))
    R = np.kron(np.eye(2), sw.Point("world", (0, 0, 0), TURNED).rotation_matrix)
    M = np.diag([3.0, 3.0, 3.0, 0.6, 0.4, 0.3])
    eigen = np.linalg.eigvals(np.linalg.solve(M, R @ K @ R.T)).real
    assert np.allclose(np.sort(modes["natural_frequency"].values), np.sqrt(np.sort(eigen)))


def test_one_soft_direction_is_a_spring_on_a_slider():
    """A stiff bushing that is soft along x moves as a slider with a spring."""
    body = sw.Body("body", 3.0, (0.6, 0.4, 0.3))
    diagonal = {"Surge": 12.0} | dict.fromkeys(("Sway", "Heave", "Roll", "Pitch", "Yaw"), 1e4)
    system = sw.System(
        "mount",
        [body],
        [sw.Free("free", sw.WORLD, body, velocity={"Surge": 0.4})],
        forces=[sw.Bushing("mount", sw.WORLD, body, diagonal, {"Surge": 1.2})],
        water=DRY,
    )
    run = sw.simulate(sw.compile(system), duration=3.0, output_step=0.1, rtol=1e-9, atol=1e-11)
    t, decay = run["time"].values, 0.2
    omega = np.sqrt(4.0 - decay**2)
    exact = 0.4 / omega * np.exp(-decay * t) * np.sin(omega * t)
    assert np.abs(run["position"].values[:, 0, 0] - exact).max() < 1e-8
    force = run["bushing_wrench"].sel(dof="Surge").values[:, 0]
    speed = run["velocity"].values[:, 0, 0]
    assert np.allclose(force, -12.0 * exact - 1.2 * speed, atol=1e-6)


def test_case_file_says_the_same():
    for system in (pair(K, 0.1 * K), pair({"Surge": 3.0}, {"Yaw": 1.0})):
        assert sw.loads(system.to_toml()).system == system


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "bushing 'x'|force 'x': has neither stiffness nor damping"),
        ({"stiffness": np.triu(K)}, "stiffness is not symmetric"),
        ({"damping": {"Surge": -1.0}}, "negative eigenvalue -1, which feeds energy"),
        ({"stiffness": {"surge": 1.0}}, "names 'surge'"),
        ({"stiffness": [1, 2]}, "is not a 6 x 6 matrix"),
    ],
)
def test_bad_bushings_are_rejected(keys, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        sw.Bushing("x", sw.WORLD, sw.Body("b", 1.0, (1, 1, 1)), **keys)


def test_bushing_on_one_body_is_rejected():
    body = sw.Body("b", 1.0, (1, 1, 1))
    with pytest.raises(sw.SwelltreeError, match="both ends are on 'b'"):
        sw.Bushing("x", body, body.at(1, 0, 0), {"Surge": 1.0})


def test_a_bushing_past_half_a_turn_is_warned_of():
    """A soft one lets a body turn on: the rotation vector of half a turn has two sides."""
    body = sw.Body("body", 3.0, (0.6, 0.4, 0.3))
    hinge = sw.Hinge("hinge", sw.WORLD, body, axis=(0.6, 0.0, 0.8), velocity=3.0)
    soft = sw.Bushing("soft", sw.WORLD.at(0, 0, 0), body.at(0, 0, 0), {"Roll": 0.01, "Yaw": 0.02})
    model = sw.compile(sw.System("turning", [body], [hinge], forces=[soft], water=DRY))
    with pytest.warns(sw.SwelltreeWarning, match="bushing 'soft' is turned by 1[678]. degrees"):
        sw.simulate(model, duration=1.5, output_step=0.05)
