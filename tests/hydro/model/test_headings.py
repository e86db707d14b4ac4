"""Excitation between headings, and the weight inside the stiffness of the data."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.bem.hydrostatics import hydrostatics
from swelltree.hydro.linear.data import Table
from swelltree.hydro.linear.excitation import excitation_at


def table(directions):
    omega = np.linspace(0.5, 1.5, 5)
    force = np.cos(np.asarray(directions))[None, :, None] * np.ones((5, 1, 6)) + 0j
    zero = np.zeros((5, 6, 6))
    return Table(
        omega=omega,
        direction=np.asarray(directions, float),
        added_mass=zero,
        radiation_damping=zero,
        excitation=force,
        added_mass_inf=zero[0],
        place=np.zeros((1, 2)),
    )


@pytest.mark.parametrize("beta", [-0.9, -0.1, 0.0, 0.1, 0.9, 2 * np.pi - 0.1])
def test_headings_on_both_sides_of_zero_are_one_range(beta):
    found = excitation_at(
        table(np.radians(np.arange(-60, 61, 5))), np.ones(1), np.array([beta]), np.ones(1)
    )
    assert found[0, 0].real == pytest.approx(np.cos(beta), abs=2e-3)


def test_a_heading_outside_the_range_is_refused():
    with pytest.raises(SwelltreeError, match="outside the hydro data"):
        excitation_at(table(np.radians([-30, 0, 30])), np.ones(1), np.ones(1), np.ones(1))


def test_stiffness_of_buoyancy_does_not_depend_on_the_mass_of_the_body():
    pytest.importorskip("capytaine")
    found = []
    for mass in (3e5, 8e5):
        body = sw.Body(
            "buoy",
            mass,
            (1e7, 1e7, 1e6),
            com=(0, 0, -5.5),
            reference_point=(0, 0, 0),
            hull=sw.Cylinder(5.0, 10.0, 14.0, panel_size=3.0),
        )
        system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)])
        model = sw.compile(system, sw.run_bem(system, [0.5, 1.0]), radiation="none")
        found.append(np.asarray(model.hydro.stiffness))
        alone = hydrostatics(system.resolved.bodies[0], system.water, weight=False).stiffness
        assert found[-1] == pytest.approx(alone, abs=1e-6 * np.abs(alone).max())
    assert found[0] == pytest.approx(found[1], abs=1e-6 * np.abs(found[0]).max())
