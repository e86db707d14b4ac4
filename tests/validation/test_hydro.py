"""Cases of the group `hydro` about motions and forces: one of each family here, the rest slow."""

import numpy as np
import pytest

from support import refdata
from validation import all_cases
from validation.hydro import hydro_devices, hydro_sphere
from validation.hydro.hydro_devices import (
    oswec_decay,
    rm3_checks,
    rm3_decay,
    rm3_irregular,
)
from validation.hydro.hydro_forces import oc3_spar
from validation.hydro.hydro_sphere import (
    regular_checks,
    sphere_decay,
    sphere_irregular,
    sphere_rao,
    sphere_regular,
)
from validation.hydro.wecsim_import import oswec_imported, rm3_imported
from validation.signals import harmonic, peaks
from validation.table import Check


def assert_ok(checks: list[Check]) -> None:
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


def test_cases_are_registered():
    names = {name for name, case in all_cases().items() if case.group == "hydro"}
    sphere = {"sphere_decay", "sphere_rao", "sphere_regular", "sphere_irregular"}
    rm3 = {"rm3_heave_constant", "rm3_heave_memory", "rm3_decay", "rm3_irregular"}
    imported = {"rm3_imported", "oswec_imported"}
    assert names >= sphere | rm3 | imported | {"oswec_decay", "oc3_spar"}


def test_harmonic_and_peaks_of_a_known_wave():
    t = np.arange(0.0, 40.0, 0.1)
    x = 0.3 + np.real((1.0 - 0.5j) * np.exp(-1j * 0.9 * t))
    assert harmonic(t, x, 0.9) == pytest.approx(1.0 - 0.5j)
    when, high = peaks(t, x)
    assert np.diff(when) == pytest.approx(2 * np.pi / 0.9, rel=1e-4)
    assert high == pytest.approx(0.3 + abs(1.0 - 0.5j), rel=1e-4)


def test_sphere_decays_as_in_other_codes():
    assert_ok(sphere_decay(refdata("ts_sphere")))


def test_rm3_in_a_regular_wave():
    assert_ok(rm3_checks(refdata("ts_rm3_heave"), "regular"))


def test_flap_decays_as_in_other_codes():
    assert_ok(oswec_decay(refdata("ts_oswec_decay")))


def test_forces_on_a_spar_under_prescribed_motion():
    assert_ok(oc3_spar(refdata("hydrodyn_oc3_spar")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compare", "folder"),
    [
        (sphere_rao, "ts_sphere"),
        (sphere_regular, "ts_sphere"),
        (sphere_irregular, "ts_sphere"),
        (lambda folder: rm3_checks(folder, "regularCIC"), "ts_rm3_heave"),
        (rm3_decay, "ts_rm3_decay"),
        (rm3_irregular, "ts_rm3_moored_input"),
        (rm3_imported, "ts_rm3_heave"),
        (oswec_imported, "ts_oswec_decay"),
    ],
    ids=[
        *("rao", "regular", "irregular", "rm3_memory", "rm3_decay", "rm3_irregular"),
        *("rm3_imported", "oswec_imported"),
    ],
)
def test_other_motions(compare, folder):
    assert_ok(compare(refdata(folder)))


@pytest.mark.slow
def test_a_wrong_pto_is_noticed(monkeypatch):
    monkeypatch.setitem(hydro_sphere.DAMPING, 3, 1.1 * hydro_sphere.DAMPING[3])
    assert not all(check.ok for check in regular_checks(refdata("ts_sphere"), 3))


@pytest.mark.slow
def test_missing_coupling_is_noticed(monkeypatch):
    full = hydro_devices.rm3
    monkeypatch.setattr(
        hydro_devices, "rm3", lambda folder, **options: full(folder, coupling=False, **options)
    )
    checks = {check.quantity: check for check in rm3_decay(refdata("ts_rm3_decay"))}
    assert not checks["spar beside SEA-Stack"].ok
