"""State-space radiation: stable, passive, within its stated error."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from support import refdata
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
from swelltree.hydro.data import cache
from swelltree.hydro.linear.radiation import Memory
from swelltree.hydro.radiation.fit import METHODS, fit_radiation
from swelltree.hydro.radiation.memory import radiation_kernel
from swelltree.hydro.radiation.passive_form import Oscillators, PassiveProblem
from swelltree.hydro.radiation.symmetry import independent_parts
from swelltree.hydro.radiation.vector_fitting import vector_fit

OMEGA = np.linspace(0.1, 6.0, 60)


def two_boxes():
    """Barges of Table I, 12 freedoms (data/make_two_boxes.py)."""
    with np.load(Path(__file__).parent / "data" / "two_boxes.npz") as file:
        names = ("omega", "added_mass", "radiation_damping", "added_mass_inf")
        return tuple(file[name].astype(float) for name in names)


def known(m=2, p=3, seed=1):
    """A, B, A_inf of a few oscillators, and the oscillators."""
    rng = np.random.default_rng(seed)
    model = Oscillators(
        np.linspace(1.0, 4.0, p),
        np.diag(np.linspace(0.7, 1.2, p)) + 0.2 * np.tril(rng.standard_normal((p, p)), -1),
        rng.standard_normal((p, m)),
        0.01,
    )
    K = model.transfer(1j * OMEGA)
    A_inf = 3 * np.eye(m)
    return A_inf + K.imag / OMEGA[:, None, None], K.real, A_inf, model


@pytest.fixture(scope="module")
def boxes():
    return fit_radiation(*two_boxes(), error=0.055, max_order=48, cache=False)


def raw_error(model, omega, A, B):
    """Misfit to the data as they are, freedoms scaled by sqrt(max B_ii)."""
    K = B + 1j * omega[:, None, None] * (A - model.A_inf)
    scale = np.sqrt(np.diagonal(B, axis1=1, axis2=2).max(axis=0))
    gap = (model.transfer(omega) - K) / np.outer(scale, scale)
    return np.linalg.norm(gap) / np.linalg.norm(K / np.outer(scale, scale))


def test_vector_fitting_recovers_known_poles():
    poles = np.array([-0.3 + 1.5j, -0.3 - 1.5j, -0.8 + 3.0j, -0.8 - 3.0j, -2.0])
    R = np.array([1 + 0.5j, 1 - 0.5j, -0.4 + 1j, -0.4 - 1j, 0.7])[:, None] * np.array([1.0, 2, -1])
    K = (1 / (1j * OMEGA[:, None] - poles)) @ R
    found, residues = vector_fit(OMEGA, K, 5)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(poles), atol=1e-8)
    np.testing.assert_allclose((1 / (1j * OMEGA[:, None] - found)) @ residues, K, atol=1e-9)


def test_gradient_of_the_passive_form_agrees_with_differences():
    A, B, A_inf, _ = known()
    problem = PassiveProblem(OMEGA / 6, B + 1j * OMEGA[:, None, None] * (A - A_inf), np.ones(60))
    rng = np.random.default_rng(0)
    # one oscillator above the limits, so that the fence takes part
    x = problem.pack(problem.grow(problem.grow(problem.none()))) + rng.standard_normal(9)
    x[0] = 4.0
    x[-1] = 3.0
    _, slope = problem.cost_and_slope(x, 2)
    for k in range(x.size):
        h = np.zeros_like(x)
        h[k] = 1e-6
        up, down = problem.cost_and_slope(x + h, 2)[0], problem.cost_and_slope(x - h, 2)[0]
        assert slope[k] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-7)


def test_oscillators_are_found_again():
    A, B, A_inf, truth = known()
    model = fit_radiation(OMEGA, A, B, A_inf, error=0.01)
    assert model.error <= 0.01
    assert model.order <= 8
    t = np.linspace(0, 10, 101)
    a, b, c = truth.state_space()
    values, V = np.linalg.eig(a)
    left, right = c @ V, np.linalg.solve(V, b)
    exact = np.einsum("ik,tk,kj->tij", left, np.exp(np.outer(t, values)), right).real
    np.testing.assert_allclose(model.kernel(t), exact, atol=0.03 * np.abs(exact).max())


def test_two_boxes_meet_order_error_and_passivity(boxes):
    model = boxes
    omega, A, B, _ = two_boxes()
    assert omega[-1] <= 9.0
    assert model.order <= 48
    assert model.error <= 0.055
    # here the frequencies count that jump and are left out of the fit
    assert raw_error(model, omega, A, B) <= 0.1
    assert model.error <= model.error_bound
    K = model.transfer(np.linspace(0.0, 90.0, 1000))
    half = (K + np.conj(K.transpose(0, 2, 1))) / 2
    scale = np.outer(model.scale, model.scale)
    assert np.linalg.eigvalsh(half / scale).min() >= -1e-8 * np.abs(K / scale).max()
    assert np.linalg.eigvalsh(half).min() >= -1e-8 * np.abs(K).max()
    assert model.stable
    assert model.passive


def test_memory_vanishes_at_zero_and_infinite_frequency(boxes):
    model = boxes
    size = np.abs(model.transfer(np.array([9.0]))).max()
    assert np.abs(model.transfer(np.array([0.0]))).max() < 1e-9 * size
    assert np.abs(model.transfer(np.array([1e6]))).max() < 1e-4 * size


def test_states_are_modal_blocks(boxes):
    model = boxes
    rest = model.A.copy()
    for k in range(0, 2 * model.n_pairs, 2):
        rest[k : k + 2, k : k + 2] = 0
    assert np.count_nonzero(rest - np.diag(np.diag(rest))) == 0
    dense = model.C @ np.linalg.solve(2j * np.eye(model.order) - model.A, model.B)
    np.testing.assert_allclose(model.transfer(np.array([2.0]))[0], dense, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(model.A)), np.sort_complex(model.poles)
    )
    np.testing.assert_allclose(dense, dense.T, atol=1e-7 * np.abs(dense).max())


def test_stored_energy_proves_passivity(boxes):
    """d/dt of half chi' S chi is at most v' C chi: S B = C' and S A + A' S is negative."""
    model = boxes
    S = model.storage
    np.testing.assert_allclose(S @ model.B, model.C.T, atol=1e-8 * np.abs(model.C).max())
    loss = S @ model.A + model.A.T @ S
    assert np.linalg.eigvalsh(loss).max() < 1e-9 * np.abs(loss).max()
    assert np.linalg.eigvalsh(S).min() > 0


def run(model, v, step):
    """Memory force under a velocity given on a grid, linear between its points."""
    Phi, G0, G1 = Memory(model.A, model.B, model.C).propagator(step)
    chi, out = np.zeros(model.order), np.zeros((len(v), model.C.shape[0]))
    for k in range(len(v) - 1):
        chi = Phi @ chi + G0 @ v[k] + G1 @ v[k + 1]
        out[k + 1] = model.C @ chi
    return out


def motion(m, step, n, top, seed=0):
    """Smooth random velocities with content up to `top` rad/s, from rest."""
    rng = np.random.default_rng(seed)
    t = step * np.arange(n)
    w = rng.uniform(0.1 * top, top, (30, 1, m))
    v = np.cos(w * t[None, :, None] + rng.uniform(0, 2 * np.pi, (30, 1, m))).sum(axis=0)
    return t, v * np.minimum(t / t[-1] * 5, 1)[:, None] ** 2


def test_random_motion_never_gets_energy_back(boxes):
    model = boxes
    _, v = motion(12, 0.01, 3000, 30.0)
    v = v / model.scale
    power = np.einsum("ti,ti->t", run(model, v, 0.01), v)
    work = np.concatenate([[0], np.cumsum(0.5 * (power[1:] + power[:-1])) * 0.01])
    assert work.min() > -1e-6 * work.max()
    assert work[-1] > 0


def test_convolution_and_state_space_agree_within_the_stated_error():
    omega, A, B, A_inf = sphere()
    model = fit_radiation(omega, A, B, A_inf, error=0.02)
    step = 0.05
    kernel = radiation_kernel(omega, B, duration=40.0, step=step)
    t, v = motion(6, step, 1600, 3.0, seed=3)
    v = v / model.scale
    force = run(model, v, step)
    weight = np.full(len(kernel.time), step)
    weight[0] = step / 2
    memory = np.zeros_like(force)
    for k in range(len(t)):
        n = min(k + 1, len(kernel.time))
        memory[k] = np.einsum("t,tij,tj->i", weight[:n], kernel.values[:n], v[k::-1][:n])
    gap = np.sqrt((((force - memory) / model.scale) ** 2).sum())
    assert gap / np.sqrt(((memory / model.scale) ** 2).sum()) < 2 * model.error


def test_propagator_is_exact_for_linear_velocity():
    A, B, A_inf, _ = known()
    model = fit_radiation(OMEGA, A, B, A_inf, error=0.05)
    coarse = run(model, np.linspace(0, 1, 11)[:, None] * np.ones(2), 0.3)[-1]
    fine = run(model, np.linspace(0, 1, 1001)[:, None] * np.ones(2), 0.003)[-1]
    np.testing.assert_allclose(coarse, fine, rtol=1e-9)


def test_order_grows_as_the_error_shrinks():
    A, B, A_inf, _ = known(m=3, p=7, seed=5)
    models = [fit_radiation(OMEGA, A, B, A_inf, error=e) for e in (0.3, 0.1, 0.03, 0.01)]
    orders = [model.order for model in models]
    assert orders == sorted(orders)
    assert orders[0] < orders[-1]
    assert all(model.error <= model.error_bound for model in models)


def test_max_order_is_kept_and_the_error_told():
    with pytest.warns(SwelltreeWarning, match=r"error \d+ % with \d+ states, asked for 1 %"):
        model = fit_radiation(*two_boxes(), error=0.01, max_order=14)
    assert model.order <= 14
    assert model.passive


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"vector_fitting"}))
def test_other_methods_are_stable_and_tell_their_error(method):
    A, B, A_inf, _ = known()
    omega, B = np.append(OMEGA, np.inf), np.concatenate([B, np.zeros((1, 2, 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        model = fit_radiation(omega, np.concatenate([A, A_inf[None]]), B, method=method)
    assert model.stable
    assert model.storage is None
    # the Hankel methods see B alone, cut at 6 rad/s
    assert model.error < (0.35 if method in ("era", "kristiansen") else 0.03)
    assert model.method == method


def test_plain_balanced_truncation_of_the_boxes_is_not_passive():
    model = fit_radiation(*two_boxes(), error=0.055, method="balanced")
    assert model.error <= 0.055
    assert model.stable
    assert not model.passive


def test_scaled_freedoms_do_not_depend_on_units(boxes):
    omega, A, B, A_inf = two_boxes()
    # a power of two, which rounds nothing: the search would end elsewhere by other last digits
    unit = np.where(np.arange(12) % 6 < 3, 1.0, 1024.0)
    u = np.outer(unit, unit)
    other = fit_radiation(omega, A * u, B * u, A_inf * u, error=0.055, max_order=48)
    assert other.order == boxes.order
    assert other.error == pytest.approx(boxes.error, rel=1e-6)


# --- bad input ---------------------------------------------------------------------------------


def test_nan_is_named_with_its_frequency():
    A, B, A_inf, _ = known()
    A[3, 0, 0] = np.nan
    with pytest.raises(SwelltreeError, match=r"numbers at 1 of 60 .* omega = 0\.4 rad"):
        fit_radiation(OMEGA, A, B, A_inf)


def test_asymmetric_damping_is_told():
    A, B, A_inf, _ = known()
    B = B.copy()
    B[:, 0, 1] *= -1
    with pytest.warns(SwelltreeWarning, match="radiation damping is not symmetric"):
        fit_radiation(OMEGA, A, B, A_inf, error=0.5)


def test_negative_damping_is_left_out():
    A, B, A_inf, _ = known()
    B = B.copy()
    B[20] = -np.eye(2)
    with pytest.warns(SwelltreeWarning, match=r"left out 1 of 60 frequencies .*2\.1 rad"):
        model = fit_radiation(OMEGA, A, B, A_inf)
    assert model.error <= model.error_bound


def test_undecayed_damping_is_noted(boxes):
    # the data jump at their end, where frequencies are left out
    assert any("B is still" in note and "rad/s" in note for note in boxes.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "vectorfitting"}, r"is not known\. Did you mean 'vector_fitting'\?"),
        ({"error": 3.0}, r"error 3\.0 is not between 0 and 1"),
        ({"max_order": 1}, r"max_order 1 is too small"),
        ({"omega_max": 0.2}, r"have 2 frequencies between zero and the upper limit"),
        ({"A_inf": np.eye(3)}, r"A_inf has shape \(3, 3\)"),
        ({"B": np.zeros((60, 2, 2))}, r"damping is zero at every frequency"),
        ({"B": np.zeros((9, 2, 2))}, r"do not belong together"),
    ],
)
def test_mistakes_are_told(change, message):
    A, B, A_inf, _ = known()
    specified = {"omega": OMEGA, "A": A, "B": B, "A_inf": A_inf} | change
    with pytest.raises(SwelltreeError, match=message):
        fit_radiation(**specified)


# --- data of other codes -------------------------------------------------------------------------


def sphere():
    """Sphere of 5 m radius (BEMIO h5)."""
    import h5py

    with h5py.File(refdata("bem_sphere", "iea_oes_task10", "sphere.h5")) as file:
        omega = np.ravel(file["simulation_parameters/w"])
        rho = np.ravel(file["simulation_parameters/rho"])[0]
        data = file["body1/hydro_coeffs"]
        A = np.moveaxis(data["added_mass/all"][()], -1, 0) * rho
        B = np.moveaxis(data["radiation_damping/all"][()], -1, 0) * rho * omega[:, None, None]
        return omega, A, B, data["added_mass/inf_freq"][()] * rho


def rm3():
    """Two-body point absorber (WAMIT .1 with a row at infinity)."""
    lines = refdata("bem_rm3", "wamit", "rm3.1").read_text().splitlines()
    rows = [[float(x) for x in line.split()] for line in lines if line.strip()[0] in "-0123456789"]
    out = {}
    for period, i, j, a, *b in rows:
        omega = np.inf if period == 0 else 2 * np.pi / period
        A, B = out.setdefault(omega, (np.zeros((12, 12)), np.zeros((12, 12))))
        A[int(i) - 1, int(j) - 1] = 1000 * a
        B[int(i) - 1, int(j) - 1] = 1000 * omega * b[0] if b else 0.0
    omega = np.array(sorted(w for w in out if w > 0))
    return omega, *(np.array([out[w][k] for w in omega]) for k in (0, 1))


def capytaine(*path, least=0.0):
    """Added mass and damping of a Capytaine file, without its failed frequencies."""
    import xarray as xr

    axes = ("omega", "influenced_dof", "radiating_dof")
    with xr.open_dataset(refdata(*path)) as file:
        omega = file["omega"].to_numpy()
        A, B = (file[n].transpose(*axes).to_numpy() for n in ("added_mass", "radiation_damping"))
    keep = omega > least
    return omega[keep], A[keep], B[keep]


def quietly(*args, **options):
    """A fit of rough data, whose warnings other tests look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        return fit_radiation(*args, **options)


@pytest.mark.parametrize(
    ("data", "options", "order"),
    [
        (sphere, {"error": 0.03}, 26),  # 24 with oscillators far above the band
        (rm3, {"error": 0.05}, 40),
        (
            lambda: capytaine("bem_oswec", "capytaine", "oswec_hydrodynamics.nc", least=0.13),
            {"error": 0.05, "omega_max": 8.0},
            36,
        ),
    ],
    ids=["sphere", "rm3", "oswec"],
)
def test_published_data_give_small_passive_models(data, options, order):
    model = quietly(*data(), **options)
    assert model.error <= model.error_bound
    assert model.order <= order
    assert model.stable
    assert model.passive


@pytest.mark.slow
def test_five_segments_of_thirty_freedoms():
    model = quietly(*capytaine("bem_5sa", "5sa_capytaine.nc"), error=0.08)
    assert model.error <= 0.08
    assert model.order <= 150
    assert model.stable
    assert model.passive


def test_fit_is_found_again_and_a_damaged_one_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    A, B, A_inf, _ = known()
    first = fit_radiation(OMEGA, A, B, A_inf)
    (file,) = (tmp_path / "radiation").glob("*.npz")

    def fail(*args):
        raise AssertionError("fitted again")

    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "vector_fitting", fail)
        again = fit_radiation(OMEGA, A, B, A_inf)
        assert again.notes == first.notes
        assert again.storage is not None
        for name in ("A", "B", "C", "storage"):
            np.testing.assert_array_equal(getattr(again, name), getattr(first, name))
        # other data, other options and no cache are other fits
        for change in (
            lambda: fit_radiation(OMEGA, A, 1.001 * B, A_inf),
            lambda: fit_radiation(OMEGA, A, B, A_inf, error=0.03),
            lambda: fit_radiation(OMEGA, A, B, A_inf, cache=False),
        ):
            with pytest.raises(AssertionError, match="fitted again"):
                change()
    file.write_bytes(file.read_bytes()[:300])
    np.testing.assert_array_equal(fit_radiation(OMEGA, A, B, A_inf).A, first.A)


def test_a_warning_of_a_fit_is_told_every_time(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    A, B, A_inf, _ = known()
    for _ in range(2):
        with pytest.warns(SwelltreeWarning, match="asked for 0.01 %"):
            fit_radiation(OMEGA, A, B, A_inf, error=1e-4, max_order=4)


def test_equal_bodies_radiate_apart_in_step_and_in_opposition():
    a, b, _ = np.random.default_rng(2).standard_normal((3, 5, 2, 2))
    a, b = a + a.transpose(0, 2, 1), b + b.transpose(0, 2, 1)
    K = np.concatenate([np.concatenate([a, b], axis=2), np.concatenate([b, a], axis=2)], axis=1)
    parts = independent_parts(K.astype(complex))
    assert [part.shape for part in parts] == [(4, 2), (4, 2)]
    np.testing.assert_allclose(parts[0].T @ K @ parts[1], 0, atol=1e-9)
    np.testing.assert_allclose(np.hstack(parts).T @ np.hstack(parts), np.eye(4), atol=1e-9)
    # bodies that differ stay together
    K[:, 2:, 2:] *= 1.2
    assert [part.shape for part in independent_parts(K.astype(complex))] == [(4, 4)]


@pytest.mark.parametrize("spoilt", ["of another fit", "not a number", "without a seal"])
def test_a_fit_of_foreign_content_is_made_anew(tmp_path, monkeypatch, spoilt):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    A, B, A_inf, _ = known()
    first = fit_radiation(OMEGA, A, B, A_inf)
    (file,) = (tmp_path / "radiation").glob("*.npz")
    if spoilt == "of another fit":
        fit_radiation(OMEGA, A, 1.5 * B, A_inf)
        other, *_ = set((tmp_path / "radiation").glob("*.npz")) - {file}
        file.write_bytes(other.read_bytes())
    else:
        with np.load(file) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if spoilt == "not a number":
            arrays["C"][0] = np.nan
        else:
            del arrays["seal"]
        np.savez(file, **arrays)
    np.testing.assert_array_equal(fit_radiation(OMEGA, A, B, A_inf).C, first.C)


def test_a_result_with_nan_is_not_kept_and_a_sealed_one_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    cache.store("bem", "a", {"x": np.array([1.0, np.nan])})
    assert not (tmp_path / "bem").exists()
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_has_nan", lambda arrays: False)
        cache.store("bem", "a", {"x": np.array([1.0, np.nan])})
        assert cache.load("bem", "a") is not None
    assert cache.load("bem", "a") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no permissions of this kind")
@pytest.mark.parametrize("whose", ["group", "another user", "folder", "link", "pipe"])
def test_a_result_that_others_could_have_written_is_not_used(tmp_path, monkeypatch, whose):
    """The seal is right each time: only who may write to it is not."""
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    key = "a" * 64
    cache.store("bem", key, {"x": np.arange(3.0)})
    file = tmp_path / "bem" / f"{key}.npz"
    assert file.stat().st_mode & 0o077 == 0
    np.testing.assert_array_equal(cache.load("bem", key)["x"], np.arange(3.0))
    if whose == "group":
        file.chmod(0o660)
    elif whose == "folder":
        file.parent.chmod(0o770)
    elif whose == "another user":
        if os.getuid() != 0:
            pytest.skip("only root can give files away")
        os.chown(file, 65534, 65534)
    else:
        file.rename(tmp_path / "elsewhere")
        if whose == "link":
            file.symlink_to(tmp_path / "elsewhere")
        else:
            os.mkfifo(file)
    assert cache.load("bem", key) is None


def test_results_that_nobody_used_for_months_go(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    cache.store("bem", "a" * 64, {"x": np.arange(3.0)})
    file = tmp_path / "bem" / f"{'a' * 64}.npz"
    os.utime(file, (1.0, 1.0))
    (tmp_path / "bem" / ".cleaned").unlink()
    cache.store("bem", "b" * 64, {"x": np.arange(3.0)})
    assert not file.exists()
