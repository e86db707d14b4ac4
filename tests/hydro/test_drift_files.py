"""From WAMIT's second-order files to forces in time."""

import numpy as np
import pytest

import swelltree as sw
from hydro.samples import made_up, write_wamit
from made_drift import MASS, OMEGA, RHO, drift_data, smooth_pairs, smooth_sums
from swelltree.hydro.drift.loads import drift_loads
from swelltree.waves.airy import Components

G, LENGTH = 9.81, 2.0


def second_order_rows(function, omega):
    """Rows PER1 PER2 BETA1 BETA2 I Mod Pha Re Im; WAMIT's phases lead, and one half is enough."""
    unit = RHO * G * LENGTH ** np.array([1, 1, 1, 2, 2, 2])
    rows = []
    for i, w1 in enumerate(omega):
        for w2 in omega[i:]:
            for dof, x in enumerate(function(w1, w2).conj() / unit):
                rows.append(
                    f"{2 * np.pi / w1:.12e} {2 * np.pi / w2:.12e} 0.0 0.0 {dof + 1} {abs(x):.9e} "
                    f"{np.degrees(np.angle(x)):.6f} {x.real:.12e} {x.imag:.12e}"
                )
    return "\n".join(rows)


def compiled(path, drift):
    data = sw.read_hydro(
        path, rho=RHO, g=G, depth=np.inf, length=LENGTH, check=False, names=["box"]
    )
    # only the listing would tell the centres and the volume
    data["center_of_mass"] = data["center_of_buoyancy"] = data["rotation_center"]
    data["displaced_volume"] = ("body", [MASS / RHO])
    body = sw.Body("box", MASS, (1e8, 1e8, 1e8))
    free = sw.Free("free", sw.WORLD, body)
    system = sw.System("s", [body], [free], water=sw.Water(rho=RHO, g=G))
    return sw.compile(system, data, radiation="none", drift=drift)


def test_forces_of_wamit_files_follow_wamits_double_sums(tmp_path):
    """Re sum A1 A2* Q exp(+i(w1 - w2)t) + A1 A2 P exp(+i(w1 + w2)t) with WAMIT's own numbers."""
    omega = OMEGA[4:20:3]
    data = drift_data("box", second=(), omega=omega)
    data["Froude_Krylov_force"] = 0.5 * data["excitation_force"]
    path = write_wamit(data, tmp_path, length=LENGTH)
    (tmp_path / "device.12d").write_text(second_order_rows(smooth_pairs, omega))
    (tmp_path / "device.12s").write_text(second_order_rows(smooth_sums, omega))
    model = compiled(path, "qtf")
    table = model.hydro.table
    phase = np.array([0.3, 1.0, 2.0, 4.0, 5.0, 6.0])
    sea = Components(np.full(6, 0.5), omega, omega**2 / G, 0 * omega, phase)
    loads = drift_loads(table, sea, 40.0)
    t = loads.step * np.arange(len(loads.force))
    # an elevation a cos(w t - phase) has WAMIT's amplitude A = a exp(-i phase)
    A, exact = 0.5 * np.exp(-1j * phase), 0.0
    for i, w1 in enumerate(omega):
        for j, w2 in enumerate(omega):
            slow = A[i] * A[j].conj() * np.exp(1j * (w1 - w2) * t)
            fast = A[i] * A[j] * np.exp(1j * (w1 + w2) * t)
            exact = exact + np.real(slow[:, None] * smooth_pairs(w1, w2).conj())
            exact = exact + np.real(fast[:, None] * smooth_sums(w1, w2).conj())
    assert np.abs(loads.force - exact).max() < 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("ending", [".7", ".8", ".9"])
def test_mean_drift_files_push_with_their_numbers(tmp_path, ending):
    omega = OMEGA[4:20:3]
    data = drift_data("box", second=(), omega=omega)
    data["Froude_Krylov_force"] = 0.5 * data["excitation_force"]
    path = write_wamit(data, tmp_path, length=LENGTH)
    rows = [f"{2 * np.pi / w:.12e} 0.0 0.0 1 {w:.9e} 0.0 {w:.12e} 0.0" for w in omega]
    (tmp_path / f"device{ending}").write_text("\n".join(rows))
    model = compiled(path, "mean")
    assert any("say nothing of 'box__Sway'" in line for line in model.report)
    sea = Components(*(np.array([x]) for x in (2.0, omega[2], omega[2] ** 2 / G, 0.0, 0.0)))
    force = drift_loads(model.hydro.table, sea, 10.0).force
    assert force[:, 0] == pytest.approx(4.0 * omega[2] * RHO * G * LENGTH, rel=1e-9)
    assert not force[:, 1:].any()


def drift_rows(omega, size):
    """Rows of modes 1 to 6 and of -4 to -6, the latter moments twice as large."""
    return "\n".join(
        f"{2 * np.pi / w:.12e} 0.0 0.0 {mode} {x:.9e} 0.0 {x:.12e} 0.0"
        for w in omega
        for mode in (1, 2, 3, 4, 5, 6, -4, -5, -6)
        for x in [size * w * abs(mode) * (2.0 if mode < 0 else 1.0)]
    )


@pytest.mark.parametrize(("endings", "size"), [((".9",), 1.0), ((".9", ".7"), 3.0)])
def test_moments_about_the_body_axes_are_taken_and_control_surfaces_come_first(
    tmp_path, endings, size
):
    omega = OMEGA[4:20:3]
    data = drift_data("box", second=(), omega=omega)
    data["Froude_Krylov_force"] = 0.5 * data["excitation_force"]
    path = write_wamit(data, tmp_path, length=LENGTH)
    for ending in endings:
        rows = drift_rows(omega, 3.0 if ending == ".7" else 1.0)
        (tmp_path / f"device{ending}").write_text(rows)
    found = sw.read_hydro(path, rho=RHO, g=G, depth=np.inf, length=LENGTH, check=False)
    unit = RHO * G * LENGTH ** np.array([1, 1, 1, 2, 2, 2])
    expected = size * unit * [1, 2, 3, 8, 10, 12] * omega[:, None]
    drift = found["mean_drift"].isel(wave_direction=0).sel(omega=omega, method="nearest")
    np.testing.assert_allclose(drift, expected, rtol=1e-9)
    notes = found.attrs["notes"]
    assert "about the body axes (modes -4, -5, -6) are used" in notes
    assert ("'device.9' is not used" in notes) == (".7" in endings)


UNIT = RHO * G * LENGTH ** np.tile([1, 1, 1, 2, 2, 2], 2)


def device_of_two(folder, drift_rows, endings):
    """Two bodies away from the origin, waves of three headings, and files of their drift."""
    data = made_up(depth=np.inf, n_omega=5)
    path = write_wamit(data, folder, length=LENGTH)
    for ending, rows in zip(endings, drift_rows, strict=True):
        (folder / f"device{ending}").write_text("\n".join(rows))
    found = sw.read_hydro(
        path, rho=RHO, g=G, depth=np.inf, length=LENGTH, check=False, names=["float", "spar"]
    )
    omega = data["omega"].values
    return found, omega[(omega > 0) & np.isfinite(omega)], data["wave_direction"].values


def test_mean_drift_and_moments_of_two_bodies_are_those_of_their_rows(tmp_path):
    rng = np.random.default_rng(3)
    omega, headings = np.linspace(0.5, 2.0, 5), (0.0, 0.5, 1.2)
    modes = [*range(1, 13), -4, -5, -6, -10, -11, -12]
    values = rng.normal(size=(len(omega), len(headings), len(modes)))
    rows = [
        f"{2 * np.pi / w:.12e} {np.degrees(b):.9f} {np.degrees(b):.9f} {mode} {abs(x):.9e} 0.0 "
        f"{x:.12e} 0.0"
        for w, of_wave in zip(omega, values, strict=True)
        for b, of_heading in zip(headings, of_wave, strict=True)
        for mode, x in zip(modes, of_heading, strict=True)
    ]
    found, finite, directions = device_of_two(tmp_path, [rows], [".9"])
    assert finite == pytest.approx(omega)
    assert directions == pytest.approx(headings)
    drift = found["mean_drift"].sel(omega=omega, method="nearest")
    # forces along the global axes, moments about those of each body
    own = values[..., [0, 1, 2, 12, 13, 14, 6, 7, 8, 15, 16, 17]]
    np.testing.assert_allclose(drift, own * UNIT, rtol=1e-9)


def test_slow_forces_of_two_bodies_follow_wamits_double_sums(tmp_path):
    rng = np.random.default_rng(4)
    omega, heading = np.linspace(0.5, 2.0, 5), 0.5
    Q = rng.normal(size=(5, 5, 12)) + 1j * rng.normal(size=(5, 5, 12))
    Q = Q + np.swapaxes(Q, 0, 1).conj()
    rows = [
        f"{2 * np.pi / omega[i]:.12e} {2 * np.pi / omega[j]:.12e} {np.degrees(b):.9f} "
        f"{np.degrees(b):.9f} {k + 1} {abs(x):.9e} {np.degrees(np.angle(x)):.6f} {x.real:.12e} "
        f"{x.imag:.12e}"
        for b in (0.0, heading, 1.2)
        for i in range(5)
        for j in range(i, 5)
        for k, x in enumerate(Q[i, j] * (1.0 if b == heading else 5.0))
    ]
    found, _, _ = device_of_two(tmp_path, [rows], [".12d"])
    centers = found["rotation_center"].values
    bodies = [
        sw.Body(name, 5e5, (1e8,) * 3, position=tuple(map(float, center)))
        for name, center in zip(("float", "spar"), centers, strict=True)
    ]
    joints = [sw.Free(f"free_{b.name}", sw.WORLD.at(*b.position), b) for b in bodies]
    system = sw.System("s", bodies, joints, water=sw.Water(rho=RHO, g=G))
    model = sw.compile(system, found, radiation="none", drift="qtf")
    phase = np.array([0.3, 1.0, 2.0, 4.0, 5.0])
    sea = Components(np.full(5, 0.5), omega, omega**2 / G, np.full(5, heading), phase)
    loads = drift_loads(model.hydro.table, sea, 40.0)
    t = loads.step * np.arange(len(loads.force))
    A, exact = 0.5 * np.exp(-1j * phase), np.zeros((len(t), 12))
    for i, w1 in enumerate(omega):
        for j, w2 in enumerate(omega):
            slow = A[i] * A[j].conj() * np.exp(1j * (w1 - w2) * t)
            exact += np.real(slow[:, None] * (Q[i, j] * UNIT))
    got = loads.force.reshape(len(t), 12)
    assert np.abs(got - exact).max() < 1e-6 * np.abs(exact).max()
