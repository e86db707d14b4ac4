"""What `optimal_control` calls a bound lies above all that is found, whatever machines do."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float

KINDS = {
    "linear": {"damping": 4e4},
    "coulomb": {"friction": 2e4, "damping": 6e3, "friction_velocity": 0.1},
    "direct_drive": {"damping": 7e4, "efficiency": 0.8},
    "hydraulic": {
        "piston_area": 3e-3,
        "precharge": 5e6,
        "gas_volume": 0.5,
        "motor_gain": 1e-9,
        "smoothing_velocity": 0.2,
    },
    "constant_pressure": {"piston_area": 2e-3, "pressure": 1e7, "smoothing_velocity": 0.2},
    "mechanical_rectifier": {"ratio": 5.0, "inertia": 200.0, "generator_damping": 1.5e3},
}
CLASSES = {
    "linear": sw.LinearPto,
    "coulomb": sw.CoulombPto,
    "direct_drive": sw.DirectDrivePto,
    "hydraulic": sw.HydraulicPto,
    "constant_pressure": sw.ConstantPressurePto,
    "mechanical_rectifier": sw.MechanicalRectifierPto,
}
STOPS = {"lower": -0.9, "upper": 1.1, "stop_stiffness": 1e6}
LIMITS = [{}, {"force_limit": 1.3e4}, {"power_limit": 3.1e3}, STOPS]


def searched(rng, pto):
    """Attributes of the optimum in some sea, within some limits."""
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("float", [body], [rail], water=sw.Water(rho=1000.0), ptos=[pto])
    model = sw.compile(system, heaving_float(), radiation="none")
    sea = sw.RegularWave(amplitude=rng.uniform(0.1, 0.4), omega=rng.uniform(0.7, 1.6))
    if rng.random() < 0.5:
        spectrum = sw.Jonswap(Hs=rng.uniform(0.4, 1.0), Tp=rng.uniform(5.0, 8.0))
        sea = sw.IrregularSea(
            spectrum, spacing="equal", jitter=False, components=2, omega_min=0.5, omega_max=1.3
        )
    options = {"efficiency": rng.choice([1.0, 0.8]), "replay": False, "harmonics": 7}
    if rng.random() < 0.5 and pto.lower is None:
        options["force_max"] = 10 ** rng.uniform(4.0, 5.3)
    return sw.optimal_control(model, sea, "pto", **options).attrs


@pytest.mark.parametrize("kind", KINDS)
def test_no_force_of_a_machine_passes_its_bound(kind):
    """The driven machine saturates, has stops or neither; of the float without it there is one."""
    rng = np.random.default_rng([7, list(KINDS).index(kind)])
    for _ in range(2):
        own = KINDS[kind] | rng.choice(LIMITS)
        pto = CLASSES[kind]("pto", joint="rail", **own)
        found = searched(rng, pto)
        powers = [found["mean_power"], found["passive_power"]]
        assert found["method"] == "linear"
        assert np.nanmax(powers) <= found["bound"] * (1 + 1e-9)


def test_friction_beside_leaves_more_than_the_linear_bound():
    """Friction is a damper near rest and less than one in a wave: the bound is a linear one."""
    other = sw.CoulombPto("other", joint="rail", friction=1e4, friction_velocity=0.1)
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    rail = sw.Slider("rail", sw.WORLD, body)
    ptos = [sw.LinearPto("pto", joint="rail", damping=3e4), other]
    system = sw.System("float", [body], [rail], water=sw.Water(rho=1000.0), ptos=ptos)
    model = sw.compile(system, heaving_float(), radiation="none")
    wave = sw.RegularWave(amplitude=0.6, omega=1.2)
    options = {"harmonics": 5, "replay": False, "compare": False, "force_max": 9e4}
    found = sw.optimal_control(model, wave, "pto", **options).attrs
    assert "bound" not in found
    assert found["mean_power"] > 1.1 * found["linear_bound"]
