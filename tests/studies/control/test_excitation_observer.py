"""The force of the sea from noisy motion."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, heaving_float

STEP, PTO_FORCE = 0.1, 2.0e4


@pytest.fixture(scope="module")
def model():
    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    swings = sw.Harmonic(PTO_FORCE, 0.7)
    pto = sw.LinearPto("pto", joint="rail", damping=4e4, force=swings)
    rail = sw.Slider("rail", sw.WORLD, body)
    system = sw.System("heaving", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    return sw.compile(system, heaving_float(), fit={"error": 1e-3})


def sea(seed, Hs=1.0, Tp=7.0):
    return sw.IrregularSea(sw.Jonswap(Hs=Hs, Tp=Tp), seed=seed)


@pytest.fixture(scope="module")
def run(model):
    return sw.simulate(model, sea(11), times=STEP * np.arange(2001), progress=False)


def error(model, run, noise, expected, known=True, measures=("float.Heave", "float.Heave.rate")):
    """Rms error of the estimate over the rms of the force, and what the filter expects."""
    channel = {"float.Heave": run.position, "float.Heave.rate": run.velocity}
    y = np.stack([channel[name].values[:, 0, 2] for name in measures], axis=1)
    size = noise * y.std(axis=0)
    observer = sw.excitation_observer(
        model, measures, noise=size, step=STEP, sea=expected, known=["pto"]
    )
    force = run.pto_control.values[:, :1] if known else None
    y = y + size * np.random.default_rng(3).standard_normal(y.shape)
    reported, true = (
        observer.estimate(y, force).values,
        observer.excitations_from(run.excitation_force.values),
    )
    late = slice(300, None)
    found = np.sqrt(((reported - true)[late] ** 2).mean() / (true[late] ** 2).mean())
    return found, float(observer.expected_error[0])


def test_excitation_is_told_within_a_tenth(model, run):
    found, expected = error(model, run, 0.03, sea(1))
    assert found < 0.1
    # the filter knows how good it is
    assert 0.5 < found / expected < 1.5


def test_less_noise_tells_more(model, run):
    assert error(model, run, 0.003, sea(1))[0] < 0.6 * error(model, run, 0.03, sea(1))[0]


def test_another_sea_than_expected_is_told_too(model, run):
    assert error(model, run, 0.02, sea(1, Hs=1.4, Tp=8.5))[0] < 0.1


def test_known_force_must_be_told_to_the_filter(model, run):
    assert error(model, run, 0.01, sea(1), known=False)[0] > 2 * error(model, run, 0.01, sea(1))[0]


def test_filter_is_a_named_sampled_system(model):
    observer = sw.excitation_observer(
        model, ["float.Heave.acceleration"], noise=0.01, step=STEP, sea=sea(1), known=["pto"]
    )
    assert observer.system.dt == STEP
    assert observer.system.input_labels == ["float__Heave__acceleration", "pto"]
    assert observer.system.output_labels == ["rail__Heave"]
    assert np.abs(observer.system.poles()).max() < 1.0


def test_mistakes_are_told(model):
    def build(measures=("float.Heave",), **changes):
        options = {"noise": 0.01, "step": STEP, "sea": sea(1)} | changes
        return sw.excitation_observer(model, list(measures), **options)

    with pytest.raises(sw.SwelltreeError, match=r"act in only 1 independent directions and cannot"):
        build(excitations=["float.Heave", "rail.Heave"])
    with pytest.raises(sw.SwelltreeError, match=r"noise must be positive for every measure"):
        build(noise=0.0)
    with pytest.raises(sw.SwelltreeError, match=r"step -1 s is not positive"):
        build(step=-1)
    with pytest.raises(sw.SwelltreeError, match=r"0 oscillators cannot follow a force"):
        build(oscillators=0)
