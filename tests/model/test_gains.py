"""Control laws that take gains by name: numbers of the description, varied without compiling."""

import jax
import numpy as np
import pytest

import swelltree as sw


def reactive(t, y, damping, stiffness):
    return -damping * y[1:2] - stiffness * y[:1]


def fixed(t, y):
    return -3e3 * y[1:2] + 2e3 * y[:1]


def by_hand(t, y, damping, stiffness):
    return [-damping * float(y[1]) - stiffness * float(y[0])]


def sliding(law, **options):
    body = sw.Body("mass", mass=1e3, inertia=(1, 1, 1), position=(0.4, 0, 0))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x", position=0.4)
    spring = sw.JointForce("motor", joint=rail, stiffness=5e3)
    control = sw.Controller("control", ["rail.Surge", "rail.Surge.rate"], ["motor"], law, **options)
    return sw.System("sliding", [body], [rail], forces=[spring], controllers=[control])


GAINS = {"damping": 3e3, "stiffness": -2e3}


@pytest.mark.parametrize("law", [reactive, by_hand])
def test_gains_are_the_numbers_of_the_law(law):
    plain = law is by_hand
    model = sw.compile(sliding(law, gains={"damping": 1.0, "stiffness": 0.0}, plain=plain))
    names = {f"controllers.control.gains.{name}": x for name, x in GAINS.items()}
    changed = model.with_values(names)
    assert changed.value("controllers.control.gains.damping") == 3e3
    runs = [
        sw.simulate(m, times=[0.0, 0.7, 1.9], solver="rk4", step=0.05)
        for m in (changed, sw.compile(sliding(fixed)))
    ]
    assert np.allclose(runs[0].position, runs[1].position, atol=1e-12)


@pytest.mark.slow
def test_gains_have_derivatives():
    model = sw.compile(sliding(reactive, gains=GAINS))
    path = "controllers.control.gains.damping"

    def end(damping):
        changed = model.with_values({path: damping})
        run = sw.simulate_traced(changed, times=np.array([0.0, 0.5]), solver="rk4", step=0.05)
        return run["position"][-1, 0, 0]

    slope = jax.grad(end)(3e3)
    step = 30.0
    difference = float(end(3e3 + step) - end(3e3 - step)) / (2 * step)
    assert float(slope) == pytest.approx(difference, rel=1e-4)


def test_gains_are_written_and_read():
    system = sliding("laws:reactive", gains=GAINS)
    again = sw.loads(system.to_toml()).system
    assert dict(again.controllers[0].gains) == GAINS


@pytest.mark.parametrize(
    ("gains", "sentence"),
    [
        ({"damping": "much"}, "'damping': 'much' is not one number"),
        ({"damping": (1.0, 2.0)}, "is not one number"),
        ({"two words": 1.0}, "has the name 'two words'"),
        (3.0, "is not a table"),
        ({"damping": 1.0}, r"law 'reactive' \(test_gains.py, line \d+\) fails with TypeError"),
    ],
)
def test_bad_gains_get_a_sentence(gains, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.compile(sliding(reactive, gains=gains))
