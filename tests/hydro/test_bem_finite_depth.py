"""BEM in finite depth: damping that can be true, and hulls that stand on the seabed."""

import warnings

import numpy as np
import pytest
from scipy.special import h1vp

import swelltree as sw
from swelltree.describe.errors import SwelltreeError, SwelltreeWarning
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


@pytest.mark.parametrize(
    ("hull", "count"),
    [
        (sw.Box(24.0, 24.0, height=20.0, draft=12.0, panel_size=2.4), 12),
        (sw.Cone(6.0, height=16.0, draft=12.0, bottom_radius=14.0, panel_size=2.4), 12),
        (sw.Cylinder(15.0, draft=12.0, height=16.0, panel_size=2.4), 12),
    ],
    ids=["box", "cone", "cylinder"],
)
def test_a_gravity_base_radiates_what_its_excitation_asks_for(hull, count):
    r"""Wider than high, its foot exactly on the bed: B = k / (8 pi rho g c_g) \int |F|^2 d beta."""
    h, w = 12.0, 0.9
    data = data_of(hull, [w], h, wave_direction=np.linspace(0.0, 2 * np.pi, count, endpoint=False))
    assert "stands on the seabed" in data.attrs["notes"]
    k = float(dispersion(np.array([w]), h, 9.81)[0])
    group = 0.5 * w / k * (1 + 2 * k * h / np.sinh(2 * k * h))
    unit = k / (8 * np.pi * 1025 * 9.81 * group) * 2 * np.pi / count
    F = data.excitation_force.sel(omega=w)
    B = data.radiation_damping.sel(omega=w)
    walls = not isinstance(hull, sw.Cone)
    for dof in ("Surge", "Sway", "Pitch") if walls else ("Surge", "Sway", "Heave"):
        exact = unit * float((np.abs(F.sel(influenced_dof=f"b__{dof}")) ** 2).sum())
        own = float(B.sel(influenced_dof=f"b__{dof}", radiating_dof=f"b__{dof}"))
        assert own == pytest.approx(exact, rel=0.03)
    if walls:  # vertical walls to the bed: no water pushes up, none is pushed away
        surge, heave = (np.abs(F.sel(influenced_dof=f"b__{x}")).max() for x in ("Surge", "Heave"))
        assert float(heave) < 1e-6 * float(surge)
        assert abs(float(B.sel(influenced_dof="b__Heave", radiating_dof="b__Heave"))) < 1.0
    if isinstance(hull, sw.Cylinder):
        exact = 4 * 1025 * 9.81 * np.tanh(k * h) / (k**2 * abs(h1vp(1, k * hull.radius)))
        assert abs(complex(F.sel(influenced_dof="b__Surge")[0])) == pytest.approx(exact, rel=0.03)


def test_a_hull_in_the_mud_is_refused():
    body = sw.Body("b", 1e6, (1e8,) * 3, hull=sw.Sphere(1.0, offset=(0, 0, -30.0)))
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=sw.Water(depth=20.0))
    with pytest.raises(SwelltreeError, match="lies below the seabed at z = -20 m"):
        sw.run_bem(system, [1.0])


@pytest.mark.parametrize("below", [1.0, 2.5], ids=["straight", "foot"])
def test_a_lid_stays_inside_of_its_hull(below):
    """A column with a foot: the section where the lid lies counts, not the whole outline."""
    profile = ((0.0, -8.0), (below * 4.0, -8.0), (below * 4.0, -7.0), (4.0, -7.0), (4.0, 3.0))
    hull = sw.Axisymmetric(profile, panel_size=1.5)
    w, depth = 1.1, 30.0
    waves = np.linspace(0.0, 2 * np.pi, 12, endpoint=False)
    with_lid = data_of(hull, [w], depth, wave_direction=waves)
    without = data_of(hull, [w], depth, lid=False)
    for dof in ("b__Surge", "b__Heave"):
        one, other = (
            float(d.radiation_damping.sel(omega=w, influenced_dof=dof, radiating_dof=dof))
            for d in (with_lid, without)
        )
        # below all irregular frequencies a lid changes nothing but rounding of panels
        assert one == pytest.approx(other, rel=0.02)
