"""Between the headings of the data: smooth curves, and a word where the data are too coarse."""

import warnings

import numpy as np
import pytest

from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.drift.data import MeanDrift, Pairs
from swelltree.hydro.drift.loads import at_one_heading, mean_drift_at, transfer_at
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import excitation_at
from swelltree.hydro.linear.headings import (
    basis,
    heading_weights,
    headings_of,
    left_out_error,
    warn_coarse,
    within,
)
from swelltree.hydro.linear.in_sea import moving_waves
from swelltree.waves.airy import Components

OMEGA = np.linspace(0.3, 0.85, 7)  # waves down to the length of the hull
K = OMEGA**2 / 9.81
LENGTH, WIDTH = 80.0, 24.0


def slender(omega, beta):
    """Froude-Krylov like forces of a rectangle, (omega, beta, 6): smooth in the heading."""
    k = (np.asarray(omega) ** 2 / 9.81)[:, None]
    kx, ky = k * np.cos(beta), k * np.sin(beta)
    ends, sides = np.sinc(kx * LENGTH / 2 / np.pi), np.sinc(ky * WIDTH / 2 / np.pi)
    lift = LENGTH * WIDTH * ends * sides + 0j
    return np.stack(
        [1j * kx * lift, 1j * ky * lift, lift, 8 * ky * lift, 1e2 * kx * lift, kx * ky * lift], -1
    )


def table(directions, force=slender, omega=OMEGA, place=(0.0, 0.0)):
    zero = np.zeros((len(omega), 6, 6))
    return Table(
        omega=omega,
        direction=np.asarray(directions, float),
        added_mass=zero,
        radiation_damping=zero,
        excitation=force(omega, np.asarray(directions, float)),
        added_mass_inf=zero[0],
        place=np.tile(place, (6, 1)),
    )


@pytest.mark.parametrize(
    ("degrees", "most"),
    [
        (np.arange(0, 360, 30), 0.05),
        (np.arange(-180, 181, 30), 0.05),  # both ends of the circle
        (np.arange(0, 181, 30), 0.04),
        (np.arange(0, 181, 15), 0.005),
        (np.array([0, 20, 50, 75, 95, 130, 160, 180, 210, 230, 265, 290, 320, 345]), 0.02),
    ],
)
def test_forces_between_headings_are_those_of_the_hull(degrees, most):
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(np.radians(degrees.astype(float)))
    low, high = np.radians(degrees.min()), np.radians(degrees.max())
    beta = rng.uniform(low, high, 60)
    omega = rng.choice(OMEGA, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)
        found = excitation_at(table(shuffled), omega, beta, omega**2 / 9.81)
    exact = np.array([slender([w], np.array([b]))[0, 0] for w, b in zip(omega, beta, strict=True)])
    missed = np.linalg.norm(found - exact, axis=0) / np.linalg.norm(exact, axis=0)
    assert missed.max() < most


@pytest.mark.parametrize("degrees", [(0, 120, 240), (0, 45, 90), (-10, 0, 10), (0, 90, 180, 270)])
def test_first_harmonics_are_exact_from_three_headings_on(degrees):
    """A round body feels 1, cos and sin of the heading and nothing else."""
    direction = np.radians(degrees)
    beta = np.radians(np.random.default_rng(2).uniform(min(degrees), max(degrees), 30))
    weights = heading_weights(direction, beta)
    for shape in (np.ones_like, np.cos, np.sin):
        assert weights @ shape(direction) == pytest.approx(shape(beta), abs=1e-9)


def test_headings_of_the_data_give_their_own_values_exactly():
    direction = np.radians([0.0, 7.0, 31.0, 180.0, 181.0, 290.0])
    assert heading_weights(direction, direction + 2 * np.pi).tolist() == np.eye(6).tolist()


def test_moving_bodies_feel_the_same_curve_as_fixed_ones():
    data = table(np.radians(np.arange(0, 360, 30.0)))
    omega = OMEGA[[1, 3, 5]]
    sea = Components(np.full(3, 0.5), omega, omega**2 / 9.81, np.array([0.2, 1.7, -2.9]), omega)
    moving = moving_waves(data, sea, follows_place=True)
    for psi, t in ((0.3, 2.0), (-4.1, 9.7)):
        turned = Components(sea.amplitude, omega, sea.wavenumber, sea.beta - psi, sea.phase)
        found = moving.acting(np.array(t), np.zeros((1, 2)), np.array([psi]))[0]
        F = excitation_at(data, omega, turned.beta, sea.wavenumber)
        F = F * np.asarray(sea.complex_amplitude)[:, None]
        exact = np.real(F * np.exp(-1j * omega * t)[:, None]).sum(axis=0)
        assert found == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())


def test_a_heading_outside_the_data_takes_the_nearer_end():
    own = headings_of(np.radians([-40.0, 0.0, 40.0]))
    at = within(own, np.radians(np.array([50.0, 310.0, 170.0, -170.0, 20.0])))
    wrapped = (np.degrees(at) + 180.0) % 360.0 - 180.0
    assert wrapped == pytest.approx([40.0, -40.0, 40.0, -40.0, 20.0])
    assert np.isfinite(basis(own, at)).all()


def test_mean_drift_and_transfer_functions_use_the_same_curve():
    """Drift along the waves: cos and sin of the heading, wrong by 3 % if linear in 30 degrees."""
    direction = np.radians(np.arange(0.0, 360.0, 30.0))
    force = np.zeros((len(OMEGA), 12, 6))
    force[..., 0], force[..., 1] = np.cos(direction), np.sin(direction)
    beta = np.array([0.25, 0.25, 0.25])
    found = mean_drift_at(MeanDrift(OMEGA, direction, force), OMEGA[:3], beta)
    assert found[:, 0] == pytest.approx(np.cos(beta), abs=1e-9)
    # waves of different headings: at their mean one; crossing: the product of both curves
    Q = np.broadcast_to(force[0][:, None, None], (12, 7, 7, 6)).astype(complex)
    known = np.ones((12, 7, 7), bool)
    alone = Pairs(OMEGA, direction, Q, known, False, False)
    i, j = np.array([0, 1, 2]), np.array([2, 1, 0])
    heading = np.array([0.1, 0.25, 0.4])
    got = transfer_at(alone, OMEGA[:3], heading, i, j)
    assert got[:, 1].real == pytest.approx(np.sin([0.25, 0.25, 0.25]), abs=1e-9)
    both = Q[:, None] * np.cos(direction)[None, :, None, None, None]
    cross = Pairs(OMEGA, direction, both, np.ones((12, 12, 7, 7), bool), True, False)
    got = transfer_at(cross, OMEGA[:3], heading, i, j)
    assert got[:, 1].real == pytest.approx(np.sin(heading[i]) * np.cos(heading[j]), abs=1e-9)
    one = at_one_heading(cross, 0.3)
    assert one.force[0, 2, 3, 1] == pytest.approx(np.sin(0.3) * np.cos(0.3), abs=1e-9)


def test_headings_too_far_apart_are_told_with_the_error():
    coarse, fine = np.radians(np.arange(0, 360, 60.0)), np.radians(np.arange(0, 360, 15.0))
    with pytest.warns(SwelltreeWarning, match=r"heading of 20 degrees lies between .* by \d+.*%"):
        excitation_at(table(coarse), OMEGA, np.full(7, np.radians(20.0)), K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        excitation_at(table(fine), OMEGA, np.full(7, 0.4), K)
        excitation_at(table(coarse), OMEGA, np.full(7, coarse[2]), K)
    with pytest.warns(SwelltreeWarning, match="too few to check"):
        excitation_at(table([0.0, 1.0]), OMEGA, np.full(7, 0.4), K)


def test_the_error_looks_where_the_waves_are():
    """Long waves on a coarse grid are fine, though short ones would not be."""
    data = table(np.radians(np.arange(0, 360, 30.0)), omega=np.linspace(0.2, 3.0, 20))
    omega, beta = np.array([0.3, 2.9]), np.full(2, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        excitation_at(data, omega, beta, omega**2 / 9.81, np.array([1.0, 1e-4]))
    with pytest.warns(SwelltreeWarning):
        excitation_at(data, omega, beta, omega**2 / 9.81, np.array([1.0, 1.0]))


def test_leaving_headings_out_sees_an_error_in_one_of_them():
    direction = np.radians(np.arange(0, 360, 20.0))
    force = slender(OMEGA[:3], direction)
    good = left_out_error(direction, force)
    force[:, 4] *= 1.5
    assert left_out_error(direction, force) > good + 0.05
    assert np.isnan(left_out_error(direction[:2], force[:, :2]))
    warn_coarse(direction, force[:0], direction, "data")
