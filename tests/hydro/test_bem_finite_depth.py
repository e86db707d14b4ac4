"""BEM in finite depth: damping that can be true, and hulls that stand on the seabed."""

import warnings

import numpy as np
import pytest
from scipy.special import h1vp

import swelltree as sw
from swelltree.system.errors import SwelltreeError, SwelltreeWarning
from swelltree.waves.dispersion import dispersion

pytest.importorskip("capytaine")


def data_of(hull, omega, depth, **options):
    body = sw.Body("b", 1e6, (1e8, 1e8, 1e8), hull=hull)
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=sw.Water(depth=depth))
    with warnings.catch_warnings():  # panels larger than an eighth of the shortest wave
        warnings.simplefilter("ignore", SwelltreeWarning)
        return sw.run_bem(system, omega, **options)


def test_damping_of_a_barge_in_finite_depth_tends_to_deep_water():
    """With the lid at z = 0 heave damping at 2.2 rad/s was -1.9e6, 5 % of omega A."""
    omega = [1.0, 2.2]
    hull = sw.Box(80.0, 24.0, 8.0, 4.0, panel_size=4.0)
    deep, finite = (data_of(hull, omega, depth) for depth in (np.inf, 60.0))
    for w in omega:
        if w not in finite.omega.values:
            assert f"omega = {w:.6g} rad/s was left out" in finite.attrs["notes"]
            continue
        A, B, exact = (
            np.diagonal(x.sel(omega=w).values)
            for x in (finite.added_mass, finite.radiation_damping, deep.radiation_damping)
        )
        assert (-0.005 * w * A < B).all()
        if w > 2.0:  # k h = 30
            assert (np.abs(B - exact) < 0.03 * w * A)[:5].all()
    assert 1.0 in finite.omega.values


def test_a_monopile_feels_the_force_of_maccamy_and_fuchs():
    r"""F = 4 rho g a tanh(kh) / (k^2 |H1'(kR)|), no water under the pile.

    Three per cent: the panels of a ring of 24.
    """
    R, h, omega = 3.0, 20.0, [0.8, 1.4]
    data = data_of(sw.Cylinder(R, h + 5.0, h + 15.0, panel_size=1.2), omega, h)
    assert "stands on the seabed" in data.attrs["notes"]
    for w in omega:
        k = float(dispersion(np.array([w]), h, 9.81)[0])
        exact = 4 * 1025 * 9.81 * np.tanh(k * h) / (k**2 * abs(h1vp(1, k * R)))
        F = data.excitation_force.sel(omega=w, wave_direction=0.0)
        assert abs(complex(F.sel(influenced_dof="b__Surge"))) == pytest.approx(exact, rel=0.03)
        # no water above or below pushes it up
        assert abs(complex(F.sel(influenced_dof="b__Heave"))) < 1e-6 * exact


def test_a_hull_in_the_mud_is_refused():
    body = sw.Body("b", 1e6, (1e8,) * 3, hull=sw.Sphere(1.0, offset=(0, 0, -30.0)))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=sw.Water(depth=20.0))
    with pytest.raises(SwelltreeError, match="lies below the seabed at z = -20 m"):
        sw.run_bem(system, [1.0])
