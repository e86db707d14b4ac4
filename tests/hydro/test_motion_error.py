"""The error that is asked of a radiation fit is that of the motions of the described system."""

import re
import warnings

import numpy as np
import pytest

import swelltree as sw
from made_hydro import A_INF, MASS, STIFFNESS, heaving_float
from swelltree.describe.errors import SwelltreeWarning
from swelltree.hydro.radiation.memory import added_mass_change

OMEGA = np.linspace(0.06, 4.0, 200)


def with_damping(B):
    """Data of the float with that damping (200,), and the added mass that belongs to it."""
    data = heaving_float(omega=OMEGA)
    chain = np.concatenate([[0.0], OMEGA, [6.0]])
    B_chain = np.concatenate([[0.0], B, [0.0]])[:, None, None]
    A = A_INF + added_mass_change(chain, B_chain, OMEGA)[:, 0, 0]
    data["added_mass"].values[:-1, 0, 0] = A
    data["radiation_damping"].values[:-1, 0, 0] = B
    # the relation of Haskind, without its slow factors
    data["excitation_force"].values[:-1, 0, 0] = STIFFNESS * np.sqrt(B / B.max() / OMEGA)
    return data


def moonpool():
    """Broad damping with the narrow piston mode of a moonpool, and nearly none behind it."""
    broad = 9e4 * OMEGA**2 * np.exp(-((OMEGA / 1.5) ** 2))
    x = (OMEGA - 1.42) / 0.06
    return with_damping(
        broad * (1 - 0.97 * np.exp(-((OMEGA - 1.6) ** 2) / 0.03)) + 4e5 / (1 + x**2) ** 2
    )


def light_flap():
    """Damping that is faint at the resonance, a fifth of the frequency where it is largest."""
    return with_damping(3e4 * OMEGA**3.5 * np.exp(-((OMEGA / 1.8) ** 3)))


def floating(data, mass=MASS, **options):
    body = sw.Body("float", mass=mass, inertia=(1e6, 1e6, 1e6))
    joint = sw.Slider("heave", sw.WORLD, "float", axis=(0, 0, 1))
    system = sw.System("one float", bodies=[body], joints=[joint], water=sw.Water(rho=1000.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sw.compile(system, data, **options)


def motion_error(model):
    """Of the heave, from `rao` with the data and with the fitted memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        omega = np.linspace(0.1, 3.5, 1500)
        data, fit = (
            sw.rao(model, omega=omega, radiation=name)["rao"].sel(dof="Heave").values
            for name in ("data", "state_space")
        )
    return float(np.abs(fit - data).max() / np.abs(data).max())


@pytest.mark.parametrize(
    ("make", "mass"),
    [pytest.param(moonpool, MASS, marks=pytest.mark.slow), (light_flap, 14 * MASS)],
)
def test_a_smaller_request_never_gives_a_worse_motion(make, mass):
    data = make()
    errors = [
        motion_error(floating(data, mass, fit={"error": error}))
        for error in (0.2, 0.1, 0.05, 0.02, 0.01, 0.004)
    ]
    assert errors[3] < 0.02
    assert errors[4] < 0.01
    assert (np.diff(errors) <= 1e-9).all()


def test_a_fit_that_misses_the_motion_says_by_how_much_and_suggests_convolution():
    """Its misfit of K is small, but it alone acts at the peak of the heave."""
    body = sw.Body("float", mass=MASS, inertia=(1e6, 1e6, 1e6))
    joint = sw.Slider("heave", sw.WORLD, "float", axis=(0, 0, 1))
    system = sw.System("one float", bodies=[body], joints=[joint], water=sw.Water(rho=1000.0))
    with pytest.warns(SwelltreeWarning, match="motions differ from those with the data by up to"):
        model = sw.compile(system, moonpool(), fit={"max_order": 6, "error": 0.01})
    (note,) = [note for note in model.report if "memory of order" in note]
    assert "Use radiation='convolution'" in note
    assert re.search(r"differ .* \(heave__\w+ at [1-3]\.\d+ rad/s\)", note)
    stated = float(note.split("motions within ")[1].split(" %")[0]) / 100
    assert stated == pytest.approx(motion_error(model), rel=0.1)


def test_several_fits_of_spoilt_data_say_once_what_was_left_out():
    data = with_damping(9e4 * OMEGA**2 * np.exp(-((OMEGA / 1.5) ** 2)))
    data["radiation_damping"].values[80] *= 1.3  # an irregular frequency
    body = sw.Body("float", mass=MASS, inertia=(1e6, 1e6, 1e6))
    joint = sw.Slider("heave", sw.WORLD, "float", axis=(0, 0, 1))
    system = sw.System("one float", bodies=[body], joints=[joint], water=sw.Water(rho=1000.0))
    texts = {}
    for error in (0.2, 1e-5):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            sw.compile(system, data, fit={"error": error, "max_order": 12})
        texts[error] = [str(one.message) for one in heard]
    # below the error asked for, what the correction does to the motions is no warning
    assert not any("alone changes the motions" in text for text in texts[0.2])
    texts = texts[1e-5]
    assert sum("alone changes the motions" in text for text in texts) == 1
    assert sum("left out 1 of" in text for text in texts) == 1
    assert sum("motions differ" in text for text in texts) == 1
    assert {one.filename for one in heard} == {__file__}


def test_a_fit_that_goes_its_own_way_between_the_data_is_found():
    """At the data its motions were within 0.02 %, between them off by 180 %, without a message."""
    data = moonpool()
    few = data.isel(omega=[0, *range(2, OMEGA.size, 16), OMEGA.size])
    body = sw.Body("float", mass=MASS, inertia=(1e6, 1e6, 1e6))
    joint = sw.Slider("heave", sw.WORLD, "float", axis=(0, 0, 1))
    system = sw.System("one float", bodies=[body], joints=[joint], water=sw.Water(rho=1000.0))
    with pytest.warns(SwelltreeWarning, match="motions differ from those with the data by up to"):
        model = sw.compile(system, few, fit={"as_specified": True})
    (note,) = [note for note in model.report if "motions within" in note]
    stated = float(note.split("motions within ")[1].split(" %")[0]) / 100
    assert stated == pytest.approx(motion_error(model), rel=0.2)
    assert stated > 1.0
