"""Paper 001: its equations by themselves here, the cases of the group `periodic` mostly slow."""

import numpy as np
import pytest

from swelltree.describe.errors import SwelltreeError
from validation import all_cases
from validation.hydro import hinge_barge
from validation.hydro import hinge_barge_literal as paper


def assert_ok(checks):
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


def test_cases_are_registered():
    names = {name for name, case in all_cases().items() if case.group == "periodic"}
    assert names >= {
        "hinge_barge_001",
        "hinge_barge_plateless",
        "hinge_barge_runge_kutta",
        "hinge_barge_general",
        "hinge_barge_series",
        "hinge_barge_rough",
    }


def test_hinge_and_velocity_transformation_fit():
    """Eqs. 54 and 65: the hinge does no work, and its matrix is the slope of the gap."""
    assert np.abs(paper.CZ @ paper.P).max() < 1e-15
    slope = paper.hinge(1e-30j * np.eye(4)).imag / 1e-30
    np.testing.assert_allclose(slope, paper.CZ, rtol=1e-14)


def test_coriolis_forces_do_no_work():
    v = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose((v * paper.bias(v)).sum(axis=1), 0.0, atol=1e-14)


def test_the_ram_takes_power():
    barge = paper.HingeBarge(np.zeros((4, 4)), np.zeros(4), None, None, None)
    size = np.linalg.eigvalsh(barge.damping)
    assert size.min() > -1e-12
    assert size.max() == pytest.approx(2 * 850.0 * 0.1**2)


@pytest.mark.parametrize("form", ["dae", "ode"])
def test_nodes_of_the_user(form):
    """Residuals vanish at 2 N_x + 1 nodes; 2 N_x are singular; more are projected."""
    barge, w = hinge_barge.literal(), 2.61
    with pytest.raises(SwelltreeError, match="sine of harmonic 3 is zero everywhere"):
        paper.periodic(barge, w, 0.06, 3, nodes=6, form=form)
    found = paper.periodic(barge, w, 0.06, 3, form=form)
    assert len(found.basis.time) == 7
    if form == "dae":
        assert np.abs(paper.hinge(found.basis.value @ found.q)).max() < 1e-14
    gaps = [
        abs(paper.periodic(barge, w, 0.06, 3, nodes=n, form=form).first - found.first)
        for n in (8, 40)
    ]
    assert max(gaps) < 1e-9 * abs(found.first)


def test_the_paper_with_and_without_plate():
    assert_ok(hinge_barge.hinge_barge_001())
    assert_ok(hinge_barge.hinge_barge_plateless())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["runge_kutta", "general", "series", "rough"])
def test_periodic_motions(name):
    assert_ok(getattr(hinge_barge, f"hinge_barge_{name}")())
