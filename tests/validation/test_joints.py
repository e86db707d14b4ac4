"""Cases of the group `joints`: quick ones here, all formulations and long runs marked slow."""

import pytest

from support import refdata
from validation import all_cases
from validation.multibody import joints_adams
from validation.multibody.adams_setups import SETUPS
from validation.multibody.bearings import two_bearings
from validation.multibody.conservation import conservation, rk4_order
from validation.multibody.joints_adams import compare, formulation_checks
from validation.multibody.loops import agreement, loop_in_space, planar_loop
from validation.multibody.mechanisms import brake, bushing, gear
from validation.multibody.motions import heavy_top, pendulum_period, pitch_90_degrees
from validation.multibody.systems import REGULAR
from validation.run import ALL
from validation.table import Check

# one of each kind that the default suite can afford
QUICK = ("Universal_Case01", "LinActuator_Case01", "RotSpring_Case01")


def assert_ok(checks: list[Check]) -> None:
    assert checks
    failed = [f"{c.quantity}: {c.shown_value}, allowed {c.allowed}" for c in checks if not c.ok]
    assert not failed, "; ".join(failed)


@pytest.mark.parametrize("name", QUICK)
def test_motion_and_reactions_agree_with_adams(name):
    assert_ok(compare(name, refdata("mbs_adams_joints")))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETUPS if name not in QUICK])
def test_motion_and_reactions_agree_with_adams_in_all_cases(name):
    assert_ok(compare(name, refdata("mbs_adams_joints")))


def test_every_adams_file_has_a_case():
    files = {path.stem for path in refdata("mbs_adams_joints").glob("*.csv")}
    assert files == set(SETUPS)
    assert {f"adams_{name}" for name in files} <= set(all_cases())


def test_a_wrong_spring_is_noticed(monkeypatch):
    system = SETUPS["RotSpring_Case01"]()
    softer = system.replace(forces=(system.forces[0].replace(stiffness=190.0),))
    monkeypatch.setitem(joints_adams.SETUPS, "RotSpring_Case01", lambda: softer)
    checks = {c.quantity: c for c in compare("RotSpring_Case01", refdata("mbs_adams_joints"))}
    assert not checks["position"].ok
    assert not checks["torque on ground"].ok


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Universal_Case01", "RevSpherical_Case01", "RotSpring_Case01"])
def test_five_formulations_give_the_same_motion_and_reactions(name):
    assert_ok(formulation_checks(name))


@pytest.mark.parametrize("name", ["two_link", "velocity_maps", "rate_of_P"])
def test_matrices_agree_with_closed_forms_and_one_another(name):
    assert_ok(all_cases()[name].run())


def test_pendulum_has_the_period_of_the_elliptic_integral():
    assert_ok(pendulum_period())


def test_heavy_top_precesses_steadily():
    assert_ok(heavy_top(("path_matrix",)))


def test_ninety_degrees_of_pitch_is_no_singularity():
    assert_ok(pitch_90_degrees(("path_matrix",)))


@pytest.mark.slow
@pytest.mark.parametrize("how", ALL)
def test_closed_form_motions_in_every_formulation(how):
    assert_ok(heavy_top((how,)) + pitch_90_degrees((how,)))


def test_tree_adrift_keeps_energy_and_momentum():
    assert_ok(conservation(("path_matrix",)))


@pytest.mark.slow
@pytest.mark.parametrize("how", ALL[1:])
def test_tree_adrift_keeps_energy_and_momentum_in_every_formulation(how):
    assert_ok(conservation((how,)))


@pytest.mark.slow
@pytest.mark.parametrize("how", ALL)
def test_rk4_converges_with_order_4(how):
    assert_ok(rk4_order(how))


def test_four_bar_stays_closed_and_keeps_the_energy_budget():
    assert_ok(planar_loop(("path_matrix",)))


@pytest.mark.slow
@pytest.mark.parametrize("how", ALL)
@pytest.mark.parametrize("loop", [planar_loop, loop_in_space])
def test_loops_stay_closed_and_keep_the_energy_budget(loop, how):
    assert_ok(loop((how,)))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REGULAR))
def test_five_formulations_stay_together_for_20_seconds(name):
    assert_ok([agreement(name, ALL)])


@pytest.mark.slow
def test_flap_on_two_bearings_swings_as_a_compound_pendulum():
    assert_ok(two_bearings())


@pytest.mark.slow
@pytest.mark.parametrize("check", [gear, brake, bushing])
def test_mechanisms_agree_with_closed_forms(check):
    assert_ok(check())
