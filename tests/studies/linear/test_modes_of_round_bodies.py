"""Modes of a round spar: pairs of equal frequency, surge far from pitch, whatever the point."""

import numpy as np
import pytest

import swelltree as sw


def moored(stiffness):
    """The spar of the gallery between four long springs, 40 m below its reference point."""
    ready = sw.gallery.spar()
    (body,) = ready.system.bodies
    springs = [
        sw.SpringDamper(
            f"spring{k}", sw.WORLD.at(x, y, -40), body.at(0, 0, -40), stiffness, rest_length=500.0
        )
        for k, (x, y) in enumerate(((500, 0), (-500, 0), (0, 500), (0, -500)))
    ]
    system = ready.system.replace(forces=springs, lines=())
    return sw.compile(system, ready.hydro, fit={"error": 0.05})


@pytest.mark.parametrize("stiffness", [3.5e4, 7e4])
def test_surge_and_pitch_are_modes_of_their_own_and_pairs_are_orthogonal(stiffness):
    """About the waterline the pitch of a deep spar is mostly surge: the four were one mode."""
    model = moored(stiffness)
    found, infinite = sw.modes(model), sw.modes(model, added_mass="infinite")
    periods = found["natural_period"].values
    # added mass at low and at infinite frequency differ by a few per cent
    np.testing.assert_allclose(periods, infinite["natural_period"].values, rtol=0.05)
    pairs = periods.reshape(-1)[[0, 1, 2, 3]]
    assert pairs[0] / pairs[2] > 1.3
    shares = found["energy_share"].squeeze().sel(dof=["Surge", "Sway"]).values[:2]
    assert np.sort(shares, axis=1)[:, 0].max() < 1e-6
    assert sorted(shares.argmax(axis=1)) == [0, 1]
