"""Cables that are bodies and joints, carried by the fixed steps of dynamic lines."""

from functools import cache

import numpy as np
import pytest

import swelltree as sw

WIRE = sw.LineType("wire", 0.04, 8.0, EA=2e5, BA=4e3)


@cache
def swinging(**how):
    """A load on three elements, let go aslant with a push across: the wire turns in space."""
    load = sw.Body("load", 300.0, (30.0, 40.0, 50.0), position=(3.0, 0.0, -8.0))
    system = sw.System(
        "pendulum",
        [load],
        lines=[sw.Line("wire", (0, 0, 0), load, 8.5, WIRE, "multibody", segments=3)],
        forces=[sw.AppliedForce("push", load, (0.0, 900.0, 0.0))],
        water=sw.Water(rho=1e-9),
    )
    return sw.simulate(sw.compile(system), duration=1.5, output_step=0.1, **how)


@pytest.mark.parametrize(
    "formulation", ["path_matrix", pytest.param("lagrange", marks=pytest.mark.slow)]
)
def test_fixed_steps_carry_a_swinging_cable_at_second_order(formulation):
    smooth = swinging(rtol=1e-9, atol=1e-11).position.values[:, -1, :3]
    far = []
    for step in (0.01, 0.005):
        run = swinging(solver="two_step", formulation=formulation, step=step)
        assert run.attrs["result"] == "success"
        far.append(np.abs(run.position.values[:, -1, :3] - smooth).max())
    assert np.ptp(smooth[:, :2], axis=0).min() > 2.0  # it goes sideways too
    # the wire rings at 60 rad/s: (0.6)^2 / 24 of a centimetre's stretch, and the way of the swing
    assert far[0] < 5e-3
    assert 3.0 < far[0] / far[1] < 5.0
